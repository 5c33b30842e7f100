// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition

import org.apache.spark.sql.types.DataType

private[condition] object SparkTypes {

  /** Whether it is the type TIME, which Spark 4.0 does not have. */
  def isTime(dataType: DataType): Boolean = false
}
