// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.partitioning

import org.apache.spark.sql.catalyst.expressions.{
  Add, Attribute, Expression, Literal, Murmur3Hash, Pmod, Remainder
}

/**
 * Says to which partitions a row goes: to one by a hash of its keys, or to some from there on.
 *
 * @param time by which rows of a key are spread, if they are
 */
private[streams] case class PartitionAssigner(
    keys: Seq[Attribute],
    time: Option[Attribute],
    fanout: Fanout,
    partitions: Int) {
  private val spread =
    if (fanout.partitions == 0) partitions else math.min(fanout.partitions, partitions)

  /** How many partitions each row goes to, which are next to each other. */
  val copies: Int = if (fanout.isSpread) 1 else spread

  /** The number of the first of them. */
  def first: Expression = {
    val ofKeys = if (keys.isEmpty) Literal(0) else hashed(keys, partitions)
    if (spread == 1 || !fanout.isSpread) ofKeys else beyond(ofKeys, hashed(time.toSeq, spread))
  }

  /** The number of the partition that is so many beyond another one. */
  def beyond(partition: Expression, by: Expression): Expression =
    Remainder(Add(partition, by), Literal(partitions))

  private def hashed(columns: Seq[Attribute], into: Int): Expression =
    Pmod(new Murmur3Hash(columns), Literal(into))
}
