// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.worker

import java.io.IOException

import org.apache.arrow.memory.BufferAllocator
import org.apache.spark.{SparkException, TaskContext}
import org.apache.spark.internal.Logging
import org.apache.spark.sql.util.ArrowUtils

/**
 * A task's connection to a Python worker. docs/worker-protocol.md describes the messages.
 *
 * The task writes every request in full before it reads the reply, and the worker reads a request
 * in full before it replies. So they never wait for each other with full buffers.
 *
 * A worker that is lost is replaced once, if the task can repeat its requests: if no part of the
 * answer was passed on. A worker is lost if it is killed, or if Spark restarts its daemon.
 *
 * @param openMessage the first message to the worker, as JSON
 */
abstract class WorkerConnection(
    settings: WorkerSettings,
    openMessage: String,
    context: TaskContext)
    extends Logging {
  import WorkerConnection._

  protected val allocator: BufferAllocator =
    ArrowUtils.rootAllocator.newChildAllocator("intervalsweep worker", 0, Long.MaxValue)
  // Spark calls the listener that was added last first. Each is added before a later step can fail.
  context.addTaskCompletionListener[Unit](_ => allocator.close())
  @volatile private var process = WorkerProcess.start(settings)
  context.addTaskCompletionListener[Unit](_ => close())
  protected val channel = new WorkerChannel(process.socket)
  private val monitor =
    new WorkerMonitor(context, channel, settings.timeoutSeconds, () => process.end(isIdle = false))
  private var isReplaced = false

  /** True if the worker waits for a request, and so can serve another task. */
  protected var isIdle = false

  monitor.start()
  retrying(open())

  def bytesSent: Long = channel.bytesSent
  def bytesReceived: Long = channel.bytesReceived
  def nanosWaited: Long = channel.nanosWaited

  private def open(): Unit = {
    channel.writeInt(Open)
    channel.writeString(openMessage)
    channel.flush()
    reply()
    val versions = channel.readString()
    monitor.processId = channel.readLong()
    logDebug(s"IntervalSweep worker: $versions")
    isIdle = true
  }

  protected def expect(number: Long, what: String): Unit = {
    val said = channel.readLong()
    if (said != number)
      throw new UnreadableReplyException(s"that there are $said $what, and not $number")
  }

  /** Reads the status that begins every reply. */
  protected def reply(): Int = channel.readInt() match {
    case Failed => throw new SweepWorkerException(settings.python, channel.readString())
    case status @ (Done | More) => status
    case other => throw new UnreadableReplyException(s"the status $other")
  }

  /**
   * Exchanges messages with the worker, and turns a broken connection into an error with advice.
   *
   * @param repeat repeats the requests that a new worker must get before `body`; None if the task
   *   cannot repeat them
   */
  protected def talk[T](repeat: Option[() => Unit])(body: => T): T =
    repeat.fold(explained(body))(again => retrying(body, { open(); again() }))

  /** Runs `body`; if the worker is lost, once more with another worker, after `prepare`. */
  private def retrying[T](body: => T, prepare: => Unit = ()): T = explained {
    try body
    catch {
      case e: IOException if isLost(e) && !isReplaced =>
        logWarning(s"A lost worker of IntervalSweep is replaced: $e${process.crashReport}")
        replaceWorker()
        prepare
        body
    }
  }

  private def isLost(e: IOException): Boolean =
    !e.isInstanceOf[UnreadableReplyException] && !context.isInterrupted() && !monitor.isStuck

  private def replaceWorker(): Unit = {
    isReplaced = true
    process.end(isIdle = false)
    monitor.processId = 0
    process = WorkerProcess.start(settings)
    channel.connect(process.socket)
  }

  /** If the worker died, the task fails, and Spark retries it. */
  private def explained[T](body: => T): T =
    try body
    catch {
      case e: IOException if context.isInterrupted() =>
        context.killTaskIfInterrupted()
        throw e
      case e: UnreadableReplyException =>
        throw new SparkException(
          s"The IntervalSweep worker ($program) sent what is no answer: ${e.getMessage}",
          e)
      case e: IOException if monitor.isStuck =>
        throw new SparkException(
          s"The IntervalSweep worker ($program) did nothing for ${settings.timeoutSeconds} s while a task waited for it, so it " +
            "was ended. Run the query again. If the machine was only slow, increase " +
            "spark.sql.intervalsweep.workerTimeout.",
          e)
      case e: IOException =>
        throw new SparkException(
          s"The IntervalSweep worker ($program) ended before it answered. If it was killed for its memory, give it more " +
            "(spark.executor.pyspark.memory, spark.executor.memoryOverhead); if it crashed, " +
            s"spark.python.worker.faulthandler.enabled shows where.${process.crashReport}",
          e)
    }

  private def program: String = s"${settings.python} -m ${WorkerProcess.WorkerModule}"

  /**
   * Gives an idle worker back for the next task; ends any other. The monitor still runs while this
   * waits for the worker's answer.
   */
  private def close(): Unit =
    try
      process.end(isIdle = settings.isReused && isIdle && !context.isInterrupted() && sayGoodbye())
    finally monitor.stop()

  private def sayGoodbye(): Boolean =
    try {
      channel.writeInt(Close)
      channel.flush()
      channel.readInt() == 0
    } catch {
      case _: IOException => false
    }
}

object WorkerConnection {
  private val Open = 1
  private[execution] val Resident = 2
  private[execution] val Stream = 3
  private val Close = 4

  private[execution] val Done = 0
  private[execution] val More = 1
  private val Failed = -1
}

/** An exception in a worker, with its Python traceback. */
class SweepWorkerException(python: String, traceback: String)
    extends SparkException(
      s"The IntervalSweep worker failed (Python interpreter: $python):\n$traceback",
      null)
