// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.laterals

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.Literal.{FalseLiteral, TrueLiteral}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.{InnerLike, JoinType, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{LATERAL_JOIN, SCALAR_SUBQUERY}
import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.intervalsweep.temporal.nodes.TemporalPlan

/**
 * A resolution rule: turns correlated subqueries with aggregates into aggregates of a join. The
 * subquery aggregates, for each row of `base`, the rows of another table that an interval condition
 * admits: a window union, the online interval join of Scale-OIJ.
 *
 * {{{
 *   base LEFT JOIN LATERAL (               Aggregate [row, k, ts], [k, ts, sum(v), count(probe.ts)]
 *     SELECT sum(v), count(*) FROM probe     Join LEFT OUTER, probe.k = k AND probe.ts BETWEEN ...
 *     WHERE probe.k = base.k           ->      Project [k, ts, row id AS row] base
 *       AND probe.ts BETWEEN ...) ON true      probe
 * }}}
 *
 * The rule runs before Spark's decorrelation, which would aggregate the other table by all
 * correlated columns: the condition would lose its equi-join key, and each row would be looked up
 * once more. A row id, which is never returned, keeps identical rows apart. The result is Spark's:
 * a row without a match has one result row, with count 0 and NULL, and no function sees the NULLs
 * of the outer join.
 *
 * `base` may be a stream: its rows get their aggregates in the micro-batch in which they arrive. If
 * the other table is a stream, later rows may change a window: see [[StreamWindows]]. Valid-time
 * relations are left out, because each instant has a window of its own.
 */
object LateralAggregates extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan =
    // Wait for the whole plan: nodes above may still ask for columns that nobody has read so far.
    if (!conf.getConf(IntervalSweepConf.Enabled) || !plan.resolved) plan
    else plan.resolveOperatorsUpWithPruning(_.containsAnyPattern(LATERAL_JOIN, SCALAR_SUBQUERY)) {
      case join: LateralJoin =>
        val on = join.condition.filter(_ != TrueLiteral)
        rewritten(join.left, join.right.plan, join.joinType, on)
          .fold[LogicalPlan](join)(Project(join.output, _))
      case filter: Filter if scalars.areIn(filter.condition) => scalars.of(filter)
      case project: Project if project.projectList.exists(scalars.areIn) => scalars.of(project)
    }

  private val scalars = new ScalarSubqueries(rewritten(_, _, LeftOuter, None))

  /** The outer rows with the columns of a subquery added; None if it is left to Spark. */
  private def rewritten(
      base: LogicalPlan,
      subquery: LogicalPlan,
      joinType: JoinType,
      on: Option[Expression]): Option[LogicalPlan] = for {
    above <- Above.of(subquery)
    if joinType == LeftOuter || joinType.isInstanceOf[InnerLike]
    if !CorrelatedSubquery.refersOut(base) && !subquery.isStreaming &&
      !Seq(base, subquery).exists(TemporalPlan.isMarked)
    probe <- CorrelatedSubquery.of(above.aggregate.child)
    functions = above.aggregate.aggregateExpressions.flatMap(_.collect {
      case f: AggregateExpression => f
    })
    join <- LateralToJoin.of(base, probe, above.outerExpressions)
    if functions.forall(join.takes)
  } yield {
    val computed = functions.map(f => f.resultId -> Alias(join.overJoin(f), f.prettyName)()).toMap
    val aggregated = join.aggregate(computed.values.toSeq)
    val values = above.aggregate.aggregateExpressions.map { column =>
      outerAsRow(column.transform { case f: AggregateExpression =>
        computed(f.resultId).toAttribute
      }).asInstanceOf[NamedExpression]
    }
    above.over(base, Project(base.output ++ values, aggregated), joinType, on)
  }

  private def outerAsRow(e: Expression): Expression = e.transform {
    case OuterReference(column) => column
  }

  /**
   * The nodes above the aggregate of a subquery: aliases, projections, HAVING.
   *
   * @param nodes bottom-up
   */
  private case class Above(aggregate: Aggregate, nodes: Seq[UnaryNode], output: Seq[Attribute]) {

    def outerExpressions: Seq[Expression] = (aggregate +: nodes).flatMap(_.expressions) ++
      aggregate.child.flatMap(_.expressions)

    /**
     * The outer rows with the subquery's columns added. The subquery has one row, unless HAVING or
     * ON drops it; a left outer join then returns NULLs.
     */
    def over(
        base: LogicalPlan,
        values: LogicalPlan,
        joinType: JoinType,
        on: Option[Expression]): LogicalPlan = {
      val having = nodes.collect { case filter: Filter => filter.condition }
      if (joinType != LeftOuter || having.isEmpty && on.isEmpty) {
        val rows = nodes.foldLeft(values)((below, node) => put(node, base, below))
        on.fold(rows)(Filter(_, rows))
      } else orNull(base, values, on)
    }

    private def put(node: UnaryNode, base: LogicalPlan, below: LogicalPlan): LogicalPlan =
      node match {
        case Filter(condition, _) => Filter(outerAsRow(condition), below)
        case Project(columns, _) =>
          Project(base.output ++ columns.map(outerAsRow(_).asInstanceOf[NamedExpression]), below)
        case _ => below
      }

    private def orNull(
        base: LogicalPlan,
        values: LogicalPlan,
        on: Option[Expression]): LogicalPlan = {
      val kept = Alias(FalseLiteral, "kept")()
      val flags = scala.collection.mutable.ArrayBuffer.empty[Attribute]
      def flagged(condition: Expression, below: LogicalPlan): LogicalPlan = {
        val flag = Alias(Coalesce(Seq(outerAsRow(condition), FalseLiteral)), kept.name)()
        flags += flag.toAttribute
        Project(below.output :+ flag, below)
      }
      val rows = nodes.foldLeft(values) {
        case (below, Filter(condition, _)) => flagged(condition, below)
        case (below, Project(columns, _)) => Project(
            base.output ++ flags ++ columns.map(outerAsRow(_).asInstanceOf[NamedExpression]),
            below)
        case (below, _) => below
      }
      val all = on.fold(rows)(flagged(_, rows))
      // The columns get new ids below, and their own ids above.
      val renamed = output.map(a => a -> Alias(a, a.name)())
      val isKept = flags.reduce[Expression](And(_, _))
      Project(
        base.output ++ renamed.map { case (a, value) =>
          Alias(If(isKept, value.toAttribute, Literal(null, a.dataType)), a.name)(
            a.exprId,
            a.qualifier,
            Some(a.metadata))
        },
        Project(base.output ++ flags ++ renamed.map(_._2), all))
    }
  }

  private object Above {

    def of(subquery: LogicalPlan): Option[Above] = below(subquery, Nil).map {
      case (aggregate, nodes) => Above(aggregate, nodes, subquery.output)
    }

    private def below(
        plan: LogicalPlan,
        nodes: Seq[UnaryNode]): Option[(Aggregate, Seq[UnaryNode])] = plan match {
      case alias: SubqueryAlias => below(alias.child, nodes)
      case filter: Filter if CorrelatedSubquery.isPlain(filter.condition) =>
        below(filter.child, filter +: nodes)
      case project: Project if project.projectList.forall(CorrelatedSubquery.isPlain) =>
        below(project.child, project +: nodes)
      case aggregate: Aggregate
          if aggregate.groupingExpressions.isEmpty &&
            aggregate.aggregateExpressions.forall(isOfFunctions) =>
        Some((aggregate, nodes))
      case _ => None
    }

    /**
     * Whether a column has only aggregate functions, outer references and constants. Any other
     * column is an error, which Spark reports.
     */
    private def isOfFunctions(column: NamedExpression): Boolean = {
      def isValid(e: Expression): Boolean = e match {
        case f: AggregateExpression => !f.exists {
            case OuterReference(column) => !column.isInstanceOf[Attribute]
            case _ => false
          }
        case _: OuterReference => true
        case _: Attribute => false
        case other => other.children.forall(isValid)
      }
      CorrelatedSubquery.isPlain(column) && isValid(column)
    }
  }
}
