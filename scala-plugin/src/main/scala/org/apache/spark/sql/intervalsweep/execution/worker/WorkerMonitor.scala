// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.worker

import java.util.concurrent.TimeUnit.SECONDS

import org.apache.spark.TaskContext

/**
 * A thread that ends the worker of a task if the task is cancelled, or if the worker is stuck: it
 * moves no byte and uses no processor time while the task waits for it. The task itself does not
 * notice either, as it is blocked in a read or a write.
 *
 * @param channel the connection to the worker
 * @param timeoutSeconds the time after which an inactive worker is stuck
 * @param endWorker ends the process, so that the task's read or write fails
 */
private[worker] final class WorkerMonitor(
    context: TaskContext,
    channel: WorkerChannel,
    timeoutSeconds: Long,
    endWorker: () => Unit) {
  import WorkerMonitor._

  /** The id of the worker's process; 0 if it is unknown. */
  @volatile var processId = 0L
  @volatile private var isOver = false
  @volatile private var stuck = false

  private var lastActivity = Activity(0, 0, None)
  private var lastChange = System.nanoTime()

  def isStuck: Boolean = stuck

  def start(): Unit = {
    val thread = new Thread(s"IntervalSweep monitor of task ${context.taskAttemptId()}") {
      override def run(): Unit = while (!isOver) { check(); Thread.sleep(IntervalMillis) }
    }
    thread.setDaemon(true)
    thread.start()
  }

  def stop(): Unit = isOver = true

  private def check(): Unit = {
    if (channel.isWaiting) {
      stuck = secondsInactive() >= timeoutSeconds
    } else lastChange = System.nanoTime()
    if (stuck || context.isInterrupted()) endWorker()
  }

  private def secondsInactive(): Long = {
    val activity = Activity(channel.bytesSent, channel.bytesReceived, processorTime)
    if (activity != lastActivity) {
      lastActivity = activity
      lastChange = System.nanoTime()
    }
    SECONDS.convert(System.nanoTime() - lastChange, java.util.concurrent.TimeUnit.NANOSECONDS)
  }

  /** The processor time that the worker has used; None if it is unknown. */
  private def processorTime: Option[Long] =
    Option.when(processId > 0)(ProcessHandle.of(processId)).filter(_.isPresent)
      .map(_.get.info().totalCpuDuration()).filter(_.isPresent).map(_.get.toNanos)
}

private object WorkerMonitor {
  private val IntervalMillis = 500L

  private case class Activity(sent: Long, received: Long, processorNanos: Option[Long])
}
