// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.ranges

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.{RangePartitioner, TaskContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.execution.block.EndpointReader
import org.apache.spark.util.random.XORShiftRandom

/**
 * A sample of points, from which ranges are made.
 *
 * @param total how many points there are
 * @param weighted sampled points, and how many each stands for
 */
final class PointSample(val total: Long, weighted: Seq[(Long, Float)]) {
  private lazy val sorted: Array[Long] = weighted.map(_._1).toArray.sorted

  /**
   * Ranges for about `count` partitions that hold about equally many points.
   *
   * @param mayDeal whether points of one value may be in several partitions
   */
  def ranges(count: Int, mayDeal: Boolean): Ranges =
    if (weighted.isEmpty || count <= 1) Ranges(Array.emptyLongArray)
    else {
      val bounds = RangePartitioner.determineBounds(ArrayBuffer.from(weighted), count)
      val crowded = if (mayDeal) crowdedValues(count) else Map.empty[Long, Int]
      // A value is a range of its own between the value before it and itself.
      val around = crowded.keys.flatMap(v => Seq(math.max(v, Long.MinValue + 1) - 1, v))
      val all = (bounds ++ around).distinct.sorted
      Ranges(all, all.map(crowded.getOrElse(_, 1)) :+ 1)
    }

  /** Values that fill several partitions, and how many. */
  private def crowdedValues(count: Int): Map[Long, Int] = {
    val perPartition = weighted.map(_._2.toDouble).sum / count
    weighted.groupMapReduce(_._1)(_._2.toDouble)(_ + _)
      .map { case (value, weight) => value -> (weight / perPartition).toInt }
      .filter(_._2 > 1)
  }

  /** About which part of all points is in [low, high]. */
  def share(low: Long, high: Long): Double =
    if (sorted.isEmpty || low > high) 0.0
    else (atMost(high) - below(low)).toDouble / sorted.length

  private def atMost(value: Long): Int =
    if (value == Long.MaxValue) sorted.length else below(value + 1)

  /** How many sampled points are below a value. */
  private def below(value: Long): Int = {
    var (from, until) = (0, sorted.length)
    while (from < until) {
      val middle = (from + until) >>> 1
      if (sorted(middle) < value) from = middle + 1 else until = middle
    }
    from
  }
}

object PointSample {

  /** From the samples of all partitions. */
  def of(parts: Seq[PartitionPoints]): PointSample = {
    val weighted = parts.flatMap { part =>
      part.sample.map(point => (point, part.seen.toFloat / part.sample.length))
    }
    new PointSample(parts.map(_.seen).sum, weighted)
  }
}

/**
 * Some points of a partition, as few or as many as they are.
 *
 * @param seen how many points the partition has
 */
final case class PartitionPoints(seen: Long, sample: Array[Long])

object PartitionPoints {
  private val SamplesPerRange = 100
  private val RowsPerCheck = 1 << 12

  /**
   * @param point makes what reads the point of a row; a task has its own
   * @param most how many ranges will be asked for at most
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

/** Some of the values that are added, each as likely as the others: reservoir sampling. */
private final class Reservoir(size: Int, seed: Long) {
  private val random = new XORShiftRandom(seed)
  private var values = new Array[Long](math.min(size, Reservoir.FirstSize))

  /** How many values were added. */
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
