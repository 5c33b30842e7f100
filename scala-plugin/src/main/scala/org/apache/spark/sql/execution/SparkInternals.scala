package org.apache.spark.sql.execution

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types.{DataType, StructType}
import org.apache.spark.sql.vectorized.{ColumnarBatch, ColumnVector}

/** What IntervalSweep needs of Spark that is private to this package. Nothing else belongs here. */
object SparkInternals {

  /** Appends a value, which is not NULL, to the only vector of an array. */
  def valueAppender(dataType: DataType): (Any, Array[WritableColumnVector]) => Unit = {
    val converter = new RowToColumnConverter(new StructType().add("value", dataType))
    val row = new GenericInternalRow(1)
    (value, vectors) => {
      row.update(0, value)
      converter.convert(row, vectors)
    }
  }

  /** The row at `position` of some vectors. */
  def vectorRow(vectors: Array[WritableColumnVector], position: Int): InternalRow =
    new ColumnarBatch(vectors.asInstanceOf[Array[ColumnVector]], position + 1).getRow(position)
}
