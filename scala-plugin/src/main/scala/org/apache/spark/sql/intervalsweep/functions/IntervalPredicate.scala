// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.functions.distances.{DifferenceAtMost, PlusMonths}
import org.apache.spark.sql.types.YearMonthIntervalType

/**
 * A relation over four endpoints of one type. Its value is the conjunction of its [[conjuncts]], in
 * three-valued logic.
 *
 * It is not `nullIntolerant`, although a NULL endpoint never matches. First, the value of
 * `NULL AND FALSE` is FALSE, so the negation of a relation can be true for a NULL endpoint. Second,
 * a relation may compare fewer than four endpoints. `InferEndpointsNotNull` derives the IS NOT NULL
 * filters that Spark derives from nullIntolerant conditions.
 *
 * Not a `RuntimeReplaceable`: the call survives optimization, so that plans show its name.
 *
 * @param delta      the parameter as given in SQL, see [[DifferenceAtMost.of]]; absent if there is
 *                   no bound
 * @param epsilon    the same for the second parameter
 * @param timeZoneId the time zone in which a year-month interval is added to a TIMESTAMP; the zone
 *                   of the session if absent
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

  /** The comparisons of the formula, then the bounds that the parameters set. */
  @transient lazy val conjuncts: Seq[Expression] =
    relation.formula.map(compare) ++
      bound(relation.delta, delta) ++
      bound(relation.epsilon, epsilon)

  /** The conjuncts as one expression. */
  @transient lazy val conjunction: Expression = conjuncts.reduce(And)

  /** Whether the relation consists of equalities only, like MEETS, MET_BY and EQUALS. */
  def isEquality: Boolean = conjuncts.forall(_.isInstanceOf[EqualTo])

  /** The same relation, without the endpoints whose columns the conjuncts do not read. */
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
