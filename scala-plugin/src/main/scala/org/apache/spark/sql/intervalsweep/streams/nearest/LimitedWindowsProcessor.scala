// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.nearest

import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors
import org.apache.spark.sql.intervalsweep.streams.windows.{
  WindowUnionProcessor, WindowUnionRun, WindowUnionSpec
}
import org.apache.spark.sql.streaming.{OutputMode, TimeMode}

/** Runs [[LimitedWindows]] on Spark's own state. */
final class LimitedWindowsProcessor(spec: WindowUnionSpec, partitions: Option[Int] = None)
    extends WindowUnionProcessor(spec, partitions) {

  override def kind: String = "as_of_join"

  override def timeAdvice: String =
    "let the window end at the time of the left row or before it, so that this column keeps its " +
      "watermark, or read the result in a second query"

  @transient private var last: Option[LastRows] = None

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
    super.init(outputMode, timeMode)
    last = spec.limit.filter(_ => spec.keepsLast).map { limit =>
      new LastRows(getHandle, spec.probe, limit.count, limit.ties)
    }
  }

  override protected def newRun(): WindowUnionRun = new LimitedWindows(spec, last)

  override protected def numbers: Seq[Long] = LimitedWindows.Numbers

  override def resolved(number: Int, isRealTime: Boolean): WindowUnionProcessor =
    if (isRealTime) StreamErrors.notInRealTime("An as-of join of streams")
    else new LimitedWindowsProcessor(spec, Some(number))
}
