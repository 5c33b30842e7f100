// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.chunks

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, GenericInternalRow}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side}
import org.apache.spark.sql.intervalsweep.execution.block.{
  BlockLayout, BlockMemory, RowBlock, UnsweptRows
}
import org.apache.spark.sql.intervalsweep.execution.metrics.SortTimer
import org.apache.spark.sql.types.LongType
import org.scalatest.funsuite.AnyFunSuite

class SortedChunksSuite extends AnyFunSuite {
  private val key = AttributeReference("key", LongType)()
  private val point = AttributeReference("point", LongType)()
  private val input = Seq(key, point)

  private type Row = (Option[Long], Option[Long])

  /** Rows, as (key, point), -1 for NULL. */
  private type Shown = (Long, Long)

  /**
   * The rows of all chunks, and the rows that belong to no chunk.
   *
   * @param pairs all (build, probe) pairs of rows that share a group in some chunk
   * @param left  the left rows, which are the build side
   */
  private case class Found(pairs: Seq[(Shown, Shown)], left: Seq[Shown], right: Seq[Shown])

  private def find(
      build: Seq[Row],
      probe: Seq[Row],
      size: ChunkSize,
      hasKeys: Boolean,
      kept: Set[Side]): Found = {
    val layout = BlockLayout(input, input, Seq(point), sortEndpoint = 0)
    def block(): RowBlock = {
      val empty = new RowBlock(layout, Unaccounted)
      if (hasKeys) empty.grouped() else empty
    }
    def sorted(side: Side, rows: Seq[Row]): SortedInput = {
      val ordered = if (hasKeys) rows.sortBy(_._1) else rows
      new SortedInput(side, ordered.iterator.map(internal), if (hasKeys) Seq(key) else Nil, input)
    }
    val limit = 2
    val blocks = kept.map(_ -> new RowBlock(layout.withoutEndpoints, Unaccounted)).toMap
    val chunks = new SortedChunks(
      sorted(LeftSide, build),
      sorted(RightSide, probe),
      block(),
      block(),
      new UnsweptRows(blocks, limit),
      size,
      sortProbe = true,
      new SortTimer(new SQLMetric("timing")),
      spillSize = new SQLMetric("size"))
    var stale: Option[Seq[(Int, (Long, Long))]] = None
    val found = Seq.newBuilder[(Shown, Shown)]
    val (left, right) = (Seq.newBuilder[Shown], Seq.newBuilder[Shown])
    while (chunks.next()) {
      val (r, s) = (rows(chunks.build), rows(chunks.probe))
      assert(s.size <= size.probeRows)
      if (!chunks.buildChanged) assert(stale.contains(r), "the same build rows")
      stale = Some(r)
      Seq(chunks.build, chunks.probe).foreach { block =>
        val order = rows(block).map { case (g, (_, p)) => (g, p) }
        assert(order === order.sorted, "sorted by group and point")
      }
      if (chunks.buildEnds) left ++= r.map(_._2)
      right ++= s.map(_._2)
      left ++= chunks.leftovers.of(LeftSide).toSeq.flatMap(rows).map(_._2)
      right ++= chunks.leftovers.of(RightSide).toSeq.flatMap(rows).map(_._2)
      found ++= (for { (g, a) <- r; (h, b) <- s if g == h } yield (a, b))
    }
    Found(found.result(), left.result(), right.result())
  }

  private def internal(row: Row): InternalRow =
    new GenericInternalRow(Array[Any](row._1.map(Long.box).orNull, row._2.map(Long.box).orNull))

  private def rows(block: RowBlock): Seq[(Int, (Long, Long))] = (0 until block.numRows).map { i =>
    val k = block.columns(0).boxed(i)
    (
      if (block.groups == null) 0 else block.groups(i),
      (shown(k), shown(block.columns(1).boxed(i))))
  }

  private def shown(value: Any): Long = if (value == null) -1L else value.asInstanceOf[Long]

  private def shown(row: Row): Shown = (row._1.getOrElse(-1L), row._2.getOrElse(-1L))

  test("chunks of any size hold every pair with equal keys, and every row that is kept, once") {
    val random = new Random(11)
    def side(): Seq[Row] = Seq.fill(random.nextInt(25)) {
      (
        Option.when(random.nextInt(6) > 0)(random.nextInt(4).toLong),
        Option.when(random.nextInt(6) > 0)(random.nextInt(9).toLong))
    }
    var total = 0
    (1 to 500).foreach { _ =>
      val (build, probe) = (side(), side())
      val size = ChunkSize(1 + random.nextInt(6), 1 + random.nextInt(6), groupRows = 100)
      Seq(true, false).foreach { hasKeys =>
        val expected = for {
          (k, Some(p)) <- build
          (l, Some(q)) <- probe
          if !hasKeys || k.isDefined && k == l
        } yield ((k.getOrElse(-1L), p), (l.getOrElse(-1L), q))
        val kept = Set[Side](LeftSide, RightSide).filter(_ => random.nextBoolean())
        val actual = find(build, probe, size, hasKeys, kept)
        val about = s"$build $probe $size keys $hasKeys kept $kept"
        assert(actual.pairs.sorted === expected.sorted, about)
        if (kept(LeftSide)) assert(actual.left.sorted === build.map(shown).sorted, about)
        if (kept(RightSide)) assert(actual.right.sorted === probe.map(shown).sorted, about)
        total += actual.pairs.size
      }
    }
    assert(total > 0, "there were pairs")
  }
}

/** Memory for blocks of few rows outside of a task. Grants every request. */
private[execution] object Unaccounted extends BlockMemory {
  override def isShared: Boolean = false
  override def tryReserve(bytes: Long): Boolean = true
  override def reserve(bytes: Long): Unit = ()
  override def release(bytes: Long): Unit = ()
}
