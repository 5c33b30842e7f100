// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.compat

/** Spark 4.1 and 4.2. */
private[intervalsweep] object SparkShims extends SparkShimsSince41 with SparkShimsUntil42 {
  def realTimeKeepsState: Boolean = false
}
