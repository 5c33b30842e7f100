package org.apache.spark.sql.intervalsweep.execution

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.RangePartitioner
import org.apache.spark.rdd.RDD

/**
 * A sample of points, from which ranges are made.
 *
 * @param total how many points there are
 * @param weighted sampled points, and how many each stands for
 */
final class PointSample(val total: Long, weighted: Seq[(Long, Float)]) {
  private lazy val sorted: Array[Long] = weighted.map(_._1).toArray.sorted

  /** At most `count` ranges that hold about equally many points. */
  def ranges(count: Int): Ranges = Ranges(
    if (weighted.isEmpty || count <= 1) Array.emptyLongArray
    else RangePartitioner.determineBounds(ArrayBuffer.from(weighted), count).distinct)

  /** About which part of all points is in [low, high]. */
  def share(low: Long, high: Long): Double =
    if (sorted.isEmpty || low > high) 0.0
    else (below(high) - below(low)).toDouble / sorted.length

  /** How many sampled points are below a value. */
  private def below(value: Long): Int = {
    val at = java.util.Arrays.binarySearch(sorted, value)
    if (at >= 0) at else -at - 1
  }
}

object PointSample {
  private val SamplesPerRange = 100

  /** @param most how many ranges will be asked for at most */
  def of(points: RDD[Long], most: Int): PointSample = {
    val perPartition = math.ceil(
      3.0 * SamplesPerRange * most / math.max(1, points.getNumPartitions)).toInt
    val (total, sketched) = RangePartitioner.sketch(points, math.max(perPartition, 1))
    val weighted = sketched.toSeq.flatMap { case (_, n, sample) =>
      sample.map(point => (point, n.toFloat / sample.length))
    }
    new PointSample(total, weighted)
  }
}
