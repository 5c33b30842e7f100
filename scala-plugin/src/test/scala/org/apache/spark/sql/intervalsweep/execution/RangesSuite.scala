package org.apache.spark.sql.intervalsweep.execution

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.condition._
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
          assert(containing === Seq(ranges.of(point)), s"$point in ${bounds.toSeq}")
        }
      }
  }

  test("a box goes to every range that holds a point of it, whatever its bounds") {
    val random = new Random(3)
    val ranges = Ranges(Array(-3L, 0L, 2L))
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
      router.route(InternalRow(low, high), route)
      val point = values(random.nextInt(values.size))
      val isInside =
        (!hasLow || low < point || !strictLow && low == point) &&
          (!hasHigh || point < high || !strictHigh && high == point)
      val isReached = route(0) <= ranges.of(point) && ranges.of(point) <= route(1)
      assert(!isInside || isReached, s"$axis of ($low, $high) and $point: ${route.toSeq}")
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
    Seq(InternalRow(5L, 5L), InternalRow(7L, 3L), InternalRow(Long.MaxValue, Long.MaxValue))
      .foreach { row =>
        router.route(row, route)
        assert(route(0) > route(1), s"$row")
      }
  }
}
