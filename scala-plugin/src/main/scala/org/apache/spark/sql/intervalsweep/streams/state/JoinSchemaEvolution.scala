// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import org.apache.spark.sql.catalyst.expressions.{
  Attribute, AttributeSet, UnsafeProjection, UnsafeRow
}
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side}
import org.apache.spark.unsafe.Platform

/**
 * The layout of one side's packed rows in the state of a query that had fewer columns:
 * {{{
 *   stored       flags key clock expiry endpoints  id  ts  te
 *   wanted       flags key clock expiry endpoints  id  ts  te  added     NULL in the stored rows
 * }}}
 *
 * @param fields the number of fields of a stored row
 * @param taken  the number of leading fields that a wanted row has in the same places
 */
case class JoinSchemaEvolution(fields: Int, taken: Int) {

  /** Converts stored rows to the wanted layout, in the same order. */
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

  /** Converts a stored row to the wanted layout. */
  def growing(wanted: Seq[Attribute]): UnsafeProjection =
    WindowSchemaEvolution.projection(0 until taken, wanted.map(_.dataType))
}

object JoinSchemaEvolution {

  /** The largest number of columns that a query may add to a side and still use its state. */
  private val MostAdded = 16

  /**
   * Fingerprint -> row layout, for every older form of this join whose state can be migrated. An
   * older form may lack some of the last columns.
   *
   * @param asked columns that every older form has
   * @param of    the fingerprints and the row layout for given numbers of columns per side. For all
   *              columns the first fingerprint is that of the join itself
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
