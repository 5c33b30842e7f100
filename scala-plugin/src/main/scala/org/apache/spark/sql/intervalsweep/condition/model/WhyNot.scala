// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.model

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.{ExistenceJoin, JoinType}

/**
 * The reason for which a join is left to Spark. The list of reasons is closed: each has a row in
 * `docs/reading-plans.md` and a test.
 *
 * @param explanation what prevents the sweep, as a clause
 * @param advice      what to change, if anything can be changed
 * @param conjunct    the part of the condition that causes the reason, if one part does
 */
sealed abstract class WhyNot(
    val explanation: String,
    val advice: String,
    val conjunct: Option[Expression] = None)
    extends Product with Serializable {

  /** The name of the reason in reports. */
  def name: String = productPrefix

  def message: String = s"$explanation: $advice"
}

object WhyNot {

  case object Disabled extends WhyNot(
        "IntervalSweep is disabled",
        "SET spark.sql.intervalsweep.enabled=true")

  case class JoinTypeNotSupported(joinType: JoinType) extends WhyNot(
        s"${nameOf(joinType)} joins cannot use IntervalSweepJoin",
        "use another join type, such as a LEFT OUTER join instead of a scalar subquery")

  case object NoCondition extends WhyNot(
        "the join has no condition, or Spark evaluates its condition after the join, as it does " +
          "for rand() and Python functions",
        "add a condition that compares the sides with <, <=, BETWEEN or an interval function")

  case class NoRange(others: Expression) extends WhyNot(
        "no inequality compares an expression of one side with an expression of the other, " +
          "or the inequality is below NOT or inside another function",
        "add an inequality or an interval function with AND",
        Some(others))

  case class Disjunction(alternatives: Expression) extends WhyNot(
        "its inequalities are alternatives (OR) that one IntervalSweepJoin cannot search",
        "write one join per alternative and combine them with UNION ALL; to return no pair " +
          "twice, add NOT coalesce(first alternative, false) to the second join",
        Some(alternatives))

  case class OnlyEqualities(equalities: Expression) extends WhyNot(
        "the sides are compared by equality only, for which Spark's own join is best; next to " +
          "keys and over strings, ALLEN_MEETS, ALLEN_MET_BY and ALLEN_EQUALS are equalities",
        "nothing to change",
        Some(equalities))

  case class WeakRange(inequality: Expression) extends WhyNot(
        "next to equality keys there is only one inequality, and Spark's own join on the keys is " +
          "at least as good",
        "add the other end of the range, use an interval function, or SET " +
          "spark.sql.intervalsweep.weakRanges=true",
        Some(inequality))

  case class UnsupportedEndpoint(expression: Expression, whole: Expression) extends WhyNot(
        s"${expression.sql} has the type ${expression.dataType.sql}, which has no 64-bit " +
          "encoding that keeps its order",
        "cast it to a number, a DATE, a TIMESTAMP or an INTERVAL, or to STRING COLLATE " +
          "UTF8_BINARY to compare bytes",
        Some(whole))

  case class NonDeterministic(expression: Expression) extends WhyNot(
        s"${expression.sql} is not deterministic",
        "compute the random value in a subquery below the join",
        Some(expression))

  case class CrossSide(expression: Expression, whole: Expression) extends WhyNot(
        s"${expression.sql} mixes columns of both sides and cannot be rewritten as a comparison " +
          "of one side with the other",
        "move all columns of one table to the same side of the comparison",
        Some(whole))

  case class MayFail(expression: Expression, whole: Expression) extends WhyNot(
        s"${expression.sql} raises an error for some values, and the other side does as well, so " +
          "neither can be computed for rows that the condition may not reach",
        "compute one of them in a subquery below the join, or use try_cast, try_add and the like, " +
          "which return NULL instead of an error",
        Some(whole))

  case class HintForbids(hint: String) extends WhyNot(
        s"the hint $hint asks for another join",
        "remove the hint")

  case object Streaming extends WhyNot(
        "Spark itself joins two streams if the condition names no relation and has equality keys " +
          "or no inequality; it also does so if the session got the extension by register",
        "use a relation such as ALLEN_OVERLAPS, or remove the equality keys, in a session that " +
          "was started with the extension")

  case object StreamByRanges extends WhyNot(
        "a stream is joined without keys with a table that is too large to broadcast",
        "add an equality key, add the hint BROADCAST for the table, or raise " +
          "spark.sql.intervalsweep.broadcastFactor")

  case class FurtherCondition(residual: Expression) extends WhyNot(
        "the nearest rows are searched by a value only, without equality keys, and a further " +
          "condition may lead the search through all rows",
        "add an equality key, or raise spark.sql.intervalsweep.broadcastFactor so that the right " +
          "side is broadcast",
        Some(residual))

  case object RealTime extends WhyNot(
        "a stream is joined with a table in real-time mode, which has no micro-batch to sort",
        "use another trigger, such as processingTime='1 second'")

  case class UnorderableKeys(expression: Expression, whole: Expression) extends WhyNot(
        s"the equality key ${expression.sql} has the type ${expression.dataType.sql}, by which " +
          "rows cannot be sorted",
        "compare one of its fields, or its text with COLLATE UTF8_BINARY",
        Some(whole))

  case object BroadcastStageOfOther extends WhyNot(
        "adaptive execution has already broadcast one side for another join",
        "nothing to change")

  /**
   * The name of a join type in reports. Spark has no SQL name for an existence join, which is an
   * EXISTS or IN that is only a part of a condition.
   */
  def nameOf(joinType: JoinType): String = joinType match {
    case _: ExistenceJoin => "EXISTENCE"
    case other => other.sql
  }
}
