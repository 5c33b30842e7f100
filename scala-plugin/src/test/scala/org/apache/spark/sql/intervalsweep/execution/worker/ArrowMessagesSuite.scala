// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.worker

import java.io.{ByteArrayOutputStream, DataOutputStream}
import java.net.{InetAddress, InetSocketAddress}
import java.nio.ByteBuffer
import java.nio.channels.{Channels, ServerSocketChannel, SocketChannel}

import scala.concurrent.{Await, Future}
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration.DurationInt
import scala.jdk.CollectionConverters._
import scala.util.{Random, Try, Using}

import org.apache.arrow.vector.{BigIntVector, IntVector, VectorSchemaRoot}
import org.apache.arrow.vector.ipc.{ArrowStreamReader, ArrowStreamWriter}
import org.apache.arrow.vector.types.pojo.{ArrowType, Field, Schema}
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.intervalsweep.execution.runs.{RunBatch, SweepSize}
import org.apache.spark.sql.util.ArrowUtils

/** Messages between a task and its worker, read and written by Arrow's own classes as well. */
class ArrowMessagesSuite extends AnyFunSuite {
  private val allocator = ArrowUtils.rootAllocator

  /** Calls the body with both ends of a connection. */
  private def connected[A](body: (WorkerChannel, SocketChannel) => A): A =
    Using.resource(ServerSocketChannel.open()) { server =>
      server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress, 0))
      Using.resource(SocketChannel.open(server.getLocalAddress)) { task =>
        Using.resource(server.accept())(worker => body(new WorkerChannel(task), worker))
      }
    }

  // From the task to the worker

  /** The columns of a stream, by name, with the number of its batches. */
  private def received(worker: SocketChannel): (Map[String, Seq[Long]], Int) =
    Using.resource(new ArrowStreamReader(Channels.newInputStream(worker), allocator)) { reader =>
      val names = reader.getVectorSchemaRoot.getSchema.getFields.asScala.map(_.getName).toSeq
      val columns = names.map(_ -> Seq.newBuilder[Long]).toMap
      var batches = 0
      while (reader.loadNextBatch()) {
        batches += 1
        reader.getVectorSchemaRoot.getFieldVectors.asScala.foreach { vector =>
          val read: Int => Long = vector match {
            case ints: IntVector => ints.get(_).toLong
            case longs: BigIntVector => longs.get(_)
            case other => fail(s"$other")
          }
          columns(vector.getName) ++= (0 until vector.getValueCount).map(read)
        }
      }
      (columns.map { case (name, values) => name -> values.result() }, batches)
    }

  test("rows are written in batches, with and without groups") {
    val random = new Random(5)
    for {
      (rows, batches) <- Seq(0 -> 0, 1 -> 1, 1000 -> 1, (1 << 16) -> 1, 150000 -> 3)
      isGrouped <- Seq(true, false)
    } {
      val first = random.nextInt(10)
      val end = first + rows
      val groups = if (isGrouped) Array.fill(end + 5)(random.nextInt()) else null
      val columns =
        Seq("e0", "e1", "m0").map(_ -> Array.fill(end + 5)(random.nextLong()))
      val (found, count) = connected { (task, worker) =>
        val writing = Future {
          new ColumnWriter(allocator, task).write(groups, columns, first, end)
          task.flush()
        }
        val read = received(worker)
        Await.result(writing, 60.seconds)
        read
      }
      val wanted = columns.map { case (name, values) => name -> values.slice(first, end).toSeq } ++
        Option.when(isGrouped)("g" -> groups.slice(first, end).map(_.toLong).toSeq)
      assert(found == wanted.toMap, s"$rows rows")
      assert(count == batches)
    }
  }

  // From the worker to the task

  private def field(name: String, bits: Int): Field =
    Field.nullable(name, new ArrowType.Int(bits, true))

  /** A stream of one batch. Columns of INTs come first. */
  private def stream(
      ints: Seq[(String, Seq[Int])],
      longs: Seq[(String, Seq[Long])]): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val fields = ints.map(c => field(c._1, 32)) ++ longs.map(c => field(c._1, 64))
    Using.resource(VectorSchemaRoot.create(new Schema(fields.asJava), allocator)) { root =>
      for ((name, values) <- ints; (value, i) <- values.zipWithIndex)
        root.getVector(name).asInstanceOf[IntVector].setSafe(i, value)
      for ((name, values) <- longs; (value, i) <- values.zipWithIndex)
        root.getVector(name).asInstanceOf[BigIntVector].setSafe(i, value)
      root.setRowCount(ints.head._2.size)
      val writer = new ArrowStreamWriter(root, null, bytes)
      writer.start()
      writer.writeBatch()
      writer.end()
    }
    bytes.toByteArray
  }

  /** Calls the body with a channel from which these bytes can be read. */
  private def reading[A](bytes: Array[Byte]*)(body: WorkerChannel => A): A =
    connected { (task, worker) =>
      bytes.map(ByteBuffer.wrap(_)).foreach { some =>
        while (some.hasRemaining) worker.write(some)
      }
      worker.shutdownOutput()
      body(task)
    }

  private def int(value: Int): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    new DataOutputStream(bytes).writeInt(value)
    bytes.toByteArray
  }

  private val names = Seq("box", "first", "count")
  private val sizes = Array(SweepSize(boxes = 5, points = 10), SweepSize(boxes = 10, points = 5))

  private def read(
      sweep: Int,
      runs: Seq[Seq[Int]],
      sums: Seq[Seq[Long]] = Nil,
      columns: Seq[String] = names,
      expected: Option[Int] = None): RunBatch = {
    val ofRuns = columns.zipWithIndex.map { case (name, k) => name -> runs.map(_(k)) }
    val ofSums = sums.zipWithIndex.map { case (values, k) => s"s$k" -> values }
    val batch = new RunBatch
    reading(int(sweep), stream(ofRuns, ofSums)) { task =>
      new RunReader(task, maxRuns = 100).read(batch, sizes, Array.fill(2)(expected))
    }
    batch
  }

  test("runs and sums are read as they were written") {
    val random = new Random(6)
    for (isSum <- Seq(true, false); sweep <- Seq(0, 1); n <- Seq(0, 1, 99)) {
      val runs = Seq.fill(n) {
        val first = random.nextInt(sizes(sweep).points)
        val count = 1 + random.nextInt(sizes(sweep).points - first)
        Seq(random.nextInt(sizes(sweep).boxes), first, count)
      }
      val sums = if (isSum) Seq.fill(2)(Seq.fill(n)(random.nextLong())) else Nil
      val batch = read(sweep, runs, sums, expected = Option.when(isSum)(2))
      assert(batch.sweep == sweep && batch.size == n)
      assert((0 until n).map(k => Seq(batch.box(k), batch.first(k), batch.count(k))) == runs)
      assert(Option(batch.sums).map(_.map(_.toSeq).toSeq) == Option.when(isSum)(sums))
    }
  }

  test("what is no run of the sweep is refused") {
    val run = Seq(4, 0, 10)
    def isRefused(reply: => RunBatch): Boolean =
      Try(reply).failed.toOption.exists(_.isInstanceOf[UnreadableReplyException])
    assert(read(sweep = 0, Seq(run)).size == 1)
    assert(isRefused(read(sweep = 1, Seq(run))), "points of the other sweep")
    assert(isRefused(read(sweep = 2, Seq(run))), "no such sweep")
    assert(isRefused(read(sweep = 0, Seq(run), columns = names.reverse)), "other columns")
    assert(isRefused(read(sweep = 0, Seq(run), expected = Some(1))), "no sums")
    assert(isRefused(read(sweep = 0, Seq.fill(101)(run))), "too many runs")
  }

  test("periods are read as they were written, and none may be empty") {
    def periods(rows: Seq[Int], ends: Seq[(Long, Long)]): PeriodReader = {
      val columns = Seq("start" -> ends.map(_._1), "end" -> ends.map(_._2), "s0" -> ends.map(_._1))
      reading(stream(Seq("row" -> rows), columns)) { task =>
        val reader = new PeriodReader(task, maxRows = 100, numbers = 1)
        reader.read(rows = 3)
        reader
      }
    }
    val ends = Seq((Long.MinValue, 0L), (5L, 6L), (7L, Long.MaxValue))
    val found = periods(Seq(-1, 0, 2), ends)
    assert(found.size == 3 && found.row.take(3).toSeq == Seq(-1, 0, 2))
    assert(found.start.zip(found.end).take(3).toSeq == ends)
    assert(found.values.head.take(3).toSeq == ends.map(_._1))
    for ((row, end) <- Seq((0, (5L, 5L)), (0, (6L, 5L)), (3, (5L, 6L)), (-2, (5L, 6L))))
      assertThrows[UnreadableReplyException](periods(Seq(row), Seq(end)))
  }
}
