// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.intervalsweep.condition.expressions.EncodedEndpoint
import org.apache.spark.sql.intervalsweep.condition.model.{
  Description, JoinOutput, LeftSide, RightSide, Side
}
import org.apache.spark.sql.intervalsweep.streams.eventtime.{
  MaxLengthHint, PairTime, RemovedFilters
}
import org.apache.spark.sql.intervalsweep.streams.partitioning.{
  Fanout, PartitionedBatches, StatePartitionHash
}
import org.apache.spark.sql.intervalsweep.streams.state.{RowFields, StateIdentity, StateLayout}
import org.apache.spark.sql.streaming.TimeMode
import org.apache.spark.sql.types.LongType

/**
 * The logical plan of a join of streams:
 * {{{
 *   Project                       the columns of the join
 *     OperatorOutput              rows
 *       CollectMetrics            counts of the partitions, for the query's progress
 *         TransformWithState      by partition; StreamJoinProcessor
 *           Union
 *             PartitionedBatches  partition, side, chunk of packed rows
 *               Project           the fields of packed rows of the left side
 *             PartitionedBatches
 *               Project           the fields of packed rows of the right side
 * }}}
 * [[StreamJoinRouting]] says to which partitions a row goes.
 *
 * @param condition the join condition, with inlined replaceable expressions
 * @param isCounted whether the join returns each left row once, with the number of its matches
 */
final class StreamJoinPlan(
    join: Join,
    condition: Expression,
    output: JoinOutput,
    isCounted: Boolean = false) {
  import StreamJoinRouting.{ByHash, Everywhere, Together}

  private val sides = Side.all
  private val analysis = new StreamJoinAnalysis(join, condition)
  import analysis.{clocks, endpoints, fields, hasNumberForKey, input, isKeyed, keys}

  private val routing = StreamJoinRouting(
    output,
    isKeyed,
    analysis.isOfRows,
    isByNumber = clocks.disorder.isDefined,
    isCounted)

  /** The plan of a side without its length filters, and the conditions of these filters. */
  private val measured: Map[Side, (LogicalPlan, Seq[Expression])] =
    sides.map(s => s -> MaxLengthHint.of(input(s))).toMap

  /**
   * The plan of a side without its other filters, and these, in a join by row numbers: the numbers
   * of all rows tell which rows can be evicted.
   */
  private val sources: Map[Side, (LogicalPlan, Seq[Expression])] = sides.map { side =>
    val rows = measured(side)._1
    val areCounted = clocks.disorder.isDefined && !output.keepsUnmatched(side)
    side -> (if (areCounted) RemovedFilters.of(rows) else (rows, Nil))
  }.toMap

  private def key(side: Side): Expression =
    if (!isKeyed) Literal(0L)
    else if (hasNumberForKey) EncodedEndpoint(keys(side).head)
    else StreamJoinSchema.hashed(keys(side))

  private def flags(side: Side): Expression = {
    val owner =
      if (routing.spreadSides.contains(side))
        ShiftLeft(StatePartitionHash(new Murmur3Hash(endpoints(side))), Literal(RowFields.FlagBits))
      else Literal(0)
    val isReversed = clocks.ordered(side).map { order =>
      val is = Coalesce(Seq(GreaterThan(order.start, order.end), Literal.FalseLiteral))
      If(is, Literal(RowFields.IsReversed), Literal(0))
    }
    val isTooLong = measured(side)._2.reduceOption(And).map { length =>
      If(Coalesce(Seq(length, Literal.TrueLiteral)), Literal(0), Literal(RowFields.IsTooLong))
    }
    (Seq(owner) ++ isReversed ++ isTooLong).reduce[Expression](BitwiseOr(_, _))
  }

  private def packed(side: Side): Seq[Expression] =
    Seq(
      passing(side, flags(side), Literal(0)),
      passing(side, key(side)),
      clocks.number(side),
      passing(side, clocks.expiry(side))) ++
      endpoints(side).map(passing(side, _)) ++
      input(side).output

  /**
   * An expression over the rows that pass the filters of `sources`. A row that a filter drops has
   * no key, so it matches nothing, but its number counts.
   */
  private def passing(
      side: Side,
      e: Expression,
      otherwise: Expression = Literal(null, LongType)): Expression =
    sources(side)._2.reduceOption(And).fold(e)(If(_, e, otherwise))

  private val packedAttributes: Map[Side, Seq[Attribute]] = sides.map { side =>
    side -> (RowFields.attributes(endpoints(side).size) ++ input(side).output)
  }.toMap

  private def rows(side: Side): PartitionedBatches = {
    val fields = packedAttributes(side)
    val (keys, fanout) = routing.spread(side) match {
      case Everywhere => Nil -> Fanout(0, isSpread = false)
      case ByHash if routing.isByKey => Seq(fields(RowFields.Key)) -> Fanout.One
      case ByHash =>
        fields.slice(RowFields.FirstEndpoint, RowFields.FirstEndpoint + endpoints(side).size) ->
          Fanout.One
      case Together => Nil -> Fanout.One
    }
    StreamJoinSchema.packed(side, packed(side), fields, keys, fanout, sources(side)._1)
  }

  /** The identity of the join with the first columns of each side, for its checkpoint. */
  private def identity(columns: Map[Side, Int]): StateIdentity = {
    def of(side: Side): String = input(side).output.take(columns(side))
      .map(a => s"${a.name} ${a.dataType.sql}").mkString(", ")
    StateIdentity(
      Seq("type of join" -> name, "condition" -> JoinCondition.text(condition, join)) ++
        sides.map(s => s"columns of the $s side" -> of(s)) ++
        sides.map(s =>
          s"expiry of the rows of the $s side" -> JoinCondition.text(clocks.expiry(s), join)))
  }

  private def name: String = if (isCounted) "COUNT" else join.joinType.sql

  private def state: StateLayout = JoinStateLayout(
    sides.map(s => s -> input(s).output).toMap,
    packedAttributes,
    condition.references ++ AttributeSet(sides.flatMap(s => clocks.number(s).references)))(identity)

  def plan: LogicalPlan = StreamJoinSchema.joined(
    sides.map(rows),
    new StreamJoinProcessor(spec, PairTime(join, condition, output, Some(clocks))),
    if (clocks.disorder.isEmpty) TimeMode.EventTime() else TimeMode.None(),
    sides.flatMap(packedAttributes),
    if (isCounted) join.left.output :+ count else join.output,
    clocks.metadata(_, output))

  /** The field of the right side's packed rows that returns the count. */
  private def count: Attribute = packedAttributes(RightSide)(RowFields.Clock)

  private def spec: StreamJoinSpec =
    StreamJoinSpec(
      s"StreamJoin ${if (isCounted) name else join.joinType}, " +
        Description(analysis.sweeps(LeftSide)).parts.mkString(", ") +
        sides.map(s => s", $s rows leave at ${clocks.expiry(s).sql}").mkString +
        sides.filter(clocks.ordered(_).isDefined).map(s =>
          s", reversed $s rows are dropped").mkString,
      state,
      output,
      packedAttributes(LeftSide),
      packedAttributes(RightSide),
      sides.map(s => s -> fields(s)).toMap,
      analysis.pairings,
      clocks.disorder,
      clocks.inOrder,
      routing.spreadSides,
      isCounted)
}
