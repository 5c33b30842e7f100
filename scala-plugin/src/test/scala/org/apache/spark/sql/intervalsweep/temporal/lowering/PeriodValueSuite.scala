// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.lowering

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute, AttributeReference, AttributeSeq, BindReferences, Expression, Literal
}
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  Average, Count, DeclarativeAggregate, First, Max, Min, Sum
}
import org.apache.spark.sql.intervalsweep.execution.aggregates.AggregateBuffer
import org.apache.spark.sql.intervalsweep.temporal.nodes.{
  MeasureKind, PeriodMeasure, PeriodMeasures
}
import org.apache.spark.sql.types._

/** An aggregate function over the states of measures is Spark's own function over the rows. */
class PeriodValueSuite extends AnyFunSuite {
  private val int = AttributeReference("i", IntegerType)()
  private val long = AttributeReference("l", LongType)()
  private val double = AttributeReference("x", DoubleType)()
  private val decimal = AttributeReference("d", DecimalType(10, 2))()
  private val day = AttributeReference("day", DateType)()
  private val flag = AttributeReference("flag", BooleanType)()
  private val input = Seq[Attribute](int, long, double, decimal, day, flag)

  private val functions: Seq[DeclarativeAggregate] =
    Seq(Count(Seq(Literal(1))), Count(Seq(int)), Count(Seq(int, long))) ++
      Seq(int, long, double, decimal).flatMap(c => Seq(new Sum(c), new Average(c))) ++
      Seq(int, long, double, decimal, day).flatMap(c => Seq(Min(c), Max(c)))

  /** Rows whose sums are exact in all types. The sums of LONGs need more than 32 bits. */
  private def rows(random: Random): Seq[InternalRow] = Seq.fill(random.nextInt(6)) {
    def orNull(value: => Any): Any = if (random.nextInt(4) == 0) null else value
    InternalRow(
      orNull(random.nextInt(9) - 4),
      orNull((random.nextInt(9) - 4) * (1L << 38) + random.nextInt(9)),
      orNull((random.nextInt(9) - 4) / 2.0),
      orNull(Decimal(BigDecimal(random.nextInt(2000).toLong - 1000, 2), 10, 2)),
      orNull(random.nextInt(9) - 4),
      orNull(random.nextBoolean()))
  }

  private def bound(e: Expression, columns: Seq[Attribute]): Expression =
    BindReferences.bindReference(e, AttributeSeq.fromNormalOutput(columns))

  /** The state of a measure, from all rows at once. */
  private def state(measure: PeriodMeasure, rows: Seq[InternalRow]): Any = {
    val read = bound(measure.input, input)
    val values = rows.map(read.eval(_))
    def longs: Seq[Long] = values.map(_.asInstanceOf[Long])
    measure.kind match {
      case MeasureKind.Sum => longs.sum
      case MeasureKind.Least => (Long.MaxValue +: longs).min
      case MeasureKind.Greatest => (Long.MinValue +: longs).max
      case MeasureKind.Next => fail("no aggregate function has this measure")
      case MeasureKind.FloatSum => values.map(_.asInstanceOf[Double]).sum
    }
  }

  private def byMeasures(
      function: DeclarativeAggregate,
      filter: Option[Expression],
      rows: Seq[InternalRow]): Any = {
    val measures = new PeriodMeasures
    val value = PeriodValue(measures)
      .of(function.toAggregateExpression(isDistinct = false, filter))
      .getOrElse(fail(s"$function needs all rows"))
    assert(value.dataType == function.dataType, name(function))
    bound(value, measures.all.map(_.state))
      .eval(InternalRow.fromSeq(measures.all.map(state(_, rows))))
  }

  private def bySpark(
      function: DeclarativeAggregate,
      filter: Option[Expression],
      rows: Seq[InternalRow]): Any = {
    val passes = filter.map(bound(_, input))
    val buffer = new AggregateBuffer(Seq(function), input, function.updateExpressions)
    buffer.clear()
    rows.filter(row => passes.forall(_.eval(row) == true)).foreach(buffer.add)
    bound(function.evaluateExpression, buffer.attributes).eval(buffer.row)
  }

  private def name(function: DeclarativeAggregate): String =
    function.references.map(_.name).mkString(s"${function.prettyName}(", ", ", ")")

  for (function <- functions; filter <- Seq(None, Some(flag)))
    test(name(function) + filter.fold("")(_ => " with a filter")) {
      val random = new Random(7)
      val found = for (_ <- 1 to 100) yield {
        val some = rows(random)
        val wanted = bySpark(function, filter, some)
        assert(byMeasures(function, filter, some) == wanted, s"$function of $some")
        wanted
      }
      assert(found.distinct.size > 2)
    }

  test("functions that need all rows have no value") {
    val none = new PeriodMeasures
    val distinct = new Sum(int).toAggregateExpression(isDistinct = true)
    val first = First(int, ignoreNulls = false).toAggregateExpression()
    assert(Seq(distinct, first).forall(PeriodValue(none).of(_).isEmpty))
    assert(none.all.isEmpty)
  }
}
