// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.runs

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.intervalsweep.condition.model.{Axis, Bound, LeftSide, Sweep}

class BandCounterSuite extends AnyFunSuite {

  /** A row with a key, two endpoints and a row number. */
  private case class Row(key: Long, x: Long, y: Long, number: Long)

  private def rows(random: Random, n: Int, keys: Int, values: Int, numbers: Int): Seq[Row] =
    Seq.fill(n)(
      Row(
        random.nextInt(keys).toLong,
        random.nextInt(values).toLong,
        random.nextInt(values).toLong,
        random.nextInt(numbers).toLong)).sortBy(r => (r.key, r.x))

  private def points(rows: Seq[Row]): KeyedPoints =
    KeyedPoints(rows.map(_.key).toArray, Array(rows.map(_.x).toArray, rows.map(_.y).toArray))

  /** Points with x below and, with two axes, y at least that of the box; number - from..to. */
  private def check(boxes: Seq[Row], all: Seq[Row], from: Long, to: Long, twoAxes: Boolean): Int = {
    val second = Option.when(twoAxes)(Axis(1, Some(Bound(1, strict = false)), None))
    val sweep = Sweep(LeftSide, Axis(0, None, Some(Bound(0, strict = true))), second)
    val order = all.indices.sortBy(all(_).number).toArray
    val numbers = order.map(all(_).number)
    def place(number: Long) = numbers.count(_ < number)
    val places = new BandPlaces(
      order,
      boxes.map(b => place(b.number + from)).toArray,
      boxes.map(b => place(b.number + to + 1)).toArray)
    val found = new Array[Int](boxes.size)
    new BandCounter(sweep, points(boxes), points(all), places).count((box, n) => found(box) += n)
    boxes.zipWithIndex.map { case (b, i) =>
      val wanted = all.count { p =>
        val distance = p.number - b.number
        p.key == b.key && p.x < b.x && (!twoAxes || p.y >= b.y) && from <= distance &&
        distance <= to
      }
      assert(found(i) == wanted)
      wanted
    }.sum
  }

  test("points in a box and in a band of row numbers are counted, whatever they are") {
    val random = new Random(1)
    val total = for {
      (n, m) <- Seq(1 -> 1, 3 -> 200, 300 -> 1, 200 -> 700, 500 -> 500)
      (from, to) <- Seq(-1000000L -> -1L, -70L -> 70L, 0L -> 0L, -300L -> -150L, 5L -> 1L)
      (keys, values) <- Seq(1 -> 50, 1 -> 100000, 4 -> 20)
      twoAxes <- Seq(true, false)
    } yield {
      val numbers = random.shuffle(Seq(20, 700)).head
      val found = check(
        rows(random, n, keys, values, numbers),
        rows(random, m, keys, values, numbers),
        from,
        to,
        twoAxes)
      assert(from <= to || found == 0)
      found
    }
    assert(total.sum > 10000)
  }
}
