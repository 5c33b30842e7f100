// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.partitioning

import org.apache.spark.sql.catalyst.expressions.{
  Add, Attribute, Expression, Literal, Murmur3Hash, Pmod, Remainder
}

/**
 * Computes the state partitions of a row: one by a hash of its keys, or several consecutive ones.
 *
 * @param time the column by which the rows of a key are spread over partitions, if they are
 */
private[streams] case class PartitionAssigner(
    keys: Seq[Attribute],
    time: Option[Attribute],
    fanout: Fanout,
    partitions: Int) {
  private val spread =
    if (fanout.partitions == 0) partitions else math.min(fanout.partitions, partitions)

  /** The number of partitions that each row goes to. They are consecutive, modulo `partitions`. */
  val copies: Int = if (fanout.isSpread) 1 else spread

  /** The number of the first of these partitions. */
  def first: Expression = {
    val ofKeys = if (keys.isEmpty) Literal(0) else hashed(keys, partitions)
    if (spread == 1 || !fanout.isSpread) ofKeys else beyond(ofKeys, hashed(time.toSeq, spread))
  }

  /** The number of the partition `by` places after another one, modulo `partitions`. */
  def beyond(partition: Expression, by: Expression): Expression =
    Remainder(Add(partition, by), Literal(partitions))

  private def hashed(columns: Seq[Attribute], into: Int): Expression =
    Pmod(new Murmur3Hash(columns), Literal(into))
}
