// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams

import org.apache.spark.sql.Encoders
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.encoders.{encoderFor, ExpressionEncoder}
import org.apache.spark.sql.catalyst.expressions.{
  Alias, Attribute, AttributeReference, GetStructField
}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.streaming.{OutputMode, StatefulProcessor, TimeMode}
import org.apache.spark.sql.types.{Metadata, StructField, StructType}

/** What joins packed rows, all of a slot and micro-batch in one call. */
trait SlotProcessor

/** Spark's operator with state over packed rows; what it makes of them are pairs of rows. */
object SlotOperator {

  /**
   * @param rows   for each side its time, if rows come by one, the packed row and its slot
   * @param packed the columns of packed rows of both sides, in this order those of a pair
   * @param wanted the columns of the join
   * @param marked the metadata that they have
   */
  def apply(
      rows: Seq[LogicalPlan],
      processor: StatefulProcessor[Int, Array[Byte], InternalRow],
      timeMode: TimeMode,
      packed: Seq[Attribute],
      wanted: Seq[Attribute],
      marked: Attribute => Metadata): LogicalPlan = {
    val union = Union(rows)
    val (row, slot) = (union.output.init.last, union.output.last)
    val fields = packed.zipWithIndex.map { case (a, i) => StructField(s"c$i", a.dataType) }
    val pairType = StructType(fields :+ StructField("counts", StreamJoinCounts.schema))
    val pair = AttributeReference("pair", pairType, nullable = false)()
    val keyEncoder = encoderFor(Encoders.scalaInt).asInstanceOf[ExpressionEncoder[Any]]
    val state = TransformWithState(
      slot,
      row,
      Seq(slot),
      union.output.filterNot(_ == slot),
      processor.asInstanceOf[StatefulProcessor[Any, Any, Any]],
      timeMode,
      OutputMode.Append(),
      keyEncoder,
      pair,
      union,
      hasInitialState = false,
      Seq(slot),
      union.output.filterNot(_ == slot),
      slot,
      LocalRelation(slot))
    val columns = wanted.map { a =>
      val at = packed.indexWhere(_.exprId == a.exprId)
      Alias(GetStructField(pair, at), a.name)(
        exprId = a.exprId,
        qualifier = a.qualifier,
        explicitMetadata = Some(marked(a)))
    }
    Project(columns, ObservedCounts(state, pair))
  }
}
