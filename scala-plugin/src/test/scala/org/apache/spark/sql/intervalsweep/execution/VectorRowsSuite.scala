// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import scala.util.Random

import org.apache.arrow.vector.{BigIntVector, FieldVector, TimeStampMicroVector}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector
import org.apache.spark.sql.intervalsweep.condition.expressions.PeriodEndpoint
import org.apache.spark.sql.types._
import org.apache.spark.sql.util.ArrowUtils
import org.apache.spark.sql.vectorized.{ArrowColumnVector, ColumnarBatch}
import org.scalatest.funsuite.AnyFunSuite

class VectorRowsSuite extends AnyFunSuite {
  private val values = Seq[Option[Long]](Some(7L), None, Some(-3L), None, Some(Long.MaxValue))

  private def vector(dataType: DataType): FieldVector = {
    val allocator = ArrowUtils.rootAllocator
    dataType match {
      case LongType =>
        val vector = new BigIntVector("ts", allocator)
        values.zipWithIndex.foreach { case (v, i) =>
          v.fold(vector.setNull(i))(vector.setSafe(i, _))
        }
        vector
      case _ =>
        val vector = new TimeStampMicroVector("ts", allocator)
        values.zipWithIndex.foreach { case (v, i) =>
          v.fold(vector.setNull(i))(vector.setSafe(i, _))
        }
        vector
    }
  }

  private def read(dataType: DataType, isFiltered: Boolean): Seq[Option[Long]] = {
    val arrow = vector(dataType)
    arrow.setValueCount(values.size)
    try {
      val column = AttributeReference("ts", dataType)()
      val batch = new ColumnarBatch(Array(new ArrowColumnVector(arrow)), values.size)
      val rows = new VectorRows(
        Iterator(batch),
        Seq(column),
        Seq(column),
        Option.when(isFiltered)(IsNotNull(column)),
        new SQLMetric("sum"),
        new SQLMetric("sum"))
      rows.map(row => Option.unless(row.isNullAt(0))(row.getLong(0))).toList
    } finally arrow.close()
  }

  for (dataType <- Seq(LongType, TimestampNTZType)) {
    test(s"NULLs of an Arrow vector were read as values: ${dataType.sql}") {
      assert(read(dataType, isFiltered = false) === values)
      assert(read(dataType, isFiltered = true) === values.filter(_.isDefined))
    }
  }

  /** The rows of a batch of two columns, with the condition evaluated by column and by row. */
  private def filtered(
      dataType: DataType,
      rows: Seq[(Any, Any)],
      condition: (Attribute, Attribute) => Expression): (Seq[InternalRow], Seq[InternalRow]) = {
    val columns = Seq("ts", "te").map(AttributeReference(_, dataType)())
    val vectors = OnHeapColumnVector.allocateColumns(
      rows.size,
      columns.map(c =>
        StructField(c.name, dataType)).toArray)
    rows.zipWithIndex.foreach { case ((start, end), i) =>
      vectors.zip(Seq(start, end)).foreach {
        case (vector, null) => vector.putNull(i)
        case (vector, value: Int) => vector.putInt(i, value)
        case (vector, value) => vector.putLong(i, value.asInstanceOf[Long])
      }
    }
    val asked = condition(columns(0), columns(1))
    val metrics = Seq.fill(2)(new SQLMetric("sum"))
    val batch = new ColumnarBatch(vectors.toArray, rows.size)
    val read =
      new VectorRows(Iterator(batch), columns, columns, Some(asked), metrics(0), metrics(1))
    val predicate = Predicate.createInterpreted(BindReferences.bindReference(asked, columns))
    val expected = rows.map { case (start, end) => InternalRow(start, end) }
    val project = UnsafeProjection.create(columns, columns)
    (read.map(project(_).copy()).toList, expected.filter(predicate.eval).map(project(_).copy()))
  }

  for (dataType <- Seq(LongType, TimestampType, IntegerType, DateType))
    test(s"conditions are evaluated by column as by row: ${dataType.sql}") {
      val random = new Random(3)
      val isShort = dataType.defaultSize == 4
      val some = if (isShort) Seq[Any](null, Int.MinValue, Int.MaxValue, Int.MaxValue - 1, 0, 3, 4)
      else Seq[Any](null, Long.MinValue, Long.MaxValue, Long.MaxValue - 1, 0L, 3L, 4L)
      val start: Attribute => Expression = PeriodEndpoint(_, isEnd = false)
      val end: Attribute => Expression = PeriodEndpoint(_, isEnd = true)
      val conditions = Seq[(Attribute, Attribute) => Expression](
        (a, b) => LessThan(start(a), end(b)),
        (a, b) => LessThan(a, b),
        (a, b) => And(LessThan(a, b), IsNotNull(a)),
        (a, b) => And(LessThan(start(a), end(b)), LessThan(a, b)),
        (a, b) => GreaterThan(end(a), start(b)))
      for (condition <- conditions; isFull <- Seq(true, false)) {
        def value =
          some(random.nextInt(some.size - (if (isFull) 0 else 1)) + (if (isFull) 0 else 1))
        val rows = Seq.fill(200)((value, value))
        val (found, expected) = filtered(dataType, rows, condition)
        assert(found === expected)
        assert(found.nonEmpty && found.size < rows.size)
      }
    }
}
