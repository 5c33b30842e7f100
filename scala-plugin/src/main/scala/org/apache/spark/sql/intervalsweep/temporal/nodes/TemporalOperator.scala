// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.nodes

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.{BinaryLike, UnaryLike}

/**
 * An operator of the algebra that SQL lacks. A `temporal_*` function puts it into the query's plan.
 */
sealed trait TemporalOperator extends LogicalPlan

case class TemporalSetOperation(rule: PeriodRule, left: LogicalPlan, right: LogicalPlan)
    extends TemporalOperator with BinaryLike[LogicalPlan] {

  override def output: Seq[Attribute] = left.output.zip(right.output).map { case (l, r) =>
    l.withNullability(l.nullable || r.nullable)
  }

  override protected def withNewChildrenInternal(
      newLeft: LogicalPlan,
      newRight: LogicalPlan): TemporalSetOperation = copy(left = newLeft, right = newRight)
}

case class TemporalCoalesce(child: LogicalPlan)
    extends TemporalOperator with UnaryLike[LogicalPlan] {
  override def output: Seq[Attribute] = child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): TemporalCoalesce =
    copy(child = newChild)
}

/**
 * The longest periods in which some row of equal keys is valid, and how many rows start in each of
 * them. In a part of the history, rows that start before the part, or with it, do not count.
 */
case class TemporalMerge(keys: Seq[Attribute], count: Attribute, child: LogicalPlan)
    extends TemporalOperator with UnaryLike[LogicalPlan] {
  override def output: Seq[Attribute] = keys :+ count
  override def producedAttributes: AttributeSet = AttributeSet(count)

  override protected def withNewChildInternal(newChild: LogicalPlan): TemporalMerge =
    copy(child = newChild)
}

/** Gives rows other periods, by a length. */
case class TemporalFragments(child: LogicalPlan, how: FragmentKind)
    extends TemporalOperator with UnaryLike[LogicalPlan] {
  override def output: Seq[Attribute] = child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): TemporalFragments =
    copy(child = newChild)
}

sealed abstract class FragmentKind extends Product with Serializable
object FragmentKind {

  /** Rows that touch become one, until its period is `length` long (Alg. 10). */
  case class Coalesce(length: Expression) extends FragmentKind

  /** Periods that are at most `length` long (Alg. 11). */
  case class Split(length: Expression) extends FragmentKind

  /** omega (9): a row is valid for `length` from its start on. */
  case class Sliding(length: Expression, onBounded: OnBounded) extends FragmentKind

  /** omega (10): a row is valid to the end of the window that contains its start. */
  case class Fixed(length: Expression, origin: Option[Expression], onBounded: OnBounded)
      extends FragmentKind
}

/** How a window treats a period that already has an end. */
sealed abstract class OnBounded(val name: String) extends Product with Serializable
object OnBounded {
  case object Replace extends OnBounded("replace")
  case object Error extends OnBounded("error")
  val all: Seq[OnBounded] = Seq(Replace, Error)
}
