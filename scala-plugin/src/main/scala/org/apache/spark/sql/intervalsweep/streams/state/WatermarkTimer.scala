// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import org.apache.spark.sql.streaming.StatefulProcessorHandle

/**
 * The timer of a state partition. It fires as soon as the watermark moves, so that partitions
 * without new rows are called, too.
 */
object WatermarkTimer {

  /**
   * Moves the timer.
   *
   * @param before the watermark for which the timer was set, in milliseconds; None: there is none
   * @param now    the watermark of this micro-batch
   * @param fired  the time of the timer that led to this call. Spark deletes a timer that has fired
   */
  def advance(
      handle: StatefulProcessorHandle,
      before: Option[Long],
      now: Long,
      fired: Option[Long]): Unit = if (!before.contains(now)) {
    before.map(_ + 1).filterNot(fired.contains).foreach(handle.deleteTimer)
    handle.registerTimer(now + 1)
  }
}
