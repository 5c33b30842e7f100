// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.worker

import org.apache.spark.TaskContext
import org.apache.spark.sql.intervalsweep.execution.aggregates.SummedColumns
import org.apache.spark.sql.intervalsweep.execution.block.RowBlock
import org.apache.spark.sql.intervalsweep.execution.runs.{
  RunBatch, RunSource, SweepSize, SweepStatistics
}

/** The worker of a join. The task sends endpoints, and the worker returns runs. */
final class SweepWorker(settings: WorkerSettings, range: Option[(Long, Long)], context: TaskContext)
    extends WorkerConnection(settings, SweepWorker.openMessage(settings, range), context)
    with RunSource {
  import WorkerConnection.{More, Resident, Stream}

  private val endpoints = new ColumnWriter(allocator, channel)
  private val reader = new RunReader(channel, settings.maxRuns)
  private var answer: Answer = _
  private var build: () => Unit = _
  private var probe: () => Unit = _
  override val runs: RunBatch = new RunBatch

  /**
   * Sends the build side, unless the worker has it from an earlier task under `token`.
   *
   * @param measures the columns that are summed
   */
  def sendBuild(block: RowBlock, measures: Option[SummedColumns], token: String): Unit = {
    build = () => {
      channel.writeInt(Resident)
      channel.writeString(token)
      val isKnown = token.nonEmpty && { channel.flush(); reply() == More }
      if (!isKnown) endpoints.write(block, measures.fold(Seq.empty[Array[Long]])(_.values))
    }
    talk(repeat = Some(() => ()))(build())
  }

  /**
   * Sends rows of the probe side. [[nextRuns]] then returns their matches.
   *
   * @param measures the columns that are summed
   * @param sizes the number of boxes and points of each sweep
   * @param sums the number of measures that the worker sums in each sweep; None if it returns runs
   */
  def sendProbe(
      block: RowBlock,
      measures: Option[SummedColumns],
      sizes: Array[SweepSize],
      sums: Array[Option[Int]]): Unit = {
    answer = new Answer(block.numRows, sizes, sums)
    probe = () => {
      channel.writeInt(Stream)
      channel.writeInt(if (sums.exists(_.isDefined)) 1 else 0)
      endpoints.write(block, measures.fold(Seq.empty[Array[Long]])(_.values))
      channel.flush()
      isIdle = false
    }
    talk(repeat = Some(build))(probe())
  }

  override def nextRuns(statistics: SweepStatistics): Boolean = talk(repeatable) {
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

  /** Both requests, as long as no run of their answer was passed on. */
  private def repeatable: Option[() => Unit] =
    Option.when(answer.runs == 0)(() => { build(); probe() })

  /**
   * Reads the figures that end an answer. They do not agree if a part of the answer is missing, or
   * if it consists of zeros.
   */
  private def readFigures(statistics: SweepStatistics): Unit = {
    expect(answer.rows, "rows that it was asked about")
    expect(answer.runs, "runs in its answer")
    statistics.runs += answer.runs
    statistics.candidates += channel.readLong()
    statistics.skippedBlocks += channel.readLong()
    statistics.kernelNanos += channel.readLong()
  }
}

object SweepWorker {
  private def openMessage(settings: WorkerSettings, range: Option[(Long, Long)]): String =
    range.fold(settings.openMessage) { case (low, high) =>
      Json.plus(settings.openMessage, "range", Json.array(Seq(Json.of(low), Json.of(high))))
    }
}

/** The answer to one STREAM request, as far as it is known. */
private final class Answer(
    val rows: Long,
    val sizes: Array[SweepSize],
    val sums: Array[Option[Int]]) {
  var runs = 0L
}
