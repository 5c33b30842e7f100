// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.ongoing

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.intervalsweep.condition.expressions.EncodedEndpoint
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, Side, SweepCondition}
import org.apache.spark.sql.intervalsweep.functions.{IntervalPredicate, Relations}
import org.apache.spark.sql.intervalsweep.streams.eventtime.{
  ClockMetadata, MissingWatermark, StreamErrors
}
import org.apache.spark.sql.intervalsweep.streams.joins.{
  JoinCondition, JoinStateLayout, StreamJoinSchema
}
import org.apache.spark.sql.intervalsweep.streams.partitioning.{
  Fanout, PartitionedBatches, SerializedKey
}
import org.apache.spark.sql.intervalsweep.streams.state.{RowFields, StateIdentity}
import org.apache.spark.sql.streaming.TimeMode
import org.apache.spark.sql.types._

/**
 * The plan of an inner join of streams whose rows report the start or the end of an interval. It
 * has the shape of a [[StreamJoinPlan]], with another processor.
 *
 * @param sweep the analyzed condition; only its keys are used
 */
final class OngoingJoinPlan(join: Join, condition: Expression, sweep: SweepCondition)
    extends PredicateHelper {
  private def input(side: Side): LogicalPlan = if (side == LeftSide) join.left else join.right

  private val (relations, others) =
    splitConjunctivePredicates(condition).partition(_.isInstanceOf[IntervalPredicate])

  private val relation: IntervalPredicate = relations match {
    case Seq(one: IntervalPredicate) => one
    case _ => StreamErrors.cannotJoin(
        "Intervals that are still open",
        "join them by one relation, such as iseql_start_preceding")
  }

  private def start(side: Side) = if (side == LeftSide) relation.rStart else relation.sStart
  private def end(side: Side) = if (side == LeftSide) relation.rEnd else relation.sEnd

  private val formula: OngoingCondition = {
    val areTimes = Side.all.forall(s =>
      Seq(start(s), end(s)).forall(e =>
        e.dataType == TimestampType && e.references.subsetOf(input(s).outputSet)))
    OngoingCondition.of(relation).filter(_ => areTimes).getOrElse(StreamErrors.cannotJoin(
      s"Intervals that are still open by ${relation.sql}",
      "use TIMESTAMP columns as endpoints, those of the left side first, and constants as " +
        "parameters"))
  }

  others.find(_.references.exists(a => Side.all.exists(end(_).references.contains(a)))).foreach {
    e =>
      StreamErrors.cannotJoin(
        s"A comparison with the end of an interval that is still open, ${e.sql},",
        "use the parameters of the relation")
  }

  private val clocks: Map[Side, Attribute] = Side.all.map { side =>
    side ->
      input(side).output.find(a =>
        a.dataType == TimestampType && ClockMetadata.eventTimeLag(a).contains(0L))
        .getOrElse(MissingWatermark.fail(s"$side side", input(side)))
  }.toMap

  Side.all.filterNot(formula.isBounded).foreach { side =>
    StreamErrors.unboundedOpen(side, relation.relation, Relations.withDelta(relation.relation))
  }

  private def keys(side: Side): Seq[Expression] = sweep.keys(side)

  private def key(side: Side): Expression =
    if (keys(side).isEmpty) Literal(0L) else StreamJoinSchema.hashed(keys(side))

  private def id(side: Side): Attribute = input(side).output.find(OngoingJoinPlan.isId).get

  /** The expiry is computed when the row is stored: it depends on the end that is known then. */
  private def packed(side: Side): Seq[Expression] =
    Seq(
      Literal(0),
      key(side),
      EncodedEndpoint(clocks(side)),
      Literal(0L),
      EncodedEndpoint(start(side)),
      Coalesce(Seq(EncodedEndpoint(end(side)), Literal(OngoingCondition.Unknown))),
      If(IsNull(id(side)), Literal(null, BinaryType), SerializedKey(Seq(id(side))))) ++
      input(side).output

  private val attributes: Map[Side, Seq[Attribute]] = Side.all.map { side =>
    val named = AttributeReference("id", BinaryType)()
    side -> (RowFields.attributes(endpoints = 2) ++ (named +: input(side).output))
  }.toMap

  private def rows(side: Side): PartitionedBatches = {
    val fields = attributes(side)
    val keys = Seq(fields(RowFields.Key))
    StreamJoinSchema.packed(side, packed(side), fields, keys, Fanout.One, input(side))
  }

  def plan: LogicalPlan = StreamJoinSchema.joined(
    Side.all.map(rows),
    new OngoingJoinProcessor(spec),
    TimeMode.EventTime(),
    Side.all.flatMap(attributes),
    join.output,
    column =>
      new MetadataBuilder().withMetadata(column.metadata)
        .remove(EventTimeWatermark.delayKey).remove(OngoingJoinPlan.OpenId).build())

  /** The identity of the join with the first columns of each side, for its checkpoint. */
  private def identity(columns: Map[Side, Int]): StateIdentity = {
    val ofColumns = Side.all.map { s =>
      val types = input(s).output.take(columns(s)).map(_.dataType.sql)
      s"types of the columns of the $s side" -> types.mkString(", ")
    }
    StateIdentity(("condition" -> JoinCondition.text(condition, join)) +: ofColumns)
  }

  private def spec = OngoingJoinSpec(
    s"StreamJoin of open intervals, ${condition.sql}",
    JoinStateLayout(
      Side.all.map(s => s -> input(s).output).toMap,
      attributes,
      condition.references ++ AttributeSet(Side.all.flatMap(s => Seq(clocks(s), id(s)))))(identity),
    formula,
    attributes,
    attributes.map { case (side, all) =>
      side -> RowFields(2, all.size - RowFields.FirstEndpoint - 2, sortedBy = 0)
    },
    others.reduceOption(And))
}

object OngoingJoinPlan {

  /** Metadata key of the column that identifies the interval of a row. */
  val OpenId = "intervalsweep.open_id"

  private def isId(column: Attribute): Boolean = column.metadata.contains(OpenId)

  /** Whether the rows of both sides report starts and ends. */
  def isOpen(join: Join): Boolean = join.left.output.exists(isId) && join.right.output.exists(isId)
}
