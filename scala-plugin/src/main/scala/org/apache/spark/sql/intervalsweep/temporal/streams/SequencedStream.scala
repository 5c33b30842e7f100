// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.streams

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.intervalsweep.condition.expressions.PeriodEndpoint
import org.apache.spark.sql.intervalsweep.temporal.fragments.{
  FragmentStep, PeriodFragments, ResultForm
}
import org.apache.spark.sql.intervalsweep.temporal.lowering.{Sequenced, SequencedQuery}
import org.apache.spark.sql.intervalsweep.temporal.nodes.FragmentKind.{
  Coalesce, Fixed, Sliding, Split
}
import org.apache.spark.sql.intervalsweep.temporal.nodes.{
  Emit, GivenBound, Refused, TemporalErrors, TemporalFragments, TemporalMerge, UntilNext, ValidTime
}
import org.apache.spark.sql.types.{DataType, TimestampType}

/**
 * The history of a query over streams. A rule of the analyzer makes it a stateful operator.
 *
 * @param inputs the rows of each stream: values, start and end; see [[StreamInput]] for changes
 * @param changes whether the rows of each stream are changes
 * @param starts the columns of the streams with the starts of the periods
 * @param maxLength the fragments in which long rows are written
 * @param output the values, then the start and the end of a period
 */
private[intervalsweep] case class SequencedStream(
    inputs: Seq[LogicalPlan],
    changes: Seq[Boolean],
    starts: Seq[Attribute],
    query: SlicedQuery,
    emit: Emit,
    maxLength: Option[FragmentStep],
    override val output: Seq[Attribute])
    extends LogicalPlan {
  override def children: Seq[LogicalPlan] = inputs
  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[LogicalPlan]): SequencedStream = copy(inputs = newChildren)
}

private[temporal] object SequencedStream {

  /** The history of a query that reads streams; see [[SequencedQuery]] for the parameters. */
  def of(
      query: LogicalPlan,
      period: Option[(Expression, Expression)],
      names: Option[(String, String)],
      rules: Seq[Rule[LogicalPlan]],
      form: ResultForm,
      emit: Emit): LogicalPlan = {
    val (plain, maxLength) = withoutMaxLength(unordered(SequencedQuery.plain(query)))
    if (emit == Emit.Early)
      maxLength.foreach(length =>
        TemporalErrors.argument(
          "sequenced",
          "emit",
          s"'final' for rows of at most ${length.sql}, as 'early' writes them at each watermark",
          "'early'"))
    Refused.checkRows(plain)
    val split = new StreamInputs(plain)
    Refused.checkStreams(split.body)
    StreamInputs.checkSlices(split.body)
    split.inputs.foreach { input =>
      checkStart(input.leaf.start)
      input.leaf.untilNext.foreach(checkDeleted)
    }
    val sliced =
      SlicedQuery(
        split.body,
        period.map(limits),
        names.getOrElse(split.inputs.head.leaf.names),
        rules,
        form)
    SequencedQuery.belowViews(
      query,
      SequencedStream(
        split.inputs.map(_.plan),
        split.inputs.map(_.changes.nonEmpty),
        split.inputs.map(_.leaf.start),
        sliced,
        emit,
        maxLength.map(PeriodFragments(SlicedQuery.Time).step),
        sliced.newOutput()))
  }

  /**
   * An operator that is called alone on streams. One that works row by row needs no state.
   *
   * @param query the operator over marked streams and tables
   */
  def alone(query: LogicalPlan, rules: Seq[Rule[LogicalPlan]]): LogicalPlan = query match {
    case TemporalFragments(leaf: ValidTime, _: Sliding | _: Fixed | _: Split) =>
      val rows = Sequenced(leaf.start.dataType).history(query)
      val ends = rows.period.get.columns.zip(Seq(leaf.names._1, leaf.names._2)).map {
        case (end, name) => Alias(end, name)()
      }
      Project(rows.values ++ ends, rows.plan)
    case _ => of(query, None, None, rules, ResultForm.HalfOpen, Emit.Final)
  }

  /** The rows of a query that cuts long rows, and the length. */
  private def withoutMaxLength(plan: LogicalPlan): (LogicalPlan, Option[Expression]) = plan match {
    case TemporalFragments(child, Split(length)) => (child, Some(length))
    case TemporalFragments(child, Coalesce(length)) => (child, Some(length))
    case Project(columns, child) if columns.forall(_.isInstanceOf[Attribute]) =>
      val (rows, length) = withoutMaxLength(child)
      (Project(columns, rows), length)
    case other => (other, None)
  }

  /** The part of the history that is returned, in microseconds. */
  private def limits(period: (Expression, Expression)): (Long, Long) = {
    val bound = GivenBound("sequenced", "period", SlicedQuery.Time)
    val (from, to) = bound.ordered(period._1, period._2)
    def micros(end: Expression, isEnd: Boolean): Long =
      GivenBound.evaluable(PeriodEndpoint(end, isEnd)).map(_.eval().asInstanceOf[Long])
        .getOrElse(TemporalErrors.argument(
          "sequenced",
          "period",
          "a constant, as each micro-batch reads it",
          end.sql))
    (micros(from, isEnd = false), micros(to, isEnd = true))
  }

  /** A stream has no order. */
  private def unordered(plan: LogicalPlan): LogicalPlan = plan match {
    case Sort(_, true, child, _) => child
    case Project(columns, Sort(_, true, child, _)) => Project(columns, child)
    case other => other
  }

  private def checkDeleted(log: UntilNext): Unit =
    if (!StreamInputs.isOfOneRow(log.deleted))
      TemporalErrors.argument(
        "validtime",
        "deleted",
        "a condition on the columns of a stream, without subqueries",
        log.deleted.sql)

  private def checkStart(start: Attribute): Unit =
    if (start.dataType != SlicedQuery.Time)
      TemporalErrors.periodType(
        Seq(start.dataType),
        "the periods of a stream start at its event time, a TIMESTAMP with a watermark")
}

/**
 * A query whose history is computed slice by slice.
 *
 * At each instant the result depends only on the rows that are valid then. So the history from one
 * watermark to the next follows from the rows that are valid between them, by the plan for tables.
 *
 * @param body   reads [[StreamRows]] in the place of streams
 * @param period the part of the history that is returned, in microseconds
 */
private[intervalsweep] case class SlicedQuery(
    body: LogicalPlan,
    period: Option[(Long, Long)],
    names: (String, String),
    rules: Seq[Rule[LogicalPlan]],
    private[temporal] val form: ResultForm) {

  /**
   * The history in a slice of time: the values, then the start and the end of a period.
   *
   * @param from the start of the slice, in microseconds
   * @param to   its end, which is not in it
   * @param coalesce whether equal rows that touch are one
   * @param rows a plan for the rows of each stream
   */
  def history(
      from: Long,
      to: Long,
      coalesce: Boolean,
      rows: StreamRows => LogicalPlan): LogicalPlan = {
    val (first, last) = period.getOrElse((Long.MinValue, Long.MaxValue))
    val start = math.max(from, first)
    val end = math.max(start, math.min(to, last))
    SequencedQuery(
      body.transformUpWithSubqueries { case leaf: StreamRows => rows(leaf) },
      Some((Literal(start, SlicedQuery.Time), Literal(end, SlicedQuery.Time))),
      None,
      coalesce,
      Some(names),
      rules,
      ResultForm.HalfOpen,
      isPlain = true).plan
  }

  /** Whether the last value counts rows, so that the pieces of a row are added up. */
  def counts: Boolean = body.isInstanceOf[TemporalMerge]

  /** The columns of the history. */
  def newOutput(): Seq[Attribute] =
    history(0L, 1L, coalesce = true, identity).output.map(_.newInstance())

  /** The period as the user wants to see it. */
  def shown(start: Expression, end: Expression): (Expression, Expression) =
    (form.start(start, SlicedQuery.Time), form.end(end, SlicedQuery.Time))
}

private[intervalsweep] object SlicedQuery {

  /** The type of the periods. */
  val Time: DataType = TimestampType
}
