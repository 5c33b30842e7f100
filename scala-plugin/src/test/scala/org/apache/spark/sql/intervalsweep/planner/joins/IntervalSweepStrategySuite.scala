// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.joins

import org.apache.spark.internal.config.ConfigEntry
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.{
  FullOuter, Inner, JoinType, LeftAnti, LeftOuter, LeftSemi, RightOuter
}
import org.apache.spark.sql.catalyst.plans.logical.{
  BROADCAST, HintInfo, Join, JoinHint, JoinStrategyHint, LeafNode, NO_BROADCAST_HASH, SHUFFLE_HASH,
  SHUFFLE_MERGE, SHUFFLE_REPLICATE_NL, Statistics
}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.intervalsweep.condition.ConditionSupport
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side, WhyNot}
import org.apache.spark.sql.intervalsweep.execution.task.SweepMode

/** The decision for one join: its mode, its boxes, or the reason why Spark plans it. */
class IntervalSweepStrategySuite extends ConditionSupport {
  private val schema = "k INT, ts INT, te INT"
  private val tables = Tables(schema, schema)
  private val Small = 1L << 20
  private val Large = 1L << 40
  private val intersects = "interval_intersects(r.ts, r.te, s.ts, s.te)"
  private val overlaps = "allen_overlaps(r.ts, r.te, s.ts, s.te)"

  private type Decision = Either[WhyNot, SweepChoice]

  private def join(
      on: String,
      left: Long,
      right: Long,
      joinType: JoinType = Inner,
      hint: JoinHint = JoinHint.NONE): Join =
    Join(
      SizedTable(tables.r.output, left),
      SizedTable(tables.s.output, right),
      joinType,
      Some(tables.condition(on)),
      hint)

  private def decide(join: Join, boxes: Option[Side] = None): Decision =
    SQLConf.withExistingConf(new SQLConf)(IntervalSweepStrategy.decide(join, boxes))

  private def decideWith[A](entry: ConfigEntry[A], value: A)(join: Join): Decision = {
    val conf = new SQLConf
    conf.setConf(entry, value)
    SQLConf.withExistingConf(conf)(IntervalSweepStrategy.decide(join))
  }

  private def hint(left: Option[JoinStrategyHint], right: Option[JoinStrategyHint]): JoinHint =
    JoinHint(left.map(h => HintInfo(Some(h))), right.map(h => HintInfo(Some(h))))

  private def mode(decision: Decision): SweepMode =
    decision.fold(why => fail(why.message), _.mode)

  private def reason(decision: Decision): WhyNot =
    decision.fold(identity, choice => fail(s"it is swept: ${choice.describe}"))

  test("the smaller side is broadcast if it is small, else the keys distribute the rows") {
    val keyed = s"r.k = s.k AND $intersects"
    for {
      (on, otherwise) <- Seq(intersects -> SweepMode.ByRanges, keyed -> SweepMode.ByKeys)
      (left, right, wanted) <- Seq(
        (Large, Large, otherwise),
        (Small, Large, SweepMode.Broadcast(LeftSide)),
        (Large, Small, SweepMode.Broadcast(RightSide)),
        (Small, Small - 1, SweepMode.Broadcast(RightSide)),
        (Small - 1, Small, SweepMode.Broadcast(LeftSide)))
    } assert(mode(decide(join(on, left, right))) == wanted, s"$on: $left and $right bytes")
  }

  test("a side whose matches are tracked is not broadcast") {
    val wanted = Seq[(JoinType, SweepMode)](
      Inner -> SweepMode.Broadcast(LeftSide),
      LeftOuter -> SweepMode.Broadcast(RightSide),
      LeftSemi -> SweepMode.Broadcast(RightSide),
      LeftAnti -> SweepMode.Broadcast(RightSide),
      RightOuter -> SweepMode.Broadcast(LeftSide),
      FullOuter -> SweepMode.ByRanges)
    for ((joinType, way) <- wanted)
      assert(mode(decide(join(intersects, Small - 1, Small, joinType))) == way, joinType)
  }

  test("hints overrule sizes") {
    val large = join(intersects, Large, Large, hint = hint(None, Some(BROADCAST)))
    assert(mode(decide(large)) == SweepMode.Broadcast(RightSide))
    val small = join(intersects, Small, Large, hint = hint(Some(NO_BROADCAST_HASH), None))
    assert(mode(decide(small)) == SweepMode.ByRanges)
  }

  test("hints for joins of Spark that need keys count only with keys") {
    for ((strategy, name) <- Seq(SHUFFLE_MERGE -> "MERGE", SHUFFLE_HASH -> "SHUFFLE_HASH")) {
      val hinted = hint(Some(strategy), None)
      val keyed = join(s"r.k = s.k AND $intersects", Large, Large, hint = hinted)
      assert(decide(keyed) == Left(WhyNot.HintForbids(name)))
      assert(mode(decide(join(intersects, Large, Large, hint = hinted))) == SweepMode.ByRanges)
    }
    val loop = join(intersects, Large, Large, hint = hint(Some(SHUFFLE_REPLICATE_NL), None))
    assert(decide(loop) == Left(WhyNot.HintForbids("SHUFFLE_REPLICATE_NL")))
  }

  test("the rows that are not broadcast are boxes if both sides can be") {
    for (broadcast <- Seq[Side](LeftSide, RightSide)) {
      val (left, right) = if (broadcast == LeftSide) (Small, Large) else (Large, Small)
      val choice = decide(join(overlaps, left, right)).fold(why => fail(why.message), identity)
      assert(choice.condition.sweeps.map(_.boxes) == Seq(broadcast.other))
    }
    for (side <- Seq[Side](LeftSide, RightSide)) {
      val grouped = decide(join(overlaps, Large, Large), Some(side))
      assert(grouped.map(_.condition.sweeps.head.boxes) == Right(side))
      val forced = decideWith(IntervalSweepConf.Boxes, side.toString)(join(overlaps, Large, Large))
      assert(forced.map(_.condition.sweeps.head.boxes) == Right(side))
    }
  }

  test("a row is swept once if it is one box of one axis, and in one task") {
    def once(on: String, left: Long, right: Long): Boolean =
      decide(join(on, left, right)).exists(_.sweepsOnce(LeftSide))
    val within = "s.ts BETWEEN r.ts AND r.te"
    assert(once(within, Large, Small) && once(s"r.k = s.k AND $within", Large, Large))
    assert(!once(within, Large, Large), "by ranges")
    assert(!once(overlaps, Large, Small), "two axes")
    assert(!once(intersects, Large, Small), "two sweeps")
    assert(!once(s"$within AND (r.k + s.k) % 3 = 1", Large, Small), "a residual")
  }

  test("joins that are left to Spark have a reason") {
    val swept = join(intersects, Large, Large)
    assert(decide(swept).isRight)
    assert(decideWith(IntervalSweepConf.Enabled, value = false)(swept) == Left(WhyNot.Disabled))
    assert(decide(swept.copy(condition = None)) == Left(WhyNot.NoCondition))
    val equality = reason(decide(join("r.k = s.k", Large, Large)))
    assert(equality.isInstanceOf[WhyNot.OnlyEqualities])
    val weak = join("r.k = s.k AND r.ts < s.ts", Large, Large)
    assert(reason(decide(weak)).isInstanceOf[WhyNot.WeakRange])
    val wanted = decideWith(IntervalSweepConf.WeakRanges, value = true)(weak)
    assert(mode(wanted) == SweepMode.ByKeys)
  }
}

/** A table of a known size. */
private case class SizedTable(override val output: Seq[Attribute], bytes: Long) extends LeafNode {
  override def computeStats(): Statistics = Statistics(sizeInBytes = bytes)
}
