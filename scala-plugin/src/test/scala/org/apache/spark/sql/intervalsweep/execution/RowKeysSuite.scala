// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.types.{DoubleType, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

class RowKeysSuite extends AnyFunSuite {
  private val number = AttributeReference("number", LongType)()
  private val fraction = AttributeReference("fraction", DoubleType)()
  private val text = AttributeReference("text", StringType)()
  private val input = Seq(number, fraction, text)

  private def row(k: Long): InternalRow =
    InternalRow(k, k.toDouble / 3, UTF8String.fromString(k.toString))

  private val values =
    (new Random(7).shuffle((-20000L to 20000L).toVector) ++ Seq(Long.MinValue, Long.MaxValue))

  for ((name, keys) <- Seq("a number" -> Seq(number), "several" -> Seq(text, number)))
    test(s"groups have the numbers in which their keys were added, of $name") {
      val (groups, key) = (KeyGroups.of(keys), RowKeys.of(keys, input))
      values.zipWithIndex.foreach { case (value, i) =>
        key.read(row(value))
        assert(groups.of(key) === BroadcastIndex.NoGroup)
        groups.add(key)
        assert(groups.size === i + 1)
      }
      values.zipWithIndex.foreach { case (value, i) =>
        key.read(row(value))
        assert(groups.of(key) === i)
      }
      key.read(row(20001L))
      assert(groups.of(key) === BroadcastIndex.NoGroup)
    }

  test("keys that are equal in SQL are one group: zeros of either sign, and NaN") {
    val (groups, key) = (KeyGroups.of(Seq(fraction)), RowKeys.of(Seq(fraction), input))
    Seq(0.0, Double.NaN).foreach { value =>
      key.read(InternalRow(1L, value, null))
      groups.add(key)
    }
    Seq(-0.0 -> 0, java.lang.Double.longBitsToDouble(-1L) -> 1).foreach { case (value, group) =>
      key.read(InternalRow(1L, value, null))
      assert(groups.of(key) === group)
    }
  }

  test("a NULL is no key") {
    val key = RowKeys.of(Seq(number), input)
    key.read(InternalRow(null, 1.0, null))
    assert(key.anyNull)
    key.read(row(1))
    assert(!key.anyNull)
  }
}
