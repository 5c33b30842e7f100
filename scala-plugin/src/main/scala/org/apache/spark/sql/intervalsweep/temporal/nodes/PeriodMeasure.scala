// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.nodes

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.trees.BinaryLike
import org.apache.spark.sql.types._

/** How what is kept of the rows of a group changes when a row becomes valid, and when it no longer is. */
sealed abstract class MeasureKind(val name: String, val dataType: DataType)
    extends Product with Serializable
object MeasureKind {

  /** Added and taken off; no sum leaves 64 bits. */
  case object Sum extends MeasureKind("sum", LongType)
  case object Least extends MeasureKind("least", LongType)
  case object Greatest extends MeasureKind("greatest", LongType)

  /** Of floating-point numbers, of which nothing is taken off: added up anew. */
  case object FloatSum extends MeasureKind("float_sum", DoubleType)
}

/**
 * What a sweep keeps of the valid rows of a group. An expression, so that it goes where the plan's
 * expressions go.
 *
 * @param input what it is taken of, of the columns of the rows; never NULL
 * @param state what is kept
 */
case class PeriodMeasure(kind: MeasureKind, input: Expression, state: Attribute)
    extends Expression with Unevaluable with BinaryLike[Expression] {
  override def left: Expression = input
  override def right: Expression = state
  override def nullable: Boolean = false
  override def dataType: DataType = kind.dataType
  override def toString: String = s"${kind.name}($input)"

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression): PeriodMeasure =
    copy(input = newLeft, state = newRight.asInstanceOf[Attribute])
}

/** The measures that functions ask for, each once. */
private[temporal] final class PeriodMeasures {
  private val found = mutable.LinkedHashMap.empty[(MeasureKind, Expression), PeriodMeasure]

  /** Sums of floating-point numbers come last. */
  def all: Seq[PeriodMeasure] = found.values.toSeq.sortBy(_.kind == MeasureKind.FloatSum)

  def state(kind: MeasureKind, of: Expression): Attribute = {
    require(of.dataType == kind.dataType, s"$kind of $of")
    found.getOrElseUpdate(
      (kind, of.canonicalized),
      PeriodMeasure(
        kind,
        of,
        AttributeReference("state", kind.dataType, nullable = false)())).state
  }
}

/** The DECIMAL whose unscaled value is `high * 2^32 + low`. */
private[temporal] case class DecimalOfHalves(
    left: Expression,
    right: Expression,
    override val dataType: DecimalType)
    extends BinaryExpression with CodegenFallback {

  override def nullable: Boolean = false

  override def eval(input: InternalRow): Any = {
    val high = BigInt(left.eval(input).asInstanceOf[Long])
    val unscaled = (high << 32) + right.eval(input).asInstanceOf[Long]
    Decimal(BigDecimal(unscaled, dataType.scale), dataType.precision, dataType.scale)
  }

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression): DecimalOfHalves = copy(left = newLeft, right = newRight)
}
