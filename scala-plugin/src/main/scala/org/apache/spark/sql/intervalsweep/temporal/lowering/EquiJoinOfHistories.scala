// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.lowering

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.intervalsweep.temporal.nodes.{
  History, MeasureKind, Period, PeriodMeasures, PeriodRule, PeriodSweep, SweepInput
}
import org.apache.spark.sql.types.DataType

/**
 * Outer, semi and anti joins of histories by equality alone. A left row has a match while its key
 * has a row on the right. For an outer join, rows of NULLs fill the gaps between the right rows of
 * each key. One join with these yields both matched and unmatched fragments. A left row without a
 * match in that join fails `ofLeft`, or has a key that the right side lacks.
 * {{{
 *   left   [--------------------)        key 1
 *   right     [-----)   [----)           key 1
 *   gaps  ----)     [---)    [------     NULL
 * }}}
 *
 * @param keys   comparisons of left and right expressions
 * @param ofLeft conjuncts that read only the left side
 */
private[temporal] case class EquiJoinOfHistories(
    left: History,
    right: History,
    keys: Seq[EquiJoinOfHistories.Key],
    ofLeft: Seq[Expression],
    hint: JoinHint,
    dataType: DataType) {

  def leftOuter: History = {
    val rows = withKeys(right.values)
    val gaps = fresh.swept(PeriodRule.Gaps)
    val others = History.united(Seq(rows, gaps.selecting(gaps.values ++ right.nulls)))
    val values = others.values.drop(keys.size).zip(right.values).map { case (value, column) =>
      Alias(value, column.name)(column.exprId, column.qualifier)
    }
    joined(others, LeftOuter, left.values ++ values, identity, hint)
  }

  /**
   * The periods of a key on the right do not overlap, so a left row has at most one match at a
   * time.
   */
  def semi: History =
    joined(swept(PeriodRule.Distinct), Inner, left.values, identity, JoinHint.NONE)

  def anti: History = {
    val told = validOrNot
    joined(told, LeftOuter, left.values, Filter(Not(isValid(told)), _), JoinHint.NONE)
  }

  def existence(exists: Attribute): History = {
    val told = validOrNot
    val values = left.values :+ Alias(isValid(told), exists.name)(exists.exprId)
    joined(told, LeftOuter, values, identity, JoinHint.NONE)
  }

  private def isValid(told: History): Expression =
    Coalesce(Seq(told.values.last, Literal.FalseLiteral))

  /** The same join with new column ids on the right side. */
  private def fresh: EquiJoinOfHistories = {
    val copied = FreshAttributeCopy(right)
    copy(right = copied.history, keys = keys.map(k => k.copy(right = copied.of(k.right))))
  }

  /** The right rows: their keys, and the given values. */
  private def withKeys(values: Seq[Attribute]): History = {
    val columns = keys.map(k => Alias(k.right, "key")())
    right.copy(
      plan = Project(columns ++ values ++ right.period.get.columns, right.plan),
      values = columns.map(_.toAttribute) ++ values)
  }

  private def swept(rule: PeriodRule): History = {
    val rows = withKeys(Nil)
    PeriodSweep.history(
      rule,
      Seq(SweepInput.left(rows)),
      rows.values.map(_.newInstance()),
      dataType)
  }

  /**
   * For each key, periods that cover all of time. A flag says whether the right side has rows then.
   */
  private def validOrNot: History = {
    val rows = withKeys(Nil)
    val measures = new PeriodMeasures
    val one = Literal(1L)
    val valid = Alias(EqualTo(measures.state(MeasureKind.Least, one), one), "valid")()
    val rule = PeriodRule.Values(ofEmpty = true)
    val sweep = PeriodSweep.ofValues(rule, rows, rows.values, measures.all, Seq(valid))
    History.ofNumbers(sweep, sweep.values, sweep.ends, dataType)
  }

  /** Joins the left rows with `others`, whose first values are the keys. */
  private def joined(
      others: History,
      joinType: JoinType,
      values: Seq[NamedExpression],
      above: Join => LogicalPlan,
      hint: JoinHint): History = {
    val (own, period) = (left.period.get, others.period.get)
    val equal = keys.zip(others.values).map { case (key, value) => key.comparison(key.left, value) }
    val condition = (equal ++ ofLeft :+ own.overlaps(period)).reduce(And)
    val join = Join(left.plan, others.plan, joinType, Some(condition), hint)
    val (start, end) = own.overlap(period)
    val ends = Seq(Alias(start, "start")(), Alias(end, "end")())
    History(
      Project(values ++ ends, above(join)),
      values.map(_.toAttribute),
      Some(Period(ends.head.toAttribute, ends.last.toAttribute)))
  }
}

private[temporal] object EquiJoinOfHistories extends PredicateHelper {

  case class Key(
      comparison: (Expression, Expression) => Expression,
      left: Expression,
      right: Expression)

  /** None if the condition compares the sides by anything other than equality. */
  def of(
      left: History,
      right: History,
      condition: Option[Expression],
      hint: JoinHint,
      dataType: DataType): Option[EquiJoinOfHistories] = {
    def isOf(rows: History, e: Expression): Boolean = e.references.subsetOf(rows.plan.outputSet)
    def key(build: (Expression, Expression) => Expression, a: Expression, b: Expression) =
      if (isOf(left, a) && isOf(right, b)) Some(Key(build, a, b))
      else if (isOf(left, b) && isOf(right, a)) Some(Key(build, b, a))
      else None
    val conjuncts = condition.toSeq.flatMap(splitConjunctivePredicates)
    val (ofLeft, rest) = conjuncts.partition(isOf(left, _))
    val (ofRight, ofBoth) = rest.partition(isOf(right, _))
    val keys = ofBoth.map {
      case EqualTo(a, b) => key(EqualTo(_, _), a, b)
      case EqualNullSafe(a, b) => key(EqualNullSafe(_, _), a, b)
      case _ => None
    }
    val areComparable = keys.flatten.forall(k => PeriodSweep.isComparable(k.right))
    Option.when(keys.nonEmpty && keys.forall(_.isDefined) && areComparable) {
      val some = ofRight.reduceOption(And).fold(right.plan)(Filter(_, right.plan))
      EquiJoinOfHistories(left, right.copy(plan = some), keys.flatten, ofLeft, hint, dataType)
    }
  }
}
