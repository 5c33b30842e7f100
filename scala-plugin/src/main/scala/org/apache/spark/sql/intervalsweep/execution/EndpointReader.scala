// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute, Expression, MutableProjection, SpecificInternalRow
}
import org.apache.spark.sql.intervalsweep.condition.EncodedEndpoint
import org.apache.spark.sql.types.{
  DataType, DayTimeIntervalType, LongType, TimestampNTZType, TimestampType
}

/**
 * Reads the endpoints of one row after the other: from the row itself where all of them are columns
 * of 64 bits as they are.
 *
 * @param endpoints of LongType, over the columns `input`
 */
final class EndpointReader(endpoints: Seq[Expression], input: Seq[Attribute])
    extends (Int => Long) {

  /** Where the endpoints are in a row, if they are columns of 64 bits. */
  val columns: Option[Array[Int]] = EndpointReader.columns(endpoints, input)
  private val at = columns.getOrElse(endpoints.indices.toArray)
  private val computed = new SpecificInternalRow(endpoints.map(_ => LongType))
  private val project: MutableProjection =
    if (columns.isDefined) null else MutableProjection.create(endpoints, input).target(computed)
  private var row: InternalRow = _

  /** Goes on to a row; says whether none of its endpoints is NULL. */
  def read(row: InternalRow): Boolean = {
    this.row = if (project == null) row else { project(row); computed }
    var k = 0
    while (k < at.length && !this.row.isNullAt(at(k))) k += 1
    k == at.length
  }

  /** An endpoint of the row that was read, which is not NULL. */
  override def apply(slot: Int): Long = row.getLong(at(slot))
}

object EndpointReader {

  /** The positions of endpoints that are columns of 64 bits as they are; None if one is not. */
  private def columns(endpoints: Seq[Expression], input: Seq[Attribute]): Option[Array[Int]] = {
    val ordinals = endpoints.map {
      case EncodedEndpoint(a: Attribute) if isLong(a.dataType) =>
        input.indexWhere(_.exprId == a.exprId)
      case _ => -1
    }
    Option.unless(ordinals.contains(-1))(ordinals.toArray)
  }

  private def isLong(dataType: DataType): Boolean = dataType match {
    case LongType | TimestampType | TimestampNTZType | _: DayTimeIntervalType => true
    case _ => false
  }
}
