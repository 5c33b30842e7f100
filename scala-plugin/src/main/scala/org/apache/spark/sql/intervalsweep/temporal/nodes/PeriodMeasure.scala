// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.nodes

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.trees.BinaryLike
import org.apache.spark.sql.intervalsweep.condition.expressions.Halves
import org.apache.spark.sql.types._

/** How the state of a group changes when a row becomes valid and when it ends. */
sealed abstract class MeasureKind(val name: String, val dataType: DataType)
    extends Product with Serializable
object MeasureKind {

  /**
   * Added when a row starts, subtracted when it ends. The inputs are such that no sum exceeds 64
   * bits.
   */
  case object Sum extends MeasureKind("sum", LongType)
  case object Least extends MeasureKind("least", LongType)
  case object Greatest extends MeasureKind("greatest", LongType)

  /**
   * The least value above that of the measure before it, which is Least or Next and has the same
   * input.
   */
  case object Next extends MeasureKind("next", LongType)

  /**
   * A sum of floating-point numbers. Nothing is subtracted: the numbers of the valid rows are added
   * up again.
   */
  case object FloatSum extends MeasureKind("float_sum", DoubleType)
}

/**
 * Part of the state that a sweep keeps for the valid rows of a group. It is an expression, so that
 * transformations of the plan's expressions reach it.
 *
 * @param input what is measured, over the columns of a row; never NULL
 * @param state the column of the state
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

/** Collects the measures that functions need, each once. */
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
    val unscaled = (high << Halves.Bits) + right.eval(input).asInstanceOf[Long]
    Decimal(BigDecimal(unscaled, dataType.scale), dataType.precision, dataType.scale)
  }

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression): DecimalOfHalves = copy(left = newLeft, right = newRight)
}
