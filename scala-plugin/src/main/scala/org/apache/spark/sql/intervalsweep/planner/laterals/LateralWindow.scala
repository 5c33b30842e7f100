// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.laterals

import org.apache.spark.sql.catalyst.analysis.DeduplicateRelations
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.{Inner, JoinType, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.intervalsweep.condition.conjuncts.InlineReplaceable
import org.apache.spark.sql.intervalsweep.functions.WindowMark

/**
 * A correlated subquery that aggregates all its rows, without groups. Tables and streams share this
 * form. All expressions are over the columns of the base rows and of the probe rows; no
 * [[OuterReference]] is left, as the two have different column ids.
 *
 * {{{
 *   base JOIN LATERAL (                      results     if(count(*) > 2, count(*) + 1, NULL),
 *     SELECT c + 1 AS n FROM (                           count(*) > 2
 *       SELECT count(*) AS c FROM probe ->   conditions  probe.ts <= base.ts
 *       WHERE probe.v > 0                    probe       Filter [v > 0] probe
 *         AND probe.ts <= base.ts            output      n, having
 *     ) WHERE c > 2)                         having      having
 * }}}
 *
 * HAVING is a filter above the aggregate, and so is a WHERE above it. Its condition becomes the
 * last column, and the other columns are NULL where it is not true. So a row that it drops raises
 * no error in them, and a left outer join needs no further step.
 *
 * The callers differ in three points. For streams, they inline replaceable expressions, as the
 * operators evaluate these expressions without Spark's optimizer. They raise an error for
 * expressions that are not deterministic, where the rule for tables leaves the query to Spark. And
 * they refuse HAVING and ON for rows that are emitted again.
 *
 * @param results    the values of the columns, over aggregate functions and base rows
 * @param conditions predicates over the base and the probe rows
 * @param probe      the rows to aggregate, already filtered by conditions that only they decide
 * @param output     the columns of the subquery in the outer query, followed by `having`
 * @param having     the column that is true if and only if HAVING keeps the row
 * @param limit      the matches that are aggregated, if ORDER BY and LIMIT select some of them
 */
private[planner] case class LateralWindow(
    results: Seq[NamedExpression],
    conditions: Seq[Expression],
    probe: LogicalPlan,
    output: Seq[Attribute],
    having: Option[Attribute],
    limit: Option[MatchOrder]) {

  /** Whether it asks for rows before their windows are complete. */
  def isEager: Boolean = results.exists(_.exists(_.isInstanceOf[WindowMark]))

  /** The aggregate functions, each once. */
  def functions: Seq[AggregateExpression] =
    results.flatMap(_.collect { case f: AggregateExpression => f }).distinctBy(_.resultId)

  /** The same subquery with inlined replaceable expressions. */
  def inlined: LateralWindow = copy(
    results = results.map(InlineReplaceable(_).asInstanceOf[NamedExpression]),
    conditions = conditions.map(InlineReplaceable(_)))

  /** The columns of `output`, with values that are rewritten by `read`. */
  def columns(read: Expression => Expression): Seq[NamedExpression] =
    output.zip(results).map { case (column, result) =>
      LateralWindow.named(read(CorrelatedSubquery.valueOf(result)), column)
    }

  /**
   * The base rows with the columns of the subquery added. The subquery has one row, unless HAVING
   * or ON drops it; a left outer join then returns NULLs.
   *
   * @param rows the columns of the base rows, followed by those of `output`
   */
  def over(rows: LogicalPlan, joinType: JoinType, on: Option[Expression]): LogicalPlan = {
    val joined = joinType match {
      case LeftOuter => on.fold(rows)(orNull(rows, _))
      case _ => (having.toSeq ++ on).reduceOption(And).fold(rows)(Filter(_, rows))
    }
    having.fold(joined) { column =>
      Project(joined.output.filter(_.exprId != column.exprId), joined)
    }
  }

  /** The rows, with NULL in the columns of the subquery where the condition is not true. */
  private def orNull(rows: LogicalPlan, condition: Expression): LogicalPlan = {
    val (base, own) = rows.output.splitAt(rows.output.size - output.size)
    val kept = Alias(condition, "kept")()
    // The columns get new ids below, and their own ids above.
    val below = own.map(column => Alias(column, column.name)())
    val above = own.zip(below).map { case (column, value) =>
      LateralWindow.named(LateralWindow.orNull(kept.toAttribute, value.toAttribute), column)
    }
    Project(base ++ above, Project(base ++ below :+ kept, rows))
  }
}

private[planner] object LateralWindow {

  /**
   * None if the subquery has another form, or refers to columns that are not of `base`.
   *
   * @param base the outer rows, which may come from the same table
   */
  def of(base: LogicalPlan, subquery: LogicalPlan): Option[LateralWindow] = for {
    (aggregate, nodes) <- aggregateOf(subquery, Nil)
    if aggregate.groupingExpressions.isEmpty &&
      aggregate.aggregateExpressions.forall(isOfFunctions)
    if !refersFurther(base, subquery)
    rows <- rowsOf(base, aggregate.child)
    selected = nodes.foldLeft(Selection.of(aggregate, rows.read))(_.under(_))
    if selected.having.forall(CorrelatedSubquery.isPlain)
  } yield {
    val having = selected.having.reduceOption(And).map(Alias(_, "having")())
    val results = selected.columns.zip(subquery.output).map { case ((_, value), column) =>
      named(having.fold(value)(kept => orNull(kept.child, value)), column)
    }
    LateralWindow(
      results ++ having,
      rows.conditions,
      rows.probe,
      subquery.output ++ having.map(_.toAttribute),
      having.map(_.toAttribute),
      rows.limit)
  }

  /**
   * The rows below the aggregate of a subquery.
   *
   * @param conditions over the base and the probe rows
   * @param limit      the order of the rows, if ORDER BY and LIMIT select some of them
   * @param read       rewrites an expression over these rows as one over base and probe rows
   */
  case class Rows(
      conditions: Seq[Expression],
      probe: LogicalPlan,
      limit: Option[MatchOrder],
      read: Expression => Expression)

  def rowsOf(base: LogicalPlan, child: LogicalPlan): Option[Rows] = for {
    limited <- Some(LimitedRows.of(child))
    rows <- CorrelatedSubquery.of(limited.fold(child)(_.rows))
    probe = renewed(base, rows.plan)
    readRows = reader(rows, probe)
    read = limited.fold(readRows)(l =>
      CorrelatedSubquery.rewritten(_, AttributeMap(l.columns(readRows))))
    limit = limited.map(_.matchOrder(readRows))
    if limit.forall(_.isOf(probe))
  } yield Rows(rows.conditions.map(readRows), probe, limit, read)

  /** Rewrites an expression over the rows of the subquery as one over probe and base rows. */
  def reader(rows: CorrelatedSubquery, probe: LogicalPlan): Expression => Expression = {
    val columns = AttributeMap(rows.plan.output.zip(probe.output))
    e => CorrelatedSubquery.rewritten(rows.read(e), columns)
  }

  /**
   * The columns of a node of the subquery, and the predicates of the filters up to this node, both
   * over aggregate functions and base rows.
   */
  private case class Selection(
      columns: Seq[(Attribute, Expression)],
      having: Seq[Expression]) {

    def under(node: UnaryNode): Selection = node match {
      case Filter(condition, _) => copy(having = having :+ read(condition))
      case Project(selected, _) =>
        copy(columns = selected.map(c => c.toAttribute -> read(CorrelatedSubquery.valueOf(c))))
      case _ => this
    }

    private def read(e: Expression): Expression =
      CorrelatedSubquery.rewritten(e, AttributeMap(columns))
  }

  private object Selection {
    def of(aggregate: Aggregate, read: Expression => Expression): Selection = Selection(
      aggregate.aggregateExpressions.map(c => c.toAttribute -> read(CorrelatedSubquery.valueOf(c))),
      Nil)
  }

  /** The aggregate of a subquery, and the nodes above it, bottom-up. */
  def aggregateOf(
      plan: LogicalPlan,
      nodes: Seq[UnaryNode]): Option[(Aggregate, Seq[UnaryNode])] = plan match {
    case alias: SubqueryAlias => aggregateOf(alias.child, nodes)
    case filter: Filter => aggregateOf(filter.child, filter +: nodes)
    case project: Project => aggregateOf(project.child, project +: nodes)
    case aggregate: Aggregate => Some((aggregate, nodes))
    case _ => None
  }

  /**
   * Whether an expression has only aggregate functions, outer references and constants. Any other
   * column is an error, which Spark reports.
   */
  private def isOfFunctions(e: Expression): Boolean = e match {
    case f: AggregateExpression => !f.exists {
        case OuterReference(column) => !column.isInstanceOf[Attribute]
        case _ => false
      }
    case _: OuterReference => true
    case _: Attribute => false
    case other => other.children.forall(isOfFunctions)
  }

  def refersFurther(base: LogicalPlan, subquery: LogicalPlan): Boolean =
    subquery.exists(_.expressions.exists(_.exists {
      case OuterReference(column) => !base.outputSet.contains(column)
      case _ => false
    }))

  /** The probe rows, with new column ids if a table is joined with itself. */
  def renewed(base: LogicalPlan, probe: LogicalPlan): LogicalPlan =
    // The first pass renews the columns that a projection computes, the next one those it passes
    // on.
    Iterator.iterate(probe)(renewedOnce(base, _))
      .find(_.outputSet.intersect(base.outputSet).isEmpty).get

  private def renewedOnce(base: LogicalPlan, probe: LogicalPlan): LogicalPlan =
    DeduplicateRelations(Join(base, probe, Inner, None, JoinHint.NONE)) match {
      case Join(_, right, _, _, _) if right.outputSet != probe.outputSet => right
      case _ => throw new IllegalStateException(s"columns of one table twice: ${probe.output}")
    }

  /** The value where the condition is true, else NULL. */
  def orNull(condition: Expression, value: Expression): Expression =
    If(condition, value, Literal(null, value.dataType))

  /** A value under the name and the id of a column. */
  def named(value: Expression, as: Attribute): Alias =
    Alias(value, as.name)(as.exprId, as.qualifier, Some(as.metadata))
}
