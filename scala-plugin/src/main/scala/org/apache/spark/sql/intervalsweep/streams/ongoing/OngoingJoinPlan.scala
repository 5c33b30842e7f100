// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.ongoing

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.intervalsweep.condition.expressions.EncodedEndpoint
import org.apache.spark.sql.intervalsweep.condition.model.{
  LeftSide, RightSide, Side, SweepCondition
}
import org.apache.spark.sql.intervalsweep.functions.{IntervalPredicate, Relations}
import org.apache.spark.sql.intervalsweep.streams.eventtime.{JoinWatermarks, StreamJoinErrors}
import org.apache.spark.sql.intervalsweep.streams.joins.{JoinCondition, StreamJoinSchema}
import org.apache.spark.sql.intervalsweep.streams.partitioning.{Fanout, PartitionedBatches}
import org.apache.spark.sql.intervalsweep.streams.state.{
  JoinSchemaEvolution, JoinStateIdentity, RowFields
}
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
  private val sides = Seq[Side](LeftSide, RightSide)
  private def input(side: Side): LogicalPlan = if (side == LeftSide) join.left else join.right

  private val (relations, others) =
    splitConjunctivePredicates(condition).partition(_.isInstanceOf[IntervalPredicate])

  private val relation: IntervalPredicate = relations match {
    case Seq(one: IntervalPredicate) => one
    case _ => StreamJoinErrors.unsupported(
        "Intervals that are still open",
        "join them by one relation, such as iseql_start_preceding")
  }

  private def start(side: Side) = if (side == LeftSide) relation.rStart else relation.sStart
  private def end(side: Side) = if (side == LeftSide) relation.rEnd else relation.sEnd

  private val formula: OngoingCondition = {
    val areTimes = sides.forall(s =>
      Seq(start(s), end(s)).forall(e =>
        e.dataType == TimestampType && e.references.subsetOf(input(s).outputSet)))
    OngoingCondition.of(relation).filter(_ => areTimes).getOrElse(StreamJoinErrors.unsupported(
      s"Intervals that are still open by ${relation.sql}",
      "use TIMESTAMP columns as endpoints, those of the left side first, and constants as " +
        "parameters"))
  }

  others.find(_.references.exists(a => sides.exists(end(_).references.contains(a)))).foreach { e =>
    StreamJoinErrors.unsupported(
      s"A comparison with the end of an interval that is still open, ${e.sql},",
      "use the parameters of the relation")
  }

  private val clocks: Map[Side, Attribute] = sides.map { side =>
    side ->
      input(side).output.find(a =>
        a.dataType == TimestampType && JoinWatermarks.eventTimeLag(a).contains(0L))
        .getOrElse(StreamJoinErrors.noWatermark(side))
  }.toMap

  sides.foreach { side =>
    val own = if (side == LeftSide) OngoingCondition.Left else OngoingCondition.Right
    if (formula.expiry(own, _ => 0L).isEmpty)
      StreamJoinErrors.unboundedOpen(
        side,
        relation.relation,
        Relations.withDelta(relation.relation))
  }

  private def keys(side: Side): Seq[Expression] = sweep.keys(side)

  private def key(side: Side): Expression =
    if (keys(side).isEmpty) Literal(0L)
    else If(
      keys(side).map(IsNull).reduce[Expression](Or),
      Literal(null, LongType),
      new XxHash64(keys(side)))

  private def id(side: Side): Attribute = input(side).output.find(OngoingJoinPlan.isId).get

  private def packed(side: Side): Seq[Expression] =
    Seq(
      Literal(if (side == RightSide) RowFields.IsRight else 0),
      key(side),
      If(IsNull(id(side)), Literal(null, BinaryType), SerializedKey(Seq(id(side)))),
      EncodedEndpoint(start(side)),
      EncodedEndpoint(end(side))) ++ columns(side)

  private val all: Map[Side, Int] = sides.map(s => s -> input(s).output.size).toMap

  // Pads the side with fewer columns, so that rows of both sides have the same number of fields.
  private val columns: Map[Side, Seq[Expression]] = {
    val most = all.values.max
    sides.map { side =>
      val output = input(side).output
      side -> (output ++ Seq.fill(most - output.size)(Literal(null, IntegerType)))
    }.toMap
  }

  private val attributes: Map[Side, Seq[Attribute]] = sides.map { side =>
    val head = Seq(
      "flags" -> IntegerType,
      "key" -> LongType,
      "id" -> BinaryType,
      "start" -> LongType,
      "end" -> LongType)
    side ->
      (head.map { case (name, dataType) => AttributeReference(name, dataType)() } ++
        columns(side).map {
          case a: Attribute => a
          case other => AttributeReference("nothing", other.dataType)()
        })
  }.toMap

  private def rows(side: Side): PartitionedBatches = {
    val fields = attributes(side)
    val keys = Seq(fields(RowFields.Key))
    StreamJoinSchema.packed(side, packed(side), fields, keys, Fanout.One, input(side))
  }

  def plan: LogicalPlan = StreamJoinSchema.joined(
    sides.map(rows),
    new OngoingJoinProcessor(spec),
    TimeMode.EventTime(),
    sides.flatMap(attributes),
    join.output,
    column =>
      new MetadataBuilder().withMetadata(column.metadata)
        .remove(EventTimeWatermark.delayKey).remove(OngoingJoinPlan.OpenId).build())

  /** The identities of the join with the first columns of each side, for its checkpoint. */
  private def fingerprints(columns: Map[Side, Int]): Seq[JoinStateIdentity] = {
    val types = sides.map(s => input(s).output.take(columns(s)).map(_.dataType.sql))
    val ofColumns = sides.zip(types).map { case (s, of) =>
      s"types of the columns of the $s side" -> of.mkString(", ")
    }
    JoinCondition.texts(condition, join).map { text =>
      JoinStateIdentity(s"open $types $text".hashCode, ("condition" -> text) +: ofColumns)
    }
  }

  private def earlier: Map[Int, Map[Side, JoinSchemaEvolution]] = {
    val asked = condition.references ++ AttributeSet(sides.flatMap(s => Seq(clocks(s), id(s))))
    JoinSchemaEvolution.all(sides.map(s => s -> input(s).output).toMap, asked) { some =>
      val size = OngoingIntervals.FirstColumn + some.values.max
      fingerprints(some).map(_.hash) ->
        sides.map(s => s -> JoinSchemaEvolution(size, OngoingIntervals.FirstColumn + some(s))).toMap
    }
  }

  private def spec = OngoingJoinSpec(
    s"StreamJoin of open intervals, ${condition.sql}",
    fingerprints(all).head,
    earlier,
    formula,
    sides.map(side => attributes(side).indexWhere(_.exprId == clocks(side).exprId)),
    attributes(LeftSide),
    attributes(RightSide),
    others.reduceOption(And))
}

object OngoingJoinPlan {

  /** Metadata key of the column that identifies the interval of a row. */
  val OpenId = "intervalsweep.open_id"

  private def isId(column: Attribute): Boolean = column.metadata.contains(OpenId)

  /** Whether the rows of both sides report starts and ends. */
  def isOpen(join: Join): Boolean = join.left.output.exists(isId) && join.right.output.exists(isId)
}
