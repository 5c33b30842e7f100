// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.nodes

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.trees.{CurrentOrigin, Origin}
import org.apache.spark.sql.intervalsweep.QueryError
import org.apache.spark.sql.types.DataType

/** What can be wrong with a query of valid-time relations: a closed list. */
object TemporalErrors {

  private val Class = "INTERVALSWEEP_SEQUENCED"

  /** The text of an error that a row raises when it is read. */
  def text(name: String, message: String): String = s"[$Class.$name] $message"

  def noSnapshotForm(construct: String, cure: String, where: Origin = CurrentOrigin.get): Nothing =
    fail("NO_SNAPSHOT_FORM", s"$construct has no snapshot form: $cure.", where)

  def outside(start: String, end: String): Nothing = fail(
    "OUTSIDE",
    s"A valid-time relation, with the period [$start, $end), is read outside of sequenced: read " +
      "it inside sequenced(TABLE(SELECT ...)).")

  def operatorOutside(operator: String): Nothing = fail(
    "OUTSIDE",
    s"$operator is an operator over valid-time relations: call it inside sequenced(TABLE(...)), or " +
      "say ts => and te =>, the names of the columns between which rows are valid.")

  def outerCte(): Nothing = fail(
    "OUTER_CTE",
    "The query inside sequenced reads a WITH of the query around it: put the WITH inside " +
      "TABLE(...), or make it a view.")

  def notMarked(): Nothing = fail(
    "NOT_MARKED",
    "The query inside sequenced reads no valid-time relation: mark one by " +
      "validtime(TABLE(t), 'ts', 'te').")

  def noPeriod(): Nothing = fail(
    "NOT_MARKED",
    "validtime was told no columns, and the table has no property validtime: say " +
      "validtime(TABLE(t), 'ts', 'te'), or ALTER TABLE t SET TBLPROPERTIES (validtime='ts,te').")

  def periodType(types: Seq[DataType], cure: String): Nothing = fail(
    "PERIOD_TYPE",
    s"Periods of ${types.map(_.sql).distinct.mkString(" and ")} cannot be compared: $cure.")

  def valueType(column: Attribute, operator: String): Nothing =
    valueType(s"the column `${column.name}`", column.dataType, operator)

  def valueType(value: String, dataType: DataType, operator: String): Nothing = fail(
    "VALUE_TYPE",
    s"$operator compares rows by $value, a ${dataType.sql}, whose values cannot be sorted: leave " +
      "it out, or turn it into something that can, such as its text.")

  def periodName(name: String): Nothing = fail(
    "PERIOD_NAME",
    s"The query returns a column `$name`, and the period's column has that name, too: say " +
      "names => array('valid_from', 'valid_to'), or give the column another name.")

  def length(message: String): Nothing = fail("LENGTH", message)

  /** Rows that are not there any more, or others, when they are read again. */
  def changedRows(): Nothing = fail(
    "CHANGED_ROWS",
    "The rows of a query over intervals were others when they were read again: write them to a " +
      "table, or cache them, and read that.")

  /** An argument of one of the functions that it cannot take. */
  def argument(function: String, name: String, wanted: String, found: String): Nothing =
    fail("ARGUMENT", s"$function takes $wanted as `$name`, and not $found.")

  private def fail(name: String, message: String, where: Origin = CurrentOrigin.get): Nothing =
    throw new QueryError(text(name, message), where)
}
