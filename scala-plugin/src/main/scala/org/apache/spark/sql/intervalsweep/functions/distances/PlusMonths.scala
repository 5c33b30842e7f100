// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions.distances

import org.apache.spark.sql.catalyst.expressions.{
  DateAddYMInterval, Expression, TimestampAddYMInterval
}
import org.apache.spark.sql.types.DateType

/** Months have no length of their own, so this is Spark's `+` and no exact difference. */
private[intervalsweep] object PlusMonths {

  /** So many months, an interval, after a date or a timestamp. */
  def apply(instant: Expression, months: Expression, timeZoneId: Option[String]): Expression =
    instant.dataType match {
      case DateType => DateAddYMInterval(instant, months)
      case _ => TimestampAddYMInterval(instant, months, timeZoneId)
    }
}
