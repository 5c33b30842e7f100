// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.fragments

import java.time.{DateTimeException, LocalDate, ZoneId, ZoneOffset}

import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.types._

/**
 * Buckets of time that follow one another without gaps. One of them begins at the origin. Instants
 * are LONGs, as [[org.apache.spark.sql.intervalsweep.condition.expressions.EncodedEndpoint]] has
 * them.
 */
private[temporal] sealed trait BucketGrid extends Serializable {

  /**
   * The start and the end of each bucket in order, from the bucket of an instant on. The smallest
   * and the largest LONG stand for edges that exceed the type.
   */
  def from(instant: Long, origin: Long): Iterator[(Long, Long)]

  /** The number of buckets that a period overlaps. Empty buckets may be counted. */
  def count(first: Long, last: Long, origin: Long): Long
}

private[temporal] object BucketGrid {

  /** Buckets of one length in the unit of the LONGs. */
  case class Units(length: Long) extends BucketGrid {

    override def from(instant: Long, origin: Long): Iterator[(Long, Long)] = {
      val into = length - rest(instant, origin)
      val start = if (instant < Long.MinValue + into) Long.MinValue else instant - into
      Iterator.iterate((start, firstEnd(instant, origin))) { case (_, end) =>
        (end, plus(end, length))
      }
    }

    override def count(first: Long, last: Long, origin: Long): Long = {
      // As an unsigned number, the difference cannot overflow.
      val more = last - math.min(firstEnd(first, origin), last)
      val full = java.lang.Long.divideUnsigned(more, length)
      val part = if (java.lang.Long.remainderUnsigned(more, length) > 0) 1 else 0
      if (full < 0 || full > Long.MaxValue - 2) Long.MaxValue else full + part + 1
    }

    private def firstEnd(instant: Long, origin: Long): Long = plus(instant, rest(instant, origin))

    /** The length from an instant to the end of its bucket. */
    private def rest(instant: Long, origin: Long): Long = length -
      Math.floorMod(Math.floorMod(instant, length) - Math.floorMod(origin, length), length)

    private def plus(instant: Long, length: Long): Long =
      if (instant > Long.MaxValue - length) Long.MaxValue else instant + length
  }

  /**
   * Buckets of calendar units, all counted from the origin: buckets of months that begin on the 31st
   * begin on the last day of shorter months. Buckets of days begin at the same time of day in the
   * time zone. A day that the zone leaves out is an empty bucket, which is not returned.
   */
  case class Calendar(dataType: DataType, length: CalendarLength, zone: String)
      extends BucketGrid {

    private val isZoned = dataType == TimestampType
    private val isOfMonths = length.months > 0

    /** Days count by the clock, because a day may have 23 or 25 hours. */
    private val step = FragmentStep.Calendar(
      if (isZoned && !isOfMonths) TimestampNTZType else dataType,
      length,
      zone)

    @transient private lazy val zoneId: ZoneId =
      if (isZoned) DateTimeUtils.getZoneId(zone) else ZoneOffset.UTC

    override def from(instant: Long, origin: Long): Iterator[(Long, Long)] =
      Iterator.iterate(number(instant, origin))(_ + 1)
        .map(n => (edge(n, origin), edge(n + 1, origin)))
        // Without this, no edge beyond the type would pass the filter, and the search would not end.
        .takeWhile { case (start, _) => start < Long.MaxValue }
        .filter { case (start, end) => start < end }

    override def count(first: Long, last: Long, origin: Long): Long =
      number(last - 1, origin) - number(first, origin) + 1

    /** The number of the bucket of an instant. The bucket that begins at the origin is 0. */
    private def number(instant: Long, origin: Long): Long = {
      // The estimate is wrong where the origin is late in its month, and where the clock changes.
      var n =
        if (isOfMonths) Math.floorDiv(month(instant) - month(origin), length.months.toLong)
        else Math.floorDiv(clock(instant) - clock(origin), length.days * unit)
      while (edge(n, origin) > instant) n -= 1
      while (edge(n + 1, origin) <= instant) n += 1
      n
    }

    private def edge(n: Long, origin: Long): Long =
      if (isZoned && !isOfMonths) step.start(clock(origin), n) match {
        case beyond @ (Long.MinValue | Long.MaxValue) => beyond
        case local => fromClock(local, n)
      }
      else step.start(origin, n)

    private def fromClock(local: Long, n: Long): Long =
      try DateTimeUtils.convertTz(local, zoneId, ZoneOffset.UTC)
      catch {
        case _: ArithmeticException | _: DateTimeException => FragmentStep.beyond(n)
      }

    private def clock(instant: Long): Long =
      if (isZoned) DateTimeUtils.convertTz(instant, ZoneOffset.UTC, zoneId) else instant

    private def unit: Long = if (dataType == DateType) 1L else MICROS_PER_DAY

    /** Months since the year 0. */
    private def month(instant: Long): Long = {
      val day =
        if (dataType == DateType) instant
        else DateTimeUtils.microsToDays(instant, zoneId).toLong
      val date = LocalDate.ofEpochDay(day)
      date.getYear * 12L + date.getMonthValue
    }
  }
}
