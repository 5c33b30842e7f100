// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.block

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Add, AttributeReference, BoundReference, Expression, Literal, UnsafeProjection
}
import org.apache.spark.sql.intervalsweep.condition.expressions.{EncodedEndpoint, PeriodEndpoint}
import org.apache.spark.sql.intervalsweep.execution.packing.{
  BatchedRows, RowBatch, RowPacker, RowUnpacker
}
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

class EndpointReaderSuite extends AnyFunSuite {
  private val whole = Seq(Long.MinValue, -1L << 40, -129L, -1L, 0L, 1L, 200L, Long.MaxValue)
  private val fractions =
    Seq(Double.NegativeInfinity, -1e300, -1.5, -0.0, 0.0, 1e-40, 7.25, Double.NaN)

  private val values: Map[DataType, Seq[Any]] = Map(
    ByteType -> whole.map(_.toByte),
    ShortType -> whole.map(_.toShort),
    IntegerType -> whole.map(_.toInt),
    DateType -> whole.map(_.toInt),
    YearMonthIntervalType() -> whole.map(_.toInt),
    LongType -> whole,
    TimestampType -> whole,
    TimestampNTZType -> whole,
    DayTimeIntervalType() -> whole,
    FloatType -> fractions.map(_.toFloat),
    DoubleType -> fractions)

  /** Rows whose second field is the endpoint. */
  private def rows(dataType: DataType): Seq[InternalRow] =
    values(dataType).zipWithIndex.map { case (value, i) => InternalRow(i, value) }

  private def column(dataType: DataType): AttributeReference =
    AttributeReference("ts", dataType)()

  private def reader(endpoint: Expression, ts: AttributeReference): EndpointReader =
    new EndpointReader(Seq(EncodedEndpoint(endpoint)), Seq(column(IntegerType), ts))

  private def encoded(dataType: DataType): Seq[Long] = {
    val endpoint = EncodedEndpoint(BoundReference(1, dataType, nullable = true))
    rows(dataType).map(endpoint.eval(_).asInstanceOf[Long])
  }

  /** The rows in one batch, packed from rows in Spark's own format. */
  private def unpacked(dataType: DataType): BatchedRows = {
    val types = Array[DataType](IntegerType, dataType)
    val packer = new RowPacker(types.length)
    val project = UnsafeProjection.create(types)
    rows(dataType).foreach(row => packer.add(project(row)))
    RowUnpacker.unpack(Iterator(packer.take()), types) match {
      case batched: BatchedRows => batched
      case _ => fail(s"$dataType is no word")
    }
  }

  private def readBatch(reader: EndpointReader, batch: RowBatch): Seq[Long] = {
    val into = new Array[Long](batch.numRows + 3)
    reader.columns.get.head.read(batch, 1, batch.numRows - 1, into, 2)
    into.slice(2, batch.numRows + 1).toSeq
  }

  private def batch(words: Array[Long], nulls: Array[Boolean] = null): RowBatch =
    new RowBatch(words.length, Array(words, words), Array(null, nulls), Array(null, null))

  for (dataType <- values.keys.toSeq.sortBy(_.sql)) {
    test(s"a column is read as it is encoded, row by row: ${dataType.sql}") {
      val ts = column(dataType)
      val read = reader(ts, ts)
      assert(read.columns.exists(_.map(_.ordinal).sameElements(Array(1))))
      val project = UnsafeProjection.create(Array[DataType](IntegerType, dataType))
      val ways = Seq(rows(dataType).iterator, rows(dataType).iterator.map(project(_)))
      for (rows <- ways :+ unpacked(dataType)) {
        val found = rows.map { row => assert(read.read(row)); read(0) }.toSeq
        assert(found === encoded(dataType))
      }
      assert(!read.read(InternalRow(1, null)))
    }

    test(s"a column is read as it is encoded, from words of a batch: ${dataType.sql}") {
      val words = unpacked(dataType).batch.words(1)
      val ts = column(dataType)
      assert(readBatch(reader(ts, ts), batch(words)) === encoded(dataType).tail)
      val unused = 64 - 8 * dataType.defaultSize
      val shift = RowBatch.shift(dataType)
      val signed = words.map(word => word >> shift << unused >> unused << shift)
      assert(readBatch(reader(ts, ts), batch(signed)) === encoded(dataType).tail)
    }

    for (isEnd <- Seq(false, true))
      test(s"an end of a period may be NULL: ${dataType.sql}, ${if (isEnd) "end" else "start"}") {
        val ts = column(dataType)
        val read = reader(PeriodEndpoint(ts, isEnd), ts)
        val at = PeriodEndpoint(BoundReference(1, dataType, nullable = true), isEnd)
        val all = rows(dataType) :+ InternalRow(9, null)
        val expected = all.map(at.eval(_).asInstanceOf[Long])
        assert(all.map { row => assert(read.read(row)); read(0) } === expected)
        val words = unpacked(dataType).batch.words(1) :+ 7L
        val whole = batch(words, Array.tabulate(words.length)(_ == words.length - 1))
        assert(read.columns.get.head.takes(whole) && !reader(ts, ts).columns.get.head.takes(whole))
        assert(readBatch(read, whole) === expected.tail)
      }
  }

  test("what is computed is no column, and read all the same") {
    val ts = column(LongType)
    val read = reader(Add(ts, Literal(5L)), ts)
    assert(read.columns.isEmpty)
    assert(read.read(InternalRow(1, 37L)) && read(0) === 42L)
    assert(!read.read(InternalRow(1, null)))
  }

  test("a decimal is no word of a batch") {
    val ts = column(DecimalType(18, 2))
    val read = reader(ts, ts)
    assert(read.columns.isEmpty)
    assert(read.read(InternalRow(1, Decimal(-1234L, 18, 2))) && read(0) === -1234L)
  }
}
