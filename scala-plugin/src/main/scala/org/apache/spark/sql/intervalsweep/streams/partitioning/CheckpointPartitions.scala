// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.partitioning

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.intervalsweep.compat.OperatorState
import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors
import org.apache.spark.sql.internal.SQLConf

/**
 * Refuses a checkpoint whose state Spark has repartitioned. Rows are stored under the number of
 * their partition, so a partition would find rows of others, or none. The number of state
 * partitions is in each entry of the offset log, and the oldest entry has the number from before.
 */
private[partitioning] object CheckpointPartitions {

  /** The last runs of queries whose checkpoints were looked at. */
  private val known = new java.util.LinkedHashSet[(String, java.util.UUID)]
  private val MostKnown = 1000

  /** Looks at the checkpoint of a streaming plan, once in each run of its query. */
  def check(plan: SparkPlan): Unit =
    for (state <- OperatorState.of(plan) if isNew(state)) {
      val configuration = plan.session.sessionState.newHadoopConf()
      before(state, configuration).filter(_ != state.partitions)
        .foreach(StreamErrors.repartitioned(_, state.partitions))
    }

  private def isNew(state: OperatorState): Boolean = known.synchronized {
    if (known.size >= MostKnown) known.clear()
    known.add((state.folder, state.run))
  }

  private def before(state: OperatorState, configuration: Configuration): Option[Int] = {
    val offsets = new Path(new Path(state.folder).getParent, "offsets")
    val files = offsets.getFileSystem(configuration)
    val entries =
      if (files.exists(offsets)) files.listStatus(offsets).map(_.getPath).toSeq else Nil
    entries.filter(_.getName.forall(_.isDigit)).minByOption(_.getName.toLong).flatMap { oldest =>
      val in = files.open(oldest)
      try partitions(new String(in.readAllBytes(), UTF_8))
      finally in.close()
    }
  }

  /** The number of state partitions in an entry of the offset log, which is JSON. */
  private[partitioning] def partitions(entry: String): Option[Int] =
    Seq(StatePartitions.Setting, SQLConf.SHUFFLE_PARTITIONS.key).flatMap { setting =>
      s""""${java.util.regex.Pattern.quote(setting)}"\\s*:\\s*"(\\d+)"""".r.findFirstMatchIn(entry)
    }.headOption.map(_.group(1).toInt)
}
