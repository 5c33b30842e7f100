// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.block

import java.lang.Double.longBitsToDouble
import java.lang.Float.intBitsToFloat

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute, Expression, MutableProjection, SpecificInternalRow
}
import org.apache.spark.sql.intervalsweep.condition.expressions.{EncodedEndpoint, EndpointEncoding}
import org.apache.spark.sql.intervalsweep.execution.packing.RowBatch
import org.apache.spark.sql.types.{DataType, DoubleType, FloatType, LongType}

/**
 * Reads the endpoints of one row after the other: from the row itself where all of them are columns
 * as they are, and otherwise by a projection, which takes longer.
 *
 * @param endpoints of LongType, over the columns `input`
 */
final class EndpointReader(endpoints: Seq[Expression], input: Seq[Attribute])
    extends (Int => Long) {

  /** The endpoints, if they are columns of which a [[RowBatch]] has words. */
  val columns: Option[Array[EndpointColumn]] = EndpointReader.columns(endpoints, input)
  private val fields =
    columns.getOrElse(Array.tabulate(endpoints.size)(new EndpointColumn(_, LongType)))
  private val computed = new SpecificInternalRow(endpoints.map(_ => LongType))
  private val project: MutableProjection =
    if (columns.isDefined) null else MutableProjection.create(endpoints, input).target(computed)
  private var row: InternalRow = _

  /** Goes on to a row; says whether none of its endpoints is NULL. */
  def read(row: InternalRow): Boolean = {
    this.row = if (project == null) row else { project(row); computed }
    var k = 0
    while (k < fields.length && !this.row.isNullAt(fields(k).ordinal)) k += 1
    k == fields.length
  }

  /** An endpoint of the row that was read, which is not NULL. */
  override def apply(endpoint: Int): Long = fields(endpoint).of(row)
}

object EndpointReader {

  private def columns(
      endpoints: Seq[Expression],
      input: Seq[Attribute]): Option[Array[EndpointColumn]] = {
    val found = endpoints.collect {
      case EncodedEndpoint(a: Attribute) if RowBatch.isWord(a.dataType) =>
        new EndpointColumn(input.indexWhere(_.exprId == a.exprId), a.dataType)
    }
    Option.when(found.size == endpoints.size)(found.toArray)
  }
}

/**
 * A column of numbers, read as [[EncodedEndpoint]] encodes them.
 *
 * @param ordinal where it is in a row
 * @param dataType one that can be encoded, and [[RowBatch.isWord]]
 */
final class EndpointColumn(val ordinal: Int, dataType: DataType) {
  private val bytes = dataType.defaultSize
  private val isFraction = dataType == FloatType || dataType == DoubleType
  private val right = 64 - 8 * bytes
  private val left = right - RowBatch.shift(dataType)

  /** The value of a row, which is not NULL. */
  def of(row: InternalRow): Long =
    if (isFraction) EndpointEncoding.ofDouble(fraction(row))
    else bytes match {
      case 8 => row.getLong(ordinal)
      case 4 => row.getInt(ordinal).toLong
      case 2 => row.getShort(ordinal).toLong
      case _ => row.getByte(ordinal).toLong
    }

  private def fraction(row: InternalRow): Double =
    if (bytes == 8) row.getDouble(ordinal) else row.getFloat(ordinal).toDouble

  /** Reads the column's words of `n` rows from `first` on, of which none is NULL. */
  def read(words: Array[Long], first: Int, n: Int, into: Array[Long], at: Int): Unit =
    if (isFraction) {
      var i = 0
      while (i < n) {
        into(at + i) = EndpointEncoding.ofDouble(fraction(words(first + i)))
        i += 1
      }
    } else if (bytes == 8) System.arraycopy(words, first, into, at, n)
    else {
      var i = 0
      while (i < n) { into(at + i) = whole(words(first + i)); i += 1 }
    }

  private def fraction(word: Long): Double =
    if (bytes == 8) longBitsToDouble(word) else intBitsToFloat(whole(word).toInt).toDouble

  /** Rows in Spark's own format have zeros where a value has no bits, others may have its sign. */
  private def whole(word: Long): Long = word << left >> right
}
