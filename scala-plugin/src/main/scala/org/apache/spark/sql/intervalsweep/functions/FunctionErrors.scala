// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.{Expression, NamedArgumentExpression}
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.catalyst.util.{toPrettySQL, TypeUtils}
import org.apache.spark.sql.errors.QueryCompilationErrors
import org.apache.spark.sql.types.DataType

/** The errors of a call with invalid arguments, with Spark's own error conditions. */
private[functions] case class FunctionErrors(relation: Relation, arguments: Seq[Expression]) {

  private val name = relation.functionName

  private val call: String = arguments.map {
    case NamedArgumentExpression(key, value) => s"$key => ${toPrettySQL(value)}"
    case argument => toPrettySQL(argument)
  }.mkString(s"$name(", ", ", ")")

  def wrongNumber(actual: Int): Nothing = {
    val optional = relation.parameters.map { case (parameter, _) => s"[$parameter]" }
    def form(required: String*): String = {
      val number =
        if (optional.isEmpty) s"${required.size}"
        else s"${required.size} to ${required.size + optional.size}"
      (required ++ optional).mkString(s"$number (", ", ", ")")
    }
    val wanted = s"${form(Endpoint.all.map(_.name): _*)} or ${form("r", "s")}"
    throw QueryCompilationErrors.wrongNumArgsError(name, Seq(wanted), actual)
  }

  def unknownParameter(key: String): Nothing =
    throw QueryCompilationErrors.unrecognizedParameterName(name, key, relation.parameters.map(_._1))

  def givenTwice(parameter: String): Nothing =
    throw QueryCompilationErrors.positionalAndNamedArgumentDoubleReference(name, parameter)

  def noCommonType(endpoints: Seq[Expression]): Nothing = {
    val types = Endpoint.all.zip(endpoints).map { case (endpoint, argument) =>
      s"$endpoint ${TypeUtils.toSQLExpr(argument)} ${TypeUtils.toSQLType(argument.dataType)}"
    }
    mismatch(
      "DATA_DIFF_TYPES",
      "functionName" -> TypeUtils.toSQLId(name),
      "dataType" -> types.mkString("[", ", ", "]"))
  }

  def noOrder(dataType: DataType): Nothing = mismatch(
    "INVALID_ORDERING_TYPE",
    "functionName" -> TypeUtils.toSQLId(name),
    "dataType" -> TypeUtils.toSQLType(dataType))

  def wrongType(parameter: String, argument: Expression, wanted: String): Nothing = mismatch(
    "UNEXPECTED_INPUT_TYPE",
    "paramIndex" -> TypeUtils.toSQLId(Seq(parameter)),
    "requiredType" -> wanted,
    "inputSql" -> TypeUtils.toSQLExpr(argument),
    "inputType" -> TypeUtils.toSQLType(argument.dataType))

  def nullParameter(parameter: String): Nothing = mismatch(
    "UNEXPECTED_NULL",
    "exprName" -> s"${TypeUtils.toSQLId(parameter)} (leave it out for no limit)")

  def negative(parameter: String, argument: Expression, value: Any): Nothing = mismatch(
    "VALUE_OUT_OF_RANGE",
    "exprName" -> TypeUtils.toSQLId(parameter),
    "valueRange" -> "[0, infinity)",
    "currentValue" -> TypeUtils.toSQLValue(value, argument.dataType))

  private def mismatch(subClass: String, parameters: (String, String)*): Nothing =
    throw new AnalysisException(
      s"DATATYPE_MISMATCH.$subClass",
      parameters.toMap + ("sqlExpr" -> s"\"$call\""),
      CurrentOrigin.get)
}
