// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.functions

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, Filter, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.condition.expressions.{
  DecodedEndpoint, EncodedEndpoint, EndpointEncoding
}
import org.apache.spark.sql.intervalsweep.functions.FunctionInfo
import org.apache.spark.sql.intervalsweep.functions.distances.{ConstantBound, WholeUnits}
import org.apache.spark.sql.intervalsweep.temporal.fragments.PeriodArithmetic
import org.apache.spark.sql.intervalsweep.temporal.lowering.ValidTimeLeaf
import org.apache.spark.sql.intervalsweep.temporal.nodes.{
  GivenBound, History, MeasureKind, Nulls, PeriodMeasures, PeriodRule, PeriodSweep, SweepInput,
  TemporalErrors,
  ValidTime
}
import org.apache.spark.sql.types._

/**
 * The table functions that merge the intervals of a table, split them, or return their gaps, for
 * the rows of equal `keys`. Empty and reversed intervals are ignored. A NULL endpoint means that
 * the interval is unbounded there, unless `nulls` says otherwise.
 *
 * @param marked makes a table a valid-time relation, by the names of the period's columns
 * @param rules  rules that rewrite a query before its history is made
 */
private[temporal] final class IntervalSetFunctions(
    marked: (LogicalPlan, String, Option[String]) => ValidTime,
    rules: Seq[Rule[LogicalPlan]]) {

  def descriptions: Seq[SparkSessionExtensions#TableFunctionDescription] = Seq(
    described(
      "interval_merge",
      "(TABLE(t), ts, te[, gap][, count][, keys][, nulls]) - Merges intervals that overlap, touch or are at most " +
        "`gap` apart, and counts the intervals of t in each result.",
      Seq("gap", "count"),
      merge),
    described(
      "interval_split",
      "(TABLE(t), ts, te[, count][, keys][, nulls]) - Splits time at all starts and ends, and counts the intervals of t " +
        "that cover each fragment.",
      Seq("count"),
      split),
    described(
      "interval_complement",
      "(TABLE(t), ts, te[, within][, keys][, nulls]) - The gaps between the intervals of t, from the first start to " +
        "the last end, or within array(a, b).",
      Seq("within"),
      complement))

  private def described(
      name: String,
      usage: String,
      options: Seq[String],
      build: Intervals => LogicalPlan) = {
    val info = FunctionInfo.ofTable(
      this,
      name,
      s"_FUNC_$usage ts and te are names of columns; a NULL in them means unbounded, unless nulls " +
        "is 'drop' or 'error'. Rows with different keys, such as keys => array('team'), are " +
        "handled separately. Other columns are not read.")
    val names = Seq("ts", "te") ++ options ++ Seq("keys", "nulls")
    def plan(provided: Seq[Expression]): LogicalPlan =
      AnalysisHelper.allowInvokingTransformsInAnalyzer {
        build(new Intervals(TemporalArguments(name, Seq("t"), names, provided)))
      }
    (FunctionIdentifier(name), info, plan(_))
  }

  /** The intervals of a call's table. */
  private final class Intervals(val arguments: TemporalArguments) {
    import arguments._

    private def named(name: String): String = text(name).getOrElse(
      TemporalErrors.argument(function, name, "the name of a column", "no name"))

    private val relation =
      marked(table("t"), named("ts"), Some(named("te"))).copy(nulls =
        choice("nulls", Nulls.all)(_.name))
    val ends: Seq[Attribute] = relation.start +: relation.end.toSeq
    val dataType: DataType = relation.start.dataType
    val keys: Seq[Attribute] = texts("keys").toSeq.flatten.map(key)
    PeriodSweep.checkComparable(keys, function)

    /** The table as a stream, if it is one. */
    def stream: Option[IntervalsOfStream] =
      Option.when(relation.child.isStreaming)(new IntervalsOfStream(relation, keys, rules))

    private def key(name: String): Attribute =
      relation.output.find(column => SQLConf.get.resolver(column.name, name)).getOrElse(
        TemporalErrors.argument(
          function,
          "keys",
          s"names of columns other than ${ends.map(_.name).mkString(" and ")}, such as " +
            relation.output.map(_.name).mkString("array('", "', '", "')"),
          s"'$name'"))

    private def number(end: Expression, unbounded: Long): NamedExpression =
      Alias(Coalesce(Seq(EncodedEndpoint(end), Literal(unbounded))), "number")()

    /**
     * The rows with their keys and the end as a number. Their period ends where `reachOf` says,
     * such as at the end plus the gap.
     */
    def history(reachOf: Attribute => Expression): (History, Attribute) = {
      val (start, end) = (number(ends.head, Long.MinValue), number(ends.last, Long.MaxValue))
      val numbers = Project(keys ++ Seq(start, end), ValidTimeLeaf(relation).checked)
      val (first, farthest) = (start.toAttribute, end.toAttribute)
      val proper = Filter(LessThan(first, farthest), numbers)
      (History.of(proper, keys :+ farthest, first, reachOf(farthest)), farthest)
    }

    /**
     * Decodes numbers to an interval in the columns of the table. The keys come before it, `more`
     * columns after it.
     */
    def result(
        keys: Seq[Attribute],
        start: Expression,
        end: Expression,
        more: Seq[NamedExpression],
        below: LogicalPlan): LogicalPlan = {
      val hasUnbounded = relation.nulls == Nulls.Unbounded
      val interval = ends.zip(Seq(start, end)).map { case (column, number) =>
        Alias(DecodedEndpoint(number, dataType, isPeriod = hasUnbounded), column.name)()
      }
      Project(named(keys) ++ interval ++ more, below)
    }

    private def named(keys: Seq[Attribute]): Seq[NamedExpression] =
      keys.zip(this.keys).map { case (key, column) => Alias(key, column.name)() }

    /** The result for a stream, whose rows have the keys first and the interval last. */
    def resultOfStream(rows: LogicalPlan, more: Seq[NamedExpression]): LogicalPlan = {
      val interval = rows.output.takeRight(2).zip(ends).map { case (end, column) =>
        Alias(end, column.name)()
      }
      Project(named(rows.output.take(keys.size)) ++ interval ++ more, rows)
    }

    def counted(count: Expression): Seq[NamedExpression] = {
      val name = text("count").getOrElse("count")
      if ((keys ++ ends).exists(column => SQLConf.get.resolver(column.name, name)))
        TemporalErrors.argument(function, "count", "a name that no other column has", s"'$name'")
      Seq(Alias(count, name)())
    }

    def within: Option[(Expression, Expression)] = pair("within").map { case (a, b) =>
      val (from, to) = GivenBound(function, "within", dataType).values(a, b)
      (EncodedEndpoint(from), EncodedEndpoint(to))
    }

    /** The end plus the largest gap at which intervals are merged, as a number. */
    def reach(end: Attribute): Expression = constant("gap").fold[Expression](end) { gap =>
      def wanted(what: String): Nothing = wrong("gap", what, gap)
      val isNumber = gap.dataType.isInstanceOf[NumericType]
      dataType match {
        case _: NumericType => if (!isNumber) wanted("a number for endpoints that are numbers")
        case DateType =>
          if (!isNumber && !gap.dataType.isInstanceOf[DayTimeIntervalType])
            wanted("a number of days or an INTERVAL DAY TO SECOND for endpoints of DATE")
        case TimestampType | TimestampNTZType | _: DayTimeIntervalType =>
          if (!gap.dataType.isInstanceOf[DayTimeIntervalType])
            wanted(s"an INTERVAL DAY TO SECOND for endpoints of ${dataType.sql}")
        case _: YearMonthIntervalType =>
          if (!gap.dataType.isInstanceOf[YearMonthIntervalType])
            wanted(s"an INTERVAL YEAR TO MONTH for endpoints of ${dataType.sql}")
        case _ => wanted(s"absent for endpoints of ${dataType.sql}")
      }
      val isNegative = gap.eval() match {
        case decimal: Decimal => decimal.toDouble < 0
        case number => number.asInstanceOf[Number].doubleValue < 0
      }
      if (isNegative) wanted("at least 0")
      (dataType, gap.dataType) match {
        case (FloatType | DoubleType, _) =>
          val unbounded = Literal(Long.MaxValue)
          If(EqualTo(end, unbounded), unbounded, FarthestWithin(end, Cast(gap, DoubleType)))
        case (DateType, _: DayTimeIntervalType) =>
          PeriodArithmetic.plus(end, Literal(gap.eval().asInstanceOf[Long] / MICROS_PER_DAY))
        case (d: DecimalType, _) => PeriodArithmetic.plus(end, units(gap, d.scale))
        case _ => PeriodArithmetic.plus(end, units(gap, 0))
      }
    }

    /** The gap of a stream, whose periods are of TIMESTAMP. */
    def gapMicros: Long = constant("gap").filter(_ => dataType == TimestampType).fold(0L) { gap =>
      reach(ends.last)
      gap.eval().asInstanceOf[Long]
    }

    private def units(gap: Expression, scale: Int): Literal = Literal(WholeUnits(gap, scale).eval())
  }

  private val one = Literal(1L)

  private def merge(intervals: Intervals): LogicalPlan = {
    import intervals._
    stream.fold(mergeTable(intervals)) { stream =>
      val rows = stream.merge(gapMicros)
      resultOfStream(rows, counted(rows.output(keys.size)))
    }
  }

  private def mergeTable(intervals: Intervals): LogicalPlan = {
    import intervals._
    val (rows, end) = history(reach)
    val measures = new PeriodMeasures
    val count = Alias(measures.state(MeasureKind.Sum, one), "count")()
    val last = Alias(measures.state(MeasureKind.Greatest, end), "last")()
    val swept = PeriodSweep.ofValues(
      PeriodRule.Islands,
      rows,
      keys,
      measures.all,
      Seq(count, last))
    val (values, start) = (swept.values.take(keys.size), swept.ends.head)
    result(values, start, last.toAttribute, counted(count.toAttribute), swept)
  }

  private def split(intervals: Intervals): LogicalPlan = {
    import intervals._
    stream.fold(splitTable(intervals)) { stream =>
      val rows = stream.split
      resultOfStream(rows, counted(rows.output(keys.size)))
    }
  }

  private def splitTable(intervals: Intervals): LogicalPlan = {
    import intervals._
    val (rows, _) = history(identity)
    val measures = new PeriodMeasures
    val count = Alias(measures.state(MeasureKind.Sum, one), "count")()
    val swept = PeriodSweep.ofValues(PeriodRule.Cuts, rows, keys, measures.all, Seq(count))
    val (start, end) = (swept.ends.head, swept.ends.last)
    result(swept.values.take(keys.size), start, end, counted(count.toAttribute), swept)
  }

  private def complement(intervals: Intervals): LogicalPlan = {
    import intervals._
    stream.fold(complementOfTable(intervals)) { stream =>
      arguments.constant("within").foreach(arguments.wrong(
        "within",
        "absent for a stream, whose keys are not known in advance",
        _))
      resultOfStream(stream.complement, Nil)
    }
  }

  private def complementOfTable(intervals: Intervals): LogicalPlan = {
    import intervals._
    val (rows, _) = history(identity)
    val swept = PeriodSweep.of(PeriodRule.Gaps, Seq(SweepInput.left(rows.copy(values = keys))))
    val (start, end) = (swept.ends.head, swept.ends.last)
    within match {
      case None =>
        val isBetween = And(
          GreaterThan(start, Literal(Long.MinValue)),
          LessThan(end, Literal(Long.MaxValue)))
        result(swept.values, start, end, Nil, Filter(isBetween, swept))
      case Some((from, to)) =>
        val (first, last) = (Greatest(Seq(start, from)), Least(Seq(end, to)))
        result(swept.values, first, last, Nil, Filter(LessThan(first, last), swept))
    }
  }
}

/** The encoding of the largest double that exceeds an encoded one by at most `gap`. */
private[temporal] case class FarthestWithin(left: Expression, right: Expression)
    extends BinaryExpression with CodegenFallback {

  override def dataType: DataType = LongType

  override def nullIntolerant: Boolean = true

  override protected def nullSafeEval(end: Any, gap: Any): Any = EndpointEncoding.ofDouble(
    ConstantBound.furthest(
      EndpointEncoding.toDouble(end.asInstanceOf[Long]),
      gap.asInstanceOf[Double]))

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression): FarthestWithin = copy(left = newLeft, right = newRight)
}
