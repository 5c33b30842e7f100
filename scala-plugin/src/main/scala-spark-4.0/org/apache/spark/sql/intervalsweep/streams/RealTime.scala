// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** Real-time mode, which Spark has from 4.1 on. */
object RealTime {

  /** Whether a plan is that of a query in real-time mode. */
  def isIn(plan: LogicalPlan): Boolean = false

  /** Whether queries in it may keep state by `transformWithState`. */
  def keepsState: Boolean = false
}
