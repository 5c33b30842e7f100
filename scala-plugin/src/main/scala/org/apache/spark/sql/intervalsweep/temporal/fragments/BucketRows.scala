// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.fragments

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, Generator, Literal, RaiseError}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.trees.TernaryLike
import org.apache.spark.sql.intervalsweep.temporal.nodes.TemporalErrors
import org.apache.spark.sql.types._

/**
 * A row for each bucket that a period overlaps: the common part, the bucket, and the share of the
 * bucket that the part covers. The rows are made one by one, so that a long period takes no memory.
 *
 * @param from the start of the period; it raises the error for periods that are not bounded
 * @param zero the start of a bucket
 * @param most the most buckets of one period
 */
private[temporal] case class BucketRows(
    from: Expression,
    to: Expression,
    zero: Expression,
    grid: BucketGrid,
    most: Long)
    extends Expression with Generator with CodegenFallback with TernaryLike[Expression] {

  override def first: Expression = from
  override def second: Expression = to
  override def third: Expression = zero

  override def elementSchema: StructType = BucketRows.Edges
    .foldLeft(new StructType())(_.add(_, LongType, nullable = false))
    .add("share", DoubleType, nullable = false)

  override def eval(input: InternalRow): IterableOnce[InternalRow] = {
    val start = from.eval(input).asInstanceOf[Long]
    val end = to.eval(input).asInstanceOf[Long]
    val origin = zero.eval(input).asInstanceOf[Long]
    val count = grid.count(start, end, origin)
    if (count > most) RaiseError(Literal(tooMany(count))).eval(input)
    grid.from(start, origin).takeWhile(_._1 < end).map { case bucket @ (bucketStart, bucketEnd) =>
      val part = (math.max(start, bucketStart), math.min(end, bucketEnd))
      val share = BucketRows.length(part) / BucketRows.length(bucket)
      InternalRow(part._1, part._2, bucketStart, bucketEnd, share)
    }
  }

  private def tooMany(count: Long): String = TemporalErrors.text(
    "LENGTH",
    s"A period has $count buckets, and max_buckets is $most: choose longer buckets, limit the " +
      "periods by period => array(a, b), or set max_buckets.")

  override protected def withNewChildrenInternal(
      newFrom: Expression,
      newTo: Expression,
      newZero: Expression): BucketRows = copy(from = newFrom, to = newTo, zero = newZero)
}

private[temporal] object BucketRows {

  /** The columns of the edges, as LONGs. */
  val Edges: Seq[String] = Seq("start", "end", "bucket_start", "bucket_end")

  /** The length of a period that is not empty. The difference may need 64 bits without a sign. */
  private def length(period: (Long, Long)): Double = {
    val exact = period._2 - period._1
    if (exact >= 0) exact.toDouble else (exact >>> 1).toDouble * 2
  }
}
