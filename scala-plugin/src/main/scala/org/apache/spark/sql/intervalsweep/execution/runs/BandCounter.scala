// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.runs

import org.apache.spark.sql.intervalsweep.condition.model.{Axis, AxisInterval, Sweep}
import org.apache.spark.sql.intervalsweep.execution.index.{
  KeyRange, MinMaxIndex, SortedPoints, WaveletMatrix
}

/** Rows sorted by key and endpoint, with their keys. */
final case class KeyedPoints(keys: Array[Long], override val endpoints: Array[Array[Long]])
    extends SortedPoints {
  override def numRows: Int = keys.length
  override def minMax(endpoint: Int): MinMaxIndex = null

  private[runs] def take(rows: Array[Int]): KeyedPoints =
    KeyedPoints(rows.map(keys(_)), endpoints.map(values => rows.map(values(_))))
}

/**
 * For each box the points that a band of row numbers admits.
 *
 * @param order the points in the order of their numbers
 * @param first box `i` admits `order(first(i))` and the points after it
 * @param end   until before `order(end(i))`
 */
final class BandPlaces(val order: Array[Int], val first: Array[Int], val end: Array[Int])

/**
 * Counts for each box the points that lie in it and in its band of row numbers, whatever the number
 * of pairs. With m points and n boxes it takes O((m + n) log n log m).
 *
 * The points, by number, are halved again and again. If a box admits all points of a part, they are
 * counted by a search on the lead axis and a wavelet matrix of the second axis. A box admits the
 * inner parts as a whole, and only the parts at its ends are halved:
 * {{{
 *   points by number   ................................................
 *   band of a box           [--|-------|---------------|-------|-]
 *   counted as a whole         |   8   |      16       |   8   |
 * }}}
 */
final class BandCounter(sweep: Sweep, boxes: KeyedPoints, points: KeyedPoints, places: BandPlaces) {
  import BandCounter._
  import places.{end, first, order}

  private val lead = new AxisInterval(sweep.lead)
  private val second = sweep.second.map(axis => axis -> new AxisInterval(axis))
  private val rank: Array[Int] = {
    val ranks = new Array[Int](order.length)
    var i = 0
    while (i < order.length) { ranks(order(i)) = i; i += 1 }
    ranks
  }

  /** @param add receives a box and a number of points in it */
  def count(add: (Int, Int) => Unit): Unit = {
    val some = Array.range(0, boxes.numRows).filter(box => first(box) < end(box))
    if (some.nonEmpty) {
      val (least, most) = (some.map(first(_)).min, some.map(end(_)).max)
      val (from, until) = (some.map(first(_)).max, some.map(end(_)).min)
      if (from < until) {
        part(least, from, some, add)
        ofAll(pointsOf(from, until), some, add)
        part(until, most, some, add)
      } else part(least, most, some, add)
    }
  }

  /** The points with a rank from `from` until `until`, in their own order. */
  private def pointsOf(from: Int, until: Int): Array[Int] =
    if (until - from < order.length / 8) java.util.Arrays.copyOfRange(order, from, until).sorted
    else Array.range(0, order.length).filter(p => rank(p) >= from && rank(p) < until)

  private def part(from: Int, until: Int, some: Array[Int], add: (Int, Int) => Unit): Unit =
    if (from < until) halved(from, until, pointsOf(from, until), some, add)

  /**
   * @param of   the points with a rank from `from` until `until`
   * @param some the boxes that may admit some of them
   */
  private def halved(
      from: Int,
      until: Int,
      of: Array[Int],
      some: Array[Int],
      add: (Int, Int) => Unit): Unit = {
    val touching = some.filter(box => first(box) < until && end(box) > from)
    val (covering, others) = touching.partition(box => first(box) <= from && end(box) >= until)
    if (covering.length > 0) ofAll(of, covering, add)
    if (others.length > 0)
      if (until - from <= Leaf) others.foreach(box => each(box, from, until, add))
      else {
        val middle = (from + until) >>> 1
        val (low, high) = of.partition(rank(_) < middle)
        halved(from, middle, low, others, add)
        halved(middle, until, high, others, add)
      }
  }

  /** Counts points that all of these boxes admit. */
  private def ofAll(of: Array[Int], some: Array[Int], add: (Int, Int) => Unit): Unit = {
    val taken = if (of.length == points.numRows) points else points.take(of)
    val counts = sweep.second.map(axis => new WaveletMatrix(taken.endpoints(axis.point)))
    BandCounter.ofAll(sweep, boxes, taken, KeyRange.ofSorted(boxes.keys, taken.keys), counts, some)(
      add)
  }

  /** Looks at each point that a box admits, with a rank from `from` until `until`. */
  private def each(box: Int, from: Int, until: Int, add: (Int, Int) => Unit): Unit = {
    val endpointOf: Int => Long = endpoint => boxes.endpoints(endpoint)(box)
    lead.read(endpointOf)
    second.foreach(_._2.read(endpointOf))
    var found = 0
    var place = math.max(from, first(box))
    val last = math.min(until, end(box))
    while (place < last) {
      val point = order(place)
      if (points.keys(point) == boxes.keys(box) &&
        lead.contains(points.endpoints(sweep.lead.point)(point)) && isInSecond(point)) found += 1
      place += 1
    }
    if (found > 0) add(box, found)
  }

  private def isInSecond(point: Int): Boolean = second match {
    case Some((axis: Axis, within)) => within.contains(points.endpoints(axis.point)(point))
    case None => true
  }
}

object BandCounter {
  private val Leaf = 64

  /**
   * Counts for some boxes the points in them: O(log n) per box.
   *
   * @param counts of the points on the second axis, if there is one
   */
  def ofAll(
      sweep: Sweep,
      boxes: SortedPoints,
      points: SortedPoints,
      keys: KeyRange,
      counts: Option[WaveletMatrix],
      some: Array[Int])(add: (Int, Int) => Unit): Unit = {
    val search = new BoxSearch(sweep, boxes, points, keys)
    some.foreach { box =>
      search.read(box)
      if (search.first < search.end) {
        val n = counts.fold(search.end - search.first) { counts =>
          val within = search.secondInterval
          counts.count(search.first, search.end, within.least, within.most)
        }
        if (n > 0) add(box, n)
      }
    }
  }
}
