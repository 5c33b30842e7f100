// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.streams

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.analysis.MultiInstanceRelation
import org.apache.spark.sql.catalyst.expressions.{
  Alias, Attribute, AttributeSet, CreateStruct, Expression, OuterReference, SubqueryExpression
}
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.intervalsweep.temporal.lowering.Sequenced
import org.apache.spark.sql.intervalsweep.temporal.nodes.{
  Closed, FragmentKind, History, Invalid, Nulls, TemporalErrors, TemporalFragments, ValidTime
}

/**
 * The rows of a stream that are valid in a slice of time, in the query that is evaluated for each
 * slice.
 *
 * @param number the position of the stream among the query's inputs
 * @param output the values, then the start and the end of the period
 */
private[intervalsweep] case class StreamRows(number: Int, override val output: Seq[Attribute])
    extends LeafNode with MultiInstanceRelation {
  override def nodeName: String = s"StreamRows $number"

  override protected def stringArgs: Iterator[Any] = Iterator(output)

  override def newInstance(): StreamRows = copy(output = output.map(_.newInstance()))
}

/**
 * A query over streams, taken apart: what is computed for each row when it arrives, and the query
 * over the results, which is evaluated for each slice of time.
 * {{{
 *   Aggregate                             body    Aggregate
 *     TemporalFragments (a window)                  ValidTime
 *       Filter                                        StreamRows 0
 *         ValidTime                       input 0 TemporalFragments
 *           a stream                                Filter ...
 * }}}
 */
private[temporal] final class StreamInputs(query: LogicalPlan) {
  private val found = ArrayBuffer.empty[StreamInput]

  /**
   * The positions of the inputs by their plans. What the query reads twice is stored once, and a
   * subquery in GROUP BY stays the same as in the columns of the result.
   */
  private val numbers = mutable.HashMap.empty[LogicalPlan, Int]

  val body: LogicalPlan = taken(query)
  val inputs: Seq[StreamInput] = found.toSeq

  private def taken(plan: LogicalPlan): LogicalPlan =
    StreamInputs.leafOf(plan).fold(
      plan.mapChildren(taken).transformExpressions { case subquery: SubqueryExpression =>
        subquery.withNewPlan(taken(subquery.plan))
      })(replaced(plan, _))

  private def replaced(plan: LogicalPlan, leaf: ValidTime): LogicalPlan = {
    val input = StreamInput.of(plan, leaf)
    val number = numbers.getOrElseUpdate(plan.canonicalized, found.size)
    if (number == found.size) found += input
    val rows = StreamRows(number, input.columns)
    val ends = input.columns.takeRight(2)
    ValidTime(
      rows,
      ends.head,
      Some(ends.last),
      leaf.names,
      Nulls.Unbounded,
      Invalid.Drop,
      Closed.Left)
  }
}

/**
 * The rows that are computed from a stream, each from one row when it arrives.
 *
 * @param rows    the values and the period of each row
 * @param changes if the rows are changes: the columns with the key, the order and the deletion
 * @param leaf    the stream as the query names it
 */
private[temporal] case class StreamInput(
    rows: History,
    changes: Seq[Attribute],
    leaf: ValidTime) {
  val columns: Seq[Attribute] = rows.columns.filterNot(AttributeSet(changes).contains)
  def plan: LogicalPlan = Project(changes ++ columns, rows.plan)
}

private[intervalsweep] object StreamInput {

  private[streams] def of(plan: LogicalPlan, leaf: ValidTime): StreamInput = {
    val changes = leaf.untilNext.toSeq.flatMap { log =>
      Seq(
        "key" -> CreateStruct(log.keys.map(NormalizeFloatingNumbers.normalize)),
        "order" -> CreateStruct(log.order),
        "deleted" -> log.deleted)
    }.map { case (name, value) => Alias(value, name)() }
    val rows =
      if (changes.isEmpty) plan
      else leaf.copy(child = Project(leaf.child.output ++ changes, leaf.child))
    StreamInput(Sequenced(leaf.start.dataType).history(rows), changes.map(_.toAttribute), leaf)
  }

  /** The columns of a change before its values. */
  val Key = 0
  val Order = 1
  val Deleted = 2
  val ChangeColumns = 3
}

private[temporal] object StreamInputs {

  /** Whether a marked relation of a query, or of its subqueries, is a stream. */
  def areIn(query: LogicalPlan): Boolean =
    query.collectWithSubqueries { case leaf: ValidTime => leaf }.exists(_.child.isStreaming)

  /** Raises an error for an operator that depends on the whole period of a row. */
  def checkSlices(body: LogicalPlan): Unit = body.foreachWithSubqueries {
    case fragments: TemporalFragments if readsStream(fragments) => refuse(fragments)
    case _ =>
  }

  private def readsStream(plan: LogicalPlan): Boolean =
    plan.collectWithSubqueries { case rows: StreamRows => rows }.nonEmpty

  private def refuse(fragments: TemporalFragments): Nothing = {
    val (construct, cure) = fragments.how match {
      case _: FragmentKind.Coalesce | _: FragmentKind.Split =>
        (
          "max_length below other operators on streams",
          "apply it to the whole query: sequenced(TABLE(SELECT * FROM " +
            "temporal_split(TABLE(...), max_length)))")
      case _ =>
        (
          "temporal_window over the result of an operator on streams",
          "apply it to the stream itself, below joins and aggregates")
    }
    TemporalErrors.noSnapshotForm(construct, cure, fragments.origin)
  }

  /**
   * The stream that a plan reads, if each of the plan's rows comes from one row of the stream. The
   * end of a change is the start of the next one, so nothing may be computed before that is known.
   */
  private def leafOf(plan: LogicalPlan): Option[ValidTime] = plan match {
    case leaf: ValidTime => Option.when(leaf.child.isStreaming)(leaf)
    case Project(columns, child) if columns.forall(isOfOneRow) => leafOfPeriods(child)
    case Filter(condition, child) if isOfOneRow(condition) => leafOfPeriods(child)
    case TemporalFragments(child, _: FragmentKind.Sliding | _: FragmentKind.Fixed) =>
      leafOfPeriods(child)
    case _ => None
  }

  private def leafOfPeriods(plan: LogicalPlan): Option[ValidTime] =
    leafOf(plan).filter(_.untilNext.isEmpty)

  private[streams] def isOfOneRow(e: Expression): Boolean = e.deterministic && !e.exists {
    case _: SubqueryExpression | _: OuterReference => true
    case _ => false
  }
}
