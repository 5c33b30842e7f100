// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.streams

import org.apache.spark.sql.catalyst.expressions.{
  Alias, Attribute, AttributeSet, Expression, NamedExpression
}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.intervalsweep.condition.conjuncts.Conjuncts
import org.apache.spark.sql.intervalsweep.streams.partitioning.OperatorOutput
import org.apache.spark.sql.intervalsweep.streams.state.PartitionProcessor
import org.apache.spark.sql.streaming.OutputMode

/**
 * The rows of a plan contain revisions: a row of a window union may occur more than once.
 *
 * @param marks  the columns that tell revisions apart: their number, and whether they are final
 * @param finals the columns that say whether a revision is final
 */
private[streams] case class Revisions(marks: AttributeSet, finals: AttributeSet) {

  /** Whether the operator tells revisions apart, by its keys or in all of its functions. */
  def areReadBy(operator: LogicalPlan): Boolean = operator match {
    case node: Aggregate =>
      val functions =
        node.aggregateExpressions.flatMap(_.collect { case f: AggregateExpression => f })
      node.groupingExpressions.exists(reads) || (functions.nonEmpty && functions.forall(reads))
    case node: Deduplicate => node.keys.exists(reads)
    case node: DeduplicateWithinWatermark => node.keys.exists(reads)
    case Distinct(child) => child.output.exists(reads)
    case join: Join => join.condition.exists(reads)
    case _ => false
  }

  private def reads(e: Expression): Boolean = e.references.exists(marks.contains)

  private def dropsOthers(condition: Expression): Boolean =
    Conjuncts.of(condition).map(_.expression).exists {
      case column: Attribute => finals.contains(column)
      case _ => false
    }

  private def under(columns: Seq[NamedExpression]): Revisions = {
    val copies = columns.collect { case a @ Alias(column: Attribute, _) => column -> a.toAttribute }
    def more(known: AttributeSet) =
      known ++ AttributeSet(copies.collect {
        case (column, copy) if known.contains(column) => copy
      })
    Revisions(more(marks), more(finals))
  }

  private def and(other: Revisions): Revisions =
    Revisions(marks ++ other.marks, finals ++ other.finals)
}

private[streams] object Revisions {

  /** Whether a node emits revisions of its rows. */
  def areEmittedBy(node: TransformWithState): Boolean =
    (node.statefulProcessor: Any).isInstanceOf[PartitionProcessor] &&
      node.outputMode == OutputMode.Update()

  /** None if each row occurs once, for example below a filter by `window_is_final()`. */
  def of(plan: LogicalPlan): Option[Revisions] = plan match {
    case OperatorOutput(_, output, child)
        if child.collectFirst { case node: TransformWithState => node }.exists(areEmittedBy) =>
      Some(Revisions(AttributeSet(output.takeRight(2)), AttributeSet(output.lastOption)))
    case Filter(condition, child) => of(child).filterNot(_.dropsOthers(condition))
    case Project(columns, child) => of(child).map(_.under(columns))
    case union: Union =>
      val renamed = union.children.flatMap { child =>
        val same = child.output.zip(union.output).collect {
          case (a, b) if a.exprId != b.exprId => Alias(a, b.name)(exprId = b.exprId)
        }
        of(child).map(_.under(same))
      }
      renamed.reduceOption(_ and _)
    case _ => plan.children.flatMap(of).reduceOption(_ and _)
  }
}
