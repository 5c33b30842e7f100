// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Literal, UnsafeProjection}
import org.apache.spark.sql.intervalsweep.execution.packing.RowUnpacker
import org.apache.spark.sql.types.DataType

/**
 * How a side's rows were kept by a query that had fewer columns of them:
 * {{{
 *   kept then    id  k  ts         end of the window
 *   wanted       id  k  ts  added  end of the window      added is NULL in the rows that are kept
 * }}}
 *
 * @param kept where the columns that it had are among those that are wanted
 */
case class WindowSchemaEvolution(side: Int, kept: Seq[Int]) {

  /** Rows that were kept as rows that are wanted. Each is valid until the next one. */
  def grown(chunks: Seq[Array[Byte]], wanted: Array[DataType]): Iterator[InternalRow] = {
    val project = WindowSchemaEvolution.projection(kept, wanted.toSeq)
    RowUnpacker.unpack(chunks.iterator, kept.map(wanted).toArray).map(project)
  }
}

private[streams] object WindowSchemaEvolution {

  /** Of rows that had the columns `kept` of those that are wanted; the others are NULL. */
  def projection(kept: Seq[Int], wanted: Seq[DataType]): UnsafeProjection =
    UnsafeProjection.create(wanted.indices.map { k =>
      val before = kept.indexOf(k)
      if (before < 0) Literal(null, wanted(k))
      else BoundReference(before, wanted(k), nullable = true)
    })
}
