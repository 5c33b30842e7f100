// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.trees.Origin

/**
 * An error of a query of ours, which Spark's list of conditions does not have. PySpark asks Spark for
 * the text of a condition, so that it gets the one of users.
 *
 * @param where in the query what is wrong stands
 */
private[intervalsweep] class QueryError(text: String, where: Origin) extends AnalysisException(
      text,
      where.line,
      where.startPosition,
      None,
      Some("USER_RAISED_EXCEPTION"),
      Map("errorMessage" -> text),
      where.getQueryContext) {

  /** What calls a table function gives its errors the position of the call; the own one says more. */
  override def withPosition(origin: Origin): AnalysisException =
    if (line.isDefined) this else new QueryError(text, origin)
}
