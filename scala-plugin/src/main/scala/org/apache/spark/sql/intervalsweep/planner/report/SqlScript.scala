// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.report

import scala.jdk.CollectionConverters._

import org.antlr.v4.runtime.{CharStreams, Token}
import org.apache.spark.sql.catalyst.analysis.UnresolvedIdentifier
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.parser.SqlBaseLexer
import org.apache.spark.sql.catalyst.plans.logical.{
  CacheTableAsSelect, CreateTableAsSelect, LogicalPlan, ReplaceTableAsSelect
}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.CommandExecutionMode

/** A file of SQL statements, for the command `intervalsweep explain`. Python calls this object. */
object SqlScript {

  /**
   * The statements of a text, without comments before and after them. Spark's own lexer finds the
   * semicolons that are not within strings, names or comments, which may be nested.
   */
  def statements(text: String): java.util.List[String] = {
    // Keywords are upper-case in the lexer. Each character keeps its place.
    val lexer = new SqlBaseLexer(CharStreams.fromString(text.map(_.toUpper)))
    lexer.removeErrorListeners()
    val tokens = lexer.getAllTokens.asScala.toSeq.filter(_.getChannel == Token.DEFAULT_CHANNEL)
    def at(point: Int): Int = text.offsetByCodePoints(0, point)
    split(tokens).filter(_.nonEmpty).map { statement =>
      text.substring(at(statement.head.getStartIndex), at(statement.last.getStopIndex + 1))
    }.asJava
  }

  private def split(tokens: Seq[Token]): Seq[Seq[Token]] =
    tokens.indexWhere(_.getType == SqlBaseLexer.SEMICOLON) match {
      case -1 => Seq(tokens)
      case end => tokens.take(end) +: split(tokens.drop(end + 1))
    }

  /**
   * The table that a statement makes of a query: the parts of its name, and its schema as JSON.
   * None if the statement makes no table. Nothing is executed.
   */
  def madeTable(session: SparkSession, statement: String): Option[(Seq[String], String)] = {
    val state = session.sessionState
    def made(name: Seq[String], query: LogicalPlan): Option[(Seq[String], String)] = {
      val schema = state.executePlan(query, CommandExecutionMode.SKIP).analyzed.schema
      Some(name -> schema.json)
    }
    state.sqlParser.parsePlan(statement) match {
      case c: CreateTableAsSelect => nameOf(c.name).flatMap(made(_, c.query))
      case r: ReplaceTableAsSelect => nameOf(r.name).flatMap(made(_, r.query))
      case c: CacheTableAsSelect => cachedAs(c).flatMap(name => made(Seq(name), c.plan))
      case _ => None
    }
  }

  /** The first field is a string or a literal, depending on the version of Spark. */
  private def cachedAs(cache: CacheTableAsSelect): Option[String] = cache.productElement(0) match {
    case name: String => Some(name)
    case Literal(name, _) => Some(name.toString)
    case _ => None
  }

  private def nameOf(name: LogicalPlan): Option[Seq[String]] = name match {
    case unresolved: UnresolvedIdentifier => Some(unresolved.nameParts)
    case _ => None
  }

  /** The same for Python: the schema, then the parts of the name. Empty if there is no table. */
  def madeTableOf(session: SparkSession, statement: String): java.util.List[String] =
    madeTable(session, statement).toSeq.flatMap { case (name, schema) => schema +: name }.asJava
}
