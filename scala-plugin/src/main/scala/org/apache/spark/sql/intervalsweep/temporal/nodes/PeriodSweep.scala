// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.nodes

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.intervalsweep.condition.expressions.SortableType
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side}
import org.apache.spark.sql.types._

/**
 * A sweep over the periods of rows with equal keys, in the order of time. It returns periods in
 * which the result for the valid rows stays the same; `rule` says what the result is.
 *
 * Rules that count rows have a canonical result: per key, the n-th start goes with the n-th end, in
 * the order of time. For rules that return values, touching periods with equal results are merged
 * into one.
 *
 * @param keys     columns that must be equal, where NULL equals NULL; floating-point numbers
 *   normalized
 * @param from     the LONG at which a row becomes valid; `to` is the LONG at which it ends
 * @param weight   1 for rows on the left, -1 for rows on the right; None if all rows are on the
 *   left
 * @param measures the state that is kept for the valid rows
 * @param results  expressions over the keys and the states of the measures; no Alias, because
 *   analysis removes it
 * @param output   the results, then the start and the end of a period as LONGs
 * @param fired    the rules that changed the query, for EXPLAIN; None until `sequenced` has set
 *   them
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

/** The rows that a sweep reads on one of its sides. */
private[temporal] case class SweepInput(rows: History, values: Seq[Attribute], side: Side)

private[temporal] object SweepInput {
  def left(rows: History): SweepInput = SweepInput(rows, rows.values, LeftSide)
  def right(rows: History): SweepInput = SweepInput(rows, rows.values, RightSide)
}

object PeriodSweep {

  /**
   * A sweep as a history.
   *
   * @param output the names and ids of the result's values
   */
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

  /** A sweep without measures, whose keys are the values of the inputs. */
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
   * A sweep with measures: the periods in which the values of a group stay the same.
   *
   * @param keys    columns that can be sorted
   * @param results expressions over the measures' states; the keys come before them
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
   * The columns that rows bring for the measures: the columns that the inputs read, if the sweep
   * can compute the inputs and these columns are not more than the inputs; else the inputs
   * themselves.
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

  /** Whether values can be sorted, and equal values have equal bytes. */
  private[temporal] def isComparable(value: Expression): Boolean = SortableType(value.dataType)
}
