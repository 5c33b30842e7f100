// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Literal, UnsafeProjection}
import org.apache.spark.sql.intervalsweep.execution.packing.RowUnpacker
import org.apache.spark.sql.types.DataType

/**
 * The layout of one side's rows in the state of a query that had fewer columns:
 * {{{
 *   stored       id  k  ts         end of the window
 *   wanted       id  k  ts  added  end of the window      added is NULL in the stored rows
 * }}}
 *
 * @param kept the places of the stored columns among the wanted columns
 */
case class WindowSchemaEvolution(side: Int, kept: Seq[Int]) {

  /** Converts stored rows to the wanted layout. Each row is valid until the next one is read. */
  def grown(chunks: Seq[Array[Byte]], wanted: Array[DataType]): Iterator[InternalRow] = {
    val project = WindowSchemaEvolution.projection(kept, wanted.toSeq)
    RowUnpacker.unpack(chunks.iterator, kept.map(wanted).toArray).map(project)
  }
}

private[streams] object WindowSchemaEvolution {

  /** Projects rows with the columns `kept` to all wanted columns; the other columns are NULL. */
  def projection(kept: Seq[Int], wanted: Seq[DataType]): UnsafeProjection =
    UnsafeProjection.create(wanted.indices.map { k =>
      val before = kept.indexOf(k)
      if (before < 0) Literal(null, wanted(k))
      else BoundReference(before, wanted(k), nullable = true)
    })
}
