// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams

import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.v2.{
  StreamingDataSourceV2Relation, StreamingDataSourceV2ScanRelation
}

/** Real-time mode: rows come out while a micro-batch of seconds or minutes is still going on. */
object RealTime {

  /** Whether a plan is that of a query in real-time mode. Only that of one that runs says so. */
  def isIn(plan: LogicalPlan): Boolean = plan.exists {
    case scan: StreamingDataSourceV2ScanRelation => scan.relation.realTimeModeDuration.isDefined
    case source: StreamingDataSourceV2Relation => source.realTimeModeDuration.isDefined
    case _ => false
  }

  /** Whether queries in it may keep state by `transformWithState`. */
  def keepsState: Boolean = !SPARK_VERSION.startsWith("4.1.") && !SPARK_VERSION.startsWith("4.2.")
}
