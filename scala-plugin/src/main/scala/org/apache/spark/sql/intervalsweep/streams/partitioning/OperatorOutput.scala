// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.partitioning

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Alias, Attribute, AttributeReference, AttributeSet, GenericInternalRow, GetStructField, IsNull,
  JoinedRow
}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project, UnaryNode}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.types.{DataType, ObjectType, StructField, StructType}

/**
 * Unpacks the rows that the partitions of a stream operator emit. Spark's operator and the node
 * that collects its counts do some work for each object that passes. Therefore a partition emits
 * only two objects: an iterator over all of its rows, then a row of its counts.
 * {{{
 *   OperatorOutput              rows
 *     CollectMetrics
 *       TransformWithState      per partition: struct(NULL, rows), struct(counts, NULL)
 * }}}
 * In real-time mode a row must not wait for other rows, and Spark accepts only nodes that it knows.
 * There each row is an object.
 *
 * @param partitions the column of `child` with these objects
 */
case class OperatorOutput(
    partitions: Attribute,
    override val output: Seq[Attribute],
    child: LogicalPlan)
    extends UnaryNode {
  override def producedAttributes: AttributeSet = AttributeSet(output)

  override protected def withNewChildInternal(newChild: LogicalPlan): OperatorOutput =
    copy(child = newChild)

  /** The same output by Spark's own nodes, for real-time mode. */
  private[intervalsweep] def inRealTime: LogicalPlan = {
    val fields = output.zipWithIndex.map { case (a, i) => StructField(s"c$i", a.dataType) }
    val single = AttributeReference(
      partitions.name,
      OperatorOutput.schema(OperatorOutput.countsOf(partitions.dataType), fields),
      nullable = false)(partitions.exprId)
    val rows = child.transformAllExpressions {
      case a: AttributeReference if a.exprId == partitions.exprId => single
    }
    val named = output.zipWithIndex.map { case (a, i) =>
      Alias(GetStructField(single, i + 1), a.name)(exprId = a.exprId)
    }
    Project(named, Filter(IsNull(GetStructField(single, OperatorOutput.Counts)), rows))
  }
}

object OperatorOutput {

  /** The fields of an object: its counts, or its rows. */
  val Counts = 0
  private val Rows = 1
  private val RowsType = ObjectType(classOf[Iterator[_]])

  /** The schema of the objects of an operator that emits all rows of a partition together. */
  def schema(counts: StructType): StructType =
    schema(counts, Seq(StructField("rows", RowsType)))

  private def schema(counts: DataType, others: Seq[StructField]): StructType =
    StructType(StructField("counts", counts) +: others)

  private def countsOf(partitions: DataType): DataType =
    partitions.asInstanceOf[StructType](Counts).dataType

  /**
   * The objects that a processor returns.
   *
   * @param rows     each row is valid until the next one is read
   * @param counts   evaluated after all rows have been read
   * @param isSingle whether each row is an object of its own
   */
  def objects(
      rows: Iterator[InternalRow],
      counts: => InternalRow,
      isSingle: Boolean): Iterator[InternalRow] = {
    def end = Iterator.single(counts).map(c => InternalRow(c, null))
    if (isSingle) {
      val (none, row) = (new GenericInternalRow(1), new JoinedRow)
      rows.map(row(none, _)) ++ end
    } else Iterator.single(InternalRow(null, rows)) ++ end
  }

  /** The name of the late rows among the counts of each operator. */
  private[partitioning] val LateRows = "lateRows"
  private[partitioning] val Dropped = "numRowsDroppedByWatermark"

  /** A count of an object; 0 if it has rows. */
  private[streams] def count(partition: InternalRow, field: Int, fields: Int): Long =
    if (partition.isNullAt(Counts)) 0L else partition.getStruct(Counts, fields).getLong(field)

  /** The rows of an object; none if it has counts. */
  private[streams] def of(partition: InternalRow): Iterator[InternalRow] =
    if (partition.isNullAt(Rows)) Iterator.empty
    else partition.get(Rows, RowsType).asInstanceOf[Iterator[InternalRow]]
}

/** Unpacks the rows from the objects. */
case class OperatorOutputExec(override val output: Seq[Attribute], child: SparkPlan)
    extends UnaryExecNode {
  override def nodeName: String = "OperatorOutput"

  override def producedAttributes: AttributeSet = AttributeSet(output)

  override lazy val metrics: Map[String, SQLMetric] =
    Map("numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"))

  override protected def doExecute(): RDD[InternalRow] = {
    CheckpointPartitions.check(child)
    val numRows = longMetric("numOutputRows")
    val (late, dropped) = (lateRows, rowsDroppedByWatermark)
    child.execute().mapPartitionsInternal { partitions =>
      partitions.flatMap { partition =>
        val objects = partition.getStruct(0, 2)
        for (metric <- dropped; (field, fields) <- late)
          metric += OperatorOutput.count(objects, field, fields)
        OperatorOutput.of(objects)
      }.map { row =>
        numRows += 1
        row
      }
    }
  }

  /** The position of the late rows among the counts, and the number of counts. */
  private def lateRows: Option[(Int, Int)] = child.output.headOption.map(_.dataType).collect {
    case StructType(Array(StructField(_, counts: StructType, _, _), _*)) =>
      (counts.fieldNames.indexOf(OperatorOutput.LateRows), counts.length)
  }

  /** Spark's own metric of its stateful operator, which does not know the rows in the chunks. */
  private def rowsDroppedByWatermark: Option[SQLMetric] =
    child.collectFirst { case node if node.metrics.contains(OperatorOutput.Dropped) => node }
      .map(_.metrics(OperatorOutput.Dropped))

  override protected def withNewChildInternal(newChild: SparkPlan): OperatorOutputExec =
    copy(child = newChild)
}
