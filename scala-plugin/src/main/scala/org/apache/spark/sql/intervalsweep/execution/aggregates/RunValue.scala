// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.aggregates

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Add, Attribute, Cast, Expression, If, IsNull, Literal, Subtract, aggregate
}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.intervalsweep.condition.model.Side
import org.apache.spark.sql.types._

/** An aggregate over the pairs of a run, that is over one row and several matches of it. */
sealed trait RunKind

object RunKind {

  /** The number of pairs. */
  case object Rows extends RunKind

  /** The number of pairs in which a column is not NULL. */
  case object Count extends RunKind

  /** The sum of a column. */
  case object Sum extends RunKind

  /** The sum of one column plus, or minus, another one. */
  case object SumOfTwo extends RunKind

  /** The least value of a column. */
  case object Least extends RunKind

  /** The greatest value of a column. */
  case object Greatest extends RunKind

  /**
   * The kind of run value that computes an aggregate function, and its operand; None for a function
   * that needs more, or each pair. `PeriodValue` does not use this table: its measures are updated
   * when a row starts or ends, and have other states.
   */
  def of(function: AggregateFunction): Option[(RunKind, Option[Expression])] = function match {
    case aggregate.Count(arguments) if arguments.forall(isNeverNull) => Some(Rows -> None)
    case aggregate.Count(Seq(argument)) => Some(Count -> Some(argument))
    case sum: aggregate.Sum => sum.child.dataType match {
        case _: IntegralType | FloatType | DoubleType => Some(Sum -> Some(sum.child))
        case _ => None
      }
    case aggregate.Min(argument) => Some(Least -> Some(argument))
    case aggregate.Max(argument) => Some(Greatest -> Some(argument))
    case _ => None
  }

  private def isNeverNull(e: Expression): Boolean = e.foldable && !e.nullable
}

/**
 * An aggregate over all pairs that an output row stands for. Evaluated as an expression, it is the
 * value of one pair, which is correct if each pair has a row of its own.
 *
 * @param columns the columns that are read from the two sides
 * @param ofPair the value of one pair
 */
case class RunValue(kind: RunKind, columns: Seq[Expression], ofPair: Expression)
    extends Expression {
  override def children: Seq[Expression] = ofPair +: columns
  override def dataType: DataType = ofPair.dataType
  override def nullable: Boolean = ofPair.nullable
  override def eval(input: InternalRow): Any = ofPair.eval(input)
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    ofPair.genCode(ctx)
  override def prettyName: String = kind match {
    case RunKind.Rows | RunKind.Count => "count"
    case RunKind.Sum | RunKind.SumOfTwo => "sum"
    case RunKind.Least => "min"
    case RunKind.Greatest => "max"
  }
  override def sql: String = kind match {
    case RunKind.Rows => "count(*)"
    case RunKind.SumOfTwo => s"sum(${total.sql})"
    case _ => s"$prettyName(${columns.head.sql})"
  }

  /** The sum or difference that is summed up. */
  private def total: Expression = ofPair match {
    case cast: Cast => cast.child
    case other => other
  }

  /** True if the second of two columns is subtracted. */
  def isDifference: Boolean = total.isInstanceOf[Subtract]

  /** The greatest size up to which the sum of two columns of a pair fits its type. */
  def limit: Double = total.dataType match {
    case ByteType => Byte.MaxValue.toDouble
    case ShortType => Short.MaxValue.toDouble
    case IntegerType => Int.MaxValue.toDouble
    case _ => RunValue.MostLong
  }

  override protected def withNewChildrenInternal(children: IndexedSeq[Expression]): RunValue =
    copy(columns = children.tail, ofPair = children.head)
}

/**
 * The argument of an aggregate, computed from one side.
 *
 * @param column the column that has its value
 * @param ofPair the expression for a single pair. If it may fail, it differs from `column`, which
 *   is then NULL for the rows for which it fails.
 */
case class RunOperand(side: Side, column: Attribute, ofPair: Expression)

object RunValue {

  /** A bound on sums. It leaves room for the error of comparisons of floating-point numbers. */
  val MostLong: Double = Long.MaxValue.toDouble / 2

  def rows: RunValue = RunValue(RunKind.Rows, Nil, Literal(1L))

  def count(operand: RunOperand): RunValue =
    RunValue(
      RunKind.Count,
      Seq(operand.column),
      If(IsNull(operand.ofPair), Literal(0L), Literal(1L)))

  /** The sum of an integral column as BIGINT, or of a floating-point column as DOUBLE. */
  def sum(operand: RunOperand): RunValue = {
    val dataType = operand.column.dataType match {
      case FloatType | DoubleType => DoubleType
      case _ => LongType
    }
    RunValue(RunKind.Sum, Seq(operand.column), widened(operand.ofPair, dataType))
  }

  /** @param ofPair the sum or difference of two integral columns of different sides */
  def sumOfTwo(a: RunOperand, b: RunOperand, ofPair: Expression): RunValue = {
    require(ofPair.isInstanceOf[Add] || ofPair.isInstanceOf[Subtract])
    RunValue(RunKind.SumOfTwo, Seq(a.column, b.column), widened(ofPair, LongType))
  }

  def least(operand: RunOperand): RunValue =
    RunValue(RunKind.Least, Seq(operand.column), operand.ofPair)

  def greatest(operand: RunOperand): RunValue =
    RunValue(RunKind.Greatest, Seq(operand.column), operand.ofPair)

  private def widened(e: Expression, to: DataType): Expression =
    if (DataTypeUtils.sameType(e.dataType, to)) e else Cast(e, to)
}

/**
 * How a task aggregates pairs.
 *
 * @param groupSide the side whose columns the aggregate above groups by; None if there is a single
 *   group
 */
case class RunLayout(groupSide: Option[Side], columns: Array[RunColumn])

/** A [[RunValue]] over the columns of blocks. */
case class RunColumn(
    kind: RunKind,
    columns: Array[ColumnPlace],
    dataType: DataType,
    isDifference: Boolean,
    limit: Double)

/** A column of the block of one side. */
case class ColumnPlace(side: Side, ordinal: Int)
