// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.block

import java.lang.ref.WeakReference

import org.apache.spark.{SparkEnv, TaskContext}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.intervalsweep.condition.expressions.EncodedEndpoint
import org.apache.spark.sql.intervalsweep.execution.chunks.{BroadcastMemory, Unaccounted}
import org.apache.spark.sql.intervalsweep.functions.FunctionsSession
import org.apache.spark.sql.types.{DataTypes, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

class BlockMemorySuite extends AnyFunSuite with FunctionsSession {
  private val text = AttributeReference("text", StringType)()
  private val ts = AttributeReference("ts", LongType)()
  private val layout =
    BlockLayout(Seq(ts, text), Seq(ts, text), Seq(EncodedEndpoint(ts)), sortEndpoint = 0)

  test("a block that was cleared kept the objects whose memory it had given back") {
    val block = new RowBlock(layout, Unaccounted)
    block.append(InternalRow(1L, UTF8String.fromString("a text")), KeyGroups.NoGroup)
    val value = new WeakReference(block.columns(1).boxed(0))
    block.clear()
    assert(Iterator.continually { System.gc(); Thread.sleep(10); value.get == null }
      .take(500).contains(true))
  }

  test("the unpacked rows of a broadcast were in no account") {
    val used = BlockMemorySuite.usedByRows(spark, 100000)
    assert(used.head >= 16 * 100000)
    assert(used(1) === 0, "after the tasks")
    assert(used(2) === used.head, "of a task that uses it again")
    assert(SparkEnv.get.memoryManager.storageMemoryUsed < used.head)
  }

  test("offsets of groups were made by each task that reads a shared block") {
    spark.range(1).foreachPartition { (_: java.util.Iterator[java.lang.Long]) =>
      val memory = new BroadcastMemory
      memory.usedBy(TaskContext.get())
      val column = AttributeReference("id", DataTypes.LongType)()
      val block = new RowBlock(
        BlockLayout(Seq(column), Seq(column), Seq(EncodedEndpoint(column)), sortEndpoint = 0),
        memory)
      block.append(InternalRow(5L), KeyGroups.NoGroup)
      block.sort()
      val known = classOf[RowBlock].getDeclaredField("offsets")
      known.setAccessible(true)
      require(known.get(block) != null, "not known after the sort")
    }
  }
}

private object BlockMemorySuite {

  /** The storage memory used by some rows: in a task, after this task, and in a second task. */
  def usedByRows(spark: org.apache.spark.sql.SparkSession, rows: Int): Seq[Long] = {
    val before = SparkEnv.get.memoryManager.storageMemoryUsed
    val sc = spark.sparkContext
    sc.parallelize(Seq(1), 1).foreach { _ =>
      memory = new BroadcastMemory
      memory.usedBy(TaskContext.get())
      memory.reserve(16L * rows)
      first = SparkEnv.get.memoryManager.storageMemoryUsed - before
    }
    val between = SparkEnv.get.memoryManager.storageMemoryUsed - before
    sc.parallelize(Seq(1), 1).foreach { _ =>
      memory.usedBy(TaskContext.get())
      second = SparkEnv.get.memoryManager.storageMemoryUsed - before
    }
    // Rounded down: the broadcasts of the tasks themselves take a few kilobytes.
    Seq(first, between, second).map(bytes => bytes / (16L * rows) * (16L * rows))
  }

  private var memory: BroadcastMemory = _
  private var first = 0L
  private var second = 0L
}
