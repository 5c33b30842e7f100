// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions.distances

import org.apache.spark.sql.catalyst.expressions.{
  DateAddYMInterval, Expression, TimestampAddYMInterval
}
import org.apache.spark.sql.types.DateType

/** Adds months with Spark's `+`: months have no fixed length, so their difference is not exact. */
private[intervalsweep] object PlusMonths {

  /** The date or timestamp plus a year-month interval. */
  def apply(instant: Expression, months: Expression, timeZoneId: Option[String]): Expression =
    instant.dataType match {
      case DateType => DateAddYMInterval(instant, months)
      case _ => TimestampAddYMInterval(instant, months, timeZoneId)
    }
}
