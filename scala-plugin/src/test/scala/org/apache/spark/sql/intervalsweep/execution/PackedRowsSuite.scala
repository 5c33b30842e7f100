package org.apache.spark.sql.intervalsweep.execution

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.types.{BinaryType, DataType, LongType}
import org.scalatest.funsuite.AnyFunSuite

class PackedRowsSuite extends AnyFunSuite {
  private val types = Array[DataType](LongType, BinaryType)

  private def check(sizes: Seq[Int]): Unit = {
    val project = UnsafeProjection.create(types)
    def rows = sizes.iterator.zipWithIndex.map { case (size, i) =>
      project(InternalRow(i.toLong, if (size < 0) null else Array.fill(size)(i.toByte)))
    }
    val packed = PackedRows.transform(rows, None)
    assert(packed.length <= 1 + sizes.map(_ + 100L).sum / (32 << 10))
    val unpacked = PackedRows.unpack(packed, types.length).map(_.copy()).toSeq
    assert(unpacked === rows.map(_.copy()).toSeq)
  }

  test("rows come out as they went in: none, few, many, and some larger than a chunk") {
    Seq(
      Nil,
      Seq(3),
      Seq(-1, 0, 1),
      Seq.fill(5000)(40),
      Seq(9, 1 << 20, 8, 200000, -1),
      Seq(17 << 20, 5))
      .foreach(check)
  }
}
