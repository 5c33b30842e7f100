// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.packing

import org.apache.spark.sql.execution.ExternalAppendOnlyUnsafeRowArray

/** Rows in memory, and beyond these numbers those of a sorter of Spark's, which spills. */
private[execution] object SpillingRows {
  def apply(rowsInMemory: Int, bytesInMemory: Long): ExternalAppendOnlyUnsafeRowArray =
    new ExternalAppendOnlyUnsafeRowArray(rowsInMemory, bytesInMemory, Int.MaxValue, Long.MaxValue)
}
