// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.intervalsweep.execution.worker.WorkerSettings
import org.apache.spark.sql.intervalsweep.temporal.nodes.PeriodRule
import org.apache.spark.sql.types.{DoubleType, IntegerType, LongType}

/** The ranges of time of a sweep without keys, and the rows that are clipped to them. */
class PeriodRangesSuite extends AnyFunSuite {
  private val key = AttributeReference("key", IntegerType)()
  private val ends = Seq("from", "to").map(AttributeReference(_, LongType, nullable = false)())
  private val weight = AttributeReference("weight", LongType, nullable = false)()
  private val fraction = AttributeReference("fraction", DoubleType, nullable = false)()
  private val settings = PeriodSettings(
    PeriodRule.Coalesce,
    PeriodColumns(
      input = Seq(fraction, key, weight) ++ ends,
      keys = Seq(key),
      from = ends.head,
      to = ends.last,
      numbers = Seq(weight, fraction)),
    measures = Nil,
    results = Nil,
    output = Nil,
    worker = WorkerSettings("python3", "", Map.empty, isReused = true, 1, 1),
    batchRows = 10,
    metrics = Map.empty)

  private val instants = Seq(Long.MinValue, -7L, -1L, 0L, 1L, 5L, 9L, Long.MaxValue - 1)

  private def cuts(random: Random): Array[Long] =
    Array.fill(random.nextInt(6))(random.nextInt(20).toLong - 10).distinct.sorted

  test("an instant is in the range between the cut at or before it and the next cut") {
    val random = new Random(1)
    for (_ <- 1 to 100) {
      val ranges = PeriodRanges(cuts(random))
      for (instant <- instants) {
        val containing = (0 until ranges.count).filter { range =>
          val (first, next) = ranges.limits(range)
          first <= instant && instant < next
        }
        assert(containing == Seq(ranges.of(instant)), s"$instant in ${ranges.cuts.toSeq}")
        assert(ranges.of(instant) == ranges.cuts.count(_ <= instant))
      }
    }
  }

  test("the fragments of a row, clipped to its ranges, are the whole period") {
    val random = new Random(2)
    var found = 0
    for (_ <- 1 to 200) {
      val start = instants(random.nextInt(instants.size - 1))
      val later = (instants :+ Long.MaxValue).filter(_ > start)
      val end = later(random.nextInt(later.size))
      val ranges = PeriodRanges(cuts(random))
      val fragments = (ranges.of(start) to ranges.of(end - 1)).map { range =>
        val reader = new KeyReader(settings.columns, ranges.limits(range))
        reader.take(InternalRow(0.5, 3, 1L, start, end))
        (reader.number(0), reader.number(1))
      }
      val inner = ranges.cuts.toSeq.filter(cut => start < cut && cut < end)
      val all = start +: inner :+ end
      assert(fragments == all.zip(all.tail), s"[$start, $end) at ${ranges.cuts.toSeq}")
      found += inner.size
    }
    assert(found > 100)
  }

  test("numbers after the period, and keys") {
    val reader = new KeyReader(settings.columns, (Long.MinValue, Long.MaxValue))
    for ((number, value) <- Seq((7, 0.25), (-3, -1.5), (0, Double.PositiveInfinity))) {
      val row = InternalRow(value, number, number * 10L, 0L, 1L)
      reader.take(row)
      assert(reader.keys(row).getInt(0) == number)
      assert(reader.number(2) == number * 10L)
      assert(reader.number(3) == java.lang.Double.doubleToRawLongBits(value))
    }
  }
}
