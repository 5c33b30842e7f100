// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions.distances

import java.util.Objects

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeProjection
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

class DifferenceAtMostSuite extends AnyFunSuite {

  private val inf = Double.PositiveInfinity
  private val longs =
    Seq(Long.MinValue, Long.MinValue + 1, -2L, -1L, 0L, 1L, 2L, Long.MaxValue - 1, Long.MaxValue)
  private val doubles =
    Seq(-inf, Double.MinValue, -1.5, -0.0, 0.0, 1.5, Double.MaxValue, inf, Double.NaN)

  /** The value of an expression. Asserts that interpreted and generated code agree. */
  private def result(e: Expression): Any = {
    val row = InternalRow.fromSeq(e.collect { case l: Literal => l.value })
    val columns = Iterator.from(0)
    val bound = e.transform { case l: Literal =>
      BoundReference(columns.next(), l.dataType, nullable = true)
    }
    val interpreted = bound.eval(row)
    val generated = GenerateUnsafeProjection.generate(Seq(bound))(row)
    assert(Objects.equals(generated.get(0, bound.dataType), interpreted), e)
    interpreted
  }

  private def atMost(
      later: Any,
      earlier: Any,
      limit: Any,
      dataType: DataType,
      limitType: DataType): Any = {
    val e = DifferenceAtMost(
      Literal.create(later, dataType),
      Literal.create(earlier, dataType),
      Literal.create(limit, limitType))
    assert(e.checkInputDataTypes().isSuccess)
    result(e)
  }

  test("LONG: in the integers, without overflow") {
    for (later <- longs; earlier <- longs; limit <- longs)
      assert(
        atMost(later, earlier, limit, LongType, LongType) == (BigInt(later) - earlier <= limit),
        (later, earlier, limit))
  }

  Seq[(DataType, Int => Any)](
    (ByteType, _.toByte),
    (ShortType, _.toShort),
    (IntegerType, identity),
    (LongType, _.toLong),
    (TimestampType, _.toLong),
    (TimestampNTZType, _.toLong),
    (DateType, identity),
    (DecimalType(4, 0), Decimal(_))).foreach { case (dataType, of) =>
    test(s"${dataType.sql}: whole units") {
      assert(atMost(of(7), of(5), 2L, dataType, LongType) == true)
      assert(atMost(of(7), of(5), 1L, dataType, LongType) == false)
      assert(atMost(of(5), of(7), -2L, dataType, LongType) == true)
      assert(atMost(of(5), of(7), -3L, dataType, LongType) == false)
      assert(atMost(null, of(7), 1L, dataType, LongType) == null)
      assert(atMost(of(7), null, 1L, dataType, LongType) == null)
      assert(atMost(of(7), of(5), null, dataType, LongType) == null)
    }
  }

  test("INT and DATE: no overflow of their own") {
    assert(atMost(Int.MaxValue, Int.MinValue, (1L << 32) - 1, IntegerType, LongType) == true)
    assert(atMost(Int.MaxValue, Int.MinValue, (1L << 32) - 2, DateType, LongType) == false)
  }

  test("DOUBLE: NaN and infinite differences exceed every limit") {
    for (later <- doubles; earlier <- doubles; limit <- doubles) {
      val difference = later - earlier
      val finite = !difference.isNaN && !difference.isInfinite
      val expected = finite && (limit.isNaN || difference <= limit)
      assert(
        atMost(later, earlier, limit, DoubleType, DoubleType) == expected,
        (later, earlier, limit))
    }
  }

  test("FLOAT: the difference is a DOUBLE") {
    assert(atMost(Float.MaxValue, -Float.MaxValue, 1e39, FloatType, DoubleType) == true)
    assert(atMost(0.1f, 0.0f, 0.1, FloatType, DoubleType) == (0.1f.toDouble <= 0.1))
    assert(atMost(Float.NaN, 1f, Double.NaN, FloatType, DoubleType) == false)
  }

  test("DECIMAL of 18 digits: as its unscaled value") {
    val narrow = DecimalType(18, 2)
    val (low, high) = (Decimal(-9999999999999999L, 18, 2), Decimal(999999999999999999L, 18, 2))
    assert(atMost(high, low, 999999999999999999L + 9999999999999999L, narrow, LongType) == true)
    assert(atMost(high, low, 999999999999999999L + 9999999999999998L, narrow, LongType) == false)
  }

  test("DECIMAL of 38 digits: exact") {
    val wide = DecimalType(38, 0)
    val high = Decimal(BigDecimal("9" * 38), 38, 0)
    val low = Decimal(BigDecimal("-" + "9" * 38), 38, 0)
    def small(n: String) = Decimal(BigDecimal(n), 38, 1)
    assert(atMost(high, high, small("0.0"), wide, DecimalType(38, 1)) == true)
    assert(atMost(
      high,
      Decimal(BigDecimal("9" * 37 + "8"), 38, 0),
      small("0.9"),
      wide,
      DecimalType(38, 1)) == false)
    assert(atMost(
      high,
      Decimal(BigDecimal("9" * 37 + "8"), 38, 0),
      small("1.0"),
      wide,
      DecimalType(38, 1)) == true)
    assert(atMost(high, low, 2.1e38, wide, DoubleType) == true)
    assert(atMost(high, low, 1.9e38, wide, DoubleType) == false)
    assert(Seq(inf, Double.NaN).forall(atMost(high, low, _, wide, DoubleType) == true))
    assert(atMost(low, high, -inf, wide, DoubleType) == false)
  }

  test("other types are refused") {
    def check(dataType: DataType, limitType: DataType): Boolean =
      DifferenceAtMost(
        Literal.create(null, dataType),
        Literal.create(null, dataType),
        Literal.create(null, limitType))
        .checkInputDataTypes().isSuccess
    assert(!check(StringType, LongType))
    assert(!check(LongType, DoubleType))
    assert(!check(DoubleType, LongType))
    assert(!check(DecimalType(18, 0), DecimalType(18, 0)))
    assert(!check(TimestampType, DayTimeIntervalType()))
  }

  /** The limit for a parameter. Asserts that a literal and a column have the same limit. */
  private def limit(value: Any, dataType: DataType, endpoints: DataType): Any = {
    def of(parameter: Expression): DifferenceAtMost = {
      val end = Literal.create(null, endpoints)
      DifferenceAtMost.of(end, end, parameter)
    }
    val literal = Literal.create(value, dataType)
    val folded = of(literal)
    val column = of(BoundReference(0, dataType, nullable = true))
    assert(folded.limit.isInstanceOf[Literal])
    Seq(folded, column).foreach(e => assert(e.checkInputDataTypes().isSuccess, e))
    if (folded.limit.dataType == column.limit.dataType) {
      val evaluated = result(column.limit.transform { case _: BoundReference => literal })
      assert(Objects.equals(evaluated, folded.limit.eval()))
    }
    folded.limit.eval()
  }

  test("a limit is the largest whole number that is not above the parameter") {
    assert(limit(2.toByte, ByteType, IntegerType) == 2L)
    assert(limit(Decimal("2.5"), DecimalType(2, 1), IntegerType) == 2L)
    assert(limit(Decimal("2.5"), DecimalType(2, 1), LongType) == 2L)
    assert(limit(Decimal("-2.5"), DecimalType(2, 1), LongType) == -3L)
    assert(limit(Decimal("9" * 38), DecimalType(38, 0), IntegerType) == Long.MaxValue)
    assert(limit(2.9f, FloatType, LongType) == 2L)
    assert(limit(2.9, DoubleType, ShortType) == 2L)
    assert(limit(-1e30, DoubleType, IntegerType) == Long.MinValue)
    assert(limit(inf, DoubleType, IntegerType) == Long.MaxValue)
    assert(limit(-inf, DoubleType, IntegerType) == Long.MinValue)
    assert(limit(Double.NaN, DoubleType, IntegerType) == Long.MaxValue)
    assert(limit(null, DoubleType, IntegerType) == null)
  }

  test("LONG and a parameter that is no integer: as decimals, unless it is a literal that fits") {
    val end = AttributeReference("a", LongType)()
    def types(parameter: Expression): (DataType, DataType) = {
      val e = DifferenceAtMost.of(end, end, parameter)
      assert(e.checkInputDataTypes().isSuccess)
      (e.later.dataType, e.limit.dataType)
    }
    assert(types(Literal(2.5)) == (LongType -> LongType))
    assert(types(Literal(1e19)) == (DecimalType(20, 0) -> DoubleType))
    assert(types(AttributeReference("d", FloatType)()) == (DecimalType(20, 0) -> DoubleType))
    assert(types(AttributeReference("d", DecimalType(5, 2))()) ==
      (DecimalType(20, 0) -> DecimalType(5, 2)))
    assert(types(AttributeReference("d", ShortType)()) == (LongType -> LongType))
  }

  test("a limit of a DECIMAL of 18 digits counts its unscaled units") {
    assert(limit(3, IntegerType, DecimalType(18, 2)) == 300L)
    assert(limit(Decimal("1.239"), DecimalType(4, 3), DecimalType(18, 2)) == 123L)
    assert(limit(0.1, DoubleType, DecimalType(18, 18)) == 100000000000000005L)
    assert(limit(Long.MaxValue, LongType, DecimalType(18, 2)) == Long.MaxValue)
  }

  test("a limit of a DECIMAL of more digits stays what it is") {
    assert(limit(3, IntegerType, DecimalType(38, 2)) == Decimal(3))
    assert(limit(Decimal("1.239"), DecimalType(4, 3), DecimalType(38, 2)) == Decimal("1.239"))
    assert(limit(1.5f, FloatType, DecimalType(38, 2)) == 1.5)
  }

  test("a limit of FLOAT and DOUBLE is a DOUBLE") {
    assert(limit(3, IntegerType, FloatType) == 3.0)
    assert(limit(Decimal("0.1"), DecimalType(1, 1), DoubleType) == 0.1)
    assert(limit(Double.NaN, DoubleType, DoubleType).asInstanceOf[Double].isNaN)
  }

  test("a limit of DATE counts days, and of a TIMESTAMP microseconds") {
    val day = 86400000000L
    assert(limit(2 * day, DayTimeIntervalType(DayTimeIntervalType.DAY), DateType) == 2L)
    assert(limit(2, IntegerType, DateType) == 2L)
    assert(limit(day + 1, DayTimeIntervalType(), TimestampType) == day + 1)
    assert(limit(Long.MaxValue, DayTimeIntervalType(), TimestampNTZType) == Long.MaxValue)
  }

  test("in words") {
    val e = DifferenceAtMost(AttributeReference("a", LongType)(ExprId(1)), Literal(2L), Literal(3L))
    assert(e.toString == "((a#1L - 2) <= 3)")
    assert(e.sql == "((a - 2L) <= 3L)")
  }
}
