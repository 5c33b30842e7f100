// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.trees.Origin

/**
 * An error in a query, for which Spark's list of error conditions has no condition. PySpark asks
 * Spark for the message of a condition, so this error has the condition of `raise_error`, whose
 * message is its parameter.
 *
 * @param where the position of the error in the query
 */
private[intervalsweep] class QueryError(text: String, where: Origin) extends AnalysisException(
      text,
      where.line,
      where.startPosition,
      None,
      Some("USER_RAISED_EXCEPTION"),
      Map("errorMessage" -> text),
      where.getQueryContext) {

  /**
   * Keeps the position of this error, if it has one. Spark sets the position of a table function's
   * call, which is less exact.
   */
  override def withPosition(origin: Origin): AnalysisException =
    if (line.isDefined) this else new QueryError(text, origin)
}
