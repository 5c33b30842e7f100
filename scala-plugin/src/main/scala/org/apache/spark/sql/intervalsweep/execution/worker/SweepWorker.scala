// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.worker

import java.io.IOException
import java.net.StandardSocketOptions
import java.nio.channels.SocketChannel

import scala.util.control.NonFatal

import org.apache.arrow.memory.BufferAllocator
import org.apache.spark.{SparkEnv, SparkException, TaskContext}
import org.apache.spark.api.python.{BasePythonRunner, PythonWorker}
import org.apache.spark.internal.Logging
import org.apache.spark.internal.config.Python.PYTHON_WORKER_FAULTHANLDER_ENABLED
import org.apache.spark.sql.intervalsweep.execution.aggregates.Measures
import org.apache.spark.sql.intervalsweep.execution.block.RowBlock
import org.apache.spark.sql.intervalsweep.execution.runs.{
  RunBatch, RunSource, SweepSize, SweepStatistics
}
import org.apache.spark.sql.util.ArrowUtils

/**
 * How to start a worker; made on the driver.
 *
 * @param python the interpreter
 * @param openMessage what the worker is told about the join, as JSON
 * @param environment environment variables beside PYTHONPATH; the same for all tasks of an
 *   application, since Spark keeps a daemon for each set of them
 * @param maxRuns the most runs that the worker sends at a time
 */
case class WorkerSettings(
    python: String,
    openMessage: String,
    environment: Map[String, String],
    maxRuns: Int)

/**
 * A task's connection to a Python worker: endpoints are sent, runs come back. The messages are
 * described in docs/worker-protocol.md.
 *
 * Every request is written whole before its reply is read, and the worker reads a request whole
 * before it replies, so that the two never wait for each other with full buffers.
 */
final class SweepWorker(settings: WorkerSettings, range: Option[(Long, Long)], context: TaskContext)
    extends RunSource with Logging {
  import SweepWorker._

  private val environment =
    settings.environment + ("PYTHONPATH" -> WorkerSources.folder) ++ faultHandler
  private val allocator: BufferAllocator =
    ArrowUtils.rootAllocator.newChildAllocator("intervalsweep worker", 0, Long.MaxValue)
  // The last one is called first. Each is there before anything that follows can fail.
  context.addTaskCompletionListener[Unit](_ => allocator.close())
  private val process = start()
  context.addTaskCompletionListener[Unit](_ => end())
  private val channel = new WorkerChannel(blocking(process.worker))
  private val endpoints = new EndpointWriter(allocator, channel)

  /** Whether the worker waits for a command, and so can serve another task. */
  private var isIdle = false
  @volatile private var isEnded = false

  private val reader = new RunReader(channel, settings.maxRuns)
  private var answer: Answer = _
  override val runs: RunBatch = new RunBatch

  startMonitor()
  open()

  def bytesSent: Long = channel.bytesSent
  def bytesReceived: Long = channel.bytesReceived
  def nanosWaited: Long = channel.nanosWaited

  /**
   * Sends the side that stays, unless the worker has it from an earlier task under `token`.
   *
   * @param measures what is added up of the rows
   */
  def sendResident(block: RowBlock, measures: Option[Measures], token: String): Unit = talk {
    channel.writeInt(Resident)
    channel.writeString(token)
    val isKnown = token.nonEmpty && { channel.flush(); reply() == More }
    if (!isKnown) endpoints.write(block, measures.fold(Seq.empty[Array[Long]])(_.values))
  }

  /**
   * Sends rows of the other side; [[nextRuns]] then returns what they match.
   *
   * @param measures what is added up of them
   * @param sizes how many boxes and points each sweep has
   * @param sums how many measures the worker is to add up in each sweep; None for runs
   */
  def sendStream(
      block: RowBlock,
      measures: Option[Measures],
      sizes: Array[SweepSize],
      sums: Array[Option[Int]]): Unit = talk {
    answer = new Answer(block.numRows, sizes, sums)
    channel.writeInt(Stream)
    channel.writeInt(if (sums.exists(_.isDefined)) 1 else 0)
    endpoints.write(block, measures.fold(Seq.empty[Array[Long]])(_.values))
    channel.flush()
    isIdle = false
  }

  override def nextRuns(statistics: SweepStatistics): Boolean = talk {
    val isMore = reply() == More
    if (isMore) {
      reader.read(runs, answer.sizes, answer.sums)
      answer.runs += runs.size
    } else {
      readFigures(statistics)
      isIdle = true
    }
    isMore
  }

  /** What ends an answer. An answer with a part missing, or made of zeros, does not add up. */
  private def readFigures(statistics: SweepStatistics): Unit = {
    expect(answer.rows, "rows that it was asked about")
    expect(answer.runs, "runs in its answer")
    statistics.runs += answer.runs
    statistics.candidates += channel.readLong()
    statistics.skippedBlocks += channel.readLong()
    statistics.kernelNanos += channel.readLong()
  }

  private def expect(number: Long, what: String): Unit = {
    val said = channel.readLong()
    if (said != number)
      throw new UnreadableReplyException(s"that there are $said $what, and not $number")
  }

  private def open(): Unit = talk {
    channel.writeInt(Open)
    channel.writeString(range.fold(settings.openMessage) { case (low, high) =>
      settings.openMessage.stripSuffix("}") + s""","range":[$low,$high]}"""
    })
    channel.flush()
    reply()
    val versions = channel.readString()
    logDebug(s"IntervalSweep worker: $versions")
    isIdle = true
  }

  /** The status that begins every reply. */
  private def reply(): Int = channel.readInt() match {
    case Failed => throw new SweepWorkerException(settings.python, channel.readString())
    case status @ (Done | More) => status
    case other => throw new UnreadableReplyException(s"the status $other")
  }

  /** Turns a broken connection into words. A worker that died is a failed task: Spark retries. */
  private def talk[T](body: => T): T =
    try body
    catch {
      case e: IOException if context.isInterrupted() =>
        context.killTaskIfInterrupted()
        throw e
      case e: UnreadableReplyException =>
        throw new SparkException(
          s"The IntervalSweep worker (${settings.python} -m $WorkerModule) sent what is no " +
            s"answer: ${e.getMessage}",
          e)
      case e: IOException =>
        val died = process.lastWords().fold("")("\n" + _)
        throw new SparkException(
          s"The IntervalSweep worker (${settings.python} -m $WorkerModule) ended before it " +
            s"answered. If it was killed for its memory, give it more " +
            "(spark.executor.pyspark.memory, spark.executor.memoryOverhead); if it crashed, " +
            s"spark.python.worker.faulthandler.enabled shows where.$died",
          e)
    }

  /** Where a worker that crashes leaves its traceback, for `terminationDiagnostics`. */
  private def faultHandler: Option[(String, String)] =
    Option.when(SparkEnv.get.conf.get(PYTHON_WORKER_FAULTHANLDER_ENABLED))(
      "PYTHON_FAULTHANDLER_DIR" -> BasePythonRunner.faultHandlerLogDir.toString)

  private def start(): WorkerProcess =
    try WorkerProcess.start(settings.python, WorkerModule, DaemonModule, environment)
    catch {
      case NonFatal(e) =>
        throw new SparkException(
          s"IntervalSweep cannot start a worker with the Python interpreter " +
            s"'${settings.python}'. Set spark.sql.intervalsweep.python (or spark.pyspark.python) " +
            "to one that every executor has, with pyarrow and numba.",
          e)
    }

  /**
   * A worker arrives registered with a selector; one thread that reads and writes needs none. The
   * end of a request must not wait until the worker has acknowledged what came before it, which a
   * TCP connection may do 40 ms later; [[WorkerChannel]] makes few packets as it is.
   */
  private def blocking(worker: PythonWorker): SocketChannel = {
    if (worker.selectionKey != null) worker.selectionKey.cancel()
    if (worker.selector != null) worker.selector.close()
    worker.channel.configureBlocking(true)
    val isTcp = worker.channel.supportedOptions.contains(StandardSocketOptions.TCP_NODELAY)
    if (isTcp) worker.channel.setOption(StandardSocketOptions.TCP_NODELAY, Boolean.box(true))
    worker.channel
  }

  /** A blocked read does not see that the task was cancelled: a thread that does ends the worker. */
  private def startMonitor(): Unit = {
    val monitor = new Thread(s"IntervalSweep monitor of task ${context.taskAttemptId()}") {
      override def run(): Unit =
        while (!isEnded) {
          if (context.isInterrupted()) SweepWorker.this.end() else Thread.sleep(MonitorMillis)
        }
    }
    monitor.setDaemon(true)
    monitor.start()
  }

  /** Gives an idle worker back for the next task; ends any other. */
  private def end(): Unit = if (!isEnded) {
    // Not under the lock: a worker may never answer, and then the monitor has to end it.
    leave(isReusable = isIdle && !context.isInterrupted() && sayGoodbye())
  }

  private def leave(isReusable: Boolean): Unit = synchronized {
    if (!isEnded) {
      isEnded = true
      val env = SparkEnv.get
      val worker = process.worker
      if (isReusable)
        env.releasePythonWorker(settings.python, WorkerModule, DaemonModule, environment, worker)
      else
        env.destroyPythonWorker(settings.python, WorkerModule, DaemonModule, environment, worker)
    }
  }

  private def sayGoodbye(): Boolean =
    try {
      channel.writeInt(Close)
      channel.flush()
      channel.readInt() == 0
    } catch {
      case _: IOException => false
    }
}

object SweepWorker {
  private val WorkerModule = "pyspark_intervalsweep.worker"
  private val DaemonModule = "pyspark.daemon"
  private val MonitorMillis = 500L

  private val Open = 1
  private val Resident = 2
  private val Stream = 3
  private val Close = 4

  private val Done = 0
  private val More = 1
  private val Failed = -1
}

/** The answer to one STREAM, as far as it is known. */
private final class Answer(
    val rows: Long,
    val sizes: Array[SweepSize],
    val sums: Array[Option[Int]]) {
  var runs = 0L
}

/** An exception in a worker, with its Python traceback. */
class SweepWorkerException(python: String, traceback: String)
    extends SparkException(
      s"The IntervalSweep worker failed (Python interpreter: $python):\n$traceback",
      null)
