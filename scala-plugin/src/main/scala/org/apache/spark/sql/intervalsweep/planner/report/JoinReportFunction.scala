// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.report

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo, RuntimeReplaceable}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.errors.QueryCompilationErrors
import org.apache.spark.sql.execution.CommandExecutionMode
import org.apache.spark.sql.intervalsweep.compat.SparkShims
import org.apache.spark.sql.intervalsweep.functions.FunctionInfo
import org.apache.spark.sql.types.StringType

/**
 * The table function `interval_join_report('SELECT ...')`. It plans the query in the calling
 * session and does not execute it.
 */
object JoinReportFunction {

  private val Name = "interval_join_report"
  private val Query = "query"

  def description: SparkSessionExtensions#TableFunctionDescription =
    (FunctionIdentifier(Name), info, arguments => report(text(arguments)))

  private def text(arguments: Seq[Expression]): String = {
    val signature = FunctionSignature(Seq(InputParameter(Query)))
    val argument = SparkShims.rearrangeArguments(signature, arguments, Name).head
    if (!argument.foldable || !argument.dataType.isInstanceOf[StringType])
      throw QueryCompilationErrors.nonFoldableArgumentError(Name, Query, StringType)
    val constant = argument.transform { case r: RuntimeReplaceable => r.replacement }
    Option(constant.eval()).getOrElse(
      throw QueryCompilationErrors.unexpectedNullError(Query, argument)).toString
  }

  private def report(query: String): LogicalPlan = {
    val state = SparkSession.active.sessionState
    JoinReport.relation(
      state.executePlan(state.sqlParser.parsePlan(query), CommandExecutionMode.SKIP))
  }

  private def info: ExpressionInfo = FunctionInfo.ofTable(
    this,
    Name,
    "_FUNC_(query) - Reports for each join of a query how IntervalSweepJoin runs it, or why it is " +
      "left to Spark and what to change. The query is planned but not executed.",
    """
      |    Arguments:
      |      * query - the text of the query, or of a statement with a query such as INSERT, a
      |          constant STRING.
      |  """.stripMargin,
    """
      |    Examples:
      |      > SELECT swept, reason FROM _FUNC_('SELECT * FROM r JOIN s ON r.k = s.k');
      |       false	OnlyEqualities
      |  """.stripMargin)
}
