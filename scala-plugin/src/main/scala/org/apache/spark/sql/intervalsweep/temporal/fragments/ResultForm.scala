// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.fragments

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.intervalsweep.condition.expressions.{DecodedEndpoint, PeriodEndpoint}
import org.apache.spark.sql.intervalsweep.temporal.nodes.{Closed, GivenBound}
import org.apache.spark.sql.types.DataType

/**
 * The form of the periods that `sequenced` returns.
 *
 * @param closed    the ends that belong to a period
 * @param step      how far a closed end is from the next start; None for the smallest step
 * @param unbounded the value of an end that is unbounded, instead of NULL
 */
private[temporal] case class ResultForm(
    closed: Closed,
    step: Option[Expression],
    unbounded: Option[Expression]) {

  def start(value: Expression, dataType: DataType): Expression =
    if (closed.movesStart) earlier(PeriodEndpoint(value, isEnd = false), dataType) else value

  def end(value: Expression, dataType: DataType): Expression = {
    // The largest value of the type means unbounded.
    val number = PeriodEndpoint(value, isEnd = true)
    val shown =
      if (closed.movesEnd) earlier(number, dataType) else DecodedEndpoint(number, dataType)
    unbounded.fold(shown) { value =>
      Coalesce(Seq(shown, GivenBound("sequenced", "unbounded", dataType).typed(value)))
    }
  }

  private def earlier(number: Expression, dataType: DataType): Expression = {
    Closed.check(closed, dataType)
    val units = step.fold(1L)(PeriodLength(_, "step", dataType).units)
    val isUnbounded = In(number, Seq(Literal(Long.MinValue), Literal(Long.MaxValue)))
    val moved = If(isUnbounded, number, Subtract(number, Literal(units), EvalMode.LEGACY))
    DecodedEndpoint(moved, dataType)
  }
}

private[temporal] object ResultForm {

  /** Half-open periods, in which NULL means unbounded. */
  val HalfOpen: ResultForm = ResultForm(Closed.Left, None, None)
}
