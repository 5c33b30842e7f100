// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.expressions

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types._

/**
 * The exact sum of LONGs: intermediate results do not overflow. NULL if a term is NULL.
 *
 * @param negative    for each term, whether it is subtracted
 * @param nullIfBelow whether a sum below the LONGs is NULL; otherwise it is the smallest LONG
 * @param nullIfAbove whether a sum above the LONGs is NULL; otherwise it is the largest LONG
 */
case class ExactSum(
    terms: Seq[Expression],
    negative: Seq[Boolean],
    nullIfBelow: Boolean,
    nullIfAbove: Boolean)
    extends Expression {

  require(terms.length == negative.length && terms.forall(_.dataType == LongType))

  override def children: Seq[Expression] = terms

  override def nullIntolerant: Boolean = true

  override def foldable: Boolean = terms.forall(_.foldable)

  override def nullable: Boolean = nullIfBelow || nullIfAbove || terms.exists(_.nullable)

  override def dataType: DataType = LongType

  override def prettyName: String = "exact_sum"

  override def eval(input: InternalRow): Any = {
    var high, low = 0L
    val values = terms.iterator.map(_.eval(input)).zip(negative)
    while (values.hasNext) {
      val (value, minus) = values.next()
      if (value == null) return null
      val v = value.asInstanceOf[Long]
      if (minus) { high -= v >> Halves.Bits; low -= v & Halves.Low }
      else { high += v >> Halves.Bits; low += v & Halves.Low }
    }
    val beyond = Halves.beyond(high, low)
    if (nullIfBelow && beyond < 0 || nullIfAbove && beyond > 0) null
    else Halves.saturated(high, low)
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val high = ctx.freshName("high")
    val low = ctx.freshName("low")
    val sums = Halves.getClass.getName.stripSuffix("$")
    val added = terms.zip(negative).map { case (term, minus) =>
      val value = term.genCode(ctx)
      val by = if (minus) "-=" else "+="
      s"""if (!${ev.isNull}) {
         |  ${value.code}
         |  ${ev.isNull} = ${value.isNull};
         |  if (!${ev.isNull}) {
         |    $high $by ${value.value} >> ${Halves.Bits};
         |    $low $by ${value.value} & ${Halves.Low}L;
         |  }
         |}""".stripMargin
    }
    val outside = Seq("< 0" -> nullIfBelow, "> 0" -> nullIfAbove).collect {
      case (sign, true) => s"${ev.isNull} |= $sums.beyond($high, $low) $sign;"
    }
    ev.copy(code = code"""
      boolean ${ev.isNull} = false;
      long ${ev.value} = 0L;
      long $high = 0L;
      long $low = 0L;
      ${added.mkString("\n")}
      ${outside.mkString("\n")}
      if (!${ev.isNull}) {
        ${ev.value} = $sums.saturated($high, $low);
      }""")
  }

  override def sql: String = show(_.sql)

  override def toString: String = show(_.toString)

  private def show(term: Expression => String): String = {
    val signed = terms.zip(negative).map {
      case (Literal(v: Long, _), minus) => (BigInt(v).abs.toString, minus ^ (v < 0))
      case (e, minus) => (term(e), minus)
    }.sortBy(_._2)
    signed.tail.foldLeft((if (signed.head._2) "- " else "") + signed.head._1) {
      case (sum, (e, minus)) => s"$sum ${if (minus) "-" else "+"} $e"
    }.mkString("(", "", ")")
  }

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): ExactSum =
    copy(terms = newChildren)
}

object ExactSum {

  /** A sum that saturates at the smallest and the largest LONG. */
  def saturating(terms: Seq[Expression], negative: Seq[Boolean]): ExactSum =
    ExactSum(terms, negative, nullIfBelow = false, nullIfAbove = false)
}
