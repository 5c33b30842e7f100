// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{BinaryExpression, Expression}
import org.apache.spark.sql.errors.QueryCompilationErrors
import org.apache.spark.sql.intervalsweep.QueryError
import org.apache.spark.sql.types.DataType

/**
 * The time of a row of a join: of a pair the later one of its rows', of a row without a match the
 * time from which on none can come any more. It stands for what
 * [[org.apache.spark.sql.intervalsweep.planner.streams.PairTimes]] makes of it, which knows the join.
 *
 * @param left  the column by which the rows of the left side come
 * @param right and of the right side
 */
case class PairEventTime(left: Expression, right: Expression) extends BinaryExpression
    with Placeholder {
  override def dataType: DataType = left.dataType
  override def prettyName: String = "pair_event_time"

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression): PairEventTime = copy(newLeft, newRight)

  override def unknown(): Nothing = fail(
    "it is the time of a row of a join: select it right above the join, of a column of its left " +
      "side and one of its right side that have one type, TIMESTAMP if the join is an outer one, " +
      "in a session that was started with the extension")

  def fail(why: String): Nothing =
    throw new QueryError(
      s"[INTERVALSWEEP_STREAM.NO_PAIR_TIME] The time of pairs $sql is not known: $why.",
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
         |    _FUNC_(left, right) - Of a pair of a join by intervals the later one of the times of its
         |      rows, which are columns of either side. Of a row without a match, in an outer join,
         |      the time from which on none can come any more, or its own if that is later.
         |      Over two streams the column has the watermark, so that an aggregate by it may follow.
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
