// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.ranges

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.intervalsweep.condition.expressions.EncodedEndpoint
import org.apache.spark.sql.intervalsweep.condition.model.{Axis, Bound, LeftSide, RightSide, Sweep}
import org.apache.spark.sql.types.LongType
import org.scalatest.funsuite.AnyFunSuite

class RangesSuite extends AnyFunSuite {
  private val values = Seq(Long.MinValue, Long.MinValue + 1, -3L, 0L, 1L, 2L, 5L, Long.MaxValue)

  test("every point lies within the limits of its range, and in no other range") {
    Seq(Array.emptyLongArray, Array(0L), Array(Long.MinValue, 0L, 2L), Array(1L, Long.MaxValue - 1))
      .foreach { bounds =>
        val ranges = Ranges(bounds)
        values.foreach { point =>
          val containing = (0 until ranges.count).filter { k =>
            val (low, high) = ranges.limits(k)
            low <= point && point <= high
          }
          assert(containing === Seq(ranges.of(point, 7)), s"$point in ${bounds.toSeq}")
        }
      }
  }

  test("a box goes to every range that holds a point of it, whatever its bounds") {
    val random = new Random(3)
    val ranges = Ranges(Array(-3L, 0L, 1L, 2L), Array(1, 1, 3, 1, 1))
    for {
      low <- values
      high <- values
      strictLow <- Seq(true, false)
      strictHigh <- Seq(true, false)
      hasLow <- Seq(true, false)
      hasHigh <- Seq(true, false)
    } {
      val axis = Axis(
        0,
        Option.when(hasLow)(Bound(0, strictLow)),
        Option.when(hasHigh)(Bound(1, strictHigh)))
      val router = new RangeRouter(LeftSide, Seq(Sweep(LeftSide, axis, None)), ranges)
      val route = new Array[Int](2)
      router.route(Seq(low, high), 7, route)
      val point = values(random.nextInt(values.size))
      val isInside =
        (!hasLow || low < point || !strictLow && low == point) &&
          (!hasHigh || point < high || !strictHigh && high == point)
      (0 to 4).map(ranges.of(point, _)).foreach { partition =>
        val isReached = route(0) <= partition && partition <= route(1)
        assert(!isInside || isReached, s"$axis of ($low, $high) and $point: ${route.toSeq}")
      }
    }
  }

  test("a box that can hold no point goes nowhere") {
    val router = new RangeRouter(
      RightSide,
      Seq(Sweep(
        RightSide,
        Axis(0, Some(Bound(0, strict = true)), Some(Bound(1, strict = false))),
        None)),
      Ranges(Array(0L)))
    val route = new Array[Int](2)
    Seq(Seq(5L, 5L), Seq(7L, 3L), Seq(Long.MaxValue, Long.MaxValue)).foreach { row =>
      router.route(row, 7, route)
      assert(route(0) > route(1), s"$row")
    }
  }

  test("a row that is a box in one sweep and a point in another goes to each of its ranges once") {
    val columns = Seq("ts", "te").map(AttributeReference(_, LongType)())
    val box = Axis(0, Some(Bound(0, strict = false)), Some(Bound(1, strict = true)))
    val point = Axis(1, None, None)
    val sweeps = Seq(Sweep(LeftSide, box, None), Sweep(RightSide, point, None))
    val ranges = Ranges(Array(0L, 10L, 20L))
    val side = RangeSide(
      columns,
      columns.map(EncodedEndpoint(_)),
      new RangeRouter(LeftSide, sweeps, ranges),
      isKept = true,
      added = Nil)
    val targets = new RowTargets(side, ranges.count)
    def of(row: Any*): Set[Int] = {
      targets.read(InternalRow(row: _*), 6)
      val found = (0 until targets.count).map(targets(_))
      assert(found.distinct === found)
      found.toSet
    }
    assert(of(5L, 25L) === Set(1, 2, 3)) // the last range contains its end
    assert(of(5L, 11L) === Set(1, 2))
    assert(of(15L, 3L) === Set(1)) // reversed: a point only
    assert(of(null, 3L) === Set(6 % 4)) // kept in any partition
  }

  test("points of a value that many have are dealt out, each to one partition") {
    def sample(points: Long*): PointSample = new PointSample(points.size, points.map((_, 1.0f)))
    val equal = sample(Seq.fill(100)(7L): _*).ranges(4, mayDeal = true)
    assert((0L until 8L).map(equal.of(7, _)).distinct.size === 4)
    assert(equal.of(6, 0) < equal.firstOf(7) && equal.lastOf(7) < equal.of(8, 0))

    val half =
      sample((0L until 100L) ++ Seq.fill(100)(Long.MinValue): _*).ranges(10, mayDeal = true)
    val parts = (0L until 20L).map(half.of(Long.MinValue, _)).distinct
    assert(parts.size === 5 && parts.forall(p => half.limits(p) == (Long.MinValue, Long.MinValue)))
    assert((0L until 100L).forall(p => half.of(p, 0) == half.of(p, 1)))

    val together = sample(Seq.fill(100)(7L): _*).ranges(4, mayDeal = false)
    assert((0L until 8L).map(together.of(7, _)).distinct.size === 1)
    assert(sample((0L until 100L): _*).ranges(4, mayDeal = true).count === 4)
  }

  test("a reservoir keeps all of a few values, and of many some from everywhere") {
    def sampled(n: Int): Array[Long] = {
      val reservoir = new Reservoir(2000, seed = 3)
      (0 until n).foreach(value => reservoir.add(value.toLong))
      assert(reservoir.seen === n)
      reservoir.sample
    }
    assert(sampled(0).isEmpty)
    assert(sampled(1999).toSeq === (0L until 1999L))
    val some = sampled(100000)
    assert(some.length === 2000 && some.distinct.length === 2000)
    val perTenth = some.groupBy(_ / 10000).map(_._2.length)
    assert(perTenth.size === 10 && perTenth.forall(n => n > 140 && n < 260))
  }
}
