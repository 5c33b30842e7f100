// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.partitioning

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.encoders.{AgnosticEncoders, ExpressionEncoder}
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, CreateStruct}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.streaming.{OutputMode, StatefulProcessor, TimeMode}
import org.apache.spark.sql.types.StructType

/** What a partition does with its rows, all of a micro-batch in one call. */
trait PartitionProcessor

/** Spark's operator with state over rows that come in chunks, each for a partition. */
object StatefulOperatorPlan {

  /**
   * @param sides  the rows of each side
   * @param mode   append, or update where a row may come out again
   * @param output the rows that come out
   * @param counts and what is counted, see [[OperatorOutput]]
   */
  def apply(
      sides: Seq[PartitionedBatches],
      processor: StatefulProcessor[Any, Any, Any] with PartitionProcessor,
      timeMode: TimeMode,
      mode: OutputMode,
      output: Seq[Attribute],
      counts: StructType): LogicalPlan = {
    val chunks = Union(sides)
    val partition = chunks.output.head
    // Spark binds what it reads of a row to these, and gives it the whole row.
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

  /** The chunks that came, by their numbers: mostly those of their sides. */
  def chunks(rows: Iterator[Any], sides: Int): IndexedSeq[Seq[Array[Byte]]] = {
    val chunks = IndexedSeq.fill(sides)(Vector.newBuilder[Array[Byte]])
    rows.foreach {
      case row: InternalRow => chunks(row.getInt(0)) += row.getBinary(1)
      case other => throw new IllegalStateException(s"not a chunk: $other")
    }
    chunks.map(_.result())
  }
}
