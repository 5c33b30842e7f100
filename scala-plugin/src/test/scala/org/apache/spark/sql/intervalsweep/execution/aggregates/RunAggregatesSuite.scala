// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.aggregates

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.intervalsweep.condition.expressions.EncodedEndpoint
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side}
import org.apache.spark.sql.intervalsweep.execution.block.{BlockLayout, KeyGroups, RowBlock}
import org.apache.spark.sql.intervalsweep.execution.chunks.Unaccounted
import org.apache.spark.sql.intervalsweep.execution.runs.RunBatch
import org.apache.spark.sql.types.{DataType, DoubleType, IntegerType, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String

/** Aggregates of runs, by box, by point and in total, compared with a loop over the pairs. */
class RunAggregatesSuite extends AnyFunSuite {
  private val id = AttributeReference("id", LongType, nullable = false)()
  private val values =
    Seq[DataType](IntegerType, DoubleType, StringType).map(AttributeReference("value", _)())
  private val input = id +: values
  private val layout = BlockLayout(input, input, Seq(EncodedEndpoint(id)), sortEndpoint = 0)

  /** The positions of the columns. */
  private val Id = 0
  private val Whole = 1
  private val Fraction = 2
  private val Text = 3

  private type Pair = Map[Side, Seq[Any]]

  private def column(kind: RunKind, dataType: DataType, places: (Side, Int)*): RunColumn = {
    val columns = places.map { case (side, ordinal) => ColumnPlace(side, ordinal) }.toArray
    RunColumn(kind, columns, dataType, isDifference = false, RunValue.MostLong)
  }

  private def ofSide(side: Side): Seq[RunColumn] = Seq(
    column(RunKind.Count, LongType, side -> Whole),
    column(RunKind.Sum, LongType, side -> Id),
    column(RunKind.Sum, LongType, side -> Whole),
    column(RunKind.Sum, DoubleType, side -> Fraction),
    column(RunKind.Least, IntegerType, side -> Whole),
    column(RunKind.Greatest, DoubleType, side -> Fraction),
    column(RunKind.Greatest, StringType, side -> Text),
    column(RunKind.SumOfTwo, LongType, side -> Whole, side.other -> Whole),
    column(RunKind.SumOfTwo, LongType, side -> Id, side.other -> Id),
    column(RunKind.SumOfTwo, LongType, side -> Whole, side.other -> Id).copy(isDifference = true))

  private val columns =
    (column(RunKind.Rows, LongType) +: Seq(LeftSide, RightSide).flatMap(ofSide(_))).toArray

  /** Rows whose sums are exact in floating point. */
  private def rows(random: Random): IndexedSeq[Seq[Any]] = {
    def orNull(value: => Any): Any = if (random.nextInt(4) == 0) null else value
    IndexedSeq.tabulate(1 + random.nextInt(12)) { i =>
      Seq(
        i.toLong,
        orNull(random.nextInt(9) - 4),
        orNull((random.nextInt(9) - 4) / 2.0),
        orNull(UTF8String.fromString("abcd".take(random.nextInt(5)))))
    }
  }

  private def block(rows: Seq[Seq[Any]]): RowBlock = {
    val block = new RowBlock(layout, Unaccounted)
    rows.foreach(row => block.append(InternalRow.fromSeq(row), KeyGroups.NoGroup))
    block.sort()
    block
  }

  private def runs(random: Random, boxes: Int, points: Int): RunBatch = {
    val batch = new RunBatch
    for (_ <- 0 to random.nextInt(8)) {
      val first = random.nextInt(points)
      batch.add(random.nextInt(boxes), first, 1 + random.nextInt(points - first))
    }
    batch
  }

  /** The aggregate of pairs, by its definition. A pair with a NULL operand does not count. */
  private def expected(column: RunColumn, pairs: Seq[Pair]): Any = {
    val operands = pairs.map(pair => column.columns.toSeq.map(c => pair(c.side)(c.ordinal)))
      .filterNot(_.contains(null))
    lazy val order = TypeUtils.getInterpretedOrdering(column.dataType)
    column.kind match {
      case RunKind.Rows | RunKind.Count => operands.size.toLong
      case _ if operands.isEmpty => null
      case RunKind.Sum | RunKind.SumOfTwo =>
        val numbers = operands.map(_.map(_.asInstanceOf[Number].doubleValue))
        val sum = numbers.map { pair =>
          if (column.isDifference) pair.head - pair.last else pair.sum
        }.sum
        if (column.dataType == DoubleType) Double.box(sum) else Long.box(sum.toLong)
      case RunKind.Least => operands.map(_.head).min(order)
      case RunKind.Greatest => operands.map(_.head).max(order)
    }
  }

  private def assertComputed(
      aggregates: RunAggregates,
      columns: Array[RunColumn],
      pairs: Seq[Pair]): Unit =
    aggregates.results.zip(columns).foreach { case (result, column) =>
      val wanted = expected(column, pairs)
      assert(result.boxed(0) == wanted, s"${column.kind} of ${column.columns.toSeq} over $pairs")
    }

  /** Random rows of both sides, and random runs of boxes of one side. */
  private final class Case(random: Random, val boxes: Side) {
    val points: Side = boxes.other
    private val all = Map[Side, IndexedSeq[Seq[Any]]](
      LeftSide -> rows(random),
      RightSide -> rows(random))
    val blocks: Map[Side, RowBlock] = all.map { case (side, some) => side -> block(some) }
    val batch: RunBatch = runs(random, all(boxes).size, all(points).size)

    private def pair(box: Int, point: Int): Pair =
      Map(boxes -> all(boxes)(box), points -> all(points)(point))

    def ofRun(k: Int): Seq[Pair] = (batch.first(k) until batch.first(k) + batch.count(k))
      .map(pair(batch.box(k), _))

    def runsOf(point: Int): Seq[Int] = (0 until batch.size)
      .filter(k => batch.first(k) <= point && point < batch.first(k) + batch.count(k))

    def ofPoint(point: Int): Seq[Pair] = runsOf(point).map(k => pair(batch.box(k), point))

    def matches: RunMatches = {
      val matches = new RunMatches(blocks(points))
      matches.take(batch)
      matches
    }
  }

  private def forCases(look: Case => Unit): Unit = {
    val random = new Random(9)
    for (_ <- 1 to 200; boxes <- Seq[Side](LeftSide, RightSide)) look(new Case(random, boxes))
  }

  test("the aggregates of each run") {
    forCases { some =>
      val aggregates = new RunAggregates(RunLayout(Some(some.boxes), columns))
      assert(aggregates.isByBox(some.boxes) && !aggregates.isByBox(some.points))
      val matches = some.matches
      aggregates.start(some.boxes, some.blocks(some.boxes), matches)
      for (k <- 0 until some.batch.size) {
        matches.set(k)
        aggregates.compute(some.batch.box(k))
        assertComputed(aggregates, columns, some.ofRun(k))
      }
    }
  }

  test("the aggregates of each point") {
    var found = 0
    forCases { some =>
      val aggregates = new RunAggregates(RunLayout(Some(some.points), columns))
      val gathered = aggregates.gathered(some.boxes, some.blocks)
      val batch = some.batch
      for (k <- 0 until batch.size) gathered.add(batch.box(k), batch.first(k), batch.count(k))
      gathered.finish()
      aggregates.start(some.points, some.blocks(some.points), gathered)
      val matched = Seq.newBuilder[Int]
      while (gathered.advance()) {
        val point = gathered.position
        matched += point
        aggregates.compute(point)
        assertComputed(aggregates, columns, some.ofPoint(point))
        assert(some.runsOf(point).map(batch.box(_)).contains(gathered.partner))
      }
      val points = (0 until some.blocks(some.points).numRows).filter(some.runsOf(_).nonEmpty)
      assert(matched.result() == points)
      found += points.size
    }
    assert(found > 500)
  }

  test("the sums of a whole batch") {
    val additive = columns.filter { c =>
      c.dataType == LongType && c.kind != RunKind.Least && c.kind != RunKind.Greatest
    }
    assert(!new RunAggregates(RunLayout(None, columns)).areAdditive)
    forCases { some =>
      val aggregates = new RunAggregates(RunLayout(None, additive))
      assert(aggregates.areAdditive)
      val matches = some.matches
      aggregates.start(some.boxes, some.blocks(some.boxes), matches)
      aggregates.total(matches)
      assertComputed(aggregates, additive, (0 until some.batch.size).flatMap(some.ofRun))
    }
  }
}
