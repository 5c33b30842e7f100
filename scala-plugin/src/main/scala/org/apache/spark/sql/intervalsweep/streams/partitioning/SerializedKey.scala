// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.partitioning

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types.{BinaryType, DataType}

/** A row of values as bytes in Spark's own row format, which a stateful operator can store. */
case class SerializedKey(children: Seq[Expression]) extends Expression {
  @transient private lazy val projection = UnsafeProjection.create(children)

  override def nullable: Boolean = false

  override def dataType: DataType = BinaryType

  override def prettyName: String = "packed_row"

  override def eval(input: InternalRow): Any = projection(input).copy().getBytes

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val row = GenerateUnsafeProjection.createCode(ctx, children)
    ev.copy(
      code = code"""
      ${row.code}
      byte[] ${ev.value} = ${row.value}.copy().getBytes();""",
      isNull = FalseLiteral)
  }

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]): SerializedKey = copy(children = newChildren)
}
