// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.aggregates

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, AttributeSeq, BindReferences}
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  Count, DeclarativeAggregate, Max, Min, Sum
}
import org.apache.spark.sql.types.LongType

/** Buffers of rows, and of merged parts of the rows, compared with a loop. */
class AggregateBufferSuite extends AnyFunSuite {
  private val x = AttributeReference("x", LongType)()
  private val functions =
    Seq[DeclarativeAggregate](Count(Seq(x)), new Sum(x), Min(x), Max(x))

  private def ofRows: AggregateBuffer =
    new AggregateBuffer(functions, Seq(x), functions.flatMap(_.updateExpressions))

  private def ofBuffers: AggregateBuffer = new AggregateBuffer(
    functions,
    functions.flatMap(_.inputAggBufferAttributes),
    functions.flatMap(_.mergeExpressions))

  private def values(buffer: AggregateBuffer): Seq[Any] = functions.map { function =>
    BindReferences.bindReference(
      function.evaluateExpression,
      AttributeSeq.fromNormalOutput(buffer.attributes)).eval(buffer.row)
  }

  private def add(buffer: AggregateBuffer, rows: Seq[Any]): Unit =
    rows.foreach(value => buffer.add(InternalRow(value)))

  private def expected(rows: Seq[Any]): Seq[Any] = {
    val known = rows.collect { case value: Long => value }
    Seq[Any](known.size.toLong) ++
      (if (known.isEmpty) Seq(null, null, null) else Seq(known.sum, known.min, known.max))
  }

  test("the buffers of all rows, and of parts that are merged") {
    val random = new Random(8)
    val (one, part, merged) = (ofRows, ofRows, ofBuffers)
    var known = 0
    for (_ <- 1 to 200) {
      def value(): Any = if (random.nextInt(3) == 0) null else random.nextInt(100).toLong - 50
      val parts = Seq.fill(1 + random.nextInt(4))(Seq.fill(random.nextInt(4))(value()))
      one.clear()
      add(one, parts.flatten)
      assert(values(one) == expected(parts.flatten))
      merged.clear()
      parts.foreach { rows =>
        part.clear()
        add(part, rows)
        merged.add(part.row)
      }
      assert(values(merged) == expected(parts.flatten))
      known += parts.flatten.count(_ != null)
    }
    assert(known > 200)
  }
}
