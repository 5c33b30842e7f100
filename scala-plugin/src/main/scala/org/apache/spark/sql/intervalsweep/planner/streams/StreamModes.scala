// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.streams

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, TransformWithState}
import org.apache.spark.sql.catalyst.streaming.WriteToStream
import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors
import org.apache.spark.sql.intervalsweep.streams.state.PartitionProcessor
import org.apache.spark.sql.streaming.OutputMode

/**
 * A check when a query starts: rows that may be emitted again, as revisions, need a sink in update
 * mode. Spark checks its own operators against the mode of the writer, but not
 * `TransformWithState`: in append mode, the default, the sink would keep all revisions of a row.
 * Rows that are emitted only once may be written in update mode too.
 */
object StreamModes {

  val check: SparkSession => LogicalPlan => Unit = _ => {
    case write: WriteToStream
        if write.outputMode != OutputMode.Update() && write.inputQuery.exists(isRevised) =>
      StreamErrors.outputMode(write.outputMode.toString)
    case _ =>
  }

  private def isRevised(plan: LogicalPlan): Boolean = plan match {
    case node: TransformWithState =>
      node.statefulProcessor.isInstanceOf[PartitionProcessor] &&
      node.outputMode == OutputMode.Update()
    case _ => false
  }
}
