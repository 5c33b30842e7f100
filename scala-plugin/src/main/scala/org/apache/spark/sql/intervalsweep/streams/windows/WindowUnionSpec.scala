// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.windows

import org.apache.spark.sql.catalyst.expressions.{
  Attribute, AttributeReference, Expression, SortOrder
}
import org.apache.spark.sql.intervalsweep.condition.expiry.{TimeWindow, WindowEnd}
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side}
import org.apache.spark.sql.intervalsweep.streams.partitioning.{Fanout, StreamSide}
import org.apache.spark.sql.intervalsweep.streams.state.{
  SchemaEvolution, StateIdentity, StateLayout
}
import org.apache.spark.sql.types.{BooleanType, DataType, IntegerType}

/**
 * The columns of the base rows, and the purpose of some of them.
 *
 * @param side     all columns that the operator reads and stores
 * @param payload  the columns that are returned
 * @param lower    the column with the lower end of the window, if the end must be computed per row;
 *                 likewise `upper`
 * @param revision the column with the revision number, if rows are emitted before their windows are
 *                 final
 */
case class BaseColumns(
    side: StreamSide,
    payload: Seq[Attribute],
    lower: Option[Attribute],
    upper: Option[Attribute],
    revision: Option[Attribute])

/**
 * The rows of a window that are read, in place of all its rows.
 *
 * @param isLast whether they are the last ones by event time, not the first ones
 * @param count  how many they are
 * @param ties   the order of rows with equal times
 */
case class WindowLimit(isLast: Boolean, count: Int, ties: Seq[SortOrder]) {

  override def toString: String = s"${if (isLast) "last" else "first"} $count"
}

/**
 * The probe rows that are returned in place of aggregates, each with its base row.
 *
 * @param columns the columns that are returned
 * @param isOuter whether a base row without a probe row is returned, with NULLs
 */
case class MatchedColumns(columns: Seq[Attribute], isOuter: Boolean)

/**
 * The columns of the emitted rows.
 *
 * @param payload  the returned columns of the base row
 * @param results  the aggregates over the probe rows, or columns of them
 * @param revision the number of the revision, if rows are emitted before their windows are final
 * @param isFinal  whether no later revision follows, likewise
 */
case class WindowUnionOutput(
    payload: Seq[Attribute],
    results: Seq[Attribute],
    revision: Option[Attribute],
    isFinal: Option[Attribute]) {

  /** All columns, in the order of an emitted row. */
  def all: Seq[Attribute] = payload ++ results ++ revision ++ isFinal
}

/**
 * The decisions of the driver for a window union. [[WindowUnionRun]] runs it in the tasks.
 *
 * @param results          the aggregates over the probe rows
 * @param residual         the residual condition of a base and a probe row
 * @param limit            which rows of a window are read, if not all
 * @param matched          the columns of these rows, if they are returned in place of aggregates
 * @param partitionsPerKey the number of partitions for the base rows of a key; 0 for all
 * @param latenessMicros   the largest delay of the watermarks, in microseconds
 */
case class WindowUnionSpec(
    base: BaseColumns,
    probe: StreamSide,
    window: TimeWindow,
    results: Seq[WindowResult],
    residual: Option[Expression],
    limit: Option[WindowLimit],
    matched: Option[MatchedColumns],
    partitionsPerKey: Int,
    latenessMicros: Long) {
  import WindowUnionSpec.{Base, Probe}

  /** Whether a row is emitted at once and again when its result changes, or once when final. */
  def isEager: Boolean = base.revision.isDefined

  /** The inputs, the base first. A chunk of rows belongs to one of them, by its number. */
  def sides: Seq[StreamSide] = Seq(base.side, probe)

  /** For each side the number of partitions of a key. */
  def fanout: Seq[Fanout] =
    Seq(Fanout(partitionsPerKey, isSpread = true), Fanout(partitionsPerKey, isSpread = false))

  /** New attributes for the columns of the emitted rows. */
  def newOutput(): WindowUnionOutput = {
    def column(name: String, dataType: DataType): Attribute =
      AttributeReference(name, dataType)()
    WindowUnionOutput(
      base.payload.map(a => column(a.name, a.dataType)),
      matched.fold(results.map(r => column(r.name, r.dataType)))(
        _.columns.map(a => column(a.name, a.dataType))),
      Option.when(isEager)(column("revision", IntegerType)),
      Option.when(isEager)(column("is_final", BooleanType)))
  }

  /** How far a window may reach before the time of its base row, in microseconds. */
  def pre: Long =
    if (window.lower.isUnbounded) Long.MaxValue else window.lower.slack - window.lower.offset

  /** How far a window may reach after the time of its base row, in microseconds. */
  def fol: Long = window.upper.slack + window.upper.offset

  /** How long after its time a probe row may still be read, in microseconds. */
  val keptFor: Long = if (window.lower.isUnbounded) Long.MaxValue else pre + math.max(fol, 0)

  /**
   * Whether a probe row is needed only while it is among the last rows of its key, once no window
   * ends before it.
   */
  val keepsLast: Boolean = residual.isEmpty && limit.exists(_.isLast)

  /** How long after its time a probe row is stored in a time bucket, in microseconds. */
  val inBucketFor: Long =
    if (keepsLast) math.max(0, window.upper.slack - window.upper.offset) else keptFor

  /** The width of a time bucket, in microseconds. */
  val bucketMicros: Long = math.max(1000L, (math.max(inBucketFor, 0) + latenessMicros) / 64)

  /** The layout of the stored rows. */
  val state: StateLayout = StateLayout(
    Map(Base -> base.side.types.toSeq, Probe -> probe.types.toSeq),
    identity(base.side),
    (math.max(0, base.payload.size - SchemaEvolution.MostAdded) until base.payload.size)
      .map(fewer).toMap)

  /** The identity and the row layout of the query that returns only the first `n` columns. */
  private def fewer(n: Int): (String, Map[Side, SchemaEvolution]) = {
    val columns = base.side.columns
    val kept = (0 until n) ++ (base.payload.size until columns.size)
    val before = base.side.copy(columns = kept.map(columns(_)))
    identity(before).digest -> Map(Base -> SchemaEvolution(kept.size, kept))
  }

  private def identity(bases: StreamSide): StateIdentity = {
    def schema(side: StreamSide): String =
      side.columns.map(c => s"${c.name} ${c.dataType.sql}").mkString(", ")
    def keys(side: StreamSide): String = side.keys.map(k => side.ordinal(k)).mkString(", ")
    StateIdentity(Seq(
      "columns of the base rows" -> schema(bases),
      "columns of the probe rows" -> schema(probe),
      "keys" -> s"${keys(bases)} = ${keys(probe)}",
      "spark.sql.intervalsweep.streamFanout" -> partitionsPerKey.toString,
      "window" -> s"${window.lower.offset} to ${window.upper.offset} microseconds") ++
      limit.map("rows of a window" -> _.toString))
  }

  /** The text of the operator in plans. */
  override def toString: String = {
    val keys = base.side.keys.zip(probe.keys).map { case (b, p) => s"$b = $p" }
    val from = if (window.lower.isUnbounded) "any time" else seconds(window.lower)
    val times = s"${probe.time} from $from to ${seconds(window.upper)} s around ${base.side.time}"
    val by = results.map(r => if (r.kind.isDefined && residual.isEmpty) "runs" else "rows").distinct
    val kept =
      if (keepsLast) s"$limitText of each key kept"
      else s"probe rows kept for ${keptFor / 1e6} s"
    val parts = keys ++ Seq(times) ++ residual.map(_.sql) ++ limit.map(_ => limitText) ++
      Option.when(matched.isEmpty)(s"aggregates by ${by.mkString(" and ")}") ++
      Seq(
        if (isEager) "eager" else "final",
        s"$kept, in time buckets of ${bucketMicros / 1e6} s")
    s"WindowUnion [${parts.mkString(", ")}]"
  }

  private def limitText: String = limit.mkString

  private def seconds(end: WindowEnd): Double = end.offset / 1e6
}

object WindowUnionSpec {
  val Base: Side = LeftSide
  val Probe: Side = RightSide
}
