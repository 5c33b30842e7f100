// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.streams

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.streaming.WriteToStream
import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors
import org.apache.spark.sql.intervalsweep.streams.state.PartitionProcessor
import org.apache.spark.sql.streaming.OutputMode

/**
 * Checks of rows that may be emitted again, as revisions.
 *
 * The sink must be in update mode. Spark checks its own operators against the mode of the writer,
 * but not `TransformWithState`: in append mode, the default, the sink would keep all revisions of a
 * row. Rows that are emitted only once may be written in update mode too.
 *
 * An operator with state must not take each revision for a row: a count would be too large, and
 * `dropDuplicates` would keep the first revision.
 */
object StreamModes {

  val check: SparkSession => LogicalPlan => Unit = _ =>
    plan =>
      if (plan.isStreaming && plan.exists(isRevised)) plan.foreach {
        case write: WriteToStream if write.outputMode != OutputMode.Update() =>
          StreamErrors.outputMode(write.outputMode.toString)
        case operator => counting(operator).foreach { what =>
            if (operator.children.flatMap(Revisions.of).exists(!_.areReadBy(operator)))
              StreamErrors.revisionsAreNoRows(what)
          }
      }

  private def isRevised(plan: LogicalPlan): Boolean = plan match {
    case node: TransformWithState => Revisions.areEmittedBy(node)
    case _ => false
  }

  /** What an operator does, if its result depends on how often a row occurs. */
  private def counting(operator: LogicalPlan): Option[String] = Some(operator).collect {
    case _: Aggregate => "An aggregate"
    case _: Distinct | _: Deduplicate | _: DeduplicateWithinWatermark => "Removing duplicates"
    case _: GlobalLimit | _: LocalLimit => "LIMIT"
    case join: Join if join.children.forall(_.isStreaming) => "A join of streams"
    case node: TransformWithState
        if (node.statefulProcessor: Any).isInstanceOf[PartitionProcessor] =>
      "A join or a window union"
  }
}
