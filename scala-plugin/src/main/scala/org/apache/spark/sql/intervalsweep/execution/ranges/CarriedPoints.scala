// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.ranges

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, RowOrdering, SortOrder}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.intervalsweep.condition.model.{AxisInterval, KeptMatches, MatchLimit}
import org.apache.spark.sql.intervalsweep.execution.block.EndpointReader
import org.apache.spark.sql.intervalsweep.execution.packing.AddressedRow

/**
 * The points that go to further ranges, because a [[MatchLimit]] may keep them for a box there. A
 * box is in the range in which the search for its matches starts. If that range has too few points,
 * the search goes on beyond it:
 *
 * {{{
 *   ranges              0         |      1      |      2
 *   points          .  .  . a   b |             |  .  .
 *   box                                      [--|                last 2: a and b
 *   carried                          a  b          a  b          the last 2 points before each range
 * }}}
 *
 * Each task carries the last points that it has itself. So a range gets at most `count` points in
 * each direction from each task.
 *
 * @param ties the order of points with equal coordinates, as in `SweepNode`
 * @param point index of the lead coordinate among the endpoints of the points
 */
case class CarriedPoints(limit: MatchLimit, ties: Seq[SortOrder], point: Int) {

  /** The addressed points of a task, followed by those that it carries. */
  private[ranges] def follow(
      points: Iterator[AddressedRow],
      endpointOf: EndpointReader,
      columns: Seq[Attribute],
      ranges: Int,
      replicated: SQLMetric): Iterator[AddressedRow] = {
    val kept = new KeptPoints(this, endpointOf, columns, ranges)
    points.map { addressed => kept.add(addressed); addressed } ++ {
      val carried = kept.carried
      replicated.add(carried.size)
      carried.iterator
    }
  }

  def goesUp: Boolean = limit.kept != KeptMatches.First
  def goesDown: Boolean = limit.kept != KeptMatches.Last
}

object CarriedPoints {

  /** The most points that a task keeps for the ranges. */
  private val MostPoints = 1 << 16

  def mostRanges(limit: MatchLimit): Int = math.max(1, MostPoints / limit.count)
}

/** Where the search for the matches of a box starts. */
private[ranges] object SearchStart {
  def of(limit: MatchLimit, lead: AxisInterval, endpoints: Int => Long): Long = limit.kept match {
    case KeptMatches.Last => lead.most
    case KeptMatches.First => lead.least
    case KeptMatches.Nearest(center, _) =>
      math.max(lead.least, math.min(lead.most, endpoints(center)))
  }
}

/** The first and the last points of each range, of one task. */
private final class KeptPoints(
    points: CarriedPoints,
    endpointOf: EndpointReader,
    columns: Seq[Attribute],
    ranges: Int) {
  import KeptPoints.Point

  private val count = points.limit.count
  private val byTies = RowOrdering.create(points.ties, columns)

  private def orderBy(ties: Ordering[InternalRow]): Ordering[Point] = (a, b) => {
    val byCoordinate = java.lang.Long.compare(a.coordinate, b.coordinate)
    if (byCoordinate != 0) byCoordinate else ties.compare(a.row, b.row)
  }

  private val ascending = orderBy(byTies)

  /** The nearest matches prefer the last one of points with equal coordinates. */
  private val preferredFirst = if (points.goesUp) orderBy(byTies.reverse) else ascending

  /** The head of a queue is the point that leaves first: the greatest by the queue's order. */
  private val last = queues(points.goesUp, ascending.reverse)
  private val first = queues(points.goesDown, preferredFirst)

  private def queues(
      isUsed: Boolean,
      order: Ordering[Point]): Array[mutable.PriorityQueue[Point]] =
    Array.fill(if (isUsed) ranges else 0)(mutable.PriorityQueue.empty(order))

  def add(addressed: AddressedRow): Unit =
    // Spark has read the endpoints of the row to address it; a row without them is not addressed.
    if (endpointOf.read(addressed.row)) {
      val coordinate = endpointOf(points.point)
      if (last.nonEmpty) offer(last(addressed.partition), coordinate, addressed.row)
      if (first.nonEmpty) offer(first(addressed.partition), coordinate, addressed.row)
    }

  private def offer(
      queue: mutable.PriorityQueue[Point],
      coordinate: Long,
      row: InternalRow): Unit = {
    val isFull = queue.size == count
    if (!isFull || queue.ord.lt(new Point(coordinate, row), queue.head)) {
      if (isFull) queue.dequeue()
      queue += new Point(coordinate, row.copy())
    }
  }

  /** The points that each range gets from the ranges before it, and from those after it. */
  def carried: Seq[AddressedRow] =
    passed(last, 0 until ranges) ++ passed(first, (0 until ranges).reverse)

  /** Goes through the ranges, and passes on the `count` points that were met last. */
  private def passed(
      queues: Array[mutable.PriorityQueue[Point]],
      order: Seq[Int]): Seq[AddressedRow] =
    if (queues.isEmpty) Nil
    else {
      val result = mutable.ArrayBuffer.empty[AddressedRow]
      var recent = Seq.empty[Point]
      order.foreach { range =>
        recent.foreach(point => result += new AddressedRow(range, point.row))
        // The queue's greatest point is the one that is farthest from the next range.
        recent = (queues(range).dequeueAll.reverse ++ recent).take(count)
      }
      result.toSeq
    }
}

private object KeptPoints {
  final class Point(val coordinate: Long, val row: InternalRow)
}
