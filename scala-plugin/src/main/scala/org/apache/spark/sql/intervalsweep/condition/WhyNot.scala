package org.apache.spark.sql.intervalsweep.condition

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.types.DataType

/**
 * Why a join is left to Spark: a closed list. Each message says what to change, if anything can
 * be.
 */
sealed abstract class WhyNot(val message: String)

object WhyNot {

  case object Disabled extends WhyNot(
        "IntervalSweep is switched off: SET spark.sql.intervalsweep.enabled=true")

  case class JoinTypeNotSupported(joinType: JoinType) extends WhyNot(
        s"${joinType.sql} joins are not swept: write an INNER join if the query allows it")

  case object NoCondition extends WhyNot(
        "the join has no condition: add one that compares the two sides with <, <=, BETWEEN " +
          "or an interval function")

  case object NoRange extends WhyNot(
        "no inequality compares an expression of one side with an expression of the other: " +
          "add one, or an interval function")

  case class OnlyEqualities(function: String) extends WhyNot(
        s"$function is nothing but equalities, which Spark's own join does best: nothing to change")

  case object WeakRange extends WhyNot(
        "beside equality keys there is only one inequality, so that Spark's own join on the keys " +
          "is at least as good: add the other end of the range, or use an interval function")

  case class UnsupportedEndpoint(expression: Expression, dataType: DataType) extends WhyNot(
        s"${expression.sql} is ${dataType.sql}, which has no 64-bit encoding that keeps its " +
          "order: cast it to a number, a DECIMAL of at most 18 digits, a DATE, a TIMESTAMP " +
          "or an INTERVAL")

  case class NonDeterministic(expression: Expression) extends WhyNot(
        s"${expression.sql} is not deterministic: compute it in a subquery below the join")

  case class CrossSide(expression: Expression) extends WhyNot(
        s"${expression.sql} cannot be written as a comparison of an expression of one side with " +
          "an expression of the other: move what belongs to one side to one side of the comparison")

  case class HintForbids(hint: String) extends WhyNot(
        s"the hint $hint asks for another join: remove it")

  case object Streaming extends WhyNot(
        "the join reads a stream: only joins of bounded inputs are swept")

  case class UnorderableKeys(expression: Expression, dataType: DataType) extends WhyNot(
        s"the equality key ${expression.sql} is ${dataType.sql}, by which rows cannot be sorted: " +
          "compare a part of it, or its text")

  case object BroadcastStageOfOther extends WhyNot(
        "adaptive execution has already broadcast one side for another join: nothing to change")
}
