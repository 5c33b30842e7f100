// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.histories

import java.util.Arrays

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions.{
  Ascending, BoundReference, GenericInternalRow, InterpretedOrdering, NullsLast, SortOrder,
  UnsafeProjection, UnsafeRow
}
import org.apache.spark.sql.types.DataType

/**
 * The changes of a partition. Each is valid until the next one of its key.
 * {{{
 *   watermark before      5
 *   changes of a key   3       7       9 deleted      14
 *   watermark now                           12
 *   valid              [3, 7)  [7, 9)
 *   kept                               9, if the key has other changes that are stored; 14
 * }}}
 *
 * @param orders the types of the columns that order the changes of an instant, by input
 */
private[histories] final class StoredChanges(slice: Slice, orders: Map[Int, Seq[DataType]]) {
  private val byKey = mutable.LinkedHashMap.empty[(Int, RowBytes), ArrayBuffer[UnsafeRow]]

  /** The order of the changes of an instant. Their values decide between equal changes. */
  private val lasts: Map[Int, Option[Ordering[UnsafeRow]]] = orders.map { case (input, types) =>
    input -> Option.when(types.nonEmpty) {
      val columns = types.zipWithIndex.map { case (dataType, i) =>
        SortOrder(BoundReference(i, dataType, nullable = true), Ascending, NullsLast, Nil)
      }
      val ordering = new InterpretedOrdering(columns)
      (a: UnsafeRow, b: UnsafeRow) => {
        val byOrder = ordering.compare(orderOf(a, types.size), orderOf(b, types.size))
        if (byOrder != 0) byOrder
        else Arrays.compare(a.getBinary(ValidRow.Values), b.getBinary(ValidRow.Values))
      }
    }
  }

  /** The number of changes. */
  var size = 0

  /** Adds a change, whose bytes stay as they are. */
  def add(change: UnsafeRow): Unit = {
    val key = (change.getInt(ValidRow.Input), new RowBytes(change.getBinary(Change.Key)))
    byKey.getOrElseUpdate(key, new ArrayBuffer[UnsafeRow]) += change
    size += 1
  }

  /** The changes that are valid in the slice, as [[ValidRow]]s. Each is valid until the next. */
  def valid: Iterator[UnsafeRow] = {
    val project = UnsafeProjection.create(ValidRow.types)
    for {
      (input, _, instants) <- ofKeys.iterator
      (last, i) <- instants.iterator.zipWithIndex
      end = if (i + 1 < instants.size) start(instants(i + 1).head) else Long.MaxValue
      if end > slice.before
      change <- last.iterator if !isDeleted(change)
    } yield project(new GenericInternalRow(
      Array[Any](input, start(change), end, change.getBinary(ValidRow.Values))))
  }

  /** The changes that a later slice needs: those that are valid at its start, or start later. */
  lazy val kept: Seq[UnsafeRow] = ofKeys.flatMap { case (_, changes, instants) =>
    val valid = instants.lastOption.toSeq.flatten.filterNot(isDeleted)
    valid ++ changes.filter(start(_) > slice.now)
  }

  /** For each key: its input, its changes, and those that count at each instant up to `now`. */
  private lazy val ofKeys = byKey.toSeq.map { case ((input, _), changes) =>
    (input, changes, upToNow(changes))
  }

  private def upToNow(changes: Iterable[UnsafeRow]): IndexedSeq[Seq[UnsafeRow]] =
    changes.filter(start(_) <= slice.now).groupBy(start).toIndexedSeq.sortBy(_._1)
      .map { case (_, instant) => lastOf(instant.toSeq) }

  private def lastOf(instant: Seq[UnsafeRow]): Seq[UnsafeRow] =
    lasts(instant.head.getInt(ValidRow.Input)).fold(instant)(order => Seq(instant.max(order)))

  private def orderOf(change: UnsafeRow, fields: Int): UnsafeRow = {
    val bytes = change.getBinary(Change.Order)
    val row = new UnsafeRow(fields)
    row.pointTo(bytes, bytes.length)
    row
  }

  private def start(change: UnsafeRow): Long = change.getLong(ValidRow.Start)

  private def isDeleted(change: UnsafeRow): Boolean =
    change.getLong(ValidRow.End) == Change.Deleted
}
