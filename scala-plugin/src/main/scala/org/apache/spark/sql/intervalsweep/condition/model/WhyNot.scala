// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.model

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.{ExistenceJoin, JoinType}

/**
 * Why a join is left to Spark: a closed list.
 *
 * @param explanation what stands in the way
 * @param advice      what to change, if anything can be
 * @param conjunct    the part of the condition that it is about, if it is about one
 */
sealed abstract class WhyNot(
    val explanation: String,
    val advice: String,
    val conjunct: Option[Expression] = None)
    extends Product with Serializable {

  /** What reports call it. */
  def name: String = productPrefix

  def message: String = s"$explanation: $advice"
}

object WhyNot {

  case object Disabled extends WhyNot(
        "IntervalSweep is switched off",
        "SET spark.sql.intervalsweep.enabled=true")

  case class JoinTypeNotSupported(joinType: JoinType) extends WhyNot(
        s"${nameOf(joinType)} joins are not swept",
        "write another one, such as a LEFT OUTER join in place of a scalar subquery")

  case object NoCondition extends WhyNot(
        "the join has no condition, or one that Spark looks at after the join, as it does with " +
          "rand() and Python functions",
        "add one that compares the two sides with <, <=, BETWEEN or an interval function")

  case class NoRange(others: Expression) extends WhyNot(
        "no inequality compares an expression of one side with an expression of the other, " +
          "or it is below NOT or another function",
        "add one, or an interval function, with AND",
        Some(others))

  case class Disjunction(alternatives: Expression) extends WhyNot(
        "its inequalities are alternatives, below OR, that have no sweeps together",
        "join once with each alternative and put the results together by UNION ALL; to find no " +
          "pair twice, add NOT coalesce(the first alternative, false) to the second join",
        Some(alternatives))

  case class OnlyEqualities(equalities: Expression) extends WhyNot(
        "the sides are compared by nothing but equality, as ALLEN_MEETS, ALLEN_MET_BY and " +
          "ALLEN_EQUALS do beside keys and over text, which Spark's own join does best",
        "nothing to change",
        Some(equalities))

  case class WeakRange(inequality: Expression) extends WhyNot(
        "beside equality keys there is only one inequality, so that Spark's own join on the keys " +
          "is at least as good",
        "add the other end of the range, use an interval function, or SET " +
          "spark.sql.intervalsweep.weakRanges=true",
        Some(inequality))

  case class UnsupportedEndpoint(expression: Expression, whole: Expression) extends WhyNot(
        s"${expression.sql} is ${expression.dataType.sql}, which has no 64-bit encoding that " +
          "keeps its order",
        "cast it to a number, a DATE, a TIMESTAMP, an INTERVAL or, for the order of its bytes, a " +
          "STRING COLLATE UTF8_BINARY",
        Some(whole))

  case class NonDeterministic(expression: Expression) extends WhyNot(
        s"${expression.sql} is not deterministic",
        "compute what is random in a subquery below the join",
        Some(expression))

  case class CrossSide(expression: Expression, whole: Expression) extends WhyNot(
        s"${expression.sql} cannot be written as a comparison of an expression of one side with " +
          "an expression of the other",
        "move what belongs to one side to one side of the comparison",
        Some(whole))

  case class HintForbids(hint: String) extends WhyNot(
        s"the hint $hint asks for another join",
        "remove it")

  case object Streaming extends WhyNot(
        "two streams are joined by no relation, and by equality keys or without a range, which " +
          "is left to Spark's own operator; or the session took the extension by register",
        "write a relation such as ALLEN_OVERLAPS, or leave out the equality keys, in a session that " +
          "was started with the extension")

  case object StreamByRanges extends WhyNot(
        "a stream is joined without keys with a table that is too large to broadcast",
        "add an equality key, hint BROADCAST of the table, or raise " +
          "spark.sql.intervalsweep.broadcastFactor")

  case object RealTime extends WhyNot(
        "a stream is joined with a table in real-time mode, in which there is no batch to sweep",
        "use another trigger, such as processingTime='1 second'")

  case class UnorderableKeys(expression: Expression, whole: Expression) extends WhyNot(
        s"the equality key ${expression.sql} is ${expression.dataType.sql}, by which rows cannot " +
          "be sorted",
        "compare a part of it, or its text",
        Some(whole))

  case object BroadcastStageOfOther extends WhyNot(
        "adaptive execution has already broadcast one side for another join",
        "nothing to change")

  /** Spark has no SQL for the join of an EXISTS or IN that is only a part of a condition. */
  def nameOf(joinType: JoinType): String = joinType match {
    case _: ExistenceJoin => "EXISTENCE"
    case other => other.sql
  }
}
