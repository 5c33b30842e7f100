// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.worker

import java.io.IOException
import java.net.StandardSocketOptions
import java.nio.channels.SocketChannel

import scala.util.control.NonFatal

import org.apache.arrow.memory.BufferAllocator
import org.apache.spark.{SparkConf, SparkEnv, SparkException, TaskContext}
import org.apache.spark.api.python.{BasePythonRunner, PythonWorker}
import org.apache.spark.internal.Logging
import org.apache.spark.internal.config.EXECUTOR_CORES
import org.apache.spark.internal.config.Python.{
  PYSPARK_EXECUTOR_MEMORY, PYTHON_WORKER_FAULTHANLDER_ENABLED, PYTHON_WORKER_REUSE
}
import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.intervalsweep.compat.SparkShims
import org.apache.spark.sql.util.ArrowUtils

/**
 * How to start a worker; made on the driver.
 *
 * @param python the interpreter
 * @param openMessage the description of the sweep that the worker gets first, as JSON
 * @param environment environment variables in addition to PYTHONPATH. They are the same for all
 *   tasks of an application, since Spark keeps a daemon for each set of them.
 * @param maxRuns the most runs, or periods, that the worker sends at a time
 */
case class WorkerSettings(
    python: String,
    openMessage: String,
    environment: Map[String, String],
    maxRuns: Int)

object WorkerSettings {
  val Protocol = 5

  /** The settings for this session's application. */
  def apply(openMessage: String, maxRuns: Int): WorkerSettings = {
    val conf = SparkEnv.get.conf
    WorkerSettings(python(conf), openMessage, environment(conf), maxRuns)
  }

  /**
   * The interpreter. It is looked up on the driver, since an executor's environment does not have
   * the user's choice. It is not a setting of the session, in which anyone who may send SQL could
   * name any program.
   */
  private def python(conf: SparkConf): String =
    conf.get(IntervalSweepConf.Python)
      .orElse(conf.getOption("spark.sql.execution.pyspark.python"))
      .orElse(conf.getOption("spark.pyspark.python"))
      .orElse(sys.env.get("PYSPARK_PYTHON"))
      .getOrElse("python3")

  private def environment(conf: SparkConf): Map[String, String] = {
    val reuse = Option.when(conf.get(PYTHON_WORKER_REUSE))("SPARK_REUSE_WORKER" -> "1")
    val memory = conf.get(PYSPARK_EXECUTOR_MEMORY).map { mebibytes =>
      "PYSPARK_EXECUTOR_MEMORY_MB" -> (mebibytes / math.max(1, conf.get(EXECUTOR_CORES))).toString
    }
    (reuse ++ memory).toMap
  }
}

/**
 * A task's connection to a Python worker. docs/worker-protocol.md describes the messages.
 *
 * The task writes every request in full before it reads the reply, and the worker reads a request
 * in full before it replies. So they never wait for each other with full buffers.
 *
 * @param openMessage the first message to the worker, as JSON
 */
abstract class WorkerConnection(
    settings: WorkerSettings,
    openMessage: String,
    context: TaskContext)
    extends Logging {
  import WorkerConnection._

  private val environment =
    settings.environment + ("PYTHONPATH" -> WorkerSources.folder) ++ faultHandler
  protected val allocator: BufferAllocator =
    ArrowUtils.rootAllocator.newChildAllocator("intervalsweep worker", 0, Long.MaxValue)
  // Spark calls the listener that was added last first. Each is added before a later step can fail.
  context.addTaskCompletionListener[Unit](_ => allocator.close())
  private val (process, lastWords) = start()
  context.addTaskCompletionListener[Unit](_ => end())
  protected val channel = new WorkerChannel(blocking(process))

  /** True if the worker waits for a request, and so can serve another task. */
  protected var isIdle = false
  @volatile private var isEnded = false

  startMonitor()
  open()

  def bytesSent: Long = channel.bytesSent
  def bytesReceived: Long = channel.bytesReceived
  def nanosWaited: Long = channel.nanosWaited

  private def open(): Unit = talk {
    channel.writeInt(Open)
    channel.writeString(openMessage)
    channel.flush()
    reply()
    val versions = channel.readString()
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
   * Turns a broken connection into an error with advice. If the worker died, the task fails, and
   * Spark retries it.
   */
  protected def talk[T](body: => T): T =
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
        val died = lastWords().fold("")("\n" + _)
        throw new SparkException(
          s"The IntervalSweep worker (${settings.python} -m $WorkerModule) ended before it " +
            s"answered. If it was killed for its memory, give it more " +
            "(spark.executor.pyspark.memory, spark.executor.memoryOverhead); if it crashed, " +
            s"spark.python.worker.faulthandler.enabled shows where.$died",
          e)
    }

  /**
   * The folder in which a worker that crashes leaves its traceback, for `terminationDiagnostics`.
   */
  private def faultHandler: Option[(String, String)] =
    Option.when(SparkEnv.get.conf.get(PYTHON_WORKER_FAULTHANLDER_ENABLED))(
      "PYTHON_FAULTHANDLER_DIR" -> BasePythonRunner.faultHandlerLogDir.toString)

  private def start(): (PythonWorker, () => Option[String]) =
    try SparkShims.startPythonWorker(settings.python, WorkerModule, DaemonModule, environment)
    catch {
      case NonFatal(e) =>
        throw new SparkException(
          s"IntervalSweep cannot start a worker with the Python interpreter " +
            s"'${settings.python}'. Set spark.sql.intervalsweep.python (or spark.pyspark.python) " +
            "to one that every executor has, with pyarrow and numba.",
          e)
    }

  /**
   * Puts the connection into blocking mode. A worker arrives registered with a selector, which a
   * single thread that reads and writes does not need.
   *
   * TCP_NODELAY is set, because the end of a request must not wait for the acknowledgement of
   * earlier packets: over TCP this may take 40 ms. [[WorkerChannel]] makes few packets in any case.
   */
  private def blocking(worker: PythonWorker): SocketChannel = {
    if (worker.selectionKey != null) worker.selectionKey.cancel()
    if (worker.selector != null) worker.selector.close()
    worker.channel.configureBlocking(true)
    val isTcp = worker.channel.supportedOptions.contains(StandardSocketOptions.TCP_NODELAY)
    if (isTcp) worker.channel.setOption(StandardSocketOptions.TCP_NODELAY, Boolean.box(true))
    worker.channel
  }

  /**
   * Starts a thread that ends the worker if the task is cancelled. A blocked read does not notice
   * that.
   */
  private def startMonitor(): Unit = {
    val monitor = new Thread(s"IntervalSweep monitor of task ${context.taskAttemptId()}") {
      override def run(): Unit =
        while (!isEnded) {
          if (context.isInterrupted()) WorkerConnection.this.end() else Thread.sleep(MonitorMillis)
        }
    }
    monitor.setDaemon(true)
    monitor.start()
  }

  /** Gives an idle worker back for the next task; ends any other. */
  private def end(): Unit = if (!isEnded) {
    // Outside of the lock: a worker may never answer, and then the monitor must end it.
    leave(isReusable = isIdle && !context.isInterrupted() && sayGoodbye())
  }

  private def leave(isReusable: Boolean): Unit = synchronized {
    if (!isEnded) {
      isEnded = true
      val env = SparkEnv.get
      val worker = process
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

object WorkerConnection {
  private val WorkerModule = "pyspark_intervalsweep.worker"
  private val DaemonModule = "pyspark.daemon"
  private val MonitorMillis = 500L

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
