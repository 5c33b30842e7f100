// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.laterals

import org.apache.spark.sql.catalyst.analysis.DeduplicateRelations
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.plans.{Inner, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreePattern.PYTHON_UDF
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.intervalsweep.condition.reading.InlineReplaceable
import org.apache.spark.sql.intervalsweep.planner.joins.IntervalSweepStrategy
import org.apache.spark.sql.intervalsweep.planner.nodes.{PerBatchRows, RowId, WithRowId}
import org.apache.spark.sql.types._

/**
 * The outer join from which the aggregates of a correlated subquery are computed, with a group for
 * each row of `base`.
 *
 * @param columns the columns of `base`, each with its column in the join
 * @param identity the row id of the rows of `base`
 * @param marker a column of the other side that is NULL if and only if a row has no match
 */
private[planner] case class LateralToJoin(
    columns: Seq[(Attribute, Attribute)],
    identity: Attribute,
    marker: Attribute,
    probe: CorrelatedSubquery,
    inner: AttributeMap[Attribute],
    join: Join) {
  private val inJoin = AttributeMap(columns)
  private val probes = join.right.outputSet

  /** The rows of `base`, each once, with the aggregates added. */
  def aggregate(functions: Seq[NamedExpression]): LogicalPlan = {
    val groups = columns.collect { case (column, same) if column.exprId == same.exprId => column }
    val rows = columns.map {
      case (column, same) if column.exprId == same.exprId => column
      case (column, below) =>
        val any = First(below, ignoreNulls = false).toAggregateExpression()
        Alias(any, column.name)(column.exprId, column.qualifier, Some(column.metadata))
    }
    val aggregate = Aggregate(identity +: groups, rows ++ functions, join)
    if (join.exists(_.isStreaming)) PerBatchRows(aggregate) else aggregate
  }

  /** Whether a function can be computed over the join, with a FILTER if needed. */
  def takes(function: AggregateExpression): Boolean =
    CorrelatedSubquery.isPlain(function) && function.mode == Complete &&
      !function.containsPattern(PYTHON_UDF)

  /** Rewrites a function over the subquery's rows as one over the join's rows. */
  def overJoin(function: AggregateExpression): AggregateExpression = {
    val read = LateralToJoin.read(probe, inner, inJoin)(function).asInstanceOf[AggregateExpression]
    val own = read.copy(resultId = NamedExpression.newExprId)
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
    case f @ (_: Sum | _: Average | _: Min | _: Max) =>
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
   * @param expressions all of the subquery; their outer references must be columns of `base`
   * @return None if the join would not be swept
   */
  def of(
      base: LogicalPlan,
      probe: CorrelatedSubquery,
      expressions: Seq[Expression]): Option[LateralToJoin] = {
    val (right, inner) = renewed(base, probe.plan)
    val row = Alias(RowId(), "row")()
    val columns = base.output.map(a => if (isExact(a.dataType)) a else Alias(a, a.name)())
    val inJoin = base.output.zip(columns.map(_.toAttribute))
    val condition =
      probe.conditions.map(read(probe, inner, AttributeMap(inJoin))).reduceOption(And)
    val refersFurther = expressions.exists(_.exists {
      case OuterReference(column) => !base.outputSet.contains(column)
      case _ => false
    })
    for {
      on <- condition
      if !refersFurther
      known = marker(on, right)
      added = Alias(TrueLiteral, "matched")()
      join = Join(
        numbered(base, columns, row),
        if (known.isDefined) right else Project(right.output :+ added, right),
        LeftOuter,
        Some(on),
        JoinHint.NONE)
      if IntervalSweepStrategy.isSwept(join)
    } yield LateralToJoin(
      inJoin,
      row.toAttribute,
      known.getOrElse(added.toAttribute),
      probe,
      inner,
      join)
  }

  /**
   * The rows of `base` with a row id. A stream needs a node of its own for it: Spark refuses
   * `monotonically_increasing_id` in a streaming plan.
   */
  private def numbered(base: LogicalPlan, columns: Seq[NamedExpression], row: Alias): LogicalPlan =
    if (base.isStreaming) WithRowId(row.toAttribute, Project(columns, base))
    else Project(columns :+ row, base)

  /** Rewrites an expression of the subquery as one over the join. */
  private def read(
      probe: CorrelatedSubquery,
      inner: AttributeMap[Attribute],
      outer: AttributeMap[Attribute])(e: Expression): Expression = probe.read(e).transform {
    case OuterReference(column: Attribute) => outer.getOrElse(column, column)
    // Between shows operands that are not its children, so the rewrite would not reach them.
    case between: Between => between.replacement
    case attribute: Attribute => inner.getOrElse(attribute, attribute)
  }

  /** The other side, with new column ids if a table is joined with itself. */
  def renewed(
      base: LogicalPlan,
      probe: LogicalPlan): (LogicalPlan, AttributeMap[Attribute]) = {
    // The first pass renews the columns that a projection computes, the next one those it passes
    // on.
    val right = Iterator.iterate(probe)(renewedOnce(base, _))
      .find(_.outputSet.intersect(base.outputSet).isEmpty).get
    (right, AttributeMap(probe.output.zip(right.output)))
  }

  private def renewedOnce(base: LogicalPlan, probe: LogicalPlan): LogicalPlan =
    DeduplicateRelations(Join(base, probe, Inner, None, JoinHint.NONE)) match {
      case Join(_, right, _, _, _) if right.outputSet != probe.outputSet => right
      case _ => throw new IllegalStateException(s"columns of one table twice: ${probe.output}")
    }

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
