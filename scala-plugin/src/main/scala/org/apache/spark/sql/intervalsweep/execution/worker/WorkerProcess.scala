// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.worker

import java.io.EOFException
import java.net.StandardSocketOptions
import java.nio.channels.SocketChannel
import java.util.concurrent.{CompletableFuture, ExecutionException, TimeUnit, TimeoutException}

import org.apache.spark.{SparkEnv, SparkException}
import org.apache.spark.api.python.PythonWorker
import org.apache.spark.sql.intervalsweep.compat.SparkShims
import org.apache.spark.util.ThreadUtils

/**
 * A Python process that serves a task.
 *
 * @param environment the environment variables with which the process started
 * @param lastWords the output of the fault handler after a crash
 */
private[worker] final class WorkerProcess private (
    settings: WorkerSettings,
    environment: Map[String, String],
    worker: PythonWorker,
    lastWords: () => Option[String]) {
  import WorkerProcess._

  /** The connection, in blocking mode. */
  val socket: SocketChannel = blocking(worker)
  private var isEnded = false

  def crashReport: String = lastWords().fold("")("\n" + _)

  /** Gives an idle worker back for the next task, and ends any other. Only the first call counts. */
  def end(isIdle: Boolean): Unit = synchronized {
    if (!isEnded) {
      isEnded = true
      if (isIdle && settings.isReused)
        SparkEnv.get.releasePythonWorker(
          settings.python,
          WorkerModule,
          DaemonModule,
          environment,
          worker)
      else destroy(settings, environment, worker)
    }
  }
}

private[worker] object WorkerProcess {
  val WorkerModule = "pyspark_intervalsweep.worker"
  private val DaemonModule = "pyspark_intervalsweep.daemon"
  private lazy val starters = ThreadUtils.newDaemonCachedThreadPool("IntervalSweep starter")

  /**
   * Takes an idle worker or starts one.
   *
   * It runs in a thread that does not end with the task. Spark waits for a new worker in
   * `Selector.select`, and takes an interrupt for a timeout: it then restarts the daemon, which
   * ends the workers of all tasks. The interrupt of a cancelled task ends only the wait here.
   */
  def start(settings: WorkerSettings): WorkerProcess = {
    val environment = settings.executorEnvironment
    def startOne() =
      SparkShims.startPythonWorker(settings.python, WorkerModule, DaemonModule, environment)
    val started = CompletableFuture.supplyAsync(
      () =>
        // A worker that is killed while it starts does not say its process id, or Spark finds no
        // process with that id. Another is asked.
        try startOne()
        catch { case _: EOFException | _: IllegalStateException => startOne() },
      starters)
    def abandon(): Unit =
      started.thenAccept { case (worker, _) => destroy(settings, environment, worker) }
    try {
      val (worker, lastWords) = started.get(settings.timeoutSeconds, TimeUnit.SECONDS)
      new WorkerProcess(settings, environment, worker, lastWords)
    } catch {
      case e: InterruptedException =>
        abandon()
        throw e
      case e: TimeoutException =>
        abandon()
        throw cannotStart(settings, s"It did not answer within ${settings.timeoutSeconds} s. ", e)
      case e: ExecutionException => throw cannotStart(settings, "", e.getCause)
    }
  }

  private def cannotStart(settings: WorkerSettings, reason: String, cause: Throwable) =
    new SparkException(
      s"IntervalSweep cannot start a worker with the Python interpreter '${settings.python}'. " +
        s"${reason}Set spark.sql.intervalsweep.python (or spark.pyspark.python) to one that every " +
        "executor has, with pyarrow and numba.",
      cause)

  private def destroy(
      settings: WorkerSettings,
      environment: Map[String, String],
      worker: PythonWorker): Unit =
    SparkEnv.get.destroyPythonWorker(
      settings.python,
      WorkerModule,
      DaemonModule,
      environment,
      worker)

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
}
