// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.functions

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.errors.QueryCompilationErrors
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.condition.expressions.EndpointEncoding
import org.apache.spark.sql.intervalsweep.functions.FunctionInfo
import org.apache.spark.sql.intervalsweep.temporal.fragments.{PeriodLength, ResultForm}
import org.apache.spark.sql.intervalsweep.temporal.lowering.SequencedQuery
import org.apache.spark.sql.intervalsweep.temporal.nodes.{
  Closed, Emit, GivenBound, Invalid, Nulls, TemporalErrors, UntilNext, ValidTime
}
import org.apache.spark.sql.intervalsweep.temporal.streams.{SequencedStream, StreamInputs}

/**
 * The table functions over valid-time relations.
 *
 * @param rules rules that rewrite a query before its history is made
 */
final class TemporalFunctions(rules: Seq[Rule[LogicalPlan]]) {

  type Description = SparkSessionExtensions#TableFunctionDescription

  def descriptions: Seq[Description] = Seq(
    (FunctionIdentifier("validtime"), validtimeInfo, validtime(_)),
    (FunctionIdentifier("sequenced"), sequencedInfo, sequenced(_))) ++
    new OperatorFunctions(marked, rules).descriptions ++
    Seq(new ResampleFunction(marked, rules).description) ++
    new IntervalSetFunctions(marked, rules).descriptions

  private def validtime(provided: Seq[Expression]): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      val options = Seq("ts", "te", "nulls", "invalid", "closed", "unbounded", "names", "step") ++
        Seq("unbounded_start") ++ ChangeLog.Options
      val arguments = TemporalArguments("validtime", Seq("table"), options, provided)
      val table = arguments.table("table")
      new ChangeLog(arguments, table).read(column(table, _))
        .fold(periods(arguments, table))(changes(arguments, table, _))
    }

  /** A table with a column of the ends. */
  private def periods(told: TemporalArguments, child: LogicalPlan): ValidTime = {
    import told._
    val (ts, te) = (text("ts"), text("te")) match {
      case (None, _) => TableProperty.period(child).getOrElse(TemporalErrors.noPeriod())
      case (Some(ts), te) => (ts, te)
    }
    val plain = marked(child, ts, te, choice("nulls", Nulls.all)(_.name))
    val (closed, step) = closedEnds(told)
    Closed.check(closed, plain.start.dataType)
    step.foreach(PeriodLength(_, "step", plain.start.dataType).units)
    def sentinels(option: String): Seq[Expression] =
      values(option).map(GivenBound("validtime", option, plain.start.dataType).typed)
    plain.copy(
      names = names.getOrElse(plain.names),
      invalid = choice("invalid", Invalid.all)(_.name),
      closed = closed,
      step = step,
      unbounded = sentinels("unbounded"),
      unboundedStart = sentinels("unbounded_start"))
  }

  /** A table of changes. The ends of a stream's rows are known later. */
  private def changes(
      arguments: TemporalArguments,
      table: LogicalPlan,
      log: UntilNext): ValidTime = {
    val ts = arguments.text("ts").getOrElse(TemporalErrors.argument(
      "validtime",
      "ts",
      "the name of the column of instants",
      "no name"))
    val at = column(table, ts)
    checkType(at, None)
    val (rows, end) =
      if (table.isStreaming) (table, None)
      else {
        val (rows, end) = ChangeLog.withEnds(table, at, log)
        (rows, Some(end))
      }
    ValidTime(
      rows,
      at,
      end,
      arguments.names.getOrElse((at.name, "te")),
      Nulls.Unbounded,
      Invalid.Drop,
      Closed.Left,
      untilNext = Option.when(table.isStreaming)(log))
  }

  private def marked(table: LogicalPlan, ts: String, te: Option[String]): ValidTime =
    marked(table, ts, te, Nulls.Unbounded)

  private def marked(
      table: LogicalPlan,
      ts: String,
      te: Option[String],
      nulls: Nulls): ValidTime = {
    val first = column(table, ts)
    val (rows, start, end) = Option.when(te.isEmpty)(first)
      .flatMap(PeriodStruct.ends(table, _, keepsNull = nulls == Nulls.Error))
      .map { case (plan, start, end) => (plan, start, Option(end)) }
      .getOrElse((table, first, te.map(column(table, _))))
    if (end.exists(_.exprId == start.exprId))
      TemporalErrors.argument(
        "validtime",
        "te",
        "another column than `ts`",
        s"'${start.name}' for both")
    checkType(start, end)
    val names = (start.name, end.fold("te")(_.name))
    ValidTime(
      rows,
      start,
      end,
      names,
      nulls,
      Invalid.Drop,
      Closed.Left)
  }

  /**
   * Spark does not expect its analyzer to transform the plan of an argument: allow it explicitly.
   */
  private def sequenced(provided: Seq[Expression]): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      val arguments = TemporalArguments(
        "sequenced",
        Seq("query"),
        Seq("period", "at", "coalesce", "names", "closed", "unbounded", "step", "emit"),
        provided)
      import arguments._
      val (period, at) = (pair("period"), constant("at"))
      if (period.isDefined && at.isDefined)
        wrong("at", "absent if `period` is given: use one of them, not both", at.get)
      val (closed, step) = closedEnds(arguments)
      val form = ResultForm(closed, step, constant("unbounded"))
      val query = table("query")
      if (StreamInputs.areIn(query)) {
        at.foreach(wrong(
          "at",
          "absent, as the rows of a stream at an instant arrive later: filter its history",
          _))
        val emit = choice("emit", Emit.all)(_.name)
        SequencedStream.of(query, period, names, rules, form, emit)
      } else {
        constant("emit").foreach(wrong("emit", "absent, as the query reads no marked stream", _))
        SequencedQuery(query, period, at, flag("coalesce"), names, rules, form).plan
      }
    }

  private def column(table: LogicalPlan, name: String): Attribute =
    table.output.filter(c => SQLConf.get.resolver(c.name, name)) match {
      case Seq(one) => one
      case Nil =>
        throw QueryCompilationErrors.unresolvedColumnError(name, table.output.map(_.name))
      case _ =>
        TemporalErrors.argument(
          "validtime",
          name,
          "the name of a single column",
          "the name of several")
    }

  private def checkType(start: Attribute, end: Option[Attribute]): Unit = {
    val types = (start +: end.toSeq).map(_.dataType)
    if (types.distinct.size > 1)
      TemporalErrors.periodType(types, "start and end must have the same type")
    if (!EndpointEncoding.isExact(types.head))
      TemporalErrors.periodType(
        types,
        "use numbers, DECIMAL of at most 18 digits, DATE, TIMESTAMP or INTERVAL")
  }

  /** How ends are closed, and the step by which they move. */
  private def closedEnds(arguments: TemporalArguments): (Closed, Option[Expression]) = {
    val closed = arguments.choice("closed", Closed.all)(_.name)
    val step = arguments.constant("step")
    if (closed == Closed.Left)
      step.foreach(
        arguments.wrong("step", "absent, as closed => 'left' does not move the ends", _))
    (closed, step)
  }

  private val validtimeInfo = FunctionInfo.ofTable(
    this,
    "validtime",
    "_FUNC_(TABLE(t)[, ts[, te]][, nulls][, invalid][, closed][, unbounded][, names][, step][, unbounded_start][, until_next][, order][, deleted]) - Marks a " +
      "table or query as a valid-time relation, for `sequenced`: each row is valid in its period " +
      "[ts, te). The columns of the period are hidden.",
    """
      |    Arguments:
      |      * ts, te - the names of the columns; without te a row is valid from ts on, or ts is a
      |          struct of both ends. Without both the table property `validtime` has them, as
      |          'ts,te'.
      |      * nulls - what a NULL end means: 'unbounded' (the default), 'drop' the row, 'error'.
      |      * invalid - what becomes of an empty or reversed period: 'drop' (the default), 'error'.
      |      * closed - which ends belong to a period: 'left' (the default), 'right', 'both',
      |          'neither'.
      |      * unbounded, unbounded_start - a value that stands for no end or for no start, such as
      |          DATE '9999-12-31', or an array of several.
      |      * names - array('ts', 'te'), what the period is called in results.
      |      * step - how far a closed end is from the next start, such as INTERVAL '1' SECOND; the
      |          default is the smallest step of the type.
      |      * until_next - array('id'): the rows are changes, each valid until the next one of the
      |          same id.
      |      * order - the columns that say which change of an instant is the last, array('seq').
      |      * deleted - a condition, such as "op = 'd'"; such a change only ends the one before.
      |  """.stripMargin,
    """
      |    Examples:
      |      > CREATE TEMP VIEW w AS SELECT * FROM _FUNC_(TABLE(works), 'ts', 'te');
      |  """.stripMargin)

  private val sequencedInfo = FunctionInfo.ofTable(
    this,
    "sequenced",
    "_FUNC_(TABLE(q)[, period | at][, coalesce][, names][, closed][, unbounded][, step][, emit]) - The history of the result of a plain " +
      "query over valid-time relations: at each instant, the rows that the query returns for the " +
      "rows valid at that instant. The last two columns are the period; NULL means unbounded.",
    """
      |    Arguments:
      |      * period - array(a, b): the part of the history from a to before b.
      |      * at - the rows of one instant, without a period.
      |      * coalesce - true for the fewest rows: those that are equal and touch are one.
      |      * names - array('ts', 'te'), what the period is called; as in the first relation.
      |      * closed, step - which ends belong to a period of the result, as in `validtime`.
      |      * unbounded - an end that stands for no end in the result, such as DATE '9999-12-31'.
      |      * emit - for streams: 'final' (the default) writes a row when its period has ended,
      |          'early' as soon as it is certain, cut at the watermark.
      |  """.stripMargin,
    """
      |    Examples:
      |      > SELECT * FROM _FUNC_(TABLE(SELECT count(*) AS c FROM w), period => array(0, 24));
      |  """.stripMargin)
}
