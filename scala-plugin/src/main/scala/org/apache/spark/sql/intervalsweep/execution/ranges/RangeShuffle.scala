// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.ranges

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.intervalsweep.condition.model.{AxisInterval, MatchLimit, Side, Sweep}
import org.apache.spark.sql.intervalsweep.execution.block.EndpointReader
import org.apache.spark.sql.intervalsweep.execution.packing.{AddressedRow, RowShuffle}

/**
 * Divides the axis of encoded points into ranges. Range `k` has the points above `bounds(k - 1)`,
 * up to and including `bounds(k)`. The first range has no lower bound, and the last no upper bound.
 *
 * {{{
 *   bounds            b0            b1
 *   ranges   ...   0  |      1      |  2   ...
 *   point                  .                    goes to 1
 *   box           [--------]                    goes to 0 and 1; clipped to each, it meets every
 *                                               point in one range only: no pair is found twice
 * }}}
 *
 * A range is one partition. If it is a single value that many points have, it is several
 * partitions: each of these points goes to one of them, and boxes go to all.
 *
 * @param parts the number of partitions of each range
 */
case class Ranges(bounds: Array[Long], parts: Array[Int]) {
  require(parts.length == bounds.length + 1, "there is one range more than bounds")

  private val starts: Array[Int] = parts.scanLeft(0)(_ + _)

  /** The number of partitions. */
  def count: Int = starts.last

  /** True if the points of a range are dealt out to several partitions. */
  def areDealt: Boolean = count > parts.length

  /**
   * The range of a point: the number of bounds below it. The binary search has no branch that
   * depends on the point, since the CPU could not predict it.
   */
  private def rangeOf(point: Long): Int = {
    var below = 0
    var rest = bounds.length
    while (rest > 1) {
      val half = rest >>> 1
      below += (if (bounds(below + half - 1) < point) half else 0)
      rest -= half
    }
    if (rest == 1 && bounds(below) < point) below + 1 else below
  }

  /**
   * The partition of a point.
   *
   * @param number the number of the row, by which rows of one value are dealt out
   */
  def of(point: Long, number: Long): Int = {
    val k = rangeOf(point)
    starts(k) + (number % parts(k)).toInt
  }

  def firstOf(point: Long): Int = starts(rangeOf(point))

  def lastOf(point: Long): Int = starts(rangeOf(point) + 1) - 1

  /** The first and the last value of partition `p`. */
  def limits(p: Int): (Long, Long) = {
    val at = java.util.Arrays.binarySearch(starts, p)
    val k = if (at >= 0) at else -at - 2
    (
      if (k == 0) Long.MinValue else bounds(k - 1) + 1,
      if (k == bounds.length) Long.MaxValue else bounds(k))
  }
}

object Ranges {
  def apply(bounds: Array[Long]): Ranges = Ranges(bounds, Array.fill(bounds.length + 1)(1))
}

/**
 * The partitions of a row. For each sweep, these are the partitions that its box overlaps, or the
 * partition of its point. With a limit, a box goes to the range in which the search for its matches
 * starts.
 */
final class RangeRouter(
    side: Side,
    sweeps: Seq[Sweep],
    ranges: Ranges,
    limit: Option[MatchLimit] = None)
    extends Serializable {

  /** True if the partitions depend on the numbers of rows. */
  def usesNumbers: Boolean = ranges.areDealt && sweeps.exists(_.points == side)

  /** The number of sweeps. */
  val width: Int = sweeps.size

  private val points: Array[Int] = sweeps.map(_.lead.point).toArray

  /**
   * The interval of a box on the lead axis, for each sweep; null if the rows are its points. Each
   * task has its own copy.
   */
  private val extents: Array[AxisInterval] =
    sweeps.map(sweep => if (sweep.boxes == side) new AxisInterval(sweep.lead) else null).toArray

  /**
   * Writes the first and the last partition of a row for each sweep. If first > last, there is
   * none.
   */
  def route(endpoints: Int => Long, number: Long, into: Array[Int]): Unit = {
    var k = 0
    while (k < width) {
      if (extents(k) != null) routeBox(extents(k), endpoints, into, 2 * k)
      else {
        val partition = ranges.of(endpoints(points(k)), number)
        into(2 * k) = partition
        into(2 * k + 1) = partition
      }
      k += 1
    }
  }

  private def routeBox(
      lead: AxisInterval,
      endpoints: Int => Long,
      into: Array[Int],
      at: Int): Unit = {
    lead.read(endpoints)
    val start = limit.map(SearchStart.of(_, lead, endpoints))
    into(at) = if (lead.isEmpty) 1 else ranges.firstOf(start.getOrElse(lead.least))
    into(at + 1) = if (lead.isEmpty) 0 else ranges.lastOf(start.getOrElse(lead.most))
  }
}

/**
 * The rows of one side, and how they get to their ranges.
 *
 * @param isKept true if a row that overlaps no range goes to some partition nevertheless
 * @param added the columns number and copies, if the join must know which rows have a match
 */
case class RangeSide(
    output: Seq[Attribute],
    endpoints: Seq[Expression],
    router: RangeRouter,
    isKept: Boolean,
    added: Seq[Attribute]) {
  def isNumbered: Boolean = added.nonEmpty

  /** The columns of the rows in their ranges. */
  def columns: Seq[Attribute] = output ++ added
}

/** Sends the rows of one side to their ranges. */
object RangeShuffle {

  /**
   * @param carried points that go to further ranges, because rows there may keep them
   * @param replicated counts the copies of a row beyond the first
   * @param metrics metrics of the node, which count shuffle reads and writes
   * @return as many partitions as the ranges have
   */
  def apply(
      rows: RDD[InternalRow],
      side: RangeSide,
      carried: Option[CarriedPoints],
      ranges: Int,
      replicated: SQLMetric,
      metrics: Map[String, SQLMetric]): RDD[InternalRow] = {
    // Rows are numbered in the order in which they come. A partition that is computed a second time
    // may have another order.
    val addressed = rows.mapPartitionsWithIndexInternal[AddressedRow](
      address(_, _, side, carried, ranges, replicated),
      isOrderSensitive = side.isNumbered || side.router.usesNumbers)
    RowShuffle(addressed, ranges, side.columns.map(_.dataType).toArray, metrics)
  }

  private def address(
      partition: Int,
      rows: Iterator[InternalRow],
      side: RangeSide,
      carried: Option[CarriedPoints],
      ranges: Int,
      replicated: SQLMetric): Iterator[AddressedRow] = {
    val addressed =
      new AddressedRows(partition, rows, side, new RowTargets(side, ranges), replicated)
    carried.fold[Iterator[AddressedRow]](addressed)(
      _.follow(
        addressed,
        new EndpointReader(side.endpoints, side.output),
        side.output,
        ranges,
        replicated))
  }
}

/** Rows with the partitions that they go to, one after another. The object is reused. */
private final class AddressedRows(
    partition: Int,
    rows: Iterator[InternalRow],
    side: RangeSide,
    targets: RowTargets,
    replicated: SQLMetric)
    extends Iterator[AddressedRow] {
  private lazy val numbered = ReplicatedRows.numbered(side.output)
  private val addressed = new AddressedRow
  private var number = ReplicatedRows.firstNumber(partition)
  private var at = 0

  override def hasNext: Boolean = {
    while (at == targets.count && rows.hasNext) advance()
    at < targets.count
  }

  override def next(): AddressedRow = {
    addressed.partition = targets(at)
    at += 1
    addressed
  }

  private def advance(): Unit = {
    val row = rows.next()
    targets.read(row, number)
    at = 0
    if (targets.count > 1) replicated.add(targets.count - 1L)
    addressed.row =
      if (side.isNumbered) numbered(row, number, targets.count) else row
    number += 1
  }
}

/** The partitions that one row after another goes to, each partition once. */
private final class RowTargets(side: RangeSide, ranges: Int) {
  private val endpointOf = new EndpointReader(side.endpoints, side.output)
  private val routes = new Array[Int](2 * side.router.width)
  private val targets = new Array[Int](ranges)

  /** The number of partitions of the current row. */
  var count = 0

  def apply(k: Int): Int = targets(k)

  /** Moves to a row. */
  def read(row: InternalRow, number: Long): Unit = {
    count = 0
    if (endpointOf.read(row)) {
      side.router.route(endpointOf, number, routes)
      var sweep = 0
      while (sweep < side.router.width) { addRoute(sweep); sweep += 1 }
    }
    if (count == 0 && side.isKept) add((number % ranges).toInt)
  }

  /** Adds the partitions on the route of a sweep that are not on the route of an earlier sweep. */
  private def addRoute(sweep: Int): Unit = {
    var range = routes(2 * sweep)
    while (range <= routes(2 * sweep + 1)) {
      if (!isOnRouteBefore(sweep, range)) add(range)
      range += 1
    }
  }

  private def isOnRouteBefore(sweep: Int, range: Int): Boolean = {
    var k = 0
    while (k < sweep && (range < routes(2 * k) || range > routes(2 * k + 1))) k += 1
    k < sweep
  }

  private def add(range: Int): Unit = {
    targets(count) = range
    count += 1
  }
}
