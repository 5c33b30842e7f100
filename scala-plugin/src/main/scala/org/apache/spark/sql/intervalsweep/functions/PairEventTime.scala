// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{BinaryExpression, Expression}
import org.apache.spark.sql.errors.QueryCompilationErrors
import org.apache.spark.sql.intervalsweep.QueryError
import org.apache.spark.sql.types.DataType

/**
 * The event time of a row of a join. For a pair: the later of the times of its two rows. For an
 * unmatched row: the time from which on the row can have no match. The rule `PairTimes`, which
 * knows the join, replaces this placeholder.
 *
 * @param left  the event-time column of the left side
 * @param right the event-time column of the right side
 */
case class PairEventTime(left: Expression, right: Expression) extends BinaryExpression
    with Placeholder {
  override def dataType: DataType = left.dataType
  override def prettyName: String = "pair_event_time"

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression): PairEventTime = copy(newLeft, newRight)

  override def unknown(): Nothing = fail(
    "select it directly above the join, in a session that was started with the extension, with a " +
      "column of its left side and a column of its right side that have one type (TIMESTAMP for " +
      "an outer join)")

  def fail(why: String): Nothing =
    throw new QueryError(
      s"[INTERVALSWEEP_STREAM.NO_PAIR_TIME] The event time $sql is unknown: $why.",
      origin)
}

object PairEventTime {
  def description: SparkSessionExtensions#FunctionDescription = {
    val name = "pair_event_time"
    val build = (arguments: Seq[Expression]) =>
      arguments match {
        case Seq(left, right) => PairEventTime(left, right)
        case _ => throw QueryCompilationErrors.wrongNumArgsError(name, Seq(2), arguments.size)
      }
    val info = FunctionInfo(
      classOf[PairEventTime],
      name,
      "misc_funcs",
      """
         |    _FUNC_(left, right) - The event time of a row of an interval join, from the event-time
         |      columns of both sides. For a pair: the later of the two times. For an unmatched row of
         |      an outer join: the time from which on it can have no match, or its own time if that is
         |      later. Over two streams the column has a watermark, so an aggregate can group by it.
         |  """.stripMargin,
      examples =
        """
         |    Examples:
         |      > SELECT _FUNC_(a.ts, b.ts) FROM a LEFT JOIN b ON ALLEN_OVERLAPS(a.ts, a.te, b.ts, b.te);
         |       2024-01-01 09:00:00
         |  """.stripMargin)
    (FunctionIdentifier(name), info, build)
  }
}
