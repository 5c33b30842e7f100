// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.windows

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.intervalsweep.condition.conjuncts.InlineReplaceable
import org.apache.spark.sql.intervalsweep.planner.laterals.{LateralWindow, MatchOrder}
import org.apache.spark.sql.intervalsweep.planner.nodes.NearestMatches
import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors
import org.apache.spark.sql.intervalsweep.streams.windows.MatchedColumns

/**
 * Replaces [[NearestMatches]] of two streams by a stateful operator, that of window unions. It
 * returns the last rows of a window in place of their aggregates:
 * {{{
 *   NearestMatches left outer, o, p             TransformWithState [partition] WindowUnion, last 1
 *     p.id = o.id AND p.at <= o.at       ->       PartitionedBatches  o
 *     last 1 by p.at                              PartitionedBatches  p
 * }}}
 * It is a post-hoc rule of the analyzer, for Spark's own as-of joins. [[StreamWindows]] calls it for
 * subqueries.
 */
object StreamMatches extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.isStreaming || !plan.exists(isOfStreams)) plan
    else plan.resolveOperatorsDown {
      case Project(columns, node: NearestMatches) if isOfStreams(node) =>
        val needed = AttributeSet(columns.flatMap(_.references))
        val rows = planned(node, node.right.output.filter(needed.contains))
        Project(columns.map(withoutWatermark(_, rows)), rows)
      case node: NearestMatches if isOfStreams(node) => planned(node, node.right.output)
    }.resolveOperatorsUp { case node => withMetadataOf(node.children.flatMap(_.output), node) }

  private def isOfStreams(plan: LogicalPlan): Boolean = plan match {
    case node: NearestMatches =>
      node.resolved && node.left.isStreaming && node.right.isStreaming
    case _ => false
  }

  /** A column over the rows of the operator, without the watermark that it may have lost there. */
  private def withoutWatermark(column: NamedExpression, rows: LogicalPlan): NamedExpression =
    column match {
      case alias: Alias if alias.explicitMetadata.isDefined =>
        val isKept = rows.output.exists(a =>
          a.semanticEquals(alias.child) &&
            StreamOperator.hasWatermark(a))
        val metadata = alias.explicitMetadata.get
        val own = if (isKept) metadata else StreamOperator.withoutWatermark(metadata)
        alias.copy()(alias.exprId, alias.qualifier, Some(own), alias.nonInheritableMetadataKeys)
      case other => other
    }

  /** Nodes above are resolved already: their references have the metadata from before. */
  private def withMetadataOf(input: Seq[Attribute], node: LogicalPlan): LogicalPlan = {
    val now = AttributeMap(input.map(a => a -> a))
    node.transformExpressions {
      case a: AttributeReference if now.get(a).exists(_.metadata != a.metadata) =>
        a.withMetadata(now(a).metadata)
    }
  }

  /** @param needed the columns of the right side that are returned */
  private def planned(node: NearestMatches, needed: Seq[Attribute]): LogicalPlan = {
    if (node.center.isDefined) StreamErrors.unsupported(
      "The nearest row in both directions",
      "join with the last row at or before, or with the first row at or after within a tolerance")
    val conjuncts = splitConjunctivePredicates(node.condition)
      .map(InlineReplaceable(_)).filter(_ != TrueLiteral)
    val (ofLeft, others) = conjuncts.partition(c =>
      c.deterministic && c.references.nonEmpty && c.references.subsetOf(node.left.outputSet))
    val lateral = LateralWindow(
      results = Nil,
      onlyIf(ofLeft, others, node),
      node.right,
      output = Nil,
      having = None,
      Some(MatchOrder(node.value, node.fromEnd, node.ties, node.count)))
    val matched = MatchedColumns(needed, isOuter = node.joinType == LeftOuter)
    new WindowUnionPlan(node.left, lateral, Some(matched)).plan
  }

  /**
   * The conditions of a join, without those on left rows alone. A left row for which one of them is
   * not true has a NULL key, and so no match.
   */
  private def onlyIf(
      ofLeft: Seq[Expression],
      others: Seq[Expression],
      node: NearestMatches): Seq[Expression] =
    ofLeft.reduceOption(And).fold(others) { condition =>
      val isTrue = If(condition, TrueLiteral, Literal(null, TrueLiteral.dataType))
      others :+ EqualTo(isTrue, IsNotNull(node.value))
    }
}
