// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.nodes

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side}
import org.apache.spark.sql.types._

/**
 * Goes through the rows of equal keys as time goes on, and returns the periods in which something
 * holds of those that are valid then.
 *
 * What counts rows has a canonical result: per key, the n-th start goes with the n-th end, in the
 * order of time. Of values, periods that touch and have the same results are one.
 *
 * @param keys     what has to be equal, NULL and NULL included; floating-point numbers normalized
 * @param from     when a row becomes valid, as a LONG, and `to` when it no longer is
 * @param weight   1 for rows on the left, -1 for those on the right; none if all are on the left
 * @param measures what is kept of the rows, as [[PeriodMeasure]]s say
 * @param results  of the keys and of the measures' states; no Alias, which analysis takes away
 * @param output   the results, then the start and the end of a period as LONGs
 * @param fired    the rules that changed the query, for EXPLAIN; None until `sequenced` has said it
 */
case class PeriodSweep(
    rule: PeriodRule,
    keys: Seq[Attribute],
    from: Attribute,
    to: Attribute,
    weight: Option[Attribute],
    measures: Seq[PeriodMeasure],
    results: Seq[Expression],
    override val output: Seq[Attribute],
    child: LogicalPlan,
    fired: Option[Seq[String]] = None)
    extends UnaryNode {

  def values: Seq[Attribute] = output.dropRight(2)
  def ends: Seq[Attribute] = output.takeRight(2)

  def firedBy(rules: Seq[String]): PeriodSweep =
    copy(fired = Some((fired.toSeq.flatten ++ rules).distinct))

  override def producedAttributes: AttributeSet = AttributeSet(output ++ measures.map(_.state))

  override protected def withNewChildInternal(newChild: LogicalPlan): PeriodSweep =
    copy(child = newChild)
}

/** Rows that a sweep reads, on one of its sides. */
private[temporal] case class SweepInput(rows: History, values: Seq[Attribute], side: Side)

private[temporal] object SweepInput {
  def left(rows: History): SweepInput = SweepInput(rows, rows.values, LeftSide)
  def right(rows: History): SweepInput = SweepInput(rows, rows.values, RightSide)
}

object PeriodSweep {

  /** @param output the columns that the values of the result are to be */
  private[temporal] def history(
      rule: PeriodRule,
      inputs: Seq[SweepInput],
      output: Seq[Attribute],
      dataType: DataType): History = {
    val swept = of(rule, inputs)
    val named = swept.values.zip(output).map { case (value, column) =>
      Alias(value, column.name)(column.exprId, column.qualifier)
    }
    History.ofNumbers(
      Project(named ++ swept.ends, swept),
      named.map(_.toAttribute),
      swept.ends,
      dataType)
  }

  /** The periods of the values of all inputs. */
  private[temporal] def of(rule: PeriodRule, inputs: Seq[SweepInput]): PeriodSweep = {
    checkComparable(inputs.head.values, rule.shown)
    val hasSides = inputs.exists(_.side == RightSide)
    val sides = inputs.map { case SweepInput(rows, values, side) =>
      val weight = Alias(Literal(if (side == LeftSide) 1L else -1L), "weight")()
      Project(columns(rows, values) ++ Option.when(hasSides)(weight), rows.plan)
    }
    val all = if (sides.size == 1) sides.head else Union(sides)
    val (keys, rest) = all.output.splitAt(inputs.head.values.size)
    PeriodSweep(
      rule,
      keys,
      rest(0),
      rest(1),
      rest.lift(2),
      Nil,
      keys,
      keys.map(_.newInstance()) ++ newEnds,
      all)
  }

  /**
   * The periods in which values of groups stay the same.
   *
   * @param keys    columns that can be sorted
   * @param results what becomes of the measures' states; the keys come before
   */
  private[temporal] def ofValues(
      rule: PeriodRule,
      rows: History,
      keys: Seq[Attribute],
      measures: Seq[PeriodMeasure],
      results: Seq[Alias]): PeriodSweep = {
    val (inputs, taken) = inputsOf(measures)
    val child = Project(columns(rows, keys) ++ inputs, rows.plan)
    val (groups, rest) = child.output.splitAt(keys.size)
    PeriodSweep(
      rule,
      groups,
      rest(0),
      rest(1),
      None,
      taken,
      groups ++ results.map(_.child),
      groups.map(_.newInstance()) ++ results.map(_.toAttribute) ++ newEnds,
      child)
  }

  /**
   * What rows bring for measures: columns that all are computed of in the sweep, or, if these are
   * more, or are computed in another process, the measures' inputs.
   */
  private def inputsOf(measures: Seq[PeriodMeasure])
      : (Seq[NamedExpression], Seq[PeriodMeasure]) = {
    val columns = AttributeSet(measures.map(_.input)).toSeq
    val inputs = measures.map(_.input).map(e => e.canonicalized -> Alias(e, "input")()).toMap
    val isComputedHere = measures.forall(m => !m.input.exists(_.isInstanceOf[Unevaluable]))
    if (isComputedHere && columns.size <= inputs.size) (columns, measures)
    else (
      inputs.values.toSeq,
      measures.map(m => m.copy(input = inputs(m.input.canonicalized).toAttribute)))
  }

  private def columns(rows: History, values: Seq[Attribute]): Seq[NamedExpression] =
    values.map(v => Alias(NormalizeFloatingNumbers.normalize(v), v.name)()) ++
      Seq("from" -> rows.from, "to" -> rows.to).map { case (name, e) => Alias(e, name)() }

  private def newEnds: Seq[Attribute] =
    Seq("start", "end").map(AttributeReference(_, LongType, nullable = false)())

  /** Raises an error that names the first column whose values cannot be sorted. */
  private[temporal] def checkComparable(columns: Seq[Attribute], operator: String): Unit =
    columns.find(!isComparable(_)).foreach(TemporalErrors.valueType(_, operator))

  /** Whether a value distinguishes rows: it can be sorted, and is equal if its bytes are. */
  private[temporal] def isComparable(value: Expression): Boolean =
    RowOrdering.isOrderable(value.dataType) &&
      !value.dataType.existsRecursively(t =>
        t.isInstanceOf[StringType] && !UnsafeRowUtils.isBinaryStable(t))
}
