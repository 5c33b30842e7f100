// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.packing

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.hash.Murmur3_x86_32

/**
 * Computes the partitions of the rows of a batch. They are those of Spark's exchange, since another
 * input of the same join may use that: Spark's hash of the keys, modulo the number of partitions.
 *
 * @param keys the fields that are keys
 * @param types the types of all fields
 */
private[packing] final class HashedBatch(
    keys: Array[Int],
    types: Array[DataType],
    numPartitions: Int) {
  private var hashes = Array.emptyIntArray

  /** For each field, the bits of a word in which Spark's row format has its value. */
  val masks: Array[Long] = types.map(HashedBatch.mask)

  /** The partition of each row. The array is reused for the next batch, and may be longer. */
  def partitions(batch: RowBatch): Array[Int] = {
    val n = batch.numRows
    if (hashes.length < n) hashes = new Array[Int](n)
    Arrays.fill(hashes, 0, n, HashedBatch.Seed)
    keys.foreach { key =>
      if (HashedBatch.bytes(types(key)) == 8) hashLongs(batch.words(key), batch.nulls(key), n)
      else hashInts(batch.words(key), batch.nulls(key), n)
    }
    var i = 0
    while (i < n) { hashes(i) = Math.floorMod(hashes(i), numPartitions); i += 1 }
    hashes
  }

  private def hashLongs(words: Array[Long], nulls: Array[Boolean], n: Int): Unit = {
    var i = 0
    while (i < n) {
      if (nulls == null || !nulls(i)) hashes(i) = Murmur3_x86_32.hashLong(words(i), hashes(i))
      i += 1
    }
  }

  private def hashInts(words: Array[Long], nulls: Array[Boolean], n: Int): Unit = {
    var i = 0
    while (i < n) {
      if (nulls == null || !nulls(i)) hashes(i) = Murmur3_x86_32.hashInt(words(i).toInt, hashes(i))
      i += 1
    }
  }
}

private[execution] object HashedBatch {

  /** The seed of Spark's hash partitioning. */
  private val Seed = 42

  /** None if a key is not a column of whole numbers: Spark's hash of other types is different. */
  private[packing] def of(
      partitioning: HashPartitioning,
      columns: Seq[Attribute]): Option[HashedBatch] = {
    val keys = partitioning.expressions.map {
      case key: Attribute if isWhole(key.dataType) => columns.indexWhere(_.exprId == key.exprId)
      case _ => -1
    }
    Option.when(RowBatch.isLittleEndian && !keys.contains(-1))(
      new HashedBatch(
        keys.toArray,
        columns.map(_.dataType).toArray,
        partitioning.numPartitions))
  }

  /** The bits of a word in which Spark's row format has a value of this type. */
  def mask(dataType: DataType): Long =
    if (bytes(dataType) == 8) -1L else (1L << 8 * bytes(dataType)) - 1

  private def bytes(dataType: DataType): Int = math.min(8, dataType.defaultSize)

  /** True if values of this type are whole numbers, or stored as such. */
  def isWhole(dataType: DataType): Boolean =
    RowBatch.isWord(dataType) && dataType != FloatType && dataType != DoubleType
}
