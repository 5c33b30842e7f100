// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.nodes

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.trees.{CurrentOrigin, Origin}
import org.apache.spark.sql.intervalsweep.QueryError
import org.apache.spark.sql.types.DataType

/** The errors of queries over valid-time relations: a closed list. */
object TemporalErrors {

  private val Class = "INTERVALSWEEP_SEQUENCED"

  /** The text of an error that is raised while rows are read. */
  def text(name: String, message: String): String = s"[$Class.$name] $message"

  def noSnapshotForm(construct: String, cure: String, where: Origin = CurrentOrigin.get): Nothing =
    fail(
      "NO_SNAPSHOT_FORM",
      s"$construct is not supported over valid-time relations: $cure.",
      where)

  def outside(start: String, end: String): Nothing = fail(
    "OUTSIDE",
    s"The valid-time relation with the period [$start, $end) can be read only inside sequenced: " +
      "write sequenced(TABLE(SELECT ...)).")

  def operatorOutside(operator: String): Nothing = fail(
    "OUTSIDE",
    s"$operator needs valid-time relations: call it inside sequenced(TABLE(...)), or name the " +
      "columns of the period by ts => and te =>.")

  def outerCte(): Nothing = fail(
    "OUTER_CTE",
    "The query inside sequenced reads a WITH clause of the outer query: put the WITH inside " +
      "TABLE(...), or create a view.")

  def notMarked(): Nothing = fail(
    "NOT_MARKED",
    "The query inside sequenced reads no valid-time relation: mark a table by " +
      "validtime(TABLE(t), 'ts', 'te').")

  def noPeriod(): Nothing = fail(
    "NOT_MARKED",
    "validtime needs column names, as the table has no property validtime: write " +
      "validtime(TABLE(t), 'ts', 'te'), or ALTER TABLE t SET TBLPROPERTIES (validtime='ts,te').")

  def periodType(types: Seq[DataType], cure: String): Nothing = fail(
    "PERIOD_TYPE",
    s"Periods of ${types.map(_.sql).distinct.mkString(" and ")} are not supported: $cure.")

  def valueType(column: Attribute, operator: String): Nothing =
    valueType(s"the column `${column.name}`", column.dataType, operator)

  def valueType(value: String, dataType: DataType, operator: String): Nothing = fail(
    "VALUE_TYPE",
    s"$operator compares rows by $value, a ${dataType.sql}, whose values cannot be sorted: " +
      "remove it, or convert it to a type that can be sorted, such as STRING.")

  private val PeriodNames = Seq("valid_from", "valid_to", "ts", "te", "period_start", "period_end")
    .grouped(2).toSeq

  /** @param columns the names of the query's columns, which the error must not propose */
  def periodName(name: String, columns: Seq[String]): Nothing = {
    val free = PeriodNames.find(!_.exists(n => columns.exists(_.equalsIgnoreCase(n))))
    val names = free.getOrElse(PeriodNames.last).mkString("array('", "', '", "')")
    fail(
      "PERIOD_NAME",
      s"The result would have two columns `$name`: rename the column of the query, or name the " +
        s"columns of the period by names => $names.")
  }

  def unmarked(relation: String, period: Seq[String], where: Origin): Nothing = fail(
    "NOT_MARKED",
    s"$relation is not marked, but has the columns ${period.mkString(" and ")} of a period: mark " +
      s"it by validtime(TABLE(...), ${period.mkString("'", "', '", "'")}), in Python by " +
      "temporal.valid(...). If its rows are always valid, read it by a subquery in FROM that does " +
      "not return these columns.",
    where)

  def hiddenPeriod(column: String, start: String, end: String, where: Origin): Nothing = fail(
    "HIDDEN",
    s"The column `$column` is hidden, as it belongs to the period [$start, $end) of a valid-time " +
      "relation. Name it outside: SELECT ... FROM sequenced(TABLE(SELECT ...)) WHERE " +
      s"$column ...; restrict the history by at => or period =>; or copy the column before it is " +
      s"marked: validtime(TABLE(SELECT *, $column AS copy FROM t), '$start', '$end').",
    where)

  def length(message: String): Nothing = fail("LENGTH", message)

  /** Some rows were different, or missing, when they were read for the second time. */
  def changedRows(): Nothing = fail(
    "CHANGED_ROWS",
    "The rows of a query over intervals changed between two reads: write them to a table, or " +
      "cache them, and read the table or the cached rows.")

  /** An argument that a function does not accept. */
  def argument(function: String, name: String, wanted: String, found: String): Nothing =
    fail("ARGUMENT", s"`$name` of $function must be $wanted; got $found.")

  private def fail(name: String, message: String, where: Origin = CurrentOrigin.get): Nothing =
    throw new QueryError(text(name, message), where)
}
