// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.functions

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Cast, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.intervalsweep.functions.FunctionInfo
import org.apache.spark.sql.intervalsweep.temporal.fragments.PeriodBuckets
import org.apache.spark.sql.intervalsweep.temporal.lowering.SequencedQuery
import org.apache.spark.sql.intervalsweep.temporal.nodes.{TemporalErrors, TemporalPlan, ValidTime}
import org.apache.spark.sql.types.{IntegralType, LongType}

/**
 * `temporal_resample`, which cuts the rows of a history at the edges of months or of other buckets,
 * so that a plain GROUP BY aggregates over time.
 *
 * @param marked makes a table a valid-time relation, by the names of the period's columns
 */
private[temporal] final class ResampleFunction(
    marked: (LogicalPlan, String, Option[String]) => ValidTime,
    rules: Seq[Rule[LogicalPlan]]) {

  private val Name = "temporal_resample"
  private val Options = Seq("every", "ts", "te", "origin", "period", "names", "max_buckets")
  private val Columns = Seq("bucket_start", "bucket_end", "share")
  private val MostBuckets = 1000000L

  def description: SparkSessionExtensions#TableFunctionDescription =
    (FunctionIdentifier(Name), info, resampled(_))

  private def resampled(provided: Seq[Expression]): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      val arguments = TemporalArguments(Name, Seq("r"), Options, provided)
      import arguments._
      val rows = table("r")
      if (TemporalPlan.isMarked(rows))
        TemporalErrors.noSnapshotForm(
          s"$Name, which aggregates over time,",
          "call it on the result of sequenced: temporal_resample(TABLE(SELECT * FROM " +
            "sequenced(TABLE(...))), every, ts => 'ts', te => 'te')")
      val start = text("ts").getOrElse(
        TemporalErrors.argument(Name, "ts", "the name of the start column", "no name"))
      val every = optional("every").getOrElse(
        TemporalErrors.length(
          s"$Name needs every, the length of a bucket, which must not be NULL."))
      val buckets =
        PeriodBuckets(Name, every, constant("origin"), most(arguments), shown(arguments))
      buckets.of(SequencedQuery(
        marked(rows, start, text("te")),
        pair("period"),
        None,
        coalesce = false,
        None,
        rules,
        function = Name).plan)
    }

  private def most(arguments: TemporalArguments): Long =
    arguments.constant("max_buckets").fold(MostBuckets) { given =>
      val number = given.dataType match {
        case _: IntegralType => Cast(given, LongType).eval().asInstanceOf[Long]
        case _ => 0L
      }
      if (number > 0) number
      else arguments.wrong("max_buckets", "a whole number of at least 1", given)
    }

  private def shown(arguments: TemporalArguments): Seq[String] =
    arguments.texts("names").fold(Columns) { given =>
      if (given.size == Columns.size) given
      else TemporalErrors.argument(
        Name,
        "names",
        "three names, such as array('bucket_start', 'bucket_end', 'share')",
        given.mkString("array('", "', '", "')"))
    }

  private val info = FunctionInfo.ofTable(
    this,
    Name,
    "_FUNC_(TABLE(r), every, ts => 'ts'[, te => 'te'][, origin][, period][, names][, max_buckets]) - Cuts the periods of r " +
      "at the edges of months or of other buckets. Each result row has the columns of r, its part " +
      "of the period, the bucket, and share: the part of the bucket's time that the row covers.",
    """
      |    Arguments:
      |      * every - the length of the buckets: 'MONTH', '2 WEEKS', INTERVAL '1' HOUR, or a number.
      |      * ts, te - the names of the columns of the period; without te a row is valid from ts on.
      |      * origin - the start of a bucket; the default is 1970-01-01, for weeks a Monday, or 0.
      |      * period - array(a, b): only the time from a to before b; rows without an end need it.
      |      * names - array('bucket_start', 'bucket_end', 'share'), the names of the new columns.
      |      * max_buckets - the most buckets of one row, 1000000 by default; more are an error.
      |  """.stripMargin,
    """
      |    Examples:
      |      > SELECT bucket_start, sum(price * share) / sum(share) AS mean
      |        FROM _FUNC_(TABLE(prices), 'MONTH', ts => 'ts', te => 'te') GROUP BY bucket_start;
      |  """.stripMargin)
}
