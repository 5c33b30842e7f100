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
 * A resolution rule: for each row, aggregates over the rows of another table that an interval
 * condition admits (the online interval join of Scale-OIJ, or a window union) become aggregates of
 * a join.
 *
 * {{{
 *   base LEFT JOIN LATERAL (                        Aggregate [row, k, ts], [k, ts, sum(v), count(probe.ts)]
 *     SELECT sum(v), count(*) FROM probe      ->      Join LEFT OUTER, probe.k = k AND probe.ts BETWEEN ...
 *     WHERE probe.k = base.k                            Project [k, ts, identity AS row] base
 *       AND probe.ts BETWEEN ...) ON true               probe
 * }}}
 *
 * It comes before Spark's decorrelation, which groups the other table by all that it reads of the
 * row: by that the condition loses its key, and the row is looked for once more afterwards. Identical
 * rows stay apart by an identity, which is never returned. What Spark would say of such a subquery
 * holds: one row without a match, too, with count 0 and NULL, and none of its functions sees the
 * NULLs of the outer join.
 *
 * `base` may be a stream, whose rows have their aggregates in the micro-batch in which they come. Where
 * the other table is one, a window may change later: see [[StreamWindows]]. Of histories, each instant
 * has a window.
 */
object LateralAggregates extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan =
    // As a whole: what is above may yet ask for columns that nobody has read so far.
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

  /** The rows with the columns of a subquery beside theirs; None if it is left to Spark. */
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
   * What stands above the aggregate of a subquery: names, columns, HAVING.
   *
   * @param nodes from below
   */
  private case class Above(aggregate: Aggregate, nodes: Seq[UnaryNode], output: Seq[Attribute]) {

    def outerExpressions: Seq[Expression] = (aggregate +: nodes).flatMap(_.expressions) ++
      aggregate.child.flatMap(_.expressions)

    /** The subquery has one row, unless HAVING or ON drops it; an outer join then has NULLs. */
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
      // Under other names below, and under their own above.
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

    /** Nothing but functions and what refers out: the rest is an error, which Spark tells. */
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
