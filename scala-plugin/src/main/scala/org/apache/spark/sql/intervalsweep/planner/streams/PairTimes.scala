// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.streams

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.intervalsweep.condition.model.JoinOutput
import org.apache.spark.sql.intervalsweep.condition.conjuncts.InlineReplaceable
import org.apache.spark.sql.intervalsweep.functions.PairEventTime
import org.apache.spark.sql.intervalsweep.streams.eventtime.PairTime
import org.apache.spark.sql.intervalsweep.streams.joins.StreamJoinProcessor
import org.apache.spark.sql.intervalsweep.streams.partitioning.OperatorOutput

/**
 * A resolution rule: replaces `pair_event_time` above a join by an expression over the rows of the
 * join, for tables and streams alike.
 * {{{
 *   SELECT ..., pair_event_time(a.ts, b.ts) AS at
 *   FROM a LEFT JOIN b ON ISEQL_BEFORE(a.ts, a.te, b.ts, b.te, delta => INTERVAL 5 SECONDS)
 *
 *   pair              greatest(a.ts, b.ts)
 *   unmatched row     greatest(a.ts, a.te + INTERVAL 5 SECONDS)
 * }}}
 * A join of streams emits a row in the first micro-batch whose watermark reaches this time, or
 * earlier. So downstream operators do not drop the row as late. The watermark is then on this
 * column only, because Spark's stateful operators expect a single column with a watermark.
 */
object PairTimes extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!conf.getConf(IntervalSweepConf.Enabled)) plan
    else plan.resolveOperatorsUp {
      case node: UnaryNode if node.childrenResolved && node.expressions.exists(isKnown) =>
        below(node.child).fold[LogicalPlan](node)(written(node, _))
    }

  /**
   * The time of a join that has only filters above it: a join of tables, or the stateful operator
   * that has replaced a join of streams.
   */
  private def below(plan: LogicalPlan): Option[PairTime] = plan match {
    case Filter(_, child) => below(child)
    case join: Join if join.resolved && !join.isStreaming =>
      for {
        output <- JoinOutput.of(join.joinType) if output.hasPairs
      } yield PairTime(
        join,
        InlineReplaceable(join.condition.getOrElse(Literal.TrueLiteral)),
        output,
        None)
    case Project(_, rows: OperatorOutput) =>
      rows.collectFirst { case node: TransformWithState => node.statefulProcessor }.collect {
        case ofStreams: StreamJoinProcessor if ofStreams.time.output.hasPairs => ofStreams.time
      }
    case _ => None
  }

  private def isKnown(e: Expression): Boolean = e.exists {
    case time: PairEventTime => time.childrenResolved
    case _ => false
  }

  private def written(node: UnaryNode, of: PairTime): LogicalPlan = node match {
    case Project(columns, child) =>
      val hasTime = columns.exists {
        case Alias(_: PairEventTime, _) => true
        case _ => false
      }
      Project(
        columns.map {
          case column @ Alias(time: PairEventTime, name) =>
            Alias(of(time), name)(column.exprId, column.qualifier, of.marked)
          case column: Attribute if hasTime && of.isMarked(column) =>
            Alias(column, column.name)(column.exprId, column.qualifier, Some(of.unmarked(column)))
          case column @ Alias(value: Attribute, name) if hasTime && of.isMarked(value) =>
            Alias(value, name)(column.exprId, column.qualifier, Some(of.unmarked(value)))
          case other => replaced(other, of).asInstanceOf[NamedExpression]
        },
        child)
    case _ => node.mapExpressions(replaced(_, of))
  }

  private def replaced(e: Expression, of: PairTime): Expression =
    e.transform { case time: PairEventTime => of(time) }
}
