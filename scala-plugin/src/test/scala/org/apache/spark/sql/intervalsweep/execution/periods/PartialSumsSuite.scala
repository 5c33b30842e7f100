// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.intervalsweep.execution.block.BlockMemory
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

class PartialSumsSuite extends AnyFunSuite {
  private case class Row(key: Any, from: Long, to: Long, value: Long, count: Long)

  private def number(name: String) = AttributeReference(name, LongType, nullable = false)()
  private val (from, to, value, count) =
    (number("from"), number("to"), number("value"), number("count"))

  private def columns(keys: Attribute*): PeriodColumns =
    PeriodColumns(keys ++ Seq(from, to, value, count), keys, from, to, Seq(value, count))

  private class Limited(var left: Long) extends BlockMemory {
    override def isShared: Boolean = false
    override def tryReserve(bytes: Long): Boolean = {
      val isGranted = bytes <= left
      if (isGranted) left -= bytes
      isGranted
    }
    override def reserve(bytes: Long): Unit = assert(tryReserve(bytes))
    override def release(bytes: Long): Unit = left += bytes
  }

  /** The rows that go past, and those that were added up. */
  private def added(
      rows: Seq[Row],
      key: Option[DataType],
      batchRows: Int = 1 << 16,
      isForced: Boolean = false,
      bytes: Long = Long.MaxValue): (Seq[Row], Seq[Row]) = {
    val keys = key.map(AttributeReference("key", _)()).toSeq
    val project = UnsafeProjection.create(keys.map(_.dataType).toArray)
    val sums = new PartialSums(columns(keys: _*), batchRows, isForced, new Limited(bytes))
    val past = rows.filter { row =>
      val isPast = sums.isPast
      if (!isPast) {
        Seq(row.from, row.to, row.value, row.count).copyToArray(sums.numbers)
        sums.add(project(InternalRow.fromSeq(keys.map(_ => row.key))))
      }
      isPast
    }
    val n = keys.size
    val summed = sums.finish().map { row =>
      val k = if (keys.isEmpty) null else row.get(0, keys.head.dataType)
      Row(k, row.getLong(n), row.getLong(n + 1), row.getLong(n + 2), row.getLong(n + 3))
    }
    (past, summed.toList)
  }

  private def at(rows: Seq[Row], instant: Long): Map[Any, (Long, Long)] =
    rows.filter(r => r.from <= instant && instant < r.to).groupBy(_.key).map { case (k, valid) =>
      k -> ((valid.map(_.value).sum, valid.map(_.count).sum))
    }

  private def random(random: Random, n: Int, instants: Int): Seq[Row] = Seq.fill(n) {
    def instant(bound: Long): Long =
      if (random.nextInt(20) == 0) bound else random.nextInt(instants).toLong
    val key = if (random.nextInt(9) == 0) null else random.nextInt(3)
    Row(key, instant(Long.MinValue), instant(Long.MaxValue), random.nextInt(9) - 4L, 1)
  }

  private val instants = Seq(Long.MinValue, Long.MaxValue - 1) ++ (-1L to 41L)

  test("rows that were added up have the same sums at each instant") {
    val draw = new Random(7)
    val seen = Array.fill(2)(0)
    for {
      isForced <- Seq(false, true)
      batchRows <- Seq(1, 3, 1000)
      bytes <- Seq(Long.MaxValue, 1L << 20, (1L << 20) + (1 << 18), 0L)
      size <- Seq(0, 1, 2, 40, 300)
    } {
      val rows = random(draw, size, 2 + draw.nextInt(40))
      val (past, summed) = added(rows, Some(IntegerType), batchRows, isForced, bytes)
      instants.foreach(t => assert(at(past ++ summed, t) == at(rows, t), s"at $t of $rows"))
      assert(summed.forall(r => r.from < r.to))
      assert(summed.distinct.size == summed.size)
      if (past.nonEmpty) seen(0) += 1
      if (summed.nonEmpty) seen(1) += 1
    }
    assert(seen.forall(_ > 20), seen.toSeq)
  }

  test("days make few rows of many") {
    val rows = random(new Random(1), 5000, 20)
    val (past, summed) = added(rows, Some(IntegerType), batchRows = 100)
    assert(past.isEmpty && summed.size <= 4 * 22)
  }

  test("rows go past once their instants differ") {
    val rows = Seq.tabulate(1000)(n => Row(null, 2L * n, 2L * n + 1, 1, 1))
    val (past, summed) = added(rows, None, batchRows = 100)
    assert(past == rows.drop(100) && summed == rows.take(100))
    val (none, all) = added(rows, None, batchRows = 100, isForced = true)
    assert(none.isEmpty && all == rows)
  }

  test("a task adds up what fits into its memory") {
    val rows = random(new Random(2), 400_000, 100_000)
    val (past, summed) =
      added(rows, Some(IntegerType), isForced = true, bytes = 8L << 20)
    assert(past.nonEmpty && summed.nonEmpty)
    assert((past ++ summed).map(r =>
      r.count * (if (r.to > 50_000 && r.from <= 50_000) 1 else 0)).sum
      == rows.count(r => r.to > 50_000 && r.from <= 50_000))
  }
}
