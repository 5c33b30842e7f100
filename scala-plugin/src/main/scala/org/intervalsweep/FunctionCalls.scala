// SPDX-License-Identifier: Apache-2.0
package org.intervalsweep

import java.util.UUID

import org.apache.spark.sql.{classic, Column, DataFrame, SparkSession}
import org.apache.spark.sql.functions.{call_function, lit}

/** Calls SQL functions by name. The session must have them. */
private[intervalsweep] object FunctionCalls {

  /** Calls a function on columns. */
  def call(name: String, arguments: Column*): Column = {
    require(!arguments.contains(null), s"$name: a column must not be null")
    SparkSession.getActiveSession.orElse(SparkSession.getDefaultSession).foreach(check)
    call_function(name, arguments: _*)
  }

  /** Calls a relation with limits on distances; null means no limit. */
  def limited(name: String, operands: Column*)(limits: Column*): Column = {
    val provided = limits.reverse.dropWhile(_ == null).reverse
    call(name, operands ++ provided.map(Option(_).getOrElse(lit(null))): _*)
  }

  /**
   * Calls a table function on DataFrames.
   *
   * @param ends  the names of columns, by position; null is not given
   * @param named the other arguments. A tuple or a sequence is an array; null is not given
   */
  def rows(name: String, tables: DataFrame*)(ends: String*)(named: (String, Any)*): DataFrame = {
    val session = tables.head.sparkSession
    val views = tables.map(_ => s"intervalsweep_${UUID.randomUUID.toString.replace("-", "")}")
    val call = new CallText(name)
    views.foreach(view => call.add(s"TABLE($view)"))
    ends.filter(_ != null).foreach(end => call.add(call.value(end)))
    named.foreach { case (argument, value) => call.addNamed(argument, value) }
    try {
      views.zip(tables).foreach { case (view, table) => table.createTempView(view) }
      query(session, call)
    } finally views.foreach(drop(session, _))
  }

  /** Calls a table function that reads no DataFrame. */
  def report(session: SparkSession, name: String, argument: String): DataFrame = {
    val call = new CallText(name)
    call.add(call.value(argument))
    query(session, call)
  }

  private def query(session: SparkSession, call: CallText): DataFrame = {
    check(session)
    session.sql(call.text, call.markers)
  }

  /** Drops a view. Spark's `dropTempView` would also drop the cache of the view's DataFrame. */
  private def drop(session: SparkSession, view: String): Unit = session match {
    case local: classic.SparkSession => local.sessionState.catalog.dropTempView(view)
    case remote => remote.catalog.dropTempView(view)
  }

  private def check(session: SparkSession): Unit = session match {
    case local: classic.SparkSession =>
      val functions = local.sessionState.functionRegistry.listFunction()
      if (!functions.exists(_.funcName == "interval_intersects"))
        throw new IllegalStateException(
          "This session has no IntervalSweep: start it with " +
            s"spark.sql.extensions=${classOf[IntervalSweepExtensions].getName}")
    case _ =>
  }

  /** The text of a call, with a marker for each value. */
  private class CallText(name: String) {
    private val arguments = Seq.newBuilder[String]
    private var values = Map.empty[String, Any]

    def text: String = s"SELECT * FROM $name(${arguments.result().mkString(", ")})"

    def markers: Map[String, Any] = values

    def add(argument: String): Unit = arguments += argument

    def addNamed(argument: String, provided: Any): Unit = provided match {
      case null | Seq() =>
      case (first, second) => addNamed(argument, Seq(first, second))
      case (first, second, third) => addNamed(argument, Seq(first, second, third))
      case several: Seq[_] => add(s"$argument => array(${several.map(value).mkString(", ")})")
      case one => add(s"$argument => ${value(one)}")
    }

    def value(constant: Any): String = {
      val marker = s"v${values.size}"
      values += marker -> constant
      s":$marker"
    }
  }
}
