// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.functions.distances.{DifferenceAtMost, PlusMonths}
import org.apache.spark.sql.types.YearMonthIntervalType

/**
 * A relation over four endpoints of one type. It is the conjunction of its [[conjuncts]], value by
 * value: NULL where they are NULL, FALSE where they are FALSE.
 *
 * That is why it is not `nullIntolerant`, although no NULL endpoint ever matches: `NULL AND FALSE`
 * is FALSE, so that its negation may hold, and a relation need not look at all four endpoints. What
 * Spark would conclude for a filter or a join, [[InferEndpointsNotNull]] does.
 *
 * It stays whole through the optimizer, unlike a `RuntimeReplaceable`, for the plan to show it.
 *
 * @param delta      absent if relaxed; as the person wrote it, see [[DifferenceAtMost.of]]
 * @param timeZoneId on whose calendar a year-month interval is added to a TIMESTAMP; the session's,
 *                   if absent
 */
case class IntervalPredicate(
    relation: Relation,
    rStart: Expression,
    rEnd: Expression,
    sStart: Expression,
    sEnd: Expression,
    delta: Option[Expression],
    epsilon: Option[Expression],
    timeZoneId: Option[String] = None)
    extends Expression with Predicate {

  private def endpoints: Seq[Expression] = Seq(rStart, rEnd, sStart, sEnd)

  override def children: Seq[Expression] = endpoints ++ delta ++ epsilon

  override def foldable: Boolean = children.forall(_.foldable)

  override def nullable: Boolean = conjunction.nullable

  /** The formula over the endpoints, then the bounds that the parameters set. */
  @transient lazy val conjuncts: Seq[Expression] =
    relation.formula.map(compare) ++
      bound(relation.delta, delta) ++
      bound(relation.epsilon, epsilon)

  /** The conjuncts as one expression. */
  @transient lazy val conjunction: Expression = conjuncts.reduce(And)

  /** Whether it is nothing but equalities, as MEETS, MET_BY and EQUALS are. */
  def isEquality: Boolean = conjuncts.forall(_.isInstanceOf[EqualTo])

  /** The same without the endpoints whose columns the conjuncts do not compare. */
  def withoutUnread: IntervalPredicate = {
    def ifRead(endpoint: Expression): Expression =
      if (endpoint.references.subsetOf(conjunction.references)) endpoint
      else PrunedEndpoint(endpoint.toString, endpoint.sql, endpoint.dataType)
    copy(
      rStart = ifRead(rStart),
      rEnd = ifRead(rEnd),
      sStart = ifRead(sStart),
      sEnd = ifRead(sEnd))
  }

  private def compare(c: EndpointComparison): Expression = {
    val (left, right) = (at(c.left), at(c.right))
    c.operator match {
      case Operator.Less => LessThan(left, right)
      case Operator.LessOrEqual => LessThanOrEqual(left, right)
      case Operator.Equal => EqualTo(left, right)
    }
  }

  private def bound(
      distance: Option[EndpointDistance],
      parameter: Option[Expression]): Option[Expression] =
    for (d <- distance; p <- parameter) yield {
      val (later, earlier) = (at(d.later), at(d.earlier))
      p.dataType match {
        case _: YearMonthIntervalType => LessThanOrEqual(later, plusMonths(earlier, p))
        case _ => DifferenceAtMost.of(later, earlier, p)
      }
    }

  private def plusMonths(endpoint: Expression, months: Expression): Expression = {
    val zone = timeZoneId.getOrElse(SQLConf.get.sessionLocalTimeZone)
    PlusMonths(endpoint, months, Some(zone))
  }

  private def at(endpoint: Endpoint): Expression = endpoints(endpoint.index)

  override def eval(input: InternalRow): Any = conjunction.eval(input)

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    conjunction.genCode(ctx)

  override def prettyName: String = relation.functionName

  override def sql: String = call(_.sql)

  override def toString: String = call(_.toString)

  private def call(show: Expression => String): String = {
    val parameters = delta.map(Relation.Delta -> _) ++ epsilon.map(Relation.Epsilon -> _)
    val arguments =
      endpoints.map(show) ++ parameters.map { case (name, value) => s"$name => ${show(value)}" }
    arguments.mkString(s"$prettyName(", ", ", ")")
  }

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]): IntervalPredicate = {
    val (newDelta, newEpsilon) = newChildren.drop(endpoints.size).splitAt(delta.size)
    copy(
      rStart = newChildren(0),
      rEnd = newChildren(1),
      sStart = newChildren(2),
      sEnd = newChildren(3),
      delta = newDelta.headOption,
      epsilon = newEpsilon.headOption)
  }
}
