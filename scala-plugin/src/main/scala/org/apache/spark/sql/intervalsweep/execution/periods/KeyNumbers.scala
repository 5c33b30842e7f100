// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.intervalsweep.execution.block.BlockMemory
import org.apache.spark.sql.intervalsweep.execution.packing.{DistinctRows, HashedBatch, RowBatch}
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.Platform

/**
 * The numbers of keys, from 0 on, in the order in which the keys come first.
 *
 * @param keys the keys by number; new keys are added
 * @param memory counts the keys
 */
private[periods] final class KeyNumbers(keys: DistinctRows, memory: BlockMemory) {
  private var reservedBytes = 0L

  /** The keys that were offered, one after another, and where each ends. */
  private var offeredWords = new Array[Long](KeyNumbers.Together)
  private val offeredEnds = new Array[Int](KeyNumbers.Together)
  private val hashes = new Array[Int](KeyNumbers.Together)
  private var offeredKey: UnsafeRow = _

  /** The number of keys that were offered and have no number yet. */
  var offered = 0

  /** The number of a key. Without columns, there is one key. */
  def of(key: UnsafeRow): Int =
    if (key.numFields == 0 && keys.size > 0) 0 else keys.findOrAdd(key)

  /** Takes a key, whose number [[numberOffered]] finds. Call that when [[isFull]]. */
  def offer(key: UnsafeRow): Unit = {
    if (offeredKey == null) offeredKey = new UnsafeRow(key.numFields)
    val (from, words) = (wordsOffered, key.getSizeInBytes / 8)
    if (from + words > offeredWords.length)
      offeredWords = Arrays.copyOf(offeredWords, math.max(from + words, 2 * offeredWords.length))
    key.writeToMemory(offeredWords, Platform.LONG_ARRAY_OFFSET + 8L * from)
    hashes(offered) = key.hashCode
    offeredEnds(offered) = from + words
    offered += 1
  }

  /**
   * Writes the numbers of the keys of `n` rows of a batch, from row `first` on, into an array. There
   * must be room for them, and no key may be offered.
   */
  def numberAll(
      batch: RowBatch,
      words: KeyWords,
      first: Int,
      n: Int,
      numbers: Array[Int],
      from: Int): Unit = {
    if (offeredKey == null) offeredKey = new UnsafeRow(words.fields)
    var done = 0
    while (done < n) {
      val some = math.min(KeyNumbers.Together, n - done)
      offerAll(batch, words, first + done, some)
      numberOffered(numbers, from + done)
      done += some
    }
  }

  private def offerAll(batch: RowBatch, words: KeyWords, first: Int, n: Int): Unit = {
    val width = words.width
    if (offeredWords.length < n * width) offeredWords = new Array[Long](n * width)
    words.copy(batch, first, n, offeredWords)
    offered = n
    var i = 0
    while (i < n) {
      offeredEnds(i) = (i + 1) * width
      pointTo(i * width, offeredEnds(i))
      hashes(i) = offeredKey.hashCode
      i += 1
    }
  }

  /** Makes [[offeredKey]] the key with these offered words. */
  private def pointTo(start: Int, end: Int): Unit = offeredKey.pointTo(
    offeredWords,
    Platform.LONG_ARRAY_OFFSET + 8L * start,
    8 * (end - start))

  /** True if no more keys can be offered. */
  def isFull: Boolean = offered == KeyNumbers.Together || wordsOffered >= KeyNumbers.MostWords

  /** Writes the numbers of the keys that were offered into an array, from an index on. */
  def numberOffered(numbers: Array[Int], from: Int): Unit = if (offered > 0) {
    if (offeredKey.numFields == 0) Arrays.fill(numbers, from, from + offered, of(offeredKey))
    else lookUpOffered(numbers, from)
    offered = 0
  }

  private def lookUpOffered(numbers: Array[Int], from: Int): Unit = {
    keys.prefetch(hashes, offered)
    var start = 0
    var i = 0
    while (i < offered) {
      val end = offeredEnds(i)
      pointTo(start, end)
      numbers(from + i) = keys.findOrAdd(offeredKey, hashes(i))
      start = end
      i += 1
    }
  }

  private def wordsOffered: Int = if (offered == 0) 0 else offeredEnds(offered - 1)

  /**
   * Makes room for the keys that were offered and one more; false if memory for them is refused.
   */
  def hasRoom(): Boolean = hasRoom(offered + 1, wordsOffered)

  /**
   * Makes room for more keys; false if memory for them is refused.
   *
   * @param words the words of all these keys but the last one, which is not very long
   */
  def hasRoom(more: Int, words: Int): Boolean = {
    val wanted = keys.bytes(more, words) - reservedBytes
    wanted <= 0 || memory.tryReserve(wanted) && {
      reservedBytes += wanted
      keys.makeRoom(more, words)
      true
    }
  }

  /** Releases the memory of the keys, which are no longer needed. */
  def release(): Unit = {
    memory.release(reservedBytes)
    reservedBytes = 0
  }
}

private object KeyNumbers {

  /** The number of keys that are looked up together, unless they are long. */
  private val Together = 128
  private val MostWords = 1 << 14
}

/**
 * Keys in Spark's own row format, made of the columns of a batch.
 *
 * @param ordinals where the keys are in the batch
 * @param types the types of the keys, whole numbers
 */
private[periods] final class KeyWords(ordinals: Array[Int], types: Array[DataType]) {
  private val masks = types.map(HashedBatch.mask)
  private val flags = UnsafeRow.calculateBitSetWidthInBytes(ordinals.length) / 8

  def fields: Int = ordinals.length

  /** The number of words of a key. */
  def width: Int = flags + fields

  /** Copies the keys of `n` rows, from row `first` on, one after another. */
  def copy(batch: RowBatch, first: Int, n: Int, into: Array[Long]): Unit = {
    Arrays.fill(into, 0, n * width, 0L)
    var k = 0
    while (k < fields) { copyField(batch, k, first, n, into); k += 1 }
  }

  private def copyField(
      batch: RowBatch,
      key: Int,
      first: Int,
      n: Int,
      into: Array[Long]): Unit = {
    val (words, nulls) = (batch.words(ordinals(key)), batch.nulls(ordinals(key)))
    val (mask, step) = (masks(key), width)
    var row = 0
    var i = first
    while (i < first + n) {
      if (nulls == null || !nulls(i)) into(row + flags + key) = words(i) & mask
      else into(row + key / 64) |= 1L << key
      row += step
      i += 1
    }
  }
}

private[periods] object KeyWords {

  /** None if a key is not a whole number. */
  def of(ordinals: Array[Int], types: Seq[DataType]): Option[KeyWords] =
    Option.when(RowBatch.isLittleEndian && types.forall(HashedBatch.isWhole))(
      new KeyWords(ordinals, types.toArray))
}
