// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.packing

import org.apache.spark.SparkConf
import org.apache.spark.io.CompressionCodec
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.types.{BinaryType, DataType, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

class PackedRowsSuite extends AnyFunSuite {
  private val types = Array[DataType](LongType, BinaryType)
  private val codec = CompressionCodec.createCodec(new SparkConf)

  private def check(sizes: Seq[Int]): Unit = {
    val project = UnsafeProjection.create(types)
    def rows = sizes.iterator.zipWithIndex.map { case (size, i) =>
      project(InternalRow(i.toLong, if (size < 0) null else Array.fill(size)(i.toByte)))
    }
    val chunks = new Packing(rows, types.length, codec).toSeq
    assert(chunks.map(_.rows).sum === sizes.size)
    assert(chunks.length <= 1 + sizes.map(_ + 100L).sum / (1 << 20))
    val packed = PackedRows.transform(PackedRows.of(chunks.iterator), None)
    val unpacked = PackedRows.unpack(packed, types, codec).map(_.copy()).toSeq
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

  test("a batch of long texts goes into several chunks") {
    val types = Array[DataType](LongType, StringType)
    val project = UnsafeProjection.create(types)
    val packer = new RowPacker(types.length)
    val texts = (0 until 100).map(i => UTF8String.fromString(i.toString * 50000))
    texts.foreach(text => packer.add(project(InternalRow(1L, text))))
    val batch = RowUnpacker.unpack(Iterator(packer.take()), types)
    val chunks = new Packing(batch, types.length, codec).toSeq
    assert(chunks.map(_.rows).sum === texts.size)
    assert(chunks.map(_.size).max < (1 << 20) + 200000)
    val unpacked = PackedRows.unpack(PackedRows.of(chunks.iterator).toArray, types, codec)
    assert(unpacked.map(_.getUTF8String(1)).toSeq === texts)
  }
}
