// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.runs

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.intervalsweep.condition.expressions.EndpointEncoding
import org.apache.spark.sql.intervalsweep.condition.model.{
  Axis, Bound, KeptMatches, LeftSide, MatchLimit, Sweep
}
import org.apache.spark.sql.intervalsweep.execution.index.{KeyRange, MinMaxIndex, SortedPoints}
import org.apache.spark.sql.types.{DataType, DoubleType, LongType}

/** Compares the kept matches with those of a sort of all matches. */
class LimitedSearchSuite extends AnyFunSuite {

  /** Rows with one key; the endpoints of boxes are lower bound, upper bound and center. */
  private final class Rows(val all: IndexedSeq[Seq[Long]], width: Int) extends SortedPoints {
    override val numRows: Int = all.size
    override val endpoints: Array[Array[Long]] = Array.tabulate(width)(k => all.map(_(k)).toArray)
    override def minMax(endpoint: Int): MinMaxIndex = null
  }

  private val lead = Axis(0, Some(Bound(0, strict = false)), Some(Bound(1, strict = false)))

  private def value(random: Random, dataType: DataType): Long = dataType match {
    case DoubleType =>
      val special =
        Seq(Double.NaN, Double.NegativeInfinity, Double.PositiveInfinity, Double.MaxValue)
      val one = if (random.nextInt(4) == 0) special(random.nextInt(4)) else random.nextInt(9) / 2.0
      EndpointEncoding.ofDouble(one)
    case _ => random.nextInt(12) match {
        case 0 => Long.MaxValue
        case 1 => Long.MinValue
        case _ => random.nextInt(12).toLong
      }
  }

  /** The distance in Spark's order: NaN is the greatest. */
  private def distance(a: Long, b: Long, dataType: DataType): (Boolean, BigDecimal) =
    if (dataType == LongType) (false, (BigDecimal(a) - BigDecimal(b)).abs)
    else {
      val d = math.abs(EndpointEncoding.toDouble(a) - EndpointEncoding.toDouble(b))
      if (d.isNaN) (true, 0) else (false, if (d.isInfinite) BigDecimal("1e400") else BigDecimal(d))
    }

  /** The places of the best matches, best first. */
  private def best(box: Seq[Long], points: Array[Long], limit: MatchLimit): Set[Int] = {
    val matches = points.indices.filter(i => box(0) <= points(i) && points(i) <= box(1))
    val ordered = limit.kept match {
      case KeptMatches.Last => matches.reverse
      case KeptMatches.First => matches
      case KeptMatches.Nearest(_, dataType) =>
        matches.sortBy { i =>
          val isAbove = points(i) > box(2)
          val away = if (isAbove) BigDecimal(points(i)) else -BigDecimal(points(i))
          (distance(points(i), box(2), dataType), isAbove, away, -i)
        }
    }
    ordered.take(limit.count).toSet
  }

  for {
    dataType <- Seq[DataType](LongType, DoubleType)
    kept <- Seq(KeptMatches.Last, KeptMatches.First, KeptMatches.Nearest(2, dataType))
  } test(s"$kept of ${dataType.sql}: the same points as by a sort of all matches") {
    var found = 0
    for (seed <- 1 to 300) {
      val random = new Random(seed)
      val points =
        new Rows(
          IndexedSeq.fill(random.nextInt(30))(Seq(value(random, dataType))).sortBy(_.head),
          1)
      val boxes = new Rows(
        IndexedSeq.fill(10) {
          val ends = Seq.fill(2)(value(random, dataType)).sorted
          val open = random.nextBoolean()
          val (low, high) = if (open) (Long.MinValue, Long.MaxValue) else (ends.head, ends.last)
          Seq(low, high, value(random, dataType))
        },
        3)
      val limit = MatchLimit(kept, 1 + random.nextInt(5))
      val keys = KeyRange.ofGroups(null, Array(0, points.numRows))
      val search = new BoxSearch(Sweep(LeftSide, lead, None), boxes, points, keys)
      val limited = new LimitedSearch(limit, search, boxes, points.endpoints(0))
      for ((box, i) <- boxes.all.zipWithIndex) {
        val runs = new RunBatch
        limited.find(i, runs)
        val places = (0 until runs.size).flatMap(k =>
          runs.first(k) until runs.first(k) + runs.count(k))
        assert(places.distinct.size == places.size, "a point is in one run only")
        assert(places.toSet == best(box, points.endpoints(0), limit), s"$box, $limit, seed $seed")
        found += places.size
      }
    }
    assert(found > 1000)
  }
}
