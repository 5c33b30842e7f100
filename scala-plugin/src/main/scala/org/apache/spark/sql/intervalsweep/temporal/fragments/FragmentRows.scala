// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.fragments

import java.time.{DateTimeException, ZoneOffset}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, Generator}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.trees.BinaryLike
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.types._

/**
 * The fragments of a period, one row for each, with its start and end as LONGs. The rows are made
 * one by one, and the optimizer never evaluates a generator. So a long period takes no memory, and
 * a period without an end is an error only if a row has it.
 *
 * @param from the start of the period; it raises the error for periods that are not bounded
 */
private[temporal] case class FragmentRows(from: Expression, to: Expression, step: FragmentStep)
    extends Expression with Generator with CodegenFallback with BinaryLike[Expression] {

  override def left: Expression = from
  override def right: Expression = to

  override def elementSchema: StructType =
    new StructType().add("start", LongType, nullable = false).add("end", LongType, nullable = false)

  override def eval(input: InternalRow): IterableOnce[InternalRow] = {
    val first = from.eval(input).asInstanceOf[Long]
    val last = to.eval(input).asInstanceOf[Long]
    Iterator.iterate(0L)(_ + 1).map(n => (n, step.start(first, n))).takeWhile(_._2 < last).map {
      case (n, start) => InternalRow(start, math.min(step.start(first, n + 1), last))
    }
  }

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression): FragmentRows = copy(from = newLeft, to = newRight)
}

/** Where the fragments of a period begin. */
private[intervalsweep] sealed trait FragmentStep extends Serializable {

  /** The start of the n-th fragment; `beyond(n)` if it exceeds the type. */
  def start(first: Long, n: Long): Long

  /** The number of fragments that have ended at `now`; at least `known` have ended. */
  def count(first: Long, known: Long, now: Long): Long =
    Iterator.iterate(known)(_ + 1).find(n => start(first, n + 1) > now).get
}

private[intervalsweep] object FragmentStep {

  /** In place of the start of a fragment that exceeds the type: the smallest or the largest LONG. */
  def beyond(n: Long): Long = if (n < 0) Long.MinValue else Long.MaxValue

  /** Fragments of one length in the unit of the LONGs. */
  case class Units(length: Long) extends FragmentStep {
    override def start(first: Long, n: Long): Long =
      try Math.addExact(first, Math.multiplyExact(length, n))
      catch {
        // The sum may still be a LONG if the product is not.
        case _: ArithmeticException =>
          val exact = BigInt(first) + BigInt(length) * n
          if (exact.isValidLong) exact.toLong else Long.MaxValue
      }
  }

  /** Fragments of calendar units. All are counted from the start of the period. */
  private[temporal] case class Calendar(dataType: DataType, length: CalendarLength, zone: String)
      extends FragmentStep {

    @transient private lazy val zoneId =
      if (dataType == TimestampType) DateTimeUtils.getZoneId(zone) else ZoneOffset.UTC

    override def start(first: Long, n: Long): Long = try {
      def times(units: Int): Int = Math.toIntExact(Math.multiplyExact(units.toLong, n))
      val (months, days) = (times(length.months), times(length.days))
      if (dataType == DateType)
        DateTimeUtils.dateAddMonths(first.toInt, months).toLong + days
      else DateTimeUtils.timestampAddInterval(first, months, days, 0, zoneId)
    } catch {
      case _: ArithmeticException | _: DateTimeException => beyond(n)
    }
  }
}
