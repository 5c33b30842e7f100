// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import org.apache.spark.sql.catalyst.expressions.{
  Attribute, AttributeSet, UnsafeProjection, UnsafeRow
}
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side}
import org.apache.spark.unsafe.Platform

/**
 * How a side's packed rows were kept by a query that had fewer columns of it:
 * {{{
 *   kept then    flags key clock expiry endpoints  id  ts  te
 *   wanted       flags key clock expiry endpoints  id  ts  te  added     which is NULL in those rows
 * }}}
 *
 * @param fields how many fields a row had
 * @param taken  how many of them, from the first one on, are as they are now
 */
case class JoinSchemaEvolution(fields: Int, taken: Int) {

  /** Rows that were kept as rows that are wanted, in the same order. */
  def grown(rows: RowBuffer, wanted: Seq[Attribute]): RowBuffer = {
    val project = growing(wanted)
    val row = new UnsafeRow(fields)
    val grown = new RowBuffer
    (0 until rows.size).foreach { i =>
      row.pointTo(rows.data, Platform.BYTE_ARRAY_OFFSET.toLong + rows.offset(i), rows.length(i))
      grown.add(project(row))
    }
    grown
  }

  /** Of a row that was kept makes one that is wanted. */
  def growing(wanted: Seq[Attribute]): UnsafeProjection =
    WindowSchemaEvolution.projection(0 until taken, wanted.map(_.dataType))
}

object JoinSchemaEvolution {

  /** So many columns that have been added to a side are found by the fingerprints without them. */
  private val MostAdded = 16

  /**
   * By their fingerprints, other forms of a join and those without some of the last columns, whose
   * state is taken over.
   *
   * @param asked columns that those had already
   * @param of    the fingerprints, and how rows were kept, with so many columns of each side; of all
   *              columns the first fingerprint is the join's own
   */
  def all(output: Map[Side, Seq[Attribute]], asked: AttributeSet)(
      of: Map[Side, Int] => (Seq[Int], Map[Side, JoinSchemaEvolution]))
      : Map[Int, Map[Side, JoinSchemaEvolution]] = {
    def counts(side: Side): Seq[Int] = {
      val most = output(side).size
      math.max(1 + output(side).lastIndexWhere(asked.contains), most - MostAdded) to most
    }
    val found = for {
      l <- counts(LeftSide)
      r <- counts(RightSide)
      (fingerprints, rows) = of(Map(LeftSide -> l, RightSide -> r))
      fingerprint <- fingerprints
    } yield fingerprint -> rows
    found.toMap - of(output.map { case (side, columns) => side -> columns.size })._1.head
  }
}
