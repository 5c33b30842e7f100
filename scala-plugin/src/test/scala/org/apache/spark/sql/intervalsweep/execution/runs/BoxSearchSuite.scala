// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.runs

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.intervalsweep.condition.model.{Axis, Bound, LeftSide, Sweep}
import org.apache.spark.sql.intervalsweep.execution.index.{KeyRange, MinMaxIndex, SortedPoints}

/** Compares the search with a loop over all pairs. */
class BoxSearchSuite extends AnyFunSuite {

  /** Rows with a key and two endpoints, sorted by key and the first endpoint. */
  private final class Rows(val all: IndexedSeq[(Long, Long, Long)], hasIndex: Boolean)
      extends SortedPoints {
    val keys: Array[Long] = all.map(_._1).toArray
    override val numRows: Int = all.size
    override val endpoints: Array[Array[Long]] = Array(all.map(_._2).toArray, all.map(_._3).toArray)
    override def minMax(endpoint: Int): MinMaxIndex =
      if (hasIndex) new MinMaxIndex(endpoints(endpoint)) else null
  }

  private def rows(random: Random, n: Int, span: Int, hasIndex: Boolean): Rows = {
    def value() = random.nextInt(10) match {
      case 0 => Long.MaxValue
      case 1 => Long.MinValue
      case _ => random.nextInt(span).toLong
    }
    new Rows(IndexedSeq.fill(n)((random.nextInt(3).toLong, value(), value())).sorted, hasIndex)
  }

  private def axis(point: Int, isStrict: Boolean): Axis =
    Axis(point, Some(Bound(0, strict = isStrict)), Some(Bound(1, strict = !isStrict)))

  private def isIn(axis: Axis, box: Seq[Long], point: Seq[Long]): Boolean = {
    val value = point(axis.point)
    axis.lower.forall(b => if (b.strict) box(b.endpoint) < value else box(b.endpoint) <= value) &&
    axis.upper.forall(b => if (b.strict) value < box(b.endpoint) else value <= box(b.endpoint))
  }

  for (hasIndex <- Seq(false, true); hasSecond <- Seq(false, true))
    test(s"all pairs are found, once${if (hasSecond) ", with a second axis" else ""}" +
      s"${if (hasIndex) ", with a min-max index" else ""}") {
      var found = 0
      for (seed <- 1 to 200) {
        val random = new Random(seed)
        val span = 1 + random.nextInt(60)
        val (boxes, points) = (
          rows(random, random.nextInt(20), span, hasIndex),
          rows(random, random.nextInt(200), span, hasIndex))
        val lead = axis(0, random.nextBoolean())
        val second = Option.when(hasSecond)(axis(1, random.nextBoolean()))
        val search = new BoxSearch(
          Sweep(LeftSide, lead, second),
          boxes,
          points,
          KeyRange.ofSorted(boxes.keys, points.keys))
        for ((box, i) <- boxes.all.zipWithIndex) {
          val runs = new RunBatch
          search.find(i, runs, firstOnly = false)
          val ours = (0 until runs.size)
            .flatMap(k => runs.first(k) until runs.first(k) + runs.count(k))
          val wanted = points.all.indices.filter { j =>
            val (own, other) = (Seq(box._2, box._3), Seq(points.all(j)._2, points.all(j)._3))
            box._1 == points.all(j)._1 && isIn(lead, own, other) &&
            second.forall(isIn(_, own, other))
          }
          assert(ours == wanted, s"seed $seed, box $i")
          assert(search.end - search.first >= ours.size)
          found += ours.size
        }
      }
      assert(found > 1000)
    }

  test("groups of boxes without points are empty") {
    val range = KeyRange.ofGroups(Array(0, 1, 5), Array(0, 2, 3))
    val found = (0 to 2).map { box =>
      range.read(box)
      range.end - range.first
    }
    assert(found == Seq(2, 1, 0))
  }
}
