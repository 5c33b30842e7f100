// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.block

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.intervalsweep.condition.expressions.EndpointEncoding
import org.apache.spark.sql.intervalsweep.execution.packing.RowBatch
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

  test("groups have the numbers in which their keys were added, of several keys") {
    val (groups, key) = (new ManyKeysGroups, RowKeys.of(Seq(text, number), input))
    values.zipWithIndex.foreach { case (value, i) =>
      key.read(row(value))
      assert(groups.of(key) === KeyGroups.NoGroup)
      groups.add(key)
      assert(groups.size === i + 1)
    }
    checkNumbers(groups, key)
  }

  test("groups have the numbers in which their keys were added, of a number") {
    val groups = new NumberGroups
    values.zipWithIndex.foreach { case (value, i) =>
      assert(groups.of(value) === KeyGroups.NoGroup)
      groups.addAll(Array(value), 1, new Array[Int](1), 0)
      assert(groups.size === i + 1)
    }
    checkNumbers(groups, RowKeys.of(Seq(number), input))
  }

  private def checkNumbers(groups: KeyGroups, key: RowKeys): Unit = {
    values.zipWithIndex.foreach { case (value, i) =>
      key.read(row(value))
      assert(groups.of(key) === i)
    }
    key.read(row(20001L))
    assert(groups.of(key) === KeyGroups.NoGroup)
  }

  test("keys that are equal in SQL are one group: zeros of either sign, and NaN") {
    val (groups, key) = (new NumberGroups, RowKeys.of(Seq(fraction), input))
    val encoded = Array(0.0, Double.NaN).map(EndpointEncoding.ofDouble)
    groups.addAll(encoded, 2, new Array[Int](2), 0)
    Seq(-0.0 -> 0, java.lang.Double.longBitsToDouble(-1L) -> 1).foreach { case (value, group) =>
      key.read(InternalRow(1L, value, null))
      assert(groups.of(key) === group)
    }
  }

  test("keys that come many together have the groups that they have one by one") {
    val (groups, key) = (new NumberGroups, RowKeys.of(Seq(number), input))
    val known = Seq(7L, -7L, 7L, Long.MinValue, 0L, -7L)
    val into = new Array[Int](8)
    groups.addAll(known.toArray :+ 99L, known.size, into, 1)
    assert(into.toSeq === Seq(0, 0, 1, 0, 2, 3, 1, 0))
    assert(groups.size === 4)
    known.zip(into.tail).foreach { case (value, group) =>
      key.read(row(value))
      assert(groups.of(key) === group)
    }
  }

  test("groups of several keys that were numbered apart are numbered together") {
    val keys = Seq(text, number)
    val key = RowKeys.of(keys, input)
    def groups(values: Long*): ManyKeysGroups = {
      val result = new ManyKeysGroups
      values.foreach { value => key.read(row(value)); result.add(key) }
      result
    }
    val (together, first, second) = (groups(), groups(3, 1, 4), groups(1, 5, 3))
    assert(together.addAll(first).sorted === Array(0, 1, 2))
    val numbers = together.addAll(second)
    assert(together.size === 4)
    Seq(1L, 5L, 3L).zip(numbers).foreach { case (value, group) =>
      key.read(row(value))
      assert(together.of(key) === group)
    }
  }

  test("rows of a batch have the groups of their keys; those without one have none, or their own") {
    val groups = new NumberGroups
    groups.addAll(Array(5L, 6L), 2, new Array[Int](2), 0)
    val words = Array(4L, 5L, 6L, 7L, 5L)
    val batch =
      new RowBatch(words.length, Array(words, words), Array(null, new Array(5)), new Array(2))
    def reader(key: AttributeReference, isKept: Boolean) =
      new GroupReader(groups, Seq(key), Seq(number, fraction), isKept)
    assert(reader(number, isKept = false).of(batch, 1, 4).toSeq === Seq(0, 1, -1, 0))
    assert(reader(number, isKept = true).of(batch, 0, 4).toSeq === Seq(2, 0, 1, 2))
    assert(reader(number, isKept = true).takes(batch))
    assert(!reader(fraction, isKept = true).takes(batch), "it may have NULLs")
    val several = new GroupReader(KeyGroups.of(Seq(text, number)), Seq(text, number), input, true)
    assert(!several.takes(batch))
  }

  test("a NULL is no key") {
    val key = RowKeys.of(Seq(number), input)
    key.read(InternalRow(null, 1.0, null))
    assert(key.anyNull)
    key.read(row(1))
    assert(!key.anyNull)
  }
}
