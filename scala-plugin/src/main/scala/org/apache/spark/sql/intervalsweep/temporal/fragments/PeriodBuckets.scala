// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.fragments

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Generate, LogicalPlan, Project}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.condition.expressions.{DecodedEndpoint, EncodedEndpoint}
import org.apache.spark.sql.intervalsweep.temporal.nodes.{GivenBound, Period, TemporalErrors}
import org.apache.spark.sql.types._

/**
 * Cuts the periods of a history at the edges of buckets.
 *
 * @param function the function that the user calls
 * @param every    the length of the buckets
 * @param origin   the start of a bucket
 * @param most     the most buckets of one period
 * @param names    the names of the bucket's start and end, and of the share
 */
private[temporal] case class PeriodBuckets(
    function: String,
    every: Expression,
    origin: Option[Expression],
    most: Long,
    names: Seq[String]) {

  /** @param history rows whose last two columns are their period */
  def of(history: LogicalPlan): LogicalPlan = {
    val (values, ends) = history.output.splitAt(history.output.size - 2)
    val period = Period(ends.head, ends.last)
    val dataType = period.start.dataType
    checkNames(history.output)
    val length = PeriodLength(every, "every", dataType)
    val from = If(Or(IsNull(period.start), IsNull(period.end)), endless, period.from)
    val zero = EncodedEndpoint(start(length))
    val rows = BucketRows(from, period.to, zero, grid(length), most)
    val edges = BucketRows.Edges.map(AttributeReference(_, LongType, nullable = false)())
    val share = AttributeReference("share", DoubleType, nullable = false)()
    val cut = Generate(rows, Nil, outer = false, None, edges :+ share, history)
    val shown = edges.zip(ends.map(_.name) ++ names).map { case (edge, name) =>
      Alias(DecodedEndpoint(edge, dataType), name)()
    }
    Project(values ++ shown :+ Alias(share, names.last)(), cut)
  }

  private def checkNames(columns: Seq[Attribute]): Unit = {
    val resolver = SQLConf.get.resolver
    def isTaken(name: String, n: Int): Boolean =
      columns.exists(c => resolver(c.name, name)) || names.take(n).exists(resolver(_, name))
    names.zipWithIndex.collectFirst { case (name, n) if isTaken(name, n) => name }.foreach(name =>
      TemporalErrors.argument(
        function,
        "names",
        "three names that no other column has, such as " +
          "array('bucket_from', 'bucket_to', 'part')",
        s"'$name', which is a column already"))
  }

  private def grid(length: PeriodLength): BucketGrid = length.calendar match {
    case Some(units) =>
      BucketGrid.Calendar(length.dataType, units, SQLConf.get.sessionLocalTimeZone)
    case None => BucketGrid.Units(length.units)
  }

  /** The start of one bucket. Buckets of weeks begin on Mondays, unless there is an origin. */
  private def start(length: PeriodLength): Expression = {
    import length.dataType
    def day(n: Int): Expression =
      Cast(Literal(n, DateType), dataType, Some(SQLConf.get.sessionLocalTimeZone))
    origin.map(GivenBound(function, "origin", dataType).typed).getOrElse(length.calendar match {
      case Some(units) => day(if (units.isOfWeeks) CalendarDays.FirstMonday.toInt else 0)
      case None => Literal(0L)
    })
  }

  private def endless: Expression = Cast(
    RaiseError(Literal(TemporalErrors.text(
      "LENGTH",
      "A period without a start or an end cannot be cut into buckets: limit the periods by " +
        "period => array(a, b)."))),
    LongType)
}
