// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.windows

import org.apache.spark.sql.catalyst.InternalRow

/** Emits each base row once, when its window is final. Until then the row waits in the state. */
private[streams] class FinalWindows(union: WindowUnionSpec) extends WindowUnionRun(union) {
  import WindowUnionSpec.Base

  override protected def emit(
      batch: PartitionBatch,
      rows: BaseSideBuffer): Iterator[InternalRow] = {
    newBases(batch, rows) { row =>
      if (isFinal(batch, row)) rows.keyed.append(row) else store(batch, row)
    }
    takeStored(batch, rows)
    results(batch, rows)
  }

  /** The rows to emit of the base rows in a buffer. */
  protected def results(batch: PartitionBatch, rows: BaseSideBuffer): Iterator[InternalRow] =
    emitted(rows.block, aggregates(batch, rows, arrived(batch))) ++
      emitted(rows.withoutWindow, ofNone(rows))

  /** Takes the stored rows whose windows this micro-batch makes final. */
  private def takeStored(batch: PartitionBatch, rows: BaseSideBuffer): Unit =
    for {
      bucket <- batch.store.of(Base) if bucket.first <= batch.now
      row <- batch.store.rows(bucket)
      if upperEnd(row) > batch.before && isFinal(batch, row) && rows.hasWindow(row)
    } rows.keyed.append(row)
}
