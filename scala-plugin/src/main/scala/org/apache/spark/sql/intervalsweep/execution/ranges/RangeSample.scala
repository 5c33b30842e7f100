// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.ranges

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.intervalsweep.condition.model.{
  AxisInterval, KeptMatches, LeftSide, Side, Sweep
}
import org.apache.spark.sql.intervalsweep.execution.block.EndpointReader
import org.apache.spark.sql.intervalsweep.execution.packing.CollectPacked
import org.apache.spark.sql.intervalsweep.execution.task.SweepNode

/**
 * The sample from which the ranges of a join are made.
 *
 * @param points the points of all sweeps, which all sort them by the same endpoint
 * @param boxes the endpoints of some rows of each side that is boxes
 */
final class RangeSample(val points: PointSample, boxes: Map[Side, Seq[Array[Long]]]) {

  /** The approximate fraction of the points that lies between the ends of a box, on average. */
  def meanShare(sweep: Sweep): Double = {
    val extent = new AxisInterval(sweep.lead)
    val shares = boxes(sweep.boxes).map { box =>
      extent.read(box(_))
      points.share(extent.least, extent.most)
    }
    if (shares.isEmpty) 0.0 else shares.sum / shares.length
  }
}

object RangeSample {
  private val BoxesPerPartition = 1000

  /**
   * Reads all points, and the first boxes of each partition, in one job. Each job has a start and
   * an end in which cores wait.
   *
   * @param most the most ranges that will be requested
   */
  def of(
      node: SweepNode,
      rows: Map[Side, RDD[InternalRow]],
      most: Int): RangeSample = {
    val sides = node.sweepCondition.sweeps.map(_.boxes).distinct
    val samples =
      points(node, rows, most) +:
        (starts(node, rows, most).toSeq ++ sides.map(boxes(node, rows, _)))
    val parts = CollectPacked(node.session.sparkContext.union(samples))
    val found = parts.collect { case Boxes(side, some) => side -> some }
    new RangeSample(
      PointSample.of(parts.collect { case Points(part) => part }),
      sides.map(side => side -> found.filter(_._1 == side).flatMap(_._2)).toMap)
  }

  private sealed trait SampleMessage
  private case class Points(part: PartitionPoints) extends SampleMessage
  private case class Boxes(side: Side, endpoints: Array[Array[Long]]) extends SampleMessage

  private def points(
      node: SweepNode,
      rows: Map[Side, RDD[InternalRow]],
      most: Int): RDD[SampleMessage] = {
    val sweep = node.sweepCondition.sweeps.head
    sample(node, rows, sweep.points, sweep.lead.point, most)
  }

  /** Where the searches of a limit start: a box is in one range, like a point. */
  private def starts(
      node: SweepNode,
      rows: Map[Side, RDD[InternalRow]],
      most: Int): Option[RDD[SampleMessage]] = {
    val lead = node.sweepCondition.sweeps.head.lead
    node.limit.flatMap(_.kept match {
      case KeptMatches.Last => lead.upper.map(_.endpoint)
      case KeptMatches.First => lead.lower.map(_.endpoint)
      case KeptMatches.Nearest(center, _) => Some(center)
    }).map(sample(node, rows, LeftSide, _, most))
  }

  private def sample(
      node: SweepNode,
      rows: Map[Side, RDD[InternalRow]],
      side: Side,
      endpoint: Int,
      most: Int): RDD[SampleMessage] = {
    val value = Seq(node.sweepCondition.endpoints(side)(endpoint))
    val input = node.input(side).output
    PartitionPoints.of(rows(side), () => new EndpointReader(value, input), most)
      .mapPartitionsInternal(_.map(Points(_)))
  }

  private def boxes(
      node: SweepNode,
      rows: Map[Side, RDD[InternalRow]],
      side: Side): RDD[SampleMessage] = {
    val (expressions, input) = (node.sweepCondition.endpoints(side), node.input(side).output)
    rows(side).mapPartitionsInternal { partition =>
      val endpointOf = new EndpointReader(expressions, input)
      val some = partition.take(BoxesPerPartition).filter(endpointOf.read)
        .map(_ => Array.tabulate(expressions.size)(endpointOf))
      Iterator(Boxes(side, some.toArray))
    }
  }
}
