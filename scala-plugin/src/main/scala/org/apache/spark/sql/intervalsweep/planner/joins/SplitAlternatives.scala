// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.joins

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern

/**
 * An optimizer rule: a join on alternatives (OR) that need different orders of one side becomes a
 * join for each alternative, unless one join can sweep them with bounded lead axes:
 * {{{
 *   a JOIN b ON p OR q             a JOIN b ON p  UNION ALL  a JOIN b ON NOT p AND q
 *   a LEFT JOIN b ON p OR q        the same  UNION ALL  the rows of a without a match, with NULLs
 *   a LEFT SEMI JOIN b ON p OR q   the rows of a for which p or q has a match
 *   a LEFT ANTI JOIN b ON p OR q   (a LEFT ANTI JOIN b ON p) LEFT ANTI JOIN b ON q
 * }}}
 * `NOT p` is true also if p is NULL. So no pair is found twice.
 *
 * Both inputs are computed for each alternative. So the rule leaves joins of inputs alone that may
 * differ from run to run, such as those with LIMIT.
 */
object SplitAlternatives extends Rule[LogicalPlan] with PredicateHelper {

  private val MostAlternatives = 4

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformUpWithPruning(_.containsAllPatterns(TreePattern.JOIN, TreePattern.OR)) {
      case join: Join if isCandidate(join) =>
        alternatives(join).flatMap(split(join, _)).getOrElse(join)
    }

  private def isCandidate(join: Join): Boolean =
    join.condition.exists(_.deterministic) && !join.isStreaming &&
      Seq(join.left, join.right).forall(isRepeatable) && !IntervalSweepStrategy.isBounded(join)

  private def isRepeatable(plan: LogicalPlan): Boolean = plan.deterministic && !plan.exists {
    case _: GlobalLimit | _: LocalLimit | _: Offset | _: Tail | _: Sample | _: Window => true
    case _ => false
  }

  /** The conditions of the joins: each pair is true for one of them at most. */
  private def alternatives(join: Join): Option[Seq[Expression]] = {
    val conjuncts = join.condition.toSeq.flatMap(splitConjunctivePredicates)
    conjuncts.iterator.flatMap { either =>
      val several = splitDisjunctivePredicates(either)
      val others = conjuncts.filterNot(_ eq either)
      val conditions = several.zipWithIndex.map { case (alternative, i) =>
        val earlier = several.take(i).map(e => Not(Coalesce(Seq(e, Literal.FalseLiteral))))
        (others ++ earlier :+ alternative).reduce(And)
      }
      val areSwept = several.length > 1 && several.length <= MostAlternatives &&
        several.forall(a => isBetter(join, (others :+ a).reduce(And)))
      Option.when(areSwept)(conditions)
    }.nextOption()
  }

  /** Whether a join of one alternative has bounded sweeps, or at least sweeps if the join has none. */
  private def isBetter(join: Join, condition: Expression): Boolean = {
    val one = join.copy(joinType = Inner, condition = Some(condition))
    IntervalSweepStrategy.isBounded(one) ||
    !IntervalSweepStrategy.isSwept(join) && IntervalSweepStrategy.isSwept(one)
  }

  private def split(join: Join, conditions: Seq[Expression]): Option[LogicalPlan] = {
    lazy val pairs = conditions.map(c => join.copy(joinType = Inner, condition = Some(c)))
    join.joinType match {
      case Inner | Cross => Some(union(pairs))
      case LeftOuter => Some(union(pairs :+ alone(join, conditions, ofLeft = true)))
      case RightOuter => Some(union(pairs :+ alone(join, conditions, ofLeft = false)))
      case FullOuter => Some(union(
          pairs ++ Seq(true, false).map(side => alone(join, conditions, ofLeft = side))))
      case LeftAnti => Some(unmatched(join.left, join.right, conditions, join.hint))
      case LeftSemi => Some(matched(join, conditions))
      case _ => None
    }
  }

  private def union(parts: Seq[LogicalPlan]): LogicalPlan =
    Union(parts.head +: parts.tail.map(part =>
      Project(part.output.map(a => Alias(a, a.name)()), part)))

  /** The rows of one side that match nothing, with NULL for the columns of the other side. */
  private def alone(join: Join, conditions: Seq[Expression], ofLeft: Boolean): LogicalPlan = {
    val (own, other) = if (ofLeft) (join.left, join.right) else (join.right, join.left)
    val rows = unmatched(own, other, conditions, JoinHint.NONE)
    val columns = (join.left.output ++ join.right.output).map { a =>
      if (own.outputSet.contains(a)) a else Alias(Literal(null, a.dataType), a.name)()
    }
    Project(columns, rows)
  }

  private def unmatched(
      rows: LogicalPlan,
      other: LogicalPlan,
      conditions: Seq[Expression],
      hint: JoinHint): LogicalPlan =
    conditions.foldLeft(rows)((left, c) => Join(left, other, LeftAnti, Some(c), hint))

  private def matched(join: Join, conditions: Seq[Expression]): LogicalPlan = {
    val exists = conditions.map(_ =>
      AttributeReference("exists", org.apache.spark.sql.types.BooleanType, nullable = false)())
    val marked = conditions.zip(exists).foldLeft(join.left) { case (left, (condition, e)) =>
      Join(left, join.right, ExistenceJoin(e), Some(condition), join.hint)
    }
    Project(join.left.output, Filter(exists.reduce[Expression](Or), marked))
  }
}
