// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import org.apache.spark.sql.catalyst.expressions.{BoundReference, Literal, UnsafeProjection}
import org.apache.spark.sql.types.DataType

/**
 * The layout of one side's rows in the state of a query that had fewer columns:
 * {{{
 *   stored       flags key clock expiry endpoints  id  ts  te
 *   wanted       flags key clock expiry endpoints  id  ts  te  added     NULL in the stored rows
 * }}}
 *
 * @param fields the number of fields of a stored row
 * @param kept   for each of its leading fields, its place in a wanted row. The other fields are not
 *               needed
 */
final case class SchemaEvolution(fields: Int, kept: Seq[Int]) {

  /** Converts a stored row to the wanted layout. */
  private[state] def projection(wanted: Seq[DataType]): UnsafeProjection =
    UnsafeProjection.create(wanted.indices.map { k =>
      val before = kept.indexOf(k)
      if (before < 0) Literal(null, wanted(k))
      else BoundReference(before, wanted(k), nullable = true)
    })
}

object SchemaEvolution {

  /** The largest number of columns that a query may add to a side and still use its state. */
  val MostAdded = 16
}
