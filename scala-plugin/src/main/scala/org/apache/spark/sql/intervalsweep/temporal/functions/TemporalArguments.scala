// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.functions

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.intervalsweep.compat.SparkShims
import org.apache.spark.sql.intervalsweep.temporal.nodes.{GivenBound, TemporalErrors}
import org.apache.spark.sql.types._

/** The arguments of a table function over queries, by name. */
private[temporal] case class TemporalArguments(
    function: String,
    tables: Seq[String],
    options: Seq[String],
    arguments: Seq[Expression]) {

  private val absent = Literal.create(null, NullType)

  private val provided: Map[String, Expression] = {
    val parameters =
      tables.map(InputParameter(_)) ++ options.map(InputParameter(_, Some(absent)))
    val names = tables ++ options
    names.zip(SparkShims.rearrangeArguments(
      FunctionSignature(parameters),
      arguments,
      function)).toMap
  }

  def table(name: String): LogicalPlan = provided(name) match {
    case table: FunctionTableSubqueryArgumentExpression
        if table.partitionByExpressions.isEmpty && table.orderByExpressions.isEmpty &&
          !table.withSinglePartition =>
      table.plan
    case _: FunctionTableSubqueryArgumentExpression =>
      wrong(name, "TABLE(...) without PARTITION BY and ORDER BY", provided(name))
    case other => wrong(name, "TABLE(...)", other)
  }

  /** A constant; None if it is not given. NULL is an error: it must not mean "no limit". */
  def constant(name: String): Option[Expression] = {
    val found = optional(name)
    if (found.isEmpty && provided.get(name).exists(_ ne absent))
      wrong(name, "a value that is not NULL", provided(name))
    found
  }

  /** A constant; None if it is NULL or not given. */
  def optional(name: String): Option[Expression] = provided.get(name).flatMap { e =>
    if (!e.foldable) wrong(name, "a constant", e)
    GivenBound.evaluable(e).fold(Option(e))(plain => Option.when(plain.eval() != null)(plain))
  }

  /** A constant, or the elements of a constant array. */
  def values(name: String): Seq[Expression] = constant(name).toSeq.flatMap { e =>
    (e, e.dataType) match {
      case (CreateArray(elements, _), _) => elements
      case (_, ArrayType(_, _)) =>
        (0 until e.eval().asInstanceOf[ArrayData].numElements())
          .map(n => GetArrayItem(e, Literal(n), failOnError = false))
      case _ => Seq(e)
    }
  }

  def text(name: String): Option[String] = optional(name).map { e =>
    if (!e.dataType.isInstanceOf[StringType]) wrong(name, "a STRING", e)
    e.eval().toString
  }

  /** A text, or an array of texts. */
  def texts(name: String): Option[Seq[String]] = optional(name).map { e =>
    def wanted = wrong(name, "a STRING or an array of STRINGs", e)
    e.dataType match {
      case _: StringType => Seq(e.eval().toString)
      case ArrayType(_: StringType | NullType, _) =>
        val all = e.eval().asInstanceOf[ArrayData].toObjectArray(StringType).toSeq
        all.map(text => if (text == null) wanted else text.toString)
      case _ => wanted
    }
  }

  def flag(name: String): Boolean = optional(name).exists { e =>
    if (e.dataType != BooleanType) wrong(name, "true or false", e)
    e.eval() == true
  }

  def choice[A](name: String, all: Seq[A])(nameOf: A => String): A = text(name) match {
    case None => all.head
    case Some(text) =>
      all.find(nameOf(_) == text.toLowerCase(java.util.Locale.ROOT)).getOrElse(wrong(
        name,
        all.map(a => s"'${nameOf(a)}'").mkString(" or "),
        provided(name)))
  }

  /** The two elements of `array(a, b)`. */
  def pair(name: String): Option[(Expression, Expression)] =
    constant(name).map { e =>
      (provided(name), e.dataType) match {
        case (CreateArray(Seq(a, b), _), _) => (a, b)
        case (_, ArrayType(_, _)) =>
          (GetArrayItem(e, Literal(0), false), GetArrayItem(e, Literal(1), false))
        case _ => wrong(name, "array(a, b)", e)
      }
    }

  def names: Option[(String, String)] = pair("names").map { case (from, to) =>
    def text(e: Expression): String = Option(e.eval()).fold(wrong("names", "two names", e))(
      _.toString)
    (text(from), text(to))
  }

  def wrong(name: String, wanted: String, found: Expression): Nothing =
    TemporalErrors.argument(function, name, wanted, found.sql)
}
