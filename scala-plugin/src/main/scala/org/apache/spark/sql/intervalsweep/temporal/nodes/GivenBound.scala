// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.nodes

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.condition.expressions.PeriodEndpoint
import org.apache.spark.sql.types.DataType

/**
 * A constant bound in the call of a table function, such as an instant or the origin of windows. A
 * NULL that is written means that there is no bound. A value that becomes NULL is an error, such as
 * text that is not a date: else the call would silently have no bound.
 *
 * @param option the option that has the bound
 */
private[temporal] case class GivenBound(function: String, option: String, dataType: DataType) {

  /** The bound in the type of the periods. */
  def typed(bound: Expression): Expression = {
    val value =
      if (bound.dataType == dataType) bound
      else Cast(bound, dataType, Some(SQLConf.get.sessionLocalTimeZone))
    if (!isWrittenNull(value) && GivenBound.evaluable(value).exists(_.eval() == null)) fail(bound)
    value
  }

  /** A start and an end, in this order. */
  def ordered(from: Expression, to: Expression): (Expression, Expression) = {
    val bounds = (typed(from), typed(to))
    val numbers = for {
      start <- GivenBound.evaluable(bounds._1)
      end <- GivenBound.evaluable(bounds._2)
    } yield (number(start, isEnd = false), number(end, isEnd = true))
    if (numbers.exists { case (start, end) => start > end })
      TemporalErrors.argument(
        function,
        option,
        "array(a, b) with a before b",
        s"array(${from.sql}, ${to.sql})")
    bounds
  }

  /** A start and an end in this order, both of which are values. */
  def values(from: Expression, to: Expression): (Expression, Expression) = {
    Seq(from, to).filter(isWrittenNull).foreach(fail)
    ordered(from, to)
  }

  private def number(end: Expression, isEnd: Boolean): Long =
    PeriodEndpoint(end, isEnd).eval().asInstanceOf[Long]

  private def isWrittenNull(e: Expression): Boolean = e match {
    case Cast(child, _, _, _) => isWrittenNull(child)
    case Literal(value, _) => value == null
    case _ => false
  }

  private def fail(bound: Expression): Nothing = TemporalErrors.argument(
    function,
    option,
    s"of ${dataType.sql} and not NULL",
    s"${bound.sql}, which is NULL")
}

private[temporal] object GivenBound {

  /** A constant that can be evaluated now. The current time is one that only the optimizer knows. */
  def evaluable(e: Expression): Option[Expression] = {
    val plain = e.transform { case r: RuntimeReplaceable => r.replacement }
    Option.unless(plain.exists(_.isInstanceOf[Unevaluable]))(plain)
  }
}
