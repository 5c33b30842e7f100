// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.lowering

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.intervalsweep.temporal.nodes.{
  History, Period, PeriodRule, PeriodSweep, SweepInput, TemporalErrors
}
import org.apache.spark.sql.types.DataType

/**
 * Joins of rows that are valid at the same instants. An inner join becomes a join whose condition
 * requires that the periods overlap. Other joins depend on when a row has a match and when it has
 * none. The keys tell this if the condition is only equality ([[EquiJoinOfHistories]]). Otherwise a
 * [[PeriodSweep]] compares each row with its pairs.
 */
private[temporal] case class PeriodJoins(dataType: DataType) {

  def joined(
      left: History,
      right: History,
      joinType: JoinType,
      condition: Option[Expression],
      hint: JoinHint): History = {
    val sides = HistoryPair(left, right, condition, hint)
    (joinType, left.isMarked, right.isMarked) match {
      // If the other side is always valid, a row keeps its own period.
      case (_: InnerLike | LeftOuter | LeftSemi | LeftAnti | _: ExistenceJoin, true, false) =>
        plain(sides, joinType, left.period)
      case (_: InnerLike | RightOuter, false, true) => plain(sides, joinType, right.period)
      case _ => swept(sides.bounded, joinType)
    }
  }

  private def plain(sides: HistoryPair, joinType: JoinType, period: Option[Period]): History = {
    import sides._
    val join = Join(left.plan, right.plan, joinType, condition, hint)
    val hidden = AttributeSet(period.toSeq.flatMap(_.columns))
    val values = join.output.filterNot(hidden.contains)
    History(Project(values ++ period.toSeq.flatMap(_.columns), join), values, period)
  }

  private def swept(sides: HistoryPair, joinType: JoinType): History = joinType match {
    case _: InnerLike => pairs(sides)
    case LeftSemi => byKeys(sides).fold(partnered(sides, PeriodRule.Semi))(_.semi)
    case LeftAnti => unmatched(sides)
    case LeftOuter => withAllOfLeft(sides)
    case RightOuter =>
      val all = withAllOfLeft(sides.swapped)
      val (right, left) = all.values.splitAt(sides.right.values.size)
      all.copy(values = left ++ right)
    case FullOuter => History.united(Seq(withAllOfLeft(sides), unmatchedOnRight(sides)))
    case ExistenceJoin(exists) => byKeys(sides).fold(existence(sides, exists))(_.existence(exists))
    case LeftSingle =>
      TemporalErrors.noSnapshotForm(
        "A scalar subquery that may have several rows at an instant",
        "return one row by an aggregate, such as max")
    case other => TemporalErrors.noSnapshotForm(s"A ${other.sql} join", "use another join type")
  }

  private def byKeys(sides: HistoryPair): Option[EquiJoinOfHistories] =
    EquiJoinOfHistories.of(sides.left, sides.right, sides.condition, sides.hint, dataType)

  private def withAllOfLeft(sides: HistoryPair): History =
    byKeys(sides).fold(History.united(Seq(pairs(sides), unmatchedOnLeft(sides))))(_.leftOuter)

  private def existence(sides: HistoryPair, exists: Attribute): History = {
    val found = partnered(sides, PeriodRule.Semi)
    val told =
      Seq(found -> Literal.TrueLiteral, unmatched(sides.fresh) -> Literal.FalseLiteral).map {
        case (rows, whether) => rows.selecting(rows.values :+ Alias(whether, exists.name)())
      }
    val all = History.united(told)
    renamed(all, all.values.init :+ exists)
  }

  private def pairs(sides: HistoryPair): History = {
    import sides._
    val (l, r) = (left.period.get, right.period.get)
    val both = (l.overlaps(r) +: condition.toSeq).reduce(And)
    val (start, end) = l.overlap(r)
    History.of(
      Join(left.plan, right.plan, Inner, Some(both), hint),
      left.values ++ right.values,
      start,
      end)
  }

  /**
   * Left rows while they have a match, or while they have none. Equal rows have the same matches.
   */
  private def partnered(sides: HistoryPair, rule: PeriodRule): History = {
    PeriodSweep.checkComparable(
      sides.left.values,
      "An outer, semi or anti join with a condition other than equal keys")
    val others = sides.fresh
    val partners = pairs(others).copy(values = others.left.values)
    PeriodSweep.history(
      rule,
      Seq(SweepInput.left(sides.left), SweepInput.right(partners)),
      sides.left.values,
      dataType)
  }

  /** Left rows while they have no match. */
  private def unmatched(sides: HistoryPair): History =
    byKeys(sides).fold(partnered(sides, PeriodRule.ExceptStrict))(_.anti)

  private def unmatchedOnLeft(sides: HistoryPair): History = {
    val rows = unmatched(sides.fresh)
    rows.selecting(rows.values ++ sides.right.nulls)
  }

  private def unmatchedOnRight(sides: HistoryPair): History = {
    val rows = unmatched(sides.fresh.swapped)
    rows.selecting(sides.left.nulls ++ rows.values)
  }

  private def renamed(rows: History, columns: Seq[Attribute]): History = rows.selecting(
    rows.values.zip(columns).map { case (value, column) =>
      if (value.exprId == column.exprId) value else Alias(value, column.name)(column.exprId)
    })

  private case class HistoryPair(
      left: History,
      right: History,
      condition: Option[Expression],
      hint: JoinHint) {

    def bounded: HistoryPair = copy(left.bounded(dataType), right.bounded(dataType))

    def swapped: HistoryPair = copy(right, left, hint = JoinHint(hint.rightHint, hint.leftHint))

    /** The same sides with new column ids. */
    def fresh: HistoryPair = {
      val (l, r) = (FreshAttributeCopy(left), FreshAttributeCopy(right))
      HistoryPair(l.history, r.history, condition.map(e => l.of(r.of(e))), JoinHint.NONE)
    }
  }
}
