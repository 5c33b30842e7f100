// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.block

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Ascending, Attribute, BoundReference, Expression, RowOrdering, SortOrder, UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.intervalsweep.condition.expressions.{EncodedEndpoint, EndpointEncoding}

/**
 * The equality keys of one row at a time. A single key that is a number, a date or a timestamp is
 * read as a LONG, which is compared and hashed many times as fast as a row.
 */
sealed trait RowKeys {

  /** True if a key is NULL. NULL equals nothing. */
  def anyNull: Boolean

  def read(row: InternalRow): Unit

  /**
   * Compares in the order in which Spark sorts keys. The keys must not be NULL, and both objects
   * must be made for the same types of keys.
   */
  def compare(other: RowKeys): Int

  /** Copies the keys of another object that is made for the same types of keys. */
  def set(other: RowKeys): Unit
}

object RowKeys {

  /** @param keys one or more keys, over the columns `input` */
  def of(keys: Seq[Expression], input: Seq[Attribute]): RowKeys =
    if (isNumber(keys)) new NumberKey(keys.head, input) else new ManyKeys(keys, input)

  /** The value that was read for a single key that is a number. */
  def number(keys: RowKeys): Long = keys.asInstanceOf[NumberKey].number

  def isNumber(keys: Seq[Expression]): Boolean =
    keys.size == 1 && EndpointEncoding.isExact(keys.head.dataType)
}

private[execution] final class NumberKey(key: Expression, input: Seq[Attribute]) extends RowKeys {
  private val numberOf = new EndpointReader(Seq(EncodedEndpoint(key)), input)

  /** The key, if it is a column that a [[RowBatch]] takes. */
  val column: Option[EndpointColumn] = numberOf.columns.map(_.head)
  var anyNull: Boolean = true
  var number = 0L

  override def read(row: InternalRow): Unit = {
    anyNull = !numberOf.read(row)
    if (!anyNull) number = numberOf(0)
  }

  override def compare(other: RowKeys): Int =
    java.lang.Long.compare(number, other.asInstanceOf[NumberKey].number)

  override def set(other: RowKeys): Unit = {
    anyNull = other.anyNull
    number = other.asInstanceOf[NumberKey].number
  }
}

private[execution] final class ManyKeys(keys: Seq[Expression], input: Seq[Attribute])
    extends RowKeys {
  private val project = UnsafeProjection.create(keys, input)
  private lazy val ordering = RowOrdering.create(
    keys.zipWithIndex.map { case (key, i) =>
      SortOrder(BoundReference(i, key.dataType, nullable = true), Ascending)
    },
    Nil)
  private lazy val copy = UnsafeRow.createFromByteArray(0, keys.size)
  var row: UnsafeRow = _

  override def anyNull: Boolean = row.anyNull

  override def read(from: InternalRow): Unit = row = project(from)

  override def compare(other: RowKeys): Int =
    ordering.compare(row, other.asInstanceOf[ManyKeys].row)

  override def set(other: RowKeys): Unit = {
    copy.copyFrom(other.asInstanceOf[ManyKeys].row)
    row = copy
  }
}
