// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.packing

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/**
 * Rows, such as keys, that are numbered from 0 on in the order in which they are added. The rows
 * are in one array of words, one after another, and a hash table with open addressing finds them:
 * millions of objects would take several times the memory, and a cache miss each.
 *
 * Two rows are equal if they have the same bytes.
 */
private[execution] final class DistinctRows {
  import DistinctRows._

  private var words = Array.emptyLongArray
  private var used = 0

  /** The first word of each row, and the end of the last one. */
  private var starts = new Array[Int](1)

  /**
   * The hash of a row, and in the lower half one more than its number, at a place that the hash
   * determines; 0 if the place is empty.
   */
  private var places = Array.emptyLongArray
  private var arePlaced = true
  private var found: UnsafeRow = _

  /** Depends on all that [[prefetch]] has read, which would otherwise be optimized away. */
  private[packing] var prefetched = 0L

  /** The number of rows. */
  var size = 0

  /** A row; the object is reused for the next one. */
  def apply(number: Int): UnsafeRow = {
    val (from, end) = (starts(number), starts(number + 1))
    found.pointTo(words, Platform.LONG_ARRAY_OFFSET + 8L * from, 8 * (end - from))
    found
  }

  /** The number of a row; -1 if it was not added. */
  def find(row: UnsafeRow): Int =
    if (size == 0) -1
    else {
      place()
      places(placeOf(row, row.hashCode)).toInt - 1
    }

  /** The number of a row, which is added if it is not there. */
  def findOrAdd(row: UnsafeRow): Int = findOrAdd(row, row.hashCode)

  /** @param hash the hash of the row */
  def findOrAdd(row: UnsafeRow, hash: Int): Int = {
    makeRoom()
    place()
    val at = placeOf(row, hash)
    if (places(at) == 0) {
      append(row)
      places(at) = entry(hash, size)
    }
    places(at).toInt - 1
  }

  /**
   * Reads the memory that [[findOrAdd]] needs for rows with these hashes. The rows are looked up one
   * after another, and each would wait for its own reads. Here the processor has the reads of
   * several rows under way. Does nothing if the table is small enough for a processor's cache.
   */
  def prefetch(hashes: Array[Int], n: Int): Unit = if (places.length > CachedPlaces) {
    place()
    val mask = places.length - 1
    var sum = 0L
    var i = 0
    while (i < n) {
      val known = places(mixed(hashes(i)) & mask)
      sum +=
        (if ((known >> 32).toInt == hashes(i) && known != 0) words(starts(known.toInt - 1))
         else known)
      i += 1
    }
    prefetched = sum
  }

  /** Adds a row that is not there. */
  def add(row: UnsafeRow): Unit = {
    makeRoom()
    append(row)
    arePlaced = false
  }

  /** Removes the first `n` rows. The others get smaller numbers. */
  def removeFirst(n: Int): Unit = {
    val first = starts(n)
    System.arraycopy(words, first, words, 0, used - first)
    size -= n
    used -= first
    var i = 0
    while (i <= size) { starts(i) = starts(i + n) - first; i += 1 }
    arePlaced = false
  }

  def clear(): Unit = {
    size = 0
    used = 0
    Arrays.fill(places, 0L)
    arePlaced = true
  }

  /** Removes the rows and releases the arrays. */
  def free(): Unit = {
    clear()
    words = Array.emptyLongArray
    starts = new Array[Int](1)
    places = Array.emptyLongArray
  }

  /** The bytes of all arrays, after [[makeRoom]]. */
  def bytes(moreRows: Int = 1, moreWords: Int = 0): Long =
    8L * wordsWanted(moreWords) + RowBytes * rowsWanted(moreRows)

  /**
   * Makes room for more rows.
   *
   * @param moreWords the words of all these rows but the last one, which is not very long
   */
  def makeRoom(moreRows: Int = 1, moreWords: Int = 0): Unit = {
    val wanted = wordsWanted(moreWords)
    if (words.length < wanted) words = Arrays.copyOf(words, wanted)
    val rows = rowsWanted(moreRows)
    if (rows >= starts.length) {
      starts = Arrays.copyOf(starts, rows + 1)
      val old = places
      places = new Array[Long](PlacesPerRow * rows)
      if (arePlaced) putAll(old)
    }
  }

  /** In this order, both tables are read and written from the beginning to the end. */
  private def putAll(entries: Array[Long]): Unit = {
    var i = 0
    while (i < entries.length) {
      if (entries(i) != 0) put(entries(i))
      i += 1
    }
  }

  private def wordsWanted(more: Int): Int = {
    val least = used + more + WordsOfRow
    if (least <= words.length) words.length
    else math.max(FirstWords, math.max(doubled(words.length), least))
  }

  private def rowsWanted(more: Int): Int =
    if (size + more < starts.length) starts.length - 1
    else math.max(FirstRows, doubled(starts.length - 1))

  private def append(row: UnsafeRow): Unit = {
    val length = row.getSizeInBytes / 8
    if (used + length > words.length)
      words = Arrays.copyOf(words, math.max(doubled(words.length), used + length))
    Platform.copyMemory(
      row.getBaseObject,
      row.getBaseOffset,
      words,
      Platform.LONG_ARRAY_OFFSET + 8L * used,
      8L * length)
    used += length
    size += 1
    starts(size) = used
    if (found == null || found.numFields != row.numFields) found = new UnsafeRow(row.numFields)
  }

  /** Puts all rows into the table, if some are not there. */
  private def place(): Unit = if (!arePlaced) {
    Arrays.fill(places, 0L)
    var i = 0
    while (i < size) { put(entry(apply(i).hashCode, i + 1)); i += 1 }
    arePlaced = true
  }

  private def put(entry: Long): Unit = {
    val mask = places.length - 1
    var at = mixed((entry >> 32).toInt) & mask
    while (places(at) != 0) at = (at + 1) & mask
    places(at) = entry
  }

  /** The place of a row, which is empty if the row is not there. */
  private def placeOf(row: UnsafeRow, hash: Int): Int = {
    val mask = places.length - 1
    var at = mixed(hash) & mask
    var known = places(at)
    while (known != 0 && !((known >> 32).toInt == hash && isRow(known.toInt - 1, row))) {
      at = (at + 1) & mask
      known = places(at)
    }
    at
  }

  private def isRow(number: Int, row: UnsafeRow): Boolean = {
    val from = starts(number)
    val length = starts(number + 1) - from
    length == row.getSizeInBytes / 8 && {
      val (base, offset) = (row.getBaseObject, row.getBaseOffset)
      var i = 0
      while (i < length && words(from + i) == Platform.getLong(base, offset + 8L * i)) i += 1
      i == length
    }
  }
}

private object DistinctRows {
  private val FirstWords = 1024
  private val FirstRows = 256

  /** The words of a row, unless it is very long. */
  private val WordsOfRow = 64

  /** At most half of the places are in use. */
  private val PlacesPerRow = 2

  /** A table of so many places, with its rows, takes about a quarter of a megabyte. */
  private val CachedPlaces = 1 << 14

  /** The bytes of a row in addition to its words: its start and its places. */
  private val RowBytes = 4L + 8 * PlacesPerRow

  private def entry(hash: Int, number: Int): Long = hash.toLong << 32 | number

  /** Fibonacci hashing: near hashes get places that are far apart. */
  private def mixed(hash: Int): Int = {
    val spread = hash * 0x9e3779b9
    spread ^ (spread >>> 15)
  }

  private def doubled(length: Int): Int =
    if (length > Int.MaxValue / 4) Int.MaxValue / 2 else 2 * length
}
