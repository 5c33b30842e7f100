// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.compat

import org.apache.spark.sql.execution.SparkPlan

/**
 * The state of a stateful operator.
 *
 * @param folder     the folder of states in the checkpoint
 * @param run        the id of the run of the query
 * @param partitions the number of state partitions
 * @param before     the watermark of the previous micro-batch, in milliseconds
 * @param now        the watermark of this micro-batch
 */
private[intervalsweep] final case class OperatorState(
    folder: String,
    run: java.util.UUID,
    partitions: Int,
    before: Option[Long],
    now: Option[Long])

private[intervalsweep] object OperatorState {

  /** The state of the stateful operator at the top of a plan, once a micro-batch is planned. */
  def of(plan: SparkPlan): Option[OperatorState] = for {
    operator <- plan.collectFirst { case operator: SparkShims.StatefulOperator => operator }
    info <- operator.stateInfo
  } yield {
    val watermarks = Some(operator).collect { case w: SparkShims.WatermarkSupport => w }
    OperatorState(
      info.checkpointLocation,
      info.queryRunId,
      info.numPartitions,
      watermarks.flatMap(_.eventTimeWatermarkForLateEvents),
      watermarks.flatMap(_.eventTimeWatermarkForEviction))
  }
}
