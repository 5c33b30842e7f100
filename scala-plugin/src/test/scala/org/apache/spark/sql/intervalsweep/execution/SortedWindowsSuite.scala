package org.apache.spark.sql.intervalsweep.execution

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, GenericInternalRow}
import org.apache.spark.sql.types.LongType
import org.scalatest.funsuite.AnyFunSuite

class SortedWindowsSuite extends AnyFunSuite {
  private val key = AttributeReference("key", LongType)()
  private val point = AttributeReference("point", LongType)()
  private val input = Seq(key, point)

  private type Row = (Option[Long], Option[Long])

  /** All (resident, stream) pairs of rows that some window has in one group. */
  private def pairs(
      resident: Seq[Row],
      stream: Seq[Row],
      size: WindowSize,
      hasKeys: Boolean): Seq[((Long, Long), (Long, Long))] = {
    val layout = BlockLayout(input, input, Seq(point), sortSlot = 0)
    def block(): RowBlock = {
      val empty = new RowBlock(layout, memory = null)
      if (hasKeys) empty.grouped() else empty
    }
    def sorted(rows: Seq[Row]): SortedInput = {
      val ordered = rows.sortBy { case (k, p) => (if (hasKeys) k else None, p) }
      new SortedInput(ordered.iterator.map(internal), if (hasKeys) Seq(key) else Nil, input)
    }
    val windows = new SortedWindows(sorted(resident), sorted(stream), block(), block(), size)
    var stale: Option[Seq[(Int, (Long, Long))]] = None
    val found = Seq.newBuilder[((Long, Long), (Long, Long))]
    while (windows.next()) {
      val (r, s) = (rows(windows.resident), rows(windows.stream))
      assert(r.nonEmpty && s.nonEmpty, "neither side of a window is empty")
      assert(s.size <= size.streamRows)
      if (!windows.residentChanged) assert(stale.contains(r), "the same resident rows")
      stale = Some(r)
      found ++= (for { (g, a) <- r; (h, b) <- s if g == h } yield (a, b))
    }
    found.result()
  }

  private def internal(row: Row): InternalRow =
    new GenericInternalRow(Array[Any](row._1.map(Long.box).orNull, row._2.map(Long.box).orNull))

  private def rows(block: RowBlock): Seq[(Int, (Long, Long))] = (0 until block.numRows).map { i =>
    val k = block.columns(0).boxed(i)
    (
      if (block.groups == null) 0 else block.groups(i),
      (if (k == null) -1L else k.asInstanceOf[Long], block.columns(1).boxed(i).asInstanceOf[Long]))
  }

  test("windows of any size hold every pair of rows with equal keys exactly once") {
    val random = new Random(11)
    def side(): Seq[Row] = Seq.fill(random.nextInt(25)) {
      (
        Option.when(random.nextInt(6) > 0)(random.nextInt(4).toLong),
        Option.when(random.nextInt(6) > 0)(random.nextInt(9).toLong))
    }
    var total = 0
    (1 to 500).foreach { _ =>
      val (resident, stream) = (side(), side())
      val size = WindowSize(1 + random.nextInt(6), 1 + random.nextInt(6))
      Seq(true, false).foreach { hasKeys =>
        val expected = for {
          (k, Some(p)) <- resident
          (l, Some(q)) <- stream
          if !hasKeys || k.isDefined && k == l
        } yield ((k.getOrElse(-1L), p), (l.getOrElse(-1L), q))
        val actual = pairs(resident, stream, size, hasKeys)
        assert(actual.sorted === expected.sorted, s"$resident $stream $size keys $hasKeys")
        total += actual.size
      }
    }
    assert(total > 0, "there were pairs")
  }
}
