// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}

/** The SQL functions of all relations, with their texts for `DESCRIBE FUNCTION EXTENDED`. */
object RelationDescriptions {

  def descriptions: Seq[SparkSessionExtensions#FunctionDescription] =
    for (relation <- Relations.all; alias <- relation.name +: relation.aliases) yield {
      val name = Relation.functionName(alias)
      (FunctionIdentifier(name), info(name, relation), build(relation))
    }

  private def build(relation: Relation): Seq[Expression] => Expression =
    arguments => FunctionCall(relation, arguments).build()

  private def info(name: String, relation: Relation): ExpressionInfo = FunctionInfo(
    classOf[IntervalPredicate],
    name,
    "predicate_funcs",
    usage(relation),
    arguments(relation),
    examples(relation),
    note(name, relation))

  private def usage(relation: Relation): String = {
    val optional = relation.parameters.map { case (name, _) => s"[, $name]" }.mkString
    s"""
       |    _FUNC_(r.ts, r.te, s.ts, s.te$optional) - ${relation.summary} Exactly: ${formula(
        relation)}.
       |
       |    _FUNC_(r, s$optional) - The same for two structs of two fields each.
       |  """.stripMargin
  }

  private def formula(relation: Relation): String =
    (relation.formula.map(_.toString) ++ relation.parameters.map { case (name, distance) =>
      s"$distance <= $name"
    }).mkString(" AND ")

  private def arguments(relation: Relation): String = {
    val parameters = relation.parameters.map { case (name, distance) =>
      s"""
         |      * $name - the upper limit on $distance, by position or as `$name => ...`: a
         |          number for numeric endpoints, a day-time or year-month INTERVAL for TIMESTAMP,
         |          a day-time INTERVAL for TIME, a whole number of days or an INTERVAL of days or
         |          months for DATE. Without it there is no limit.""".stripMargin
    }
    s"""
       |    Arguments:
       |      * r.ts, r.te - start and end of the left interval, which is half-open: [r.ts, r.te).
       |      * s.ts, s.te - start and end of the right interval. All four are cast to one
       |          orderable type, as in `greatest`. Strings next to dates and times are cast to
       |          the type of these.
       |      * r, s - the intervals as structs of start and end.${parameters.mkString}
       |  """.stripMargin
  }

  private def examples(relation: Relation): String = {
    val example = relation.example
    val endpoints = Endpoint.all.map(example.at).mkString(", ")
    val swapped = Endpoint.all.map(e => example.at(Endpoint.all((e.index + 2) % 4))).mkString(", ")
    val calls = Seq(s"_FUNC_($endpoints)" -> true) ++
      Option.when(relation.inverse != relation.name)(s"_FUNC_($swapped)" -> false) ++
      relation.parameters.flatMap { case (name, distance) =>
        val size = example.of(distance)
        Seq(
          s"_FUNC_($endpoints, $name => $size)" -> true,
          s"_FUNC_($endpoints, $name => ${size - 1})" -> false)
      }
    val shown = calls.map { case (call, result) => s"      > SELECT $call;\n       $result\n" }
    shown.mkString("\n    Examples:\n", "", "  ")
  }

  private def note(name: String, relation: Relation): String = {
    val alias =
      if (name == relation.functionName) "" else s"Another name of `${relation.functionName}`. "
    val inverse =
      if (relation.inverse == relation.name) "It is its own inverse."
      else
        s"With its operands swapped it is `${Relation.functionName(relation.inverse)}`."
    s"""
       |    $alias$inverse The first example:
       |      ${bar("r", relation.example.r)}
       |      ${bar("s", relation.example.s)}
       |  """.stripMargin
  }

  /** Draws the interval `[1, 3)` as `   [-----)`, with three columns per unit. */
  private def bar(name: String, interval: (Int, Int)): String = {
    val (start, end) = interval
    s"$name ${" " * (3 * start)}[${"-" * (3 * (end - start) - 1)})"
  }
}
