// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.laterals

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreePattern.PYTHON_UDF
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.intervalsweep.condition.conjuncts.InlineReplaceable
import org.apache.spark.sql.intervalsweep.planner.joins.IntervalSweepStrategy
import org.apache.spark.sql.intervalsweep.planner.nearest.NearestMatchesStrategy
import org.apache.spark.sql.intervalsweep.planner.nodes.{
  NearestMatches, PerBatchRows, RowId, WithRowId
}
import org.apache.spark.sql.types._

/**
 * The outer join from which the aggregates of a correlated subquery are computed, with a group for
 * each row of `base`.
 *
 * @param columns the columns of `base`, each with its column in the join
 * @param identity the row id of the rows of `base`
 * @param marker a column of the other side that is NULL if and only if a row has no match
 * @param probes the columns of the other side
 * @param matches a [[Join]], or a [[NearestMatches]] if some of the matches are aggregated
 */
private[planner] case class LateralToJoin(
    columns: Seq[(Attribute, Attribute)],
    identity: Attribute,
    marker: Attribute,
    probes: AttributeSet,
    matches: LogicalPlan) {
  private val inJoin = AttributeMap(columns)

  /** The same without the rows of `base` that have no match. */
  def onlyMatches: LateralToJoin = copy(matches = Filter(IsNotNull(marker), matches))

  /** Reads the columns of `base` as those that they have in the join. */
  def read(e: Expression): Expression = LateralToJoin.read(e, inJoin)

  /**
   * The rows of `base` with the aggregates added, each once, or once for each group of its matches.
   *
   * @param by the expressions that make the groups
   */
  def aggregate(functions: Seq[NamedExpression], by: Seq[Expression] = Nil): LogicalPlan = {
    val groups = columns.collect { case (column, same) if column.exprId == same.exprId => column }
    val rows = columns.map {
      case (column, same) if column.exprId == same.exprId => column
      case (column, below) =>
        val any = First(below, ignoreNulls = false).toAggregateExpression()
        Alias(any, column.name)(column.exprId, column.qualifier, Some(column.metadata))
    }
    val aggregate = Aggregate((identity +: groups) ++ by, rows ++ functions, matches)
    if (matches.exists(_.isStreaming)) PerBatchRows(aggregate) else aggregate
  }

  /** Whether a function can be computed over the join, with a FILTER if needed. */
  def takes(function: AggregateExpression): Boolean =
    CorrelatedSubquery.isPlain(function) && function.mode == Complete &&
      !function.containsPattern(PYTHON_UDF)

  /** Rewrites a function over outer and probe rows as one over the join's rows. */
  def overJoin(function: AggregateExpression): AggregateExpression = {
    val own = LateralToJoin.read(function, inJoin).asInstanceOf[AggregateExpression]
      .copy(resultId = NamedExpression.newExprId)
    ofMatches(own.aggregateFunction)
      .map(f => own.copy(aggregateFunction = f))
      .getOrElse(own.copy(filter = Some(own.filter.fold(isMatch)(And(isMatch, _)))))
  }

  private def isMatch: Expression = IsNotNull(marker)

  /**
   * A function that ignores the unmatched row of the outer join. None if a FILTER must exclude that
   * row.
   */
  private def ofMatches(function: AggregateFunction): Option[AggregateFunction] = function match {
    case r: RuntimeReplaceableAggregate => r.replacement match {
        case f: AggregateFunction => ofMatches(f)
        case _ => None
      }
    case Count(arguments) if arguments.forall(a => a.foldable && !a.nullable) => Some(Count(marker))
    case count @ Count(arguments) =>
      Some(count.copy(children = orNull(arguments.head) +: arguments.tail))
    case f @ (_: Sum | _: Average | _: Min | _: Max | _: MaxBy | _: MinBy) =>
      Some(f.withNewChildren(f.children.map(orNull)).asInstanceOf[AggregateFunction])
    case _ => None
  }

  private def orNull(e: Expression): Expression = e match {
    case a: Attribute if probes.contains(a) => a
    case _ => If(isMatch, e, Literal(null, e.dataType))
  }
}

private[planner] object LateralToJoin extends PredicateHelper {

  /**
   * None if the join would not be an IntervalSweepJoin.
   *
   * @param conditions over the rows of `base` and of `probe`
   * @param limit      the matches that are aggregated, if they are not all
   */
  def of(
      base: LogicalPlan,
      conditions: Seq[Expression],
      probe: LogicalPlan,
      limit: Option[MatchOrder]): Option[LateralToJoin] = {
    val row = Alias(RowId(), "row")()
    val columns = base.output.map(a => if (isExact(a.dataType)) a else Alias(a, a.name)())
    val inJoin = base.output.zip(columns.map(_.toAttribute))
    val (ofProbe, across) = conditions.partition(_.references.subsetOf(probe.outputSet))
    val right = ofProbe.reduceOption(And).fold(probe)(Filter(_, probe))
    for {
      on <- across.map(read(_, AttributeMap(inJoin))).reduceOption(And)
      if across.forall(CorrelatedSubquery.isPlain)
      known = marker(on, right)
      added = Alias(TrueLiteral, "matched")()
      rows = numbered(base, columns, row)
      marked = if (known.isDefined) right else Project(right.output :+ added, right)
      matches = limit match {
        case None => Join(rows, marked, LeftOuter, Some(on), JoinHint.NONE)
        case Some(order) => order.nearest(rows, marked, LeftOuter, on)
      }
      if isSwept(matches)
    } yield LateralToJoin(
      inJoin,
      row.toAttribute,
      known.getOrElse(added.toAttribute),
      marked.outputSet,
      matches)
  }

  private def isSwept(matches: LogicalPlan): Boolean = matches match {
    case join: Join => IntervalSweepStrategy.isSwept(join)
    case nearest: NearestMatches => NearestMatchesStrategy.isBounded(nearest)
    case _ => false
  }

  /**
   * The rows of `base` with a row id. A stream needs a node of its own for it: Spark refuses
   * `monotonically_increasing_id` in a streaming plan.
   */
  private def numbered(base: LogicalPlan, columns: Seq[NamedExpression], row: Alias): LogicalPlan =
    if (base.isStreaming) WithRowId(row.toAttribute, Project(columns, base))
    else Project(columns :+ row, base)

  /** Reads the columns of `base` as those that they have in the join. */
  private def read(e: Expression, inJoin: AttributeMap[Attribute]): Expression =
    e.transform { case a: Attribute => inJoin.getOrElse(a, a) }

  /**
   * Whether equal values are identical. Grouping merges 0.0 with -0.0, and strings that a collation
   * considers equal.
   */
  private def isExact(dataType: DataType): Boolean = dataType match {
    case _: IntegralType | _: DecimalType | BooleanType | DateType | TimestampType |
        TimestampNTZType | BinaryType | _: DayTimeIntervalType | _: YearMonthIntervalType => true
    case _ => DataTypeUtils.sameType(dataType, StringType)
  }

  /** A column of the other side without which, if it is NULL, the condition is not true. */
  private def marker(condition: Expression, probe: LogicalPlan): Option[Attribute] = {
    val found = splitConjunctivePredicates(InlineReplaceable(condition)).flatMap(decisive)
      .filter(probe.outputSet.contains)
    found.find(a => !a.dataType.isInstanceOf[StringType]).orElse(found.headOption)
  }

  private def decisive(e: Expression): Seq[Attribute] = e match {
    case attribute: Attribute => Seq(attribute)
    case replaceable: RuntimeReplaceable => decisive(replaceable.replacement)
    case And(left, right) => decisive(left) ++ decisive(right)
    case _ if e.nullIntolerant => e.children.flatMap(decisive)
    case _ => Nil
  }
}
