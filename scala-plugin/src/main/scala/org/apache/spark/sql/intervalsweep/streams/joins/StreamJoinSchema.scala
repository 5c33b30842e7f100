// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.joins

import org.apache.spark.sql.catalyst.expressions.{
  Alias, Attribute, AttributeReference, Expression, If, IsNull, Literal, Or, XxHash64
}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.intervalsweep.streams.partitioning.{
  Fanout, PartitionedBatches, StatefulOperatorPlan
}
import org.apache.spark.sql.intervalsweep.streams.state.PartitionProcessor
import org.apache.spark.sql.streaming.{OutputMode, TimeMode}
import org.apache.spark.sql.types.{LongType, Metadata}

/** The input and the output of stream joins: packed rows of both sides in chunks, and pairs. */
private[streams] object StreamJoinSchema {

  /** The key of a packed row, as a hash; NULL if a value is NULL. */
  def hashed(keys: Seq[Expression]): Expression =
    If(
      keys.map(IsNull).reduce[Expression](Or),
      Literal(null, LongType),
      new XxHash64(keys))

  /**
   * @param values the values of the fields of a packed row
   * @param fields the attributes of these fields
   * @param keys   the fields that decide to which partition a row goes
   */
  def packed(
      side: Side,
      values: Seq[Expression],
      fields: Seq[Attribute],
      keys: Seq[Attribute],
      fanout: Fanout,
      source: LogicalPlan): PartitionedBatches = {
    val named = values.zip(fields).map {
      case (value: Attribute, field) if value.exprId == field.exprId => value
      case (value, field) => Alias(value, field.name)(exprId = field.exprId)
    }
    PartitionedBatches(side.number, fields, keys, None, fanout, Project(named, source))
  }

  /**
   * @param packed the fields of packed rows of both sides; a pair has them in this order
   * @param wanted the columns that the join returns
   * @param marked the metadata of such a column
   */
  def joined(
      sides: Seq[PartitionedBatches],
      processor: PartitionProcessor,
      timeMode: TimeMode,
      packed: Seq[Attribute],
      wanted: Seq[Attribute],
      marked: Attribute => Metadata): LogicalPlan = {
    val pair = packed.map(a => AttributeReference(a.name, a.dataType)())
    val columns = wanted.map { a =>
      Alias(pair(packed.indexWhere(_.exprId == a.exprId)), a.name)(
        exprId = a.exprId,
        qualifier = a.qualifier,
        explicitMetadata = Some(marked(a)))
    }
    Project(
      columns,
      StatefulOperatorPlan(
        sides,
        processor,
        timeMode,
        OutputMode.Append(),
        pair,
        StreamJoinCounts.schema))
  }
}
