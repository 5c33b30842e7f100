// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.expressions

import java.time.ZoneId
import java.util.Locale

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.DateTimeConstants._
import org.apache.spark.sql.types.TimestampType

/**
 * `timestampdiff(unit, earlier, later)`: the number of whole units between two readings of the
 * clock on the wall. A fraction of a unit does not count, so the number is rounded towards zero.
 *
 * @param shortest the length of the shortest unit, such as February, in microseconds
 * @param longest  the length of the longest unit
 */
private[condition] case class TimestampDifference(
    earlier: Expression,
    later: Expression,
    shortest: BigInt,
    longest: BigInt,
    zone: ZoneId) {

  def negated: TimestampDifference = copy(earlier = later, later = earlier)

  /** The longest time, in microseconds, that has at most this number of whole units. */
  def longestTime(units: BigInt): BigInt =
    if (units < 0) units * shortest else (units + 1) * longest
}

private[condition] object TimestampDifference {

  // MICROSECOND is missing, because it may overflow and raise an error.
  private val lengths: Map[String, (BigInt, BigInt)] = Map(
    "MILLISECOND" -> MICROS_PER_MILLIS,
    "SECOND" -> MICROS_PER_SECOND,
    "MINUTE" -> MICROS_PER_MINUTE,
    "HOUR" -> MICROS_PER_HOUR,
    "DAY" -> MICROS_PER_DAY,
    "WEEK" -> 7 * MICROS_PER_DAY).map { case (unit, length) =>
    unit -> (BigInt(length) -> BigInt(length))
  } ++ Map("MONTH" -> 1, "QUARTER" -> 3, "YEAR" -> 12).map { case (unit, months) =>
    unit -> (BigInt(28 * months * MICROS_PER_DAY) -> BigInt(31 * months * MICROS_PER_DAY))
  }

  def unapply(e: Expression): Option[TimestampDifference] = e match {
    case d: TimestampDiff if d.children.forall(_.dataType == TimestampType) =>
      for ((shortest, longest) <- lengths.get(d.unit.toUpperCase(Locale.ROOT)))
        yield TimestampDifference(d.startTimestamp, d.endTimestamp, shortest, longest, d.zoneId)
    case UnaryMinus(TimestampDifference(difference), _) => Some(difference.negated)
    case _ => None
  }
}
