// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.intervalsweep.condition.expressions.EncodedEndpoint
import org.apache.spark.sql.intervalsweep.condition.model.{
  Axis, Bound, Description, JoinOutput, LeftSide, RightSide, Side, SweepCondition, SweepOptions
}
import org.apache.spark.sql.intervalsweep.condition.reading.{ConditionAnalysis, Conjuncts}
import org.apache.spark.sql.intervalsweep.execution.block.RowKeys
import org.apache.spark.sql.intervalsweep.streams.eventtime.{
  JoinWatermarks, MaxLengthHint, PairTime, StreamJoinErrors
}
import org.apache.spark.sql.intervalsweep.streams.partitioning.{
  Fanout, PartitionedBatches, StatePartitionHash
}
import org.apache.spark.sql.intervalsweep.streams.state.{
  JoinSchemaEvolution, JoinStateIdentity, RowFields
}
import org.apache.spark.sql.streaming.TimeMode
import org.apache.spark.sql.types._

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
 *
 * Routing: the partitions to which the rows of a side go (`spread`), and those that store them
 * (`spreadSides`). A side is tracked if the join must know which of its rows have a match: the
 * outer side or sides of an outer join, the left side of a semi or anti join, none in an inner
 * join.
 * {{{
 *   join                             rows of a side go to             stored in
 *   equi-join keys, and not in a     one partition, by a hash of      that partition
 *   window of row numbers            the key (ByHash)
 *
 *   no keys, or in a window of row numbers:
 *     counted (isCounted)            all partitions (Everywhere)      left: one partition, by a
 *                                                                     hash of the endpoints
 *                                                                     right: all partitions
 *     no side tracked (inner)        all partitions (Everywhere)      one partition, by a hash of
 *                                                                     the endpoints
 *     one side tracked, by event     tracked: one partition, by a     that partition
 *     time                           hash of the endpoints (ByHash)
 *                                    other: all (Everywhere)          all partitions
 *     one side tracked, in a         partition 0 (Together)           partition 0
 *     window of row numbers
 *     both sides tracked             partition 0 (Together)           partition 0
 * }}}
 * Reasons: one partition must know whether a tracked row has a match, or how many. In a window of
 * row numbers each partition must know the largest number of both sides, so no side is hashed
 * there. Each pair is found in one partition only: the one that alone has one of the rows; in an
 * inner join, the one that stores the earlier row, or the left row if both rows are new.
 *
 * @param condition the join condition, with inlined replaceable expressions
 * @param isCounted whether the join returns each left row once, with the number of its matches
 */
final class StreamJoinPlan(
    join: Join,
    condition: Expression,
    output: JoinOutput,
    isCounted: Boolean = false)
    extends PredicateHelper {
  private val sides = Seq[Side](LeftSide, RightSide)
  private def input(side: Side): LogicalPlan = if (side == LeftSide) join.left else join.right

  private val clocks = JoinWatermarks(join, condition)

  /** The plan of a side without its length filters, and the conditions of these filters. */
  private val sources: Map[Side, (LogicalPlan, Seq[Expression])] =
    sides.map(s => s -> MaxLengthHint.of(input(s))).toMap

  /** The identities of the join with the first columns of each side, for its checkpoint. */
  private def fingerprints(columns: Map[Side, Int]): Seq[JoinStateIdentity] = {
    def of(side: Side): String = input(side).output.take(columns(side))
      .map(a => s"${a.name} ${a.dataType.sql}").mkString(", ")
    // Distinguishes states of a window of rows that are sorted by key from older ones.
    val order = if (isKeyed && isOfRows) ", by key" else ""
    JoinCondition.texts(condition, join).map(_ + order).map { text =>
      JoinStateIdentity(
        s"$name ${sides.map(of)} $text".hashCode,
        ("type of join" -> name) +: ("condition" -> text) +:
          sides.map(s => s"columns of the $s side" -> of(s)))
    }
  }

  private def name: String = if (isCounted) "COUNT" else join.joinType.sql

  private val all: Map[Side, Int] = sides.map(s => s -> input(s).output.size).toMap

  /** Whether the join is in a window of row numbers: a row's expiry does not depend on its key. */
  private val isOfRows =
    clocks.disorder.isDefined && !Conjuncts.of(condition).exists(_.relation.isDefined)

  /**
   * (residual, swept conjuncts). The window of a join by inequalities bounds its state, but almost
   * all stored rows are in it. So it becomes a residual if the other conjuncts have two axes.
   */
  private val (apart, swept) = {
    val conjuncts = splitConjunctivePredicates(condition)
    val window = clocks.window(conjuncts.filterNot(e => isOfRows && isKey(e)))
    val rest = conjuncts.diff(window).reduceOption(And)
    val hasTwoAxes = rest.flatMap(analyzed(_, None)).exists(_.sweeps.forall(_.second.isDefined))
    if (window.nonEmpty && hasTwoAxes) (window, rest.get) else (Nil, condition)
  }

  private def isKey(e: Expression): Boolean =
    ConditionAnalysis.keys(e, join.left.outputSet, join.right.outputSet).isDefined

  private val sweeps: Map[Side, SweepCondition] = {
    val either = sides.flatMap { side =>
      analyzed(swept, Some(side)).filter(_.sweeps.forall(_.boxes == side)).map(side -> _)
    }
    if (either.size == 2) either.toMap
    else {
      val any = analyzed(swept, None)
        .getOrElse(throw new IllegalStateException(s"no sweep for ${condition.sql}"))
      sides.map(_ -> any).toMap
    }
  }

  private def analyzed(e: Expression, boxes: Option[Side]): Option[SweepCondition] =
    ConditionAnalysis.of(
      e,
      join.left.outputSet,
      join.right.outputSet,
      SweepOptions(forcedBoxes = boxes, weakRanges = true, functionsAsAxes = true)).toOption

  private val keys: Map[Side, Seq[Expression]] = sides.map(s => s -> sweeps(LeftSide).keys(s)).toMap
  private val isKeyed = keys(LeftSide).nonEmpty

  /** Whether rows are routed by key. Not in a window of rows, where all partitions see all rows. */
  private val isByKey = isKeyed && !isOfRows
  private val hasNumberForKey = isKeyed && sides.forall(s => RowKeys.isNumber(keys(s)))

  /** The endpoints of a side that either probe plan reads, each once. */
  private val endpoints: Map[Side, Seq[Expression]] = sides.map { side =>
    side -> sides.flatMap(sweeps(_).endpoints(side)).foldLeft(Seq.empty[Expression]) { (all, e) =>
      if (all.exists(_.semanticEquals(e))) all else all :+ e
    }
  }.toMap

  private def newIndex(newSide: Side, side: Side)(old: Int): Int =
    endpoints(side).indexWhere(_.semanticEquals(sweeps(newSide).endpoints(side)(old)))

  private val pairings: Map[Side, ProbePlan] = sides.map { newSide =>
    val sweep = sweeps(newSide)
    val moved = sweep.sweeps.map { s =>
      def bound(b: Bound): Bound = b.copy(endpoint = newIndex(newSide, s.boxes)(b.endpoint))
      def axis(a: Axis): Axis =
        Axis(newIndex(newSide, s.points)(a.point), a.lower.map(bound), a.upper.map(bound))
      s.copy(lead = axis(s.lead), second = s.second.map(axis))
    }
    // If an error must be raised for matching pairs, re-evaluate the whole original condition.
    val rest = if (sweep.hasChecks) Seq(condition) else apart ++ sweep.residual
    val sameKeys =
      if (!isKeyed || hasNumberForKey) Nil
      else keys(LeftSide).zip(keys(RightSide)).map { case (l, r) => EqualTo(l, r) }
    val isBand = sameKeys.isEmpty && rest.forall(clocks.isBand)
    newSide -> ProbePlan(moved, (sameKeys ++ rest).reduceOption(And), isBand)
  }.toMap

  checkResidual()

  private def checkResidual(): Unit =
    pairings.values.flatMap(_.residual).foreach { e =>
      if (e.containsPattern(TreePattern.CURRENT_LIKE))
        StreamJoinErrors.unsupported(
          s"Conditions that depend on the current time, such as ${e.sql},",
          "compare columns, such as one that was computed before the join")
      if (e.containsAnyPattern(TreePattern.PLAN_EXPRESSION, TreePattern.PYTHON_UDF))
        StreamJoinErrors.unsupported(
          s"Conditions with subqueries or Python functions, such as ${e.sql},",
          "filter the result of the join instead")
    }

  /** The partitions to which the rows of a side go, see the class comment. */
  private sealed trait Spread
  private case object Everywhere extends Spread
  private case object ByHash extends Spread
  private case object Together extends Spread

  private def spread(side: Side): Spread =
    if (isByKey) ByHash
    else if (isCounted) Everywhere
    else output.tracked match {
      case Nil => Everywhere
      case Seq(tracked) if clocks.disorder.isEmpty =>
        // The side that tracks matches is hashed to one partition; the other goes to all.
        if (side == tracked) ByHash else Everywhere
      case _ => Together
    }

  /** The sides whose rows go to all partitions, where one partition stores each row. */
  private val spreadSides: Set[Side] =
    if (isByKey) Set.empty
    else if (isCounted) Set(LeftSide)
    else if (output.tracked.isEmpty) sides.toSet
    else Set.empty

  private def firstColumn(side: Side): Int = RowFields.FirstEndpoint + endpoints(side).size

  /** The number of fields of packed rows, padded so that both sides have as many null bits. */
  private def sizes(columns: Map[Side, Int]): Map[Side, Int] = {
    def bits(fields: Int): Int = UnsafeRow.calculateBitSetWidthInBytes(fields)
    val needed = sides.map(s => s -> (firstColumn(s) + columns(s))).toMap
    val widest = needed.values.map(bits).max
    needed.map { case (side, n) => side -> LazyList.from(n).find(bits(_) == widest).get }
  }

  private val columns: Map[Side, Seq[Expression]] = sizes(all).map { case (side, size) =>
    val missing = size - firstColumn(side) - all(side)
    side -> (input(side).output ++ Seq.fill(missing)(Literal(null, IntegerType)))
  }

  private def earlier: Map[Int, Map[Side, JoinSchemaEvolution]] = {
    val asked =
      condition.references ++ AttributeSet(sides.flatMap(s => clocks.number(s).references))
    JoinSchemaEvolution.all(sides.map(s => s -> input(s).output).toMap, asked) { some =>
      val size = sizes(some)
      fingerprints(some).map(_.hash) ->
        sides.map(s => s -> JoinSchemaEvolution(size(s), firstColumn(s) + some(s))).toMap
    }
  }

  private def fields(side: Side): RowFields = {
    val by = sweeps(side.other).sortEndpoint(side)
    RowFields(endpoints(side).size, columns(side).size, newIndex(side.other, side)(by))
  }

  private def key(side: Side): Expression =
    if (!isKeyed) Literal(0L)
    else if (hasNumberForKey) EncodedEndpoint(keys(side).head)
    else {
      val anyNull = keys(side).map(IsNull).reduce[Expression](Or)
      If(anyNull, Literal(null, LongType), new XxHash64(keys(side)))
    }

  private def flags(side: Side): Expression = {
    val owner =
      if (spreadSides.contains(side))
        ShiftLeft(StatePartitionHash(new Murmur3Hash(endpoints(side))), Literal(RowFields.FlagBits))
      else Literal(0)
    val isReversed = clocks.ordered(side).map { order =>
      val is = Coalesce(Seq(GreaterThan(order.start, order.end), Literal.FalseLiteral))
      If(is, Literal(RowFields.IsReversed), Literal(0))
    }
    val isTooLong = sources(side)._2.reduceOption(And).map { length =>
      If(Coalesce(Seq(length, Literal.TrueLiteral)), Literal(0), Literal(RowFields.IsTooLong))
    }
    (Seq(owner) ++ isReversed ++ isTooLong).reduce[Expression](BitwiseOr(_, _))
  }

  private def packed(side: Side): Seq[Expression] =
    Seq(flags(side), key(side), clocks.number(side), clocks.expiry(side)) ++ endpoints(side) ++
      columns(side)

  /** The attributes of packed rows; the columns of the stream keep their names. */
  private def attributes(side: Side): Seq[Attribute] = {
    val head = Seq(
      "flags" -> IntegerType,
      "key" -> LongType,
      "clock" -> LongType,
      "expiry" ->
        LongType) ++ endpoints(side).indices.map(k => s"endpoint$k" -> LongType)
    head.map { case (name, dataType) => AttributeReference(name, dataType)() } ++
      columns(side).map {
        case a: Attribute => a
        case other => AttributeReference("nothing", other.dataType)()
      }
  }

  private val packedAttributes: Map[Side, Seq[Attribute]] =
    sides.map(s => s -> attributes(s)).toMap

  private def rows(side: Side): PartitionedBatches = {
    val fields = packedAttributes(side)
    val (keys, fanout) = spread(side) match {
      case Everywhere => Nil -> Fanout(0, isSpread = false)
      case ByHash if isByKey => Seq(fields(RowFields.Key)) -> Fanout.One
      case ByHash =>
        fields.slice(RowFields.FirstEndpoint, firstColumn(side)) -> Fanout.One
      case Together => Nil -> Fanout.One
    }
    StreamJoinSchema.packed(side, packed(side), fields, keys, fanout, sources(side)._1)
  }

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
        Description(sweeps(LeftSide)).parts.mkString(", ") +
        sides.map(s => s", $s rows leave at ${clocks.expiry(s).sql}").mkString +
        sides.filter(clocks.ordered(_).isDefined).map(s =>
          s", reversed $s rows are dropped").mkString,
      fingerprints(all).head,
      earlier,
      output,
      packedAttributes(LeftSide),
      packedAttributes(RightSide),
      sides.map(s => s -> fields(s)).toMap,
      pairings,
      clocks.disorder,
      spreadSides,
      isCounted)
}
