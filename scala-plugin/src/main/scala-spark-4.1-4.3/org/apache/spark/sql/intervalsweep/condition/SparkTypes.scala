// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition

import org.apache.spark.sql.types.{DataType, TimeType}

private[condition] object SparkTypes {

  /** Whether it is the type TIME. */
  def isTime(dataType: DataType): Boolean = dataType.isInstanceOf[TimeType]
}
