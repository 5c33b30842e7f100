package org.apache.spark.sql.intervalsweep.execution

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.{PartitionIdPassthrough, RangePartitioner, ShuffleDependency, SparkEnv}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.execution.{ShuffledRowRDD, UnsafeRowSerializer}
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.metric.{
  SQLMetric, SQLShuffleReadMetricsReporter, SQLShuffleWriteMetricsReporter
}
import org.apache.spark.sql.intervalsweep.condition.{Bound, Side, Sweep}
import org.apache.spark.util.MutablePair

/**
 * Cuts the line of encoded points into ranges: range `k` holds the points above `bounds(k - 1)` up
 * to `bounds(k)`. The first range is open below, the last above.
 *
 * {{{
 *   bounds            b0            b1
 *   ranges   ...   0  |      1      |  2   ...
 *   point                  .                    goes to 1
 *   box           [--------]                    goes to 0 and 1; clipped to each, it meets every
 *                                               point in one range only: no pair is found twice
 * }}}
 */
case class Ranges(bounds: Array[Long]) {
  def count: Int = bounds.length + 1

  /** The range of a point: the number of bounds below it. */
  def of(point: Long): Int = {
    val at = java.util.Arrays.binarySearch(bounds, point)
    if (at >= 0) at else -at - 1
  }

  /** The first and the last value of range `k`. */
  def limits(k: Int): (Long, Long) = (
    if (k == 0) Long.MinValue else bounds(k - 1) + 1,
    if (k == bounds.length) Long.MaxValue else bounds(k))
}

object Ranges {
  private val SamplesPerRange = 100

  /** Ranges that hold about equally many points, from a sample of them. */
  def sample(points: RDD[Long], most: Int, numberOf: Long => Int): Ranges = {
    val perPartition = math.ceil(
      3.0 * SamplesPerRange * most / math.max(1, points.getNumPartitions)).toInt
    val (total, sketched) = RangePartitioner.sketch(points, math.max(perPartition, 1))
    val weighted = sketched.toSeq.flatMap { case (_, n, sample) =>
      sample.map(point => (point, n.toFloat / sample.length))
    }
    val wanted = math.min(most, numberOf(total))
    Ranges(
      if (weighted.isEmpty || wanted <= 1) Array.emptyLongArray
      else RangePartitioner.determineBounds(ArrayBuffer.from(weighted), wanted).distinct)
  }
}

/** Where a row goes: for each sweep, the ranges that its box touches or the one of its point. */
final class RangeRouter(side: Side, sweeps: Seq[Sweep], ranges: Ranges) extends Serializable {

  /** How many sweeps there are. */
  def width: Int = sweeps.size

  /** The first and last ranges of a row by sweep, as pairs; a pair with first > last is empty. */
  def route(endpoints: InternalRow, into: Array[Int]): Unit =
    sweeps.zipWithIndex.foreach { case (sweep, k) =>
      if (sweep.boxes == side) routeBox(sweep, endpoints, into, 2 * k)
      else {
        val range = ranges.of(endpoints.getLong(sweep.lead.point))
        into(2 * k) = range
        into(2 * k + 1) = range
      }
    }

  private def routeBox(sweep: Sweep, row: InternalRow, into: Array[Int], at: Int): Unit = {
    val isImpossible = sweep.lead.lower.exists(b => b.strict && value(b, row) == Long.MaxValue) ||
      sweep.lead.upper.exists(b => b.strict && value(b, row) == Long.MinValue)
    val low = sweep.lead.lower.fold(Long.MinValue)(b => value(b, row) + (if (b.strict) 1 else 0))
    val high = sweep.lead.upper.fold(Long.MaxValue)(b => value(b, row) - (if (b.strict) 1 else 0))
    if (isImpossible || low > high) {
      into(at) = 1
      into(at + 1) = 0
    } else {
      into(at) = ranges.of(low)
      into(at + 1) = ranges.of(high)
    }
  }

  private def value(bound: Bound, row: InternalRow): Long = row.getLong(bound.slot)
}

/** Sends the rows of one side to their ranges. */
object RangeShuffle {

  /**
   * @param replicated counts the copies of a row beyond the first
   * @param metrics of the node: shuffle reads and writes are reported there
   * @return partition `k` holds the rows of range `k`
   */
  def apply(
      rows: RDD[InternalRow],
      output: Seq[Attribute],
      endpoints: Seq[Expression],
      router: RangeRouter,
      ranges: Int,
      replicated: SQLMetric,
      metrics: Map[String, SQLMetric]): RDD[InternalRow] = {
    val manager = SparkEnv.get.conf.get("spark.shuffle.manager", "sort")
    val mustCopy = !Set("sort", "tungsten-sort").contains(manager)
    val addressed: RDD[Product2[Int, InternalRow]] = rows.mapPartitions(
      address(_, output, endpoints, router, replicated, mustCopy))
    val dependency = new ShuffleDependency[Int, InternalRow, InternalRow](
      addressed,
      new PartitionIdPassthrough(ranges),
      new UnsafeRowSerializer(output.size),
      shuffleWriterProcessor = ShuffleExchangeExec.createShuffleWriteProcessor(metrics))
    new ShuffledRowRDD(dependency, metrics)
  }

  def createMetrics(sc: org.apache.spark.SparkContext): Map[String, SQLMetric] =
    SQLShuffleWriteMetricsReporter.createShuffleWriteMetrics(sc) ++
      SQLShuffleReadMetricsReporter.createShuffleReadMetrics(sc)

  /** Spark's sort shuffle serialises a row at once, so that one pair object serves all. */
  private def address(
      rows: Iterator[InternalRow],
      output: Seq[Attribute],
      endpoints: Seq[Expression],
      router: RangeRouter,
      replicated: SQLMetric,
      mustCopy: Boolean): Iterator[Product2[Int, InternalRow]] = {
    val endpointsOf = EndpointReader.of(endpoints, output)
    val routes = new Array[Int](2 * router.width)
    val pair = new MutablePair[Int, InternalRow]
    rows.flatMap { row =>
      val values = endpointsOf(row)
      if (values.anyNull) Iterator.empty
      else {
        router.route(values, routes)
        val targets = union(routes)
        if (targets.length > 1) replicated.add(targets.length - 1L)
        targets.iterator.map { range =>
          if (mustCopy) (range, row.copy()) else pair.update(range, row)
        }
      }
    }
  }

  /** The distinct numbers in pairs of (first, last). */
  private def union(routes: Array[Int]): Array[Int] =
    if (routes.length == 2 && routes(0) == routes(1)) Array(routes(0))
    else routes.grouped(2).flatMap(pair => pair(0) to pair(1)).toArray.distinct
}
