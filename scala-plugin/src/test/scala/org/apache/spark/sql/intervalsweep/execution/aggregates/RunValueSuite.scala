// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.aggregates

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute, AttributeReference, AttributeSeq, BindReferences, Expression, Literal
}
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateFunction, Average, Count, DeclarativeAggregate, First, Max, Min, Sum
}
import org.apache.spark.sql.intervalsweep.condition.model.LeftSide
import org.apache.spark.sql.types.{DecimalType, DoubleType, FloatType, IntegerType, LongType}

/** Aggregate functions that run values compute. */
class RunValueSuite extends AnyFunSuite {
  private val int = AttributeReference("i", IntegerType)()
  private val long = AttributeReference("l", LongType)()
  private val float = AttributeReference("f", FloatType)()
  private val double = AttributeReference("x", DoubleType)()
  private val decimal = AttributeReference("d", DecimalType(10, 2))()
  private val input = Seq[Attribute](int, long, float, double)

  /** The run value of a function of one column; None if it needs more. */
  private def valueOf(function: AggregateFunction): Option[RunValue] = {
    def operand(e: Option[Expression]): RunOperand = e match {
      case Some(column: Attribute) => RunOperand(LeftSide, column, column)
      case other => fail(s"$other is no column")
    }
    RunKind.of(function).map { case (kind, argument) =>
      kind match {
        case RunKind.Rows => RunValue.rows
        case RunKind.Count => RunValue.count(operand(argument))
        case RunKind.Sum => RunValue.sum(operand(argument))
        case RunKind.Least => RunValue.least(operand(argument))
        case RunKind.Greatest => RunValue.greatest(operand(argument))
        case RunKind.SumOfTwo => fail(s"$function has one operand")
      }
    }
  }

  private def evaluated(e: Expression, columns: Seq[Attribute], row: InternalRow): Any =
    BindReferences.bindReference(e, AttributeSeq.fromNormalOutput(columns)).eval(row)

  private val functions = Seq[DeclarativeAggregate](Count(Seq(Literal(1))), Count(Seq(int))) ++
    input.flatMap(column => Seq[DeclarativeAggregate](new Sum(column), Min(column), Max(column)))

  test("a run value of one pair is the function over that pair") {
    val rows = Seq(InternalRow(3, 1L << 40, 0.5f, -2.5), InternalRow(null, null, null, null))
    for (function <- functions; row <- rows) {
      val value = valueOf(function).getOrElse(fail(s"$function has no run value"))
      val buffer = new AggregateBuffer(Seq(function), input, function.updateExpressions)
      buffer.clear()
      buffer.add(row)
      val wanted = evaluated(function.evaluateExpression, buffer.attributes, buffer.row)
      assert(evaluated(value, input, row) == wanted, s"$function of $row")
      assert(value.dataType == function.dataType, s"$function")
    }
  }

  test("functions that need more than one run value") {
    val others = Seq[AggregateFunction](
      new Average(int),
      new Sum(decimal),
      Count(Seq(int, long)),
      First(int, ignoreNulls = false))
    assert(others.forall(RunKind.of(_).isEmpty))
  }
}
