// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.partitioning

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.plans.logical.{Generate, LogicalPlan, Project}
import org.apache.spark.sql.intervalsweep.execution.packing.RowPacker
import org.apache.spark.sql.types.{BinaryType, DataType, IntegerType}

/**
 * Produces the output of [[PartitionedBatches]] by Spark's own nodes, with one row per chunk. In
 * real-time mode a row must not wait for other rows, and Spark accepts only nodes that it knows.
 */
private[intervalsweep] object SingleRowBatches {

  def apply(rows: PartitionedBatches, partitions: Int): LogicalPlan = {
    val address = PartitionAssigner(rows.keys, rows.time, rows.fanout, partitions)
    val side = Literal(rows.number)
    val (input, partition, number) =
      if (address.copies == 1) (rows.child, address.first, side)
      else {
        val copy = AttributeReference("copy", IntegerType, nullable = false)()
        val all = Explode(Literal((0 until address.copies).toArray))
        val copied = Generate(all, Nil, outer = false, None, Seq(copy), rows.child)
        val isFirst = EqualTo(copy, Literal(0))
        val number = If(isFirst, side, Literal(rows.copied.getOrElse(rows.number)))
        (copied, address.beyond(address.first, copy), number)
      }
    val numbers = Literal(StatePartitions.numbers(partitions))
    val values = Seq(
      GetArrayItem(numbers, partition, failOnError = false),
      number,
      SingleRowBatch(rows.columns, NamedExpression.newExprId.id))
    Project(
      rows.output.zip(values).map { case (a, value) => Alias(value, a.name)(exprId = a.exprId) },
      input)
  }
}

/**
 * A chunk of one row, in the format of a [[RowPacker]].
 *
 * @param instance a number that no other expression has, as in [[PartitionedBatchesExec]]
 */
case class SingleRowBatch(children: Seq[Expression], instance: Long)
    extends Expression with CodegenFallback {
  @transient private lazy val projection = UnsafeProjection.create(children)
  @transient private lazy val packer = new RowPacker(children.size)

  override def nullable: Boolean = false

  override def dataType: DataType = BinaryType

  override def prettyName: String = "one_row_chunk"

  override def eval(input: InternalRow): Any = {
    packer.add(projection(input))
    packer.take()
  }

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]): SingleRowBatch = copy(children = newChildren)
}
