// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.packing

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

class DistinctRowsSuite extends AnyFunSuite {
  private val project = UnsafeProjection.create(Array[DataType](StringType, LongType))
  private val random = new Random(5)

  /** Some texts are longer than what a row usually takes. */
  private def row(different: Int): UnsafeRow = {
    val n = random.nextInt(different)
    val text =
      if (n % 7 == 0) null
      else UTF8String.fromString("x" * (if (n % 50 == 1) 3000 else n % 20))
    project(InternalRow(text, if (n % 5 == 0) null else n.toLong))
  }

  test("equal rows have one number, in the order in which they come") {
    val (rows, known) = (new DistinctRows, mutable.LinkedHashMap.empty[UnsafeRow, Int])
    for (different <- Seq(1, 10, 1000, 100_000); _ <- 1 to 20_000) {
      val next = row(different)
      assert(rows.find(next) == known.getOrElse(next, -1))
      assert(rows.findOrAdd(next) == known.getOrElseUpdate(next.copy(), known.size))
    }
    assert(rows.size == known.size && rows.size > 10_000)
    known.foreach { case (row, number) => assert(rows(number) == row) }
  }

  test("rows get the same numbers if their memory is read before") {
    val (rows, known) = (new DistinctRows, mutable.LinkedHashMap.empty[UnsafeRow, Int])
    rows.prefetch(Array.emptyIntArray, 0)
    for (different <- Seq(1, 1000, 100_000); _ <- 1 to 300) {
      val some = Seq.fill(1 + random.nextInt(100))(row(different).copy())
      val words = some.map(_.getSizeInBytes / 8).sum
      rows.makeRoom(some.size, words)
      val before = rows.bytes(some.size, words)
      rows.prefetch(some.map(_.hashCode).toArray, some.size)
      some.foreach { next =>
        assert(rows.findOrAdd(next, next.hashCode) == known.getOrElseUpdate(next, known.size))
      }
      assert(rows.bytes(0) == before, "there was room for all of them")
    }
  }

  test("the first rows are removed, all are, and others come") {
    val rows = new DistinctRows
    var kept = Seq.empty[UnsafeRow]
    for (round <- 1 to 200) {
      val next = row(1_000_000)
      if (!kept.contains(next)) {
        kept :+= next.copy()
        if (round % 3 == 0) rows.add(next) else assert(rows.findOrAdd(next) == kept.size - 1)
      }
      if (round % 37 == 0) {
        val n = random.nextInt(kept.size + 1)
        rows.removeFirst(n)
        kept = kept.drop(n)
      }
      if (round == 120) { rows.clear(); kept = Nil }
      if (round == 160) { rows.free(); kept = Nil }
      assert(rows.size == kept.size)
      kept.zipWithIndex.foreach { case (row, i) => assert(rows(i) == row && rows.find(row) == i) }
    }
    assert(kept.nonEmpty)
  }

  test("a row without fields") {
    val (rows, none) = (new DistinctRows, UnsafeProjection.create(Array.empty[DataType]))
    assert(rows.find(none(InternalRow())) == -1)
    rows.add(none(InternalRow()))
    assert(rows.findOrAdd(none(InternalRow())) == 0 && rows(0).numFields == 0)
  }

  test("the bytes that are wanted are those of the arrays") {
    val rows = new DistinctRows
    var last = rows.bytes()
    for (n <- 1 to 5000) {
      rows.makeRoom()
      assert(rows.bytes() == last)
      rows.findOrAdd(project(InternalRow(null, n.toLong)))
      assert(rows.bytes() >= last)
      last = rows.bytes()
    }
    assert(last < 5000 * 80 * 2)
  }
}
