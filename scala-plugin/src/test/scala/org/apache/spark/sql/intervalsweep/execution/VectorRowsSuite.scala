// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import org.apache.arrow.vector.{BigIntVector, FieldVector, TimeStampMicroVector}
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, IsNotNull}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types.{DataType, LongType, TimestampNTZType}
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
}
