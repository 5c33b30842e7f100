// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.expressions

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

class EncodedEndpointSuite extends AnyFunSuite {

  private val doubles = Seq(
    Double.NegativeInfinity,
    -Double.MaxValue,
    -1.5,
    -Double.MinPositiveValue,
    -0.0,
    0.0,
    Double.MinPositiveValue,
    0.1,
    1.5,
    Double.MaxValue,
    Double.PositiveInfinity,
    Double.NaN,
    java.lang.Double.longBitsToDouble(0xfff8000000000001L))

  private def encoded(value: Any, dataType: DataType): Long =
    EncodedEndpoint(Literal(value, dataType)).eval().asInstanceOf[Long]

  private def assertOrdered(values: Seq[Any], dataType: DataType): Unit =
    for (a <- values; b <- values) {
      val (x, y) = (Literal(a, dataType), Literal(b, dataType))
      val (m, n) = (encoded(a, dataType), encoded(b, dataType))
      assert(LessThan(x, y).eval() == (m < n), s"$a < $b")
      assert(EqualTo(x, y).eval() == (m == n), s"$a = $b")
    }

  test("the encoding keeps Spark's order") {
    assertOrdered(doubles, DoubleType)
    assertOrdered(doubles.map(_.toFloat), FloatType)
    assertOrdered(Seq(Int.MinValue, -1, 0, Int.MaxValue), DateType)
    assertOrdered(Seq(Long.MinValue, -1L, 0L, Long.MaxValue), TimestampType)
    assertOrdered(
      Seq("-999.99", "-0.01", "0", "1.5").map(Decimal(_)).map { d =>
        d.changePrecision(5, 2); d
      },
      DecimalType(5, 2))
  }

  private def assertMonotone(values: Seq[Any], dataType: DataType): Unit =
    for (a <- values; b <- values)
      if (LessThan(Literal(a, dataType), Literal(b, dataType)).eval() == true)
        assert(encoded(a, dataType) <= encoded(b, dataType), s"$a < $b")

  test("a prefix keeps Spark's order but for values that share it") {
    val random = new scala.util.Random(1)
    val bytes = Seq.fill(300)(
      Array.fill(random.nextInt(11))(Seq[Byte](0, 1, 127, -128, -1)(random.nextInt(5))))
    assertMonotone(bytes, BinaryType)
    assertMonotone(bytes.map(UTF8String.fromBytes), StringType)
    val integers = for (bits <- 0 to 126; near <- -1 to 1) yield (BigInt(1) << bits) + near
    val decimals = (integers ++ integers.map(-_)).filter(_.toString.length <= 38)
    val wide = DecimalType(38, 3)
    assertMonotone(decimals.map(n => Decimal(BigDecimal(n, 3), 38, 3)), wide)
    assert(Seq("0.000", "0.001", "-0.001").map(n => encoded(Decimal(BigDecimal(n), 38, 3), wide)) ==
      Seq(0L, 1L, -1L))
  }

  test("no double is encoded as an end of the longs") {
    assert(!doubles.map(encoded(_, DoubleType)).exists(Set(Long.MinValue, Long.MaxValue)))
  }

  test("sums are exact on the way and stop at the ends of the longs") {
    val numbers = Seq(Long.MinValue, Long.MinValue + 1, -1L, 0L, 1L, 1L << 32, Long.MaxValue)
    for (a <- numbers; b <- numbers; c <- numbers; minus <- Seq(true, false)) {
      val exact = BigInt(a) + (if (minus) -BigInt(b) else BigInt(b)) - BigInt(c)
      val terms = Seq(a, b, c).map(Literal(_))
      val negative = Seq(false, minus, true)
      val stopped = exact.max(Long.MinValue).min(Long.MaxValue).toLong
      assert(ExactSum.saturating(terms, negative).eval() == stopped)
      val orNull = ExactSum(terms, negative, nullIfBelow = true, nullIfAbove = true).eval()
      assert(orNull == (if (exact.isValidLong) stopped else null))
    }
  }

  test("a bound leaves room for the rounding of doubles") {
    val finite = doubles.filter(java.lang.Double.isFinite) ++ Seq(0.3, 1e16, -3e-300)
    for (anchor <- finite; limit <- finite; x <- finite) {
      val above = FloatingBound.of(anchor, limit, upper = true)
      val below = FloatingBound.of(anchor, limit, upper = false)
      if (x - anchor <= limit) assert(EndpointEncoding.ofDouble(x) <= above)
      if (anchor - x <= limit) assert(EndpointEncoding.ofDouble(x) >= below)
    }
  }
}
