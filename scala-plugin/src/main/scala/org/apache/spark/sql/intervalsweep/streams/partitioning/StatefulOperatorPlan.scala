// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.partitioning

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.encoders.{AgnosticEncoders, ExpressionEncoder}
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, CreateStruct}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.intervalsweep.streams.state.PartitionProcessor
import org.apache.spark.sql.streaming.{OutputMode, TimeMode}
import org.apache.spark.sql.types.StructType

/** Builds Spark's `TransformWithState` over chunks of rows, each for one state partition. */
object StatefulOperatorPlan {

  /**
   * @param sides  the packed rows of each side
   * @param mode   append, or update if the operator emits revisions of a row
   * @param output the columns of the emitted rows
   * @param counts the fields of the counts, see [[OperatorOutput]]
   */
  def apply(
      sides: Seq[PartitionedBatches],
      processor: PartitionProcessor,
      timeMode: TimeMode,
      mode: OutputMode,
      output: Seq[Attribute],
      counts: StructType): LogicalPlan = {
    val packed = sides.map(side => side.copy(child = UnfilteredWatermarks.of(side.child)))
    val chunks = if (packed.size == 1) packed.head else Union(packed)
    val partition = chunks.output.head
    // TransformWithState's deserializer is bound to these attributes but receives the full row.
    val data = chunks.output
    val item = CreateStruct(data.tail)
    val partitions =
      AttributeReference("partitions", OperatorOutput.schema(counts), nullable = false)()
    val node = TransformWithState(
      partition,
      item,
      Seq(partition),
      data,
      processor,
      timeMode,
      mode,
      ExpressionEncoder(AgnosticEncoders.PrimitiveIntEncoder).asInstanceOf[ExpressionEncoder[Any]],
      partitions,
      chunks,
      hasInitialState = false,
      Seq(partition),
      data,
      item,
      LocalRelation(partition))
    OperatorOutput(partitions, output, ObservedCounts(node, partitions))
  }

  /**
   * The chunks of a call, by chunk number: that of a side, or that of the copies of its rows. They
   * arrive in any order. Sorted, they are the same in each attempt at a micro-batch.
   */
  def chunks(rows: Iterator[Any], sides: Int): IndexedSeq[Seq[Array[Byte]]] = {
    val chunks = IndexedSeq.fill(sides)(Vector.newBuilder[Array[Byte]])
    rows.foreach {
      case row: InternalRow => chunks(row.getInt(0)) += row.getBinary(1)
      case other => throw new IllegalStateException(s"not a chunk: $other")
    }
    chunks.map(_.result().sortWith(Arrays.compare(_, _) < 0))
  }
}
