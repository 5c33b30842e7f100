// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.intervalsweep.condition.{DecodedEndpoint, LeftSide, RightSide, Side}
import org.apache.spark.sql.types._

/**
 * Counts the rows of each value as time goes on, and returns the periods in which a rule's number
 * of them is valid. The child's rows are the changes of the counts.
 *
 * The result is canonical: per value, the n-th start goes with the n-th end, in the order of time.
 *
 * @param values what has to be equal, NULL and NULL included; floating-point numbers normalized
 * @param time   when something starts or ends, as a LONG
 * @param left   by how much the left count changes then, and `right` the right one
 * @param output the values, the start and the end as LONGs
 */
case class PeriodSweep(
    rule: PeriodRule,
    values: Seq[Attribute],
    time: Attribute,
    left: Attribute,
    right: Attribute,
    override val output: Seq[Attribute],
    child: LogicalPlan)
    extends UnaryNode {

  def keys: Seq[Attribute] = output.dropRight(2)
  def from: Attribute = output(output.size - 2)
  def to: Attribute = output.last

  override def producedAttributes: AttributeSet = AttributeSet(output)

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
    val swept = apply(rule, inputs)
    val named = swept.keys.zip(output).map { case (value, column) =>
      Alias(value, column.name)(column.exprId, column.qualifier)
    }
    History.of(
      Project(named ++ Seq(swept.from, swept.to), swept),
      named.map(_.toAttribute),
      DecodedEndpoint(swept.from, dataType),
      DecodedEndpoint(swept.to, dataType))
  }

  private[temporal] def apply(rule: PeriodRule, inputs: Seq[SweepInput]): PeriodSweep = {
    inputs.head.values.find(!isComparable(_)).foreach(TemporalErrors.valueType(_, rule.name))
    val changes = changesOf(inputs)
    val (values, rest) = changes.output.splitAt(inputs.head.values.size)
    val ends = Seq("start", "end").map(AttributeReference(_, LongType, nullable = false)())
    PeriodSweep(
      rule,
      values,
      rest(0),
      rest(1),
      rest(2),
      values.map(_.newInstance()) ++ ends,
      changes)
  }

  /** Whether a value distinguishes rows: it can be sorted, and is equal if its bytes are. */
  private[temporal] def isComparable(value: Attribute): Boolean =
    RowOrdering.isOrderable(value.dataType) &&
      !value.dataType.existsRecursively(t =>
        t.isInstanceOf[StringType] && !UnsafeRowUtils.isBinaryStable(t))

  /** Each row as its start and its end; what never ends has no change there. */
  private def changesOf(inputs: Seq[SweepInput]): LogicalPlan = {
    val sides = inputs.map { case SweepInput(rows, values, side) =>
      def weight(of: Side): Literal = Literal(if (side == of) 1L else 0L)
      val normalized = values.map(v => Alias(NormalizeFloatingNumbers.normalize(v), v.name)())
      val periods = Seq("from" -> rows.from, "to" -> rows.to)
      val weights = Seq("left" -> weight(LeftSide), "right" -> weight(RightSide))
      Project(
        normalized ++ (periods ++ weights).map { case (name, e) => Alias(e, name)() },
        rows.plan)
    }
    val all = if (sides.size == 1) sides.head else Union(sides)
    val (values, columns) = all.output.splitAt(inputs.head.values.size)
    val (ends, counts) = columns.splitAt(2)
    def change(name: String): Attribute = AttributeReference(name, LongType, nullable = false)()
    val output = values.map(_.newInstance()) ++ Seq("time", "left", "right").map(change)
    val changes = Expand(
      Seq(
        values ++ ends.take(1) ++ counts,
        values ++ ends.drop(1) ++ counts.map(UnaryMinus(_, failOnError = false))),
      output,
      all)
    Filter(LessThan(output(values.size), Literal(Long.MaxValue)), changes)
  }
}
