// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.block

import java.lang.Double.longBitsToDouble
import java.lang.Float.intBitsToFloat

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute, Expression, MutableProjection, SpecificInternalRow
}
import org.apache.spark.sql.intervalsweep.condition.expressions.{
  EncodedEndpoint, EndpointEncoding, PeriodEndpoint
}
import org.apache.spark.sql.intervalsweep.execution.packing.RowBatch
import org.apache.spark.sql.types.{DataType, DoubleType, FloatType, LongType}

/**
 * Reads the endpoints of one row after another. If all endpoints are plain columns, it reads the
 * row itself. Otherwise it evaluates a projection, which takes longer.
 *
 * @param endpoints expressions of LongType over the columns `input`
 */
final class EndpointReader(endpoints: Seq[Expression], input: Seq[Attribute])
    extends (Int => Long) {

  /** The endpoints as columns, if a [[RowBatch]] has words for all of them. */
  val columns: Option[Array[EndpointColumn]] = EndpointReader.columns(endpoints, input)
  private val fields =
    columns.getOrElse(Array.tabulate(endpoints.size)(new EndpointColumn(_, LongType)))
  private val computed = new SpecificInternalRow(endpoints.map(_ => LongType))
  private val project: MutableProjection =
    if (columns.isDefined) null else MutableProjection.create(endpoints, input).target(computed)
  private var row: InternalRow = _

  /** Moves to a row. Returns true if none of its endpoints is NULL. */
  def read(row: InternalRow): Boolean = {
    this.row = if (project == null) row else { project(row); computed }
    var k = 0
    while (k < fields.length && !fields(k).isMissing(this.row)) k += 1
    k == fields.length
  }

  /** An endpoint of the current row, which must not be NULL. */
  override def apply(endpoint: Int): Long = fields(endpoint).of(row)
}

object EndpointReader {

  private def columns(
      endpoints: Seq[Expression],
      input: Seq[Attribute]): Option[Array[EndpointColumn]] = {
    val found = endpoints.flatMap(columnOf(_, input))
    Option.when(found.size == endpoints.size)(found.toArray)
  }

  private def columnOf(endpoint: Expression, input: Seq[Attribute]): Option[EndpointColumn] = {
    def column(a: Attribute, period: Option[PeriodEndpoint]) =
      Option.when(RowBatch.isWord(a.dataType)) {
        new EndpointColumn(input.indexWhere(_.exprId == a.exprId), a.dataType, period)
      }
    endpoint match {
      case EncodedEndpoint(a: Attribute) => column(a, None)
      case EncodedEndpoint(period: PeriodEndpoint) => columnOf(period, input)
      case period @ PeriodEndpoint(a: Attribute, _) => column(a, Some(period))
      case _ => None
    }
  }
}

/**
 * A column of numbers, read in the encoding of [[EncodedEndpoint]] or of [[PeriodEndpoint]].
 *
 * @param ordinal its position in a row
 * @param dataType a type that can be encoded, and that is [[RowBatch.isWord]]
 * @param period the end of a period that the column is; None if it is another value
 */
final class EndpointColumn(
    val ordinal: Int,
    dataType: DataType,
    period: Option[PeriodEndpoint] = None) {
  private val isOfPeriod = period.isDefined
  private val ofNull = period.fold(0L)(_.unbounded)
  private val largest = period.fold(Long.MaxValue)(_.largest)
  private val bytes = dataType.defaultSize
  private val isFraction = dataType == FloatType || dataType == DoubleType
  private val right = 64 - 8 * bytes
  private val left = right - RowBatch.shift(dataType)

  /** True if a row has no value: it is NULL, and NULL has no meaning. */
  def isMissing(row: InternalRow): Boolean = !isOfPeriod && row.isNullAt(ordinal)

  /** The value of a row's column, which must not be missing. */
  def of(row: InternalRow): Long =
    if (isOfPeriod && row.isNullAt(ordinal)) ofNull
    else {
      val value = encoded(row)
      if (value == largest) Long.MaxValue else value
    }

  private def encoded(row: InternalRow): Long =
    if (isFraction) EndpointEncoding.ofDouble(fraction(row))
    else bytes match {
      case 8 => row.getLong(ordinal)
      case 4 => row.getInt(ordinal).toLong
      case 2 => row.getShort(ordinal).toLong
      case _ => row.getByte(ordinal).toLong
    }

  private def fraction(row: InternalRow): Double =
    if (bytes == 8) row.getDouble(ordinal) else row.getFloat(ordinal).toDouble

  /** True if no row of a batch lacks a value. */
  def takes(batch: RowBatch): Boolean = isOfPeriod || batch.nulls(ordinal) == null

  /** Reads the values of `n` rows of a batch, from row `first` on. None of them may be missing. */
  def read(batch: RowBatch, first: Int, n: Int, into: Array[Long], at: Int): Unit = {
    read(batch.words(ordinal), first, n, into, at)
    if (largest != Long.MaxValue) {
      var i = at
      while (i < at + n) { if (into(i) == largest) into(i) = Long.MaxValue; i += 1 }
    }
    val nulls = batch.nulls(ordinal)
    if (nulls != null) {
      var i = 0
      while (i < n) { if (nulls(first + i)) into(at + i) = ofNull; i += 1 }
    }
  }

  private def read(words: Array[Long], first: Int, n: Int, into: Array[Long], at: Int): Unit =
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

  /**
   * Fills the bits above the value with its sign: in Spark's own format they are 0, in other rows
   * they may be the sign already.
   */
  private def whole(word: Long): Long = word << left >> right
}
