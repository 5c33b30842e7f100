// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.packing

import scala.annotation.unused

import org.apache.spark.sql.execution.ExternalAppendOnlyUnsafeRowArray

/** Rows in memory, and beyond that number those of a sorter of Spark's, which spills. */
private[execution] object SpillingRows {

  /** @param bytesInMemory not looked at: Spark 4.0 counts rows only */
  def apply(
      rowsInMemory: Int,
      @unused bytesInMemory: Long): ExternalAppendOnlyUnsafeRowArray =
    new ExternalAppendOnlyUnsafeRowArray(rowsInMemory, Int.MaxValue)
}
