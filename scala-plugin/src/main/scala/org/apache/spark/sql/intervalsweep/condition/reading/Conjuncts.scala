// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.intervalsweep.condition.expressions.IsTotal
import org.apache.spark.sql.intervalsweep.functions.IntervalPredicate
import org.apache.spark.sql.types.IntegralType

/**
 * A part of a condition that must hold.
 *
 * @param whole    the part as it can be evaluated. Several conjuncts may share it
 * @param relation the function that it comes from
 */
private[intervalsweep] case class Conjunct(
    expression: Expression,
    whole: Expression,
    relation: Option[IntervalPredicate] = None) {

  /** As it stands in the condition. */
  def written: Expression = relation.getOrElse(whole)

  /** From a function that is more than equalities, and so asks for a sweep. */
  def isSwept: Boolean = relation.exists(!_.isEquality)
}

private[intervalsweep] object Conjuncts {

  /** In the order of the condition; a comparison is never below a NOT. */
  def of(condition: Expression): Seq[Conjunct] = split(InlineReplaceable(condition))

  private def split(condition: Expression): Seq[Conjunct] = condition match {
    case And(left, right) => split(left) ++ split(right)
    case Not(Not(e)) => split(e)
    case Not(Or(left, right)) => split(Not(left)) ++ split(Not(right))
    case Not(Negated(opposite)) => parts(opposite).map(Conjunct(_, condition))
    case p: IntervalPredicate => p.conjuncts.map(c => Conjunct(c, c, Some(p)))
    case Literal.TrueLiteral => Nil
    case TrueAs(e) => split(e)
    case Guarded(guard, e) if IsTotal(e) => split(guard) ++ split(e)
    // Where the guard is NULL, AND would go on to what may fail: so the whole stays as it is.
    case Guarded(guard, e) => (split(guard) ++ split(e)).map(_.copy(whole = condition))
    case e => parts(e).map(Conjunct(_, e))
  }

  /** What is true for the same rows as another condition, for which NULL is as good as false. */
  private object TrueAs {
    def unapply(e: Expression): Option[Expression] = e match {
      case Coalesce(Seq(p, Literal.FalseLiteral)) => Some(p)
      case EqualTo(p, Literal.TrueLiteral) => Some(p)
      case EqualTo(Literal.TrueLiteral, p) => Some(p)
      case EqualTo(p, Literal.FalseLiteral) => Some(Not(p))
      case EqualTo(Literal.FalseLiteral, p) => Some(Not(p))
      case EqualNullSafe(p, Literal.TrueLiteral) => Some(p)
      case EqualNullSafe(Literal.TrueLiteral, p) => Some(p)
      case EqualNullSafe(p, Literal.FalseLiteral) => Some(Not(p))
      case EqualNullSafe(Literal.FalseLiteral, p) => Some(Not(p))
      case Not(Coalesce(Seq(p, Literal.TrueLiteral))) => Some(Not(p))
      case _ => None
    }
  }

  /** A condition that is looked at only where another one is true: true where both are. */
  private object Guarded {
    def unapply(e: Expression): Option[(Expression, Expression)] = e match {
      case If(p, q, otherwise) if isNeverTrue(otherwise) => Some((p, q))
      case CaseWhen(Seq((p, q)), otherwise) if otherwise.forall(isNeverTrue) => Some((p, q))
      case _ => None
    }
  }

  private def isNeverTrue(e: Expression): Boolean = e match {
    case Literal.FalseLiteral | Literal(null, _) => true
    case c: Cast => isNeverTrue(c.child)
    case _ => false
  }

  /** Exact under three-valued logic: both are NULL for the same rows. */
  private object Negated {
    def unapply(e: Expression): Option[Expression] = e match {
      case LessThan(l, r) => Some(GreaterThanOrEqual(l, r))
      case LessThanOrEqual(l, r) => Some(GreaterThan(l, r))
      case GreaterThan(l, r) => Some(LessThanOrEqual(l, r))
      case GreaterThanOrEqual(l, r) => Some(LessThan(l, r))
      case _ => None
    }
  }

  /** `abs(x) <= c` is two comparisons, of x and of -x, of which each fails as abs does. */
  private def parts(e: Expression): Seq[Expression] = e match {
    case LessThan(Absolute(both), c) => both.map(LessThan(_, c))
    case LessThanOrEqual(Absolute(both), c) => both.map(LessThanOrEqual(_, c))
    case GreaterThan(c, Absolute(both)) => both.map(LessThan(_, c))
    case GreaterThanOrEqual(c, Absolute(both)) => both.map(LessThanOrEqual(_, c))
    case _ => Seq(e)
  }

  /** Of an absolute value the number of either sign, also where it is compared in a wider type. */
  private object Absolute {
    def unapply(e: Expression): Option[Seq[Expression]] = e match {
      case Abs(child, fails) => Some(Seq(child, UnaryMinus(child, fails)))
      case Cast(Absolute(both), to: IntegralType, zone, mode)
          if Cast.canUpCast(both.head.dataType, to) => Some(both.map(Cast(_, to, zone, mode)))
      case _ => None
    }
  }
}
