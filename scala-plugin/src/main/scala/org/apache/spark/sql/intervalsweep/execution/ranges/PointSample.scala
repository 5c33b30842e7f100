// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.ranges

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.{RangePartitioner, TaskContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.execution.block.EndpointReader
import org.apache.spark.sql.intervalsweep.execution.index.KeyRange
import org.apache.spark.util.random.XORShiftRandom

/**
 * A sample of points, from which ranges are made.
 *
 * @param total the number of points
 * @param weighted sampled points, and how many points each stands for
 */
final class PointSample(val total: Long, weighted: Seq[(Long, Float)]) {
  private lazy val sorted: Array[Long] = weighted.map(_._1).toArray.sorted

  /**
   * Ranges for about `count` partitions with about equally many points each.
   *
   * @param mayDeal true if points of one value may be in several partitions
   */
  def ranges(count: Int, mayDeal: Boolean): Ranges =
    if (weighted.isEmpty || count <= 1) Ranges(Array.emptyLongArray)
    else {
      val bounds = RangePartitioner.determineBounds(ArrayBuffer.from(weighted), count)
      val crowded = if (mayDeal) crowdedValues(count) else Map.empty[Long, Int]
      // Bounds at v - 1 and at v make a range of the value v alone.
      val around = crowded.keys.flatMap(v => Seq(math.max(v, Long.MinValue + 1) - 1, v))
      val all = (bounds ++ around).distinct.sorted
      Ranges(all, all.map(crowded.getOrElse(_, 1)) :+ 1)
    }

  /** Values that fill several partitions, and the number of these. */
  private def crowdedValues(count: Int): Map[Long, Int] = {
    val perPartition = weighted.map(_._2.toDouble).sum / count
    weighted.groupMapReduce(_._1)(_._2.toDouble)(_ + _)
      .map { case (value, weight) => value -> (weight / perPartition).toInt }
      .filter(_._2 > 1)
  }

  /** The approximate fraction of all points that is in [low, high]. */
  def share(low: Long, high: Long): Double =
    if (sorted.isEmpty || low > high) 0.0
    else (atMost(high) - below(low)).toDouble / sorted.length

  private def atMost(value: Long): Int =
    if (value == Long.MaxValue) sorted.length else below(value + 1)

  /** The number of sampled points below a value. */
  private def below(value: Long): Int = KeyRange.atLeast(sorted, value, 0, sorted.length)
}

object PointSample {

  /** Combines the samples of all partitions. */
  def of(parts: Seq[PartitionPoints]): PointSample = {
    val weighted = parts.flatMap { part =>
      part.sample.map(point => (point, part.seen.toFloat / part.sample.length))
    }
    new PointSample(parts.map(_.seen).sum, weighted)
  }
}

/**
 * A sample of the points of a partition; all of them if they are few.
 *
 * @param seen the number of points in the partition
 */
final case class PartitionPoints(seen: Long, sample: Array[Long])

object PartitionPoints {
  private val SamplesPerRange = 100
  private val RowsPerCheck = 1 << 12

  /**
   * @param point makes a reader of a row's point; each task has its own
   * @param most the most ranges that will be requested
   */
  def of(
      rows: RDD[InternalRow],
      point: () => EndpointReader,
      most: Int): RDD[PartitionPoints] = {
    val size = math.ceil(3.0 * SamplesPerRange * most / math.max(1, rows.getNumPartitions))
    rows.mapPartitionsWithIndexInternal { (partition, rows) =>
      val reservoir = new Reservoir(math.max(size.toInt, 1), partition)
      val pointOf = point()
      val context = TaskContext.get()
      var read = 0L
      while (rows.hasNext) {
        if (pointOf.read(rows.next())) reservoir.add(pointOf(0))
        read += 1
        if (read % RowsPerCheck == 0) context.killTaskIfInterrupted()
      }
      Iterator(PartitionPoints(reservoir.seen, reservoir.sample))
    }
  }
}

/** A sample of the values that are added, each with the same probability: reservoir sampling. */
private final class Reservoir(size: Int, seed: Long) {
  private val random = new XORShiftRandom(seed)
  private var values = new Array[Long](math.min(size, Reservoir.FirstSize))

  /** The number of values that were added. */
  var seen = 0L

  def add(value: Long): Unit = {
    if (seen < size) {
      if (seen == values.length)
        values = java.util.Arrays.copyOf(values, math.min(size, 2 * values.length))
      values(seen.toInt) = value
    } else {
      val at = (random.nextDouble() * (seen + 1)).toLong
      if (at < size) values(at.toInt) = value
    }
    seen += 1
  }

  def sample: Array[Long] = values.take(math.min(seen, size.toLong).toInt)
}

private object Reservoir {
  private val FirstSize = 1024
}
