// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Alias, Ascending, Attribute, AttributeSet, Expression, NamedExpression, SortOrder
}
import org.apache.spark.sql.catalyst.plans.{ExistenceJoin, JoinType}
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.execution.{BinaryExecNode, SparkPlan}
import org.apache.spark.sql.execution.joins.BaseJoinExec
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.intervalsweep.condition.model.{
  JoinOutput, LeftSide, MatchLimit, RightSide, Side, SweepCondition
}
import org.apache.spark.sql.intervalsweep.execution.aggregates.{
  ColumnPlace, RunColumn, RunLayout, RunValue
}
import org.apache.spark.sql.intervalsweep.execution.metrics.SweepMetrics
import org.apache.spark.sql.intervalsweep.execution.packing.{PackedRows, RowShuffle}
import org.apache.spark.sql.intervalsweep.execution.task.SweepMode
import org.apache.spark.sql.intervalsweep.temporal.nodes.RuleNames

/**
 * Joins two inputs on intervals. Rows stay in the JVM. Only their endpoints go to a Python worker,
 * which answers with runs: a box and the positions of the points in it.
 *
 * This node declares what it requires of its inputs. [[SweepExecution]] brings the rows together,
 * [[SweepTask]] joins the rows of one task, and [[SweepCodegen]] generates the loop over the pairs.
 *
 * @param runs aggregates over the pairs of a run, if the plan above needs no single pairs; see
 *   `MatchRuns`
 * @param groupSide the side whose columns the aggregate above groups by; None if there is a single
 *   group
 * @param output the columns of both sides, and of `runs`, that the plan above needs
 */
case class IntervalSweepJoinExec(
    left: SparkPlan,
    right: SparkPlan,
    joinType: JoinType,
    override val sweepCondition: SweepCondition,
    override val mode: SweepMode,
    override val limit: Option[MatchLimit],
    override val ties: Seq[SortOrder],
    override val runs: Option[Seq[NamedExpression]],
    groupSide: Option[Side],
    override val partialRowId: Option[Attribute],
    override val output: Seq[Attribute])
    extends BinaryExecNode with BaseJoinExec with SweepCodegen {

  override val joinOutput: JoinOutput = JoinOutput.of(joinType).getOrElse(
    throw new IllegalArgumentException(s"IntervalSweepJoin does not do $joinType joins"))

  override def existence: Option[Attribute] = joinType match {
    case ExistenceJoin(exists) => Some(exists)
    case _ => None
  }

  override def runLayout: Option[RunLayout] = runs.map { values =>
    RunLayout(groupSide, values.collect { case Alias(v: RunValue, _) => runColumn(v) }.toArray)
  }

  private def runColumn(value: RunValue): RunColumn = {
    val places = value.columns.map { column =>
      val side = if (column.references.subsetOf(left.outputSet)) LeftSide else RightSide
      ColumnPlace(side, payload(side).indexWhere(_.semanticEquals(column)))
    }
    RunColumn(value.kind, places.toArray, value.dataType, value.isDifference, value.limit)
  }

  override def leftKeys: Seq[Expression] = sweepCondition.leftKeys
  override def rightKeys: Seq[Expression] = sweepCondition.rightKeys
  override def producedAttributes: AttributeSet =
    AttributeSet(existence ++ partialRowId ++ runs.getOrElse(Nil).map(_.toAttribute))
  override def condition: Option[Expression] = sweepCondition.residual
  override def nodeName: String = "IntervalSweepJoin"

  override lazy val metrics: Map[String, SQLMetric] = SweepMetrics.create(sparkContext) ++
    (if (mode == SweepMode.ByRanges) RowShuffle.createMetrics(sparkContext) else Map.empty)

  override def requiredChildDistribution: Seq[Distribution] = mode match {
    case SweepMode.Broadcast(LeftSide) => Seq(BroadcastDistribution(PackedRows), anywhere)
    case SweepMode.Broadcast(RightSide) => Seq(anywhere, BroadcastDistribution(PackedRows))
    case SweepMode.ByKeys => Seq(ClusteredDistribution(leftKeys), ClusteredDistribution(rightKeys))
    case SweepMode.BySplitKeys | SweepMode.ByRanges => Seq(anywhere, anywhere)
  }

  private def anywhere: Distribution = UnspecifiedDistribution

  override def requiredChildOrdering: Seq[Seq[SortOrder]] = mode match {
    case SweepMode.ByKeys | SweepMode.BySplitKeys => Seq(ordering(LeftSide), ordering(RightSide))
    case _ => Seq(Nil, Nil)
  }

  /**
   * The order of the keys alone. Endpoints are sorted within a chunk, in arrays, which is many
   * times as fast.
   */
  private def ordering(side: Side): Seq[SortOrder] =
    sweepCondition.keys(side).map(SortOrder(_, Ascending))

  /** The partitioning of the inputs, as far as the join preserves it. The output has no order. */
  override def outputPartitioning: Partitioning = mode match {
    case SweepMode.Broadcast(side) => visible(input(side.other).outputPartitioning)
    case SweepMode.ByKeys => joinOutput.tracked match {
        case Seq() => visible(
            PartitioningCollection(Seq(left.outputPartitioning, right.outputPartitioning)))
        // Unpaired rows have NULLs in the columns of the other side.
        case Seq(side) => visible(input(side).outputPartitioning)
        case _ => UnknownPartitioning(left.outputPartitioning.numPartitions)
      }
    case SweepMode.BySplitKeys => UnknownPartitioning(left.outputPartitioning.numPartitions)
    case SweepMode.ByRanges => UnknownPartitioning(0)
  }

  /**
   * `partitioning`, without partitionings by columns that are not in the output: nodes above cannot
   * use them.
   */
  private def visible(partitioning: Partitioning): Partitioning = partitioning match {
    case PartitioningCollection(all) =>
      val seen = all.map(visible).filterNot(_.isInstanceOf[UnknownPartitioning])
      if (seen.isEmpty) UnknownPartitioning(partitioning.numPartitions)
      else PartitioningCollection(seen)
    case e: Expression if !e.references.subsetOf(outputSet) =>
      UnknownPartitioning(partitioning.numPartitions)
    case other => other
  }

  override def payload(side: Side): Seq[Attribute] = {
    val needed = outputSet ++ AttributeSet(sweepCondition.residual) ++
      AttributeSet(runs.getOrElse(Nil)) ++ AttributeSet(ties)
    input(side).output.filter(needed.contains)
  }

  override def input(side: Side): SparkPlan = if (side == LeftSide) left else right

  /**
   * One execution per node, even if several threads request its rows several times: the tasks need
   * the ranges by which the input rows were shuffled.
   */
  @transient override lazy val execution: SweepExecution = SweepExecution(this)

  override protected def doExecute(): RDD[InternalRow] = execution.interpreted()
  override def inputRDDs(): Seq[RDD[InternalRow]] = Seq(execution.input)

  override def simpleString(maxFields: Int): String =
    s"$nodeName $joinType, " + described.mkString(", ")

  override def verboseStringWithOperatorId(): String =
    s"""
       |$formattedNodeName
       |${described.mkString("\n")}
       |""".stripMargin

  private def described: Seq[String] = mode.describe(sweepCondition) ++ limit.map(_.toString) ++
    runs.map(_.collect { case Alias(value, _) => value.sql }.mkString("runs [", ", ", "]")) ++
    RuleNames.shown(logicalLink.toSeq.flatMap(_.expressions).flatMap(RuleNames.of).distinct)

  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan): IntervalSweepJoinExec = copy(left = newLeft, right = newRight)
}
