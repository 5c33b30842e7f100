// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.conjuncts

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.intervalsweep.condition.expressions.IsTotal
import org.apache.spark.sql.intervalsweep.functions.IntervalPredicate
import org.apache.spark.sql.types.NumericType

/**
 * A part of a condition that must be true for a match.
 *
 * @param expression the part to read as a key or a comparison
 * @param whole      the part to evaluate, if it goes to the residual condition. Several conjuncts
 *                   may share it
 * @param relation   the function that the conjunct comes from, if any
 */
private[intervalsweep] case class Conjunct(
    expression: Expression,
    whole: Expression,
    relation: Option[IntervalPredicate] = None) {

  /** The conjunct as the condition has it. */
  def written: Expression = relation.getOrElse(whole)

  /** Whether it comes from a function with inequalities, which always asks for a sweep. */
  def isSwept: Boolean = relation.exists(!_.isEquality)
}

/**
 * Replaces expressions that only stand for other expressions (RuntimeReplaceable, deterministic
 * With) by these. The optimizer does the same, but conditions are also read before it runs.
 */
private[intervalsweep] object InlineReplaceable {
  def apply(e: Expression): Expression = e.transform {
    case r: RuntimeReplaceable => apply(r.replacement)
    case w: With if w.deterministic =>
      val values = w.defs.map(d => d.id -> apply(d.child)).toMap
      apply(w.child.transform { case ref: CommonExpressionRef => values(ref.id) })
  }
}

private[intervalsweep] object Conjuncts {

  /**
   * The conjuncts of a condition, in its order. An inequality below NOT becomes the opposite
   * inequality.
   */
  def of(condition: Expression): Seq[Conjunct] = split(InlineReplaceable(condition))

  private def split(condition: Expression): Seq[Conjunct] = condition match {
    case And(left, right) => split(left) ++ split(right)
    case Not(Not(e)) => split(e)
    case Not(Or(left, right)) => split(Not(left)) ++ split(Not(right))
    case Not(e) if opposite(e).isDefined =>
      opposite(e).toSeq.flatMap(parts).map(Conjunct(_, condition))
    case p: IntervalPredicate => p.conjuncts.map(c => Conjunct(c, c, Some(p)))
    case Literal.TrueLiteral => Nil
    case TrueAs(e) => split(e)
    case Guarded(guard, e) if IsTotal(e) => split(guard) ++ split(e)
    // If the guard is NULL, AND would evaluate `e`, which may fail. So `whole` stays unsplit.
    case Guarded(guard, e) => (split(guard) ++ split(e)).map(_.copy(whole = condition))
    case e => parts(e).map(Conjunct(_, e))
  }

  /**
   * Strips wrappers that do not matter in a filter, where NULL counts as false, such as
   * `coalesce(p, false)` and `p = true`.
   */
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

  /**
   * A condition `q` that is evaluated only if another condition `p` is true, such as
   * `CASE WHEN p THEN q END`. It is true if both are.
   */
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

  /**
   * The opposite of an inequality. It is exact in three-valued logic: both are NULL for the same
   * rows.
   */
  private[conjuncts] def opposite(e: Expression): Option[Expression] = e match {
    case LessThan(l, r) => Some(GreaterThanOrEqual(l, r))
    case LessThanOrEqual(l, r) => Some(GreaterThan(l, r))
    case GreaterThan(l, r) => Some(LessThanOrEqual(l, r))
    case GreaterThanOrEqual(l, r) => Some(LessThan(l, r))
    case _ => None
  }

  /**
   * Splits `abs(x) <= c` into comparisons of x and of -x. Both raise an error where abs(x) does.
   */
  private[conjuncts] def parts(e: Expression): Seq[Expression] = e match {
    case LessThan(Absolute(both), c) => both.map(LessThan(_, c))
    case LessThanOrEqual(Absolute(both), c) => both.map(LessThanOrEqual(_, c))
    case GreaterThan(c, Absolute(both)) => both.map(LessThan(_, c))
    case GreaterThanOrEqual(c, Absolute(both)) => both.map(LessThanOrEqual(_, c))
    case _ => Seq(e)
  }

  /** The number with either sign below an absolute value, which a cast may widen. */
  private object Absolute {
    def unapply(e: Expression): Option[Seq[Expression]] = e match {
      case Abs(child, fails) => Some(Seq(child, UnaryMinus(child, fails)))
      case Cast(Absolute(both), to: NumericType, zone, mode)
          if Cast.canUpCast(both.head.dataType, to) => Some(both.map(Cast(_, to, zone, mode)))
      case _ => None
    }
  }
}
