// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.block

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class EndpointOrderSuite extends AnyFunSuite {
  private val extremes = Seq(Long.MinValue, Long.MinValue + 1, -1L, 0L, 1L, Long.MaxValue)

  private def check(groups: Array[Int], coordinate: Array[Long]): Unit = {
    val n = coordinate.length
    val group: Int => Int = i => if (groups == null) 0 else groups(i)
    val expected = (0 until n).sortBy(i => (group(i), coordinate(i)))
    val actual = EndpointOrder.of(groups, coordinate, n).fold(0 until n: Seq[Int])(_.toSeq)
    assert(actual === expected, "a stable order by (group, coordinate)")
  }

  test("orders by coordinate, from the smallest to the largest 64-bit value") {
    check(null, Random.shuffle(extremes ++ extremes).toArray)
  }

  test("orders by group first, and keeps ties as they came") {
    val random = new Random(7)
    (1 to 200).foreach { _ =>
      val n = random.nextInt(40)
      val coordinate = Array.fill(n)(
        if (random.nextBoolean()) random.nextInt(5).toLong else extremes(random.nextInt(6)))
      check(Array.fill(n)(random.nextInt(4)), coordinate)
      check(null, coordinate)
    }
  }

  test("orders rows of one coordinate by their ties") {
    val random = new Random(6)
    (1 to 200).foreach { _ =>
      val n = random.nextInt(40)
      val groups = Array.fill(n)(random.nextInt(3))
      val (coordinate, ties) = (Array.fill(n)(random.nextInt(3)), Array.fill(n)(random.nextInt(9)))
      val expected = (0 until n).sortBy(i => (groups(i), coordinate(i), ties(i)))
      val actual =
        EndpointOrder.of(groups, coordinate.map(_.toLong), n, ties = ties.map(_.toLong))
      assert(actual.fold(0 until n: Seq[Int])(_.toSeq) === expected)
    }
  }

  test("orders many small groups, and one large one among them") {
    val random = new Random(8)
    Seq(1, 3, 300).foreach { largest =>
      val sizes = Seq.fill(100)(1 + random.nextInt(3)) :+ largest
      val groups = sizes.zipWithIndex.flatMap { case (size, g) => Seq.fill(size)(2 * g) }.toArray
      check(groups, Array.fill(groups.length)(random.nextInt(4).toLong))
    }
  }

  test("orders many rows in one thread or two, whatever the range of their coordinates") {
    val random = new Random(9)
    for (n <- Seq(65535, 65536, 200001); bits <- Seq(1, 30, 46, 47, 48, 64)) {
      val coordinate = Array.fill(n)(random.nextLong() >> (64 - bits))
      val expected = coordinate.indices.sortBy(coordinate(_)).toArray
      Seq(false, true).foreach { inParallel =>
        val actual = EndpointOrder.of(null, coordinate, n, inParallel)
        assert(actual.exists(_.sameElements(expected)), s"$n rows of $bits bits")
      }
    }
  }

  test("says that nothing is to be done for what is in order") {
    assert(EndpointOrder.of(null, Array(1L, 1L, 2L), 3).isEmpty)
    assert(EndpointOrder.of(Array(0, 0, 1), Array(1L, 2L, 0L), 3).isEmpty)
    assert(EndpointOrder.of(null, Array.emptyLongArray, 0).isEmpty)
    assert(EndpointOrder.of(null, Array(2L, 1L), 2).exists(_.toSeq == Seq(1, 0)))
  }
}
