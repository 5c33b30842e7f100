// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.functions

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.intervalsweep.functions.FunctionInfo
import org.apache.spark.sql.intervalsweep.temporal.lowering.SequencedQuery
import org.apache.spark.sql.intervalsweep.temporal.nodes.{
  FragmentKind, OnBounded, PeriodRule, TemporalCoalesce, TemporalErrors, TemporalFragments,
  TemporalSetOperation, ValidTime
}
import org.apache.spark.sql.intervalsweep.temporal.streams.SequencedStream
import org.apache.spark.sql.types.DataType

/**
 * The table functions for operators that SQL lacks. They are called inside `sequenced`, or alone
 * with the names of the period's columns.
 *
 * @param marked makes a table a valid-time relation, by the names of the period's columns
 */
private[temporal] final class OperatorFunctions(
    marked: (LogicalPlan, String, Option[String]) => ValidTime,
    rules: Seq[Rule[LogicalPlan]]) {

  def descriptions: Seq[SparkSessionExtensions#TableFunctionDescription] = Seq(
    described(
      "temporal_except_strict",
      "(TABLE(a), TABLE(b)) - The rows of a that no row of b equals.",
      setOperation(PeriodRule.ExceptStrict)),
    described(
      "temporal_union_max",
      "(TABLE(a), TABLE(b)) - Each row as often as in a or in b, whichever has it more often.",
      setOperation(PeriodRule.UnionMax)),
    described(
      "temporal_coalesce",
      "(TABLE(r)[, max_length]) - The same rows in the fewest periods. With max_length, rows that " +
        "touch become one until its period has this length; no row is cut.",
      coalesce),
    described(
      "temporal_split",
      "(TABLE(r), max_length) - The same rows in periods of at most max_length.",
      split),
    described(
      "temporal_window",
      "(TABLE(r), sliding => w | fixed => w[, origin][, on_bounded]) - Rows that are valid for " +
        "the length w from their start on, or to the end of the fixed window of their start.",
      window))

  private type Build = (String, Seq[Expression]) => LogicalPlan

  private def described(name: String, usage: String, build: Build) = {
    val info = FunctionInfo.ofTable(
      this,
      name,
      s"_FUNC_$usage Call it inside `sequenced`, or alone with ts => and te =>, the names of the " +
        "columns of the period.")
    (FunctionIdentifier(name), info, build(name, _: Seq[Expression]))
  }

  private val Names = Seq("ts", "te")

  /** The operator over its tables. If it is called alone, the history of the operator. */
  private def operator(arguments: TemporalArguments)(of: Seq[LogicalPlan] => LogicalPlan)
      : LogicalPlan = {
    val tables = arguments.tables.map(arguments.table)
    (arguments.text("ts"), arguments.text("te")) match {
      case (None, None) => of(tables)
      case (None, Some(te)) =>
        TemporalErrors.argument(
          arguments.function,
          "ts",
          s"the name of the start column, as te is $te",
          "no name")
      case (Some(ts), te) => AnalysisHelper.allowInvokingTransformsInAnalyzer {
          val query = of(tables.map(marked(_, ts, te)))
          if (tables.exists(_.isStreaming)) SequencedStream.alone(query, rules)
          else SequencedQuery(query, None, None, coalesce = false, None, rules).plan
        }
    }
  }

  private def setOperation(rule: PeriodRule): Build = (name, provided) => {
    val arguments = TemporalArguments(name, Seq("a", "b"), Names, provided)
    operator(arguments) { tables =>
      def types(plan: LogicalPlan): Seq[DataType] = plan.output.map(_.dataType.asNullable)
      val common = SetOperationTypes.of(tables.map(types))
      if (common.isEmpty) {
        def shown(plan: LogicalPlan): String = types(plan).map(_.sql).mkString("(", ", ", ")")
        TemporalErrors.argument(
          name,
          "b",
          s"a query with columns of the types ${shown(tables.head)}",
          shown(tables.last))
      }
      val typed = tables.map(SetOperationTypes.cast(_, common.get))
      TemporalSetOperation(rule, typed.head, typed.last)
    }
  }

  private def coalesce: Build = (name, provided) => {
    val arguments = TemporalArguments(name, Seq("r"), "max_length" +: Names, provided)
    operator(arguments) { tables =>
      arguments.constant("max_length").fold[LogicalPlan](TemporalCoalesce(tables.head))(length =>
        TemporalFragments(tables.head, FragmentKind.Coalesce(length)))
    }
  }

  private def split: Build = (name, provided) => {
    val arguments = TemporalArguments(name, Seq("r"), "max_length" +: Names, provided)
    val length = arguments.optional("max_length")
      .getOrElse(TemporalErrors.length("temporal_split needs max_length, which must not be NULL."))
    operator(arguments)(tables => TemporalFragments(tables.head, FragmentKind.Split(length)))
  }

  private def window: Build = (name, provided) => {
    val options = Seq("sliding", "fixed", "origin", "on_bounded") ++ Names
    val arguments = TemporalArguments(name, Seq("r"), options, provided)
    val onBounded = arguments.choice("on_bounded", OnBounded.all)(_.name)
    val how = (arguments.optional("sliding"), arguments.optional("fixed")) match {
      case (Some(length), None) => FragmentKind.Sliding(length, onBounded)
      case (None, Some(length)) =>
        FragmentKind.Fixed(length, arguments.constant("origin"), onBounded)
      case _ => TemporalErrors.length(
          "temporal_window needs either sliding or fixed, which must not be NULL.")
    }
    operator(arguments)(tables => TemporalFragments(tables.head, how))
  }
}
