// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.packing

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

class RowPackerSuite extends AnyFunSuite {
  private val random = new Random(11)

  private def packed(types: Seq[DataType], rows: Seq[InternalRow]): Array[Byte] = {
    val project = UnsafeProjection.create(types.toArray)
    val packer = new RowPacker(types.size)
    rows.foreach(row => packer.add(project(row)))
    assert(packer.numRows === rows.size)
    val bytes = packer.take()
    assert(packer.numRows === 0 && packer.size === 0)
    bytes
  }

  private def check(types: Seq[DataType], rows: Seq[InternalRow]): Int = {
    val project = UnsafeProjection.create(types.toArray)
    val bytes = packed(types, rows)
    assert(RowUnpacker.numRows(bytes) === rows.size)
    val unpacked = RowUnpacker.unpack(Iterator(bytes), types.toArray)
    assert(unpacked.map(project(_).copy()).toSeq === rows.map(project(_).copy()))
    bytes.length
  }

  private def long(): Long = random.nextInt(8) match {
    case 0 => Long.MinValue
    case 1 => Long.MaxValue
    case k => random.nextLong() >> (8 * k)
  }

  private def value(dataType: DataType): Any = dataType match {
    case _ if random.nextInt(5) == 0 => null
    case LongType => long()
    case IntegerType => long().toInt
    case ShortType => long().toShort
    case ByteType => long().toByte
    case FloatType => java.lang.Float.intBitsToFloat(long().toInt)
    case BooleanType => random.nextBoolean()
    case DoubleType => java.lang.Double.longBitsToDouble(long())
    case BinaryType => random.nextBytes(random.nextInt(20))
    case _ => UTF8String.fromString("x" * random.nextInt(20))
  }

  test("rows come out as they went in, whatever their types and values") {
    val types = Seq(LongType, IntegerType, BooleanType, DoubleType, StringType, BinaryType)
    for (n <- Seq(0, 1, 2, 63, 64, 65, 1000); width <- Seq(1, 2, 5, 70)) {
      val chosen = Seq.fill(width)(types(random.nextInt(types.size)))
      check(chosen, Seq.fill(n)(InternalRow(chosen.map(value): _*)))
    }
  }

  test("rows of batches come out as they went in, packed one by one or many together") {
    val taken = Seq(
      LongType,
      IntegerType,
      ShortType,
      ByteType,
      FloatType,
      BooleanType,
      DoubleType,
      StringType)
    for (n <- Seq(0, 1, 63, 64, 65, 1000); width <- Seq(1, 3, 70)) {
      val types = Array.fill[DataType](width)(taken(random.nextInt(taken.size)))
      val rows = Seq.fill(n)(InternalRow(types.toSeq.map(value): _*))
      val bytes = packed(types.toSeq, rows)
      val project = UnsafeProjection.create(types)
      def batches: BatchedRows = RowUnpacker.unpack(Iterator(bytes), types) match {
        case batched: BatchedRows => batched
        case _ => fail("batches take these types")
      }
      val (single, together) = (new RowPacker(width), new RowPacker(width))
      batches.foreach(single.add)
      if (n > 0) together.addAll(batches.batch, 0, n)
      for (packer <- Seq(single, together)) {
        val again = RowUnpacker.unpack(Iterator(packer.take()), types)
        assert(again.map(project(_).copy()).toSeq === rows.map(project(_).copy()))
      }
      assert(batches.map(_.copy()).toSeq === rows)
    }
  }

  test("rows of chunks come one by one or in batches, in any order of both") {
    for (types <- Seq(Array[DataType](LongType, StringType), Array[DataType](IntegerType))) {
      val rows = Seq.fill(1000)(InternalRow(types.toSeq.map(value): _*))
      val project = UnsafeProjection.create(types)
      val chunks = rows.grouped(90).map(packed(types.toSeq, _)) ++
        Iterator(packed(types.toSeq, Nil))
      val unpacked = RowUnpacker.unsafeRows(chunks, types)
      val batches = unpacked.asInstanceOf[InBatches]
      val again = new RowPacker(types.length)
      while (unpacked.hasNext) random.nextInt(3) match {
        case 0 => again.add(unpacked.next())
        case _ =>
          val rest = batches.batch.numRows - batches.position
          val n = if (random.nextBoolean()) rest else random.nextInt(rest + 1)
          again.addAll(batches.batch, batches.position, n)
          batches.skip(n)
      }
      assert(batches.batch === null)
      assert(RowUnpacker.unsafeRows(again.take(), types.length).map(_.copy()).toSeq ===
        rows.map(project(_).copy()))
    }
  }

  test("values at both ends of a byte more or less come out as they went in") {
    for (bits <- 0 to 63; least <- Seq(0L, -1L, Long.MinValue, Long.MaxValue)) {
      val values = Seq(least, least + (1L << bits) - 1, least + (1L << bits), least)
      check(Seq(LongType), values.map(InternalRow(_)))
    }
  }

  test("a column takes the bytes of its range, and one that never changes takes none") {
    val rows = (0 until 1000).map(i => InternalRow(7L, (1L << 40) + i, null))
    val size = check(Seq(LongType, LongType, LongType), rows)
    assert(size === 4 + 5 * 9 + 2 * 1000 + 8)
  }

  test("a packer packs again what it has forgotten") {
    val project = UnsafeProjection.create(Array[DataType](StringType))
    val packer = new RowPacker(1)
    def pack(strings: String*): Seq[String] = {
      strings.foreach(s => packer.add(project(InternalRow(UTF8String.fromString(s)))))
      RowUnpacker.unpack(Iterator(packer.take()), Array[DataType](StringType))
        .map(_.getString(0)).toSeq
    }
    assert(pack("a" * 100, "b") === Seq("a" * 100, "b"))
    assert(pack("c") === Seq("c"))
    assert(pack() === Nil)
  }
}
