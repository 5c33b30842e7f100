// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

import org.apache.spark.TaskContext
import org.apache.spark.sql.intervalsweep.execution.worker.{
  ColumnWriter, PeriodReader, WorkerConnection, WorkerSettings
}

/**
 * The worker of a sweep over periods. The task sends rows sorted by group and start, and the worker
 * returns periods.
 *
 * @param numbers the number of LONGs that come with a period
 */
final class PeriodWorker(settings: WorkerSettings, numbers: Int, context: TaskContext)
    extends WorkerConnection(settings, settings.openMessage, context) {
  import WorkerConnection.{More, Stream}

  private val writer = new ColumnWriter(allocator, channel)
  private var rows = 0
  private var request: () => Unit = _

  /** True if the worker has a part of the last group, which a new worker would lack. */
  private var hasState = false
  private var wasState = false
  private var received = 0L

  /** The periods that were received last. */
  val periods = new PeriodReader(channel, settings.maxRuns, numbers)

  var kernelNanos = 0L

  /**
   * Sends `n` rows. [[next]] then returns their periods.
   *
   * @param goesOn true if the last group has more rows than these
   */
  def send(
      groups: Array[Int],
      columns: Seq[(String, Array[Long])],
      from: Int,
      n: Int,
      goesOn: Boolean): Unit = {
    rows = n
    received = 0
    wasState = hasState
    hasState = goesOn
    request = () => {
      channel.writeInt(Stream)
      channel.writeInt(if (goesOn) 1 else 0)
      writer.write(groups, columns, from, from + n)
      channel.flush()
      isIdle = false
    }
    talk(Option.when(!wasState)(() => ()))(request())
  }

  /** Reads the next periods; false after the last ones of the rows that were sent. */
  def next(): Boolean = talk(Option.when(!wasState && received == 0)(request)) {
    val isMore = reply() == More
    if (isMore) {
      periods.read(rows)
      received += periods.size
    } else {
      expect(rows.toLong, "rows that it was asked about")
      expect(received, "periods in its answer")
      kernelNanos += channel.readLong()
      isIdle = true
    }
    isMore
  }
}
