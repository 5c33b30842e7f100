// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.histories

import org.apache.spark.sql.catalyst.expressions.{
  Attribute, Expression, SubqueryExpression, Unevaluable
}
import org.apache.spark.sql.intervalsweep.temporal.nodes.MeasureKind
import org.apache.spark.sql.types.DataType

/**
 * Rows of a stream as a sweep reads them, where the rows of a key that are valid in the whole slice
 * are one row with the sum of their measures.
 *
 * @param input    the number of the stream
 * @param columns  the columns of its rows: values, start and end
 * @param filters  conditions on these columns
 * @param from     the LONG at which a row becomes valid; `to` is the LONG at which it ends
 * @param measures what is combined, and how
 */
private[histories] final case class Combination(
    input: Int,
    columns: Seq[Attribute],
    filters: Seq[Expression],
    keys: Seq[Expression],
    from: Expression,
    to: Expression,
    measures: Seq[(MeasureKind, Expression)]) {

  /** The columns of the result: keys, period, measures. */
  val results: Seq[Expression] = (keys :+ from :+ to) ++ measures.map(_._2)

  def types: Seq[DataType] = results.map(_.dataType)

  def isPossible: Boolean = (filters ++ results).forall { e =>
    e.deterministic && !e.exists {
      case _: SubqueryExpression => true
      case _: Attribute => false
      case _: Unevaluable => true
      case _ => false
    }
  }
}
