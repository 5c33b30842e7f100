// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions.distances

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

/** Each bound, compared with the difference that it replaces, at the ends of each type. */
class ConstantBoundSuite extends AnyFunSuite {
  private val Largest = Long.MaxValue

  private val values = Map[DataType, Seq[Any]](
    ByteType -> Seq[Byte](-128, -127, -1, 0, 1, 100, 127),
    ShortType -> Seq[Short](-32768, -1, 0, 32767),
    IntegerType -> Seq(Int.MinValue, -1, 0, 1, Int.MaxValue),
    LongType -> Seq(-Largest - 1, -Largest, -1L, 0L, 1L, Largest),
    DateType -> Seq(Int.MinValue, -719162, 0, 2932896, 2932897, 3700000, Int.MaxValue),
    TimestampNTZType -> Seq(-Largest - 1, -62135596800000000L, 0L, 253402300800000000L, Largest),
    TimestampType -> Seq(-Largest - 1, -62135596800000000L, 0L, 253402300799999999L, Largest),
    DecimalType(3, 1) -> Seq("-99.9", "-99.8", "0.0", "0.1", "99.9").map(Decimal(_)),
    DecimalType(38, 0) -> Seq("-" + "9" * 38, "-1", "0", "1", "9" * 38).map(Decimal(_)),
    FloatType -> Seq(
      Float.NaN,
      Float.PositiveInfinity,
      Float.NegativeInfinity,
      -0.0f,
      0.0f,
      0.1f,
      0.3f,
      Float.MaxValue,
      -Float.MaxValue,
      16777216f,
      Float.MinPositiveValue),
    DoubleType -> Seq(
      Double.NaN,
      Double.PositiveInfinity,
      Double.NegativeInfinity,
      -0.0,
      0.0,
      Double.MinPositiveValue,
      -Double.MinPositiveValue,
      Double.MaxValue,
      -Double.MaxValue,
      0.1,
      0.3,
      1e16,
      -1e16,
      9007199254740993.0,
      1.0,
      -1.0))

  private val limits = Seq(
    Literal(0),
    Literal(1),
    Literal(-1),
    Literal(1000),
    Literal(Int.MaxValue),
    Literal(Largest),
    Literal(0.2),
    Literal(1e16),
    Literal(1e300),
    Literal(4.9e-324),
    Literal(Double.NaN),
    Literal(Double.PositiveInfinity),
    Literal(Decimal("0.05")),
    Literal(Decimal("0.5")))

  private def parameters(of: DataType): Seq[Literal] = of match {
    case DateType => limits.filter(_.dataType.isInstanceOf[IntegralType])
    case TimestampType | TimestampNTZType =>
      Seq(0L, 1L, 86400000000L, 253402300800000000L, Largest).map(Literal(_, DayTimeIntervalType()))
    case _ => limits
  }

  values.foreach { case (dataType, all) =>
    test(s"with constants of ${dataType.sql} a difference is as it was, beside its formula") {
      val column = BoundReference(0, dataType, nullable = true)
      val rows = (all ++ all.flatMap(near(dataType, _)) :+ null).map(InternalRow(_))
      val bounds = for {
        constant <- all.map(Literal(_, dataType))
        parameter <- parameters(dataType)
        (later, earlier) <- Seq((column, constant), (constant, column))
        difference = DifferenceAtMost.of(later, earlier, parameter)
        bound <- ConstantBound.of(folded(difference))
      } yield {
        val order = LessThanOrEqual(earlier, later)
        rows.foreach { row =>
          assert(
            And(order, bound).eval(row) == And(order, difference).eval(row),
            s"$bound for $difference and ${row.get(0, dataType)}")
        }
        bound
      }
      assert(bounds.exists(_.isInstanceOf[BinaryComparison]))
    }
  }

  /** The difference with its constants folded, as the optimizer leaves it. */
  private def folded(difference: DifferenceAtMost): DifferenceAtMost =
    difference.mapChildren {
      case e if e.foldable => Literal.create(e.eval(), e.dataType)
      case e => e
    }.asInstanceOf[DifferenceAtMost]

  private def near(dataType: DataType, value: Any): Seq[Any] = (dataType, value) match {
    case (DoubleType, d: Double) => for {
        limit <- Seq(0.2, 1.0, 1e16, 1e300)
        sum <- Seq(d + limit, d - limit)
        x <- Seq(sum, math.nextUp(sum), math.nextDown(sum))
      } yield x
    case (FloatType, f: Float) => for {
        limit <- Seq(0.2f, 1f, 1000f)
        sum <- Seq(f + limit, f - limit)
        x <- Seq(sum, math.nextUp(sum), math.nextDown(sum))
      } yield x
    case (LongType | TimestampType | TimestampNTZType, n: Long) => Seq(n + 1, n - 1, n + 1000)
    case (IntegerType | DateType, n: Int) => Seq(n + 1, n - 1, n + 1000, n - 1000)
    case _ => Nil
  }

  test("what is no constant, and what no source could read, stays") {
    val column = BoundReference(0, DateType, nullable = true)
    val day = Literal(2932890, DateType)
    assert(ConstantBound.of(DifferenceAtMost(column, day, Literal(6L))).isDefined)
    assert(ConstantBound.of(DifferenceAtMost(column, day, Literal(7L))).isEmpty)
    assert(ConstantBound.of(DifferenceAtMost(column, column, Literal(6L))).isEmpty)
    assert(ConstantBound.of(DifferenceAtMost(column, Literal(null, DateType), Literal(6L))).isEmpty)
  }
}
