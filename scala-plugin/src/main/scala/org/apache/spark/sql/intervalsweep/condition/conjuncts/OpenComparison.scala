// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.conjuncts

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.intervalsweep.condition.expressions.IsTotal
import org.apache.spark.sql.intervalsweep.functions.IntervalPredicate
import org.apache.spark.sql.intervalsweep.functions.distances.DifferenceAtMost
import org.apache.spark.sql.types.{BooleanType, DataType}

/**
 * `comparison OR exceptions`: a comparison of the two sides that is waived for some rows, such as
 * `at < te OR te IS NULL`. It is only read, never evaluated.
 *
 * @param exceptions conditions over one side each, which raise no errors
 */
private[condition] case class OpenComparison(comparison: Expression, exceptions: Seq[Expression])
    extends Expression with Unevaluable {
  override def children: Seq[Expression] = comparison +: exceptions
  override def dataType: DataType = BooleanType
  override def nullable: Boolean = true

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]): OpenComparison =
    OpenComparison(newChildren.head, newChildren.tail)
}

/**
 * Reads conditions that waive a comparison, in any spelling:
 * {{{
 *   at < te OR te IS NULL             coalesce(at < te, true)         (at < te) IS NOT FALSE
 *   if(te IS NULL, true, at < te)     NOT (te IS NOT NULL AND at >= te)
 * }}}
 */
private[condition] case class OpenComparisons(sides: Sides) {
  import OpenComparisons._

  /**
   * The comparisons of a conjunct that is true only if all of them are. The last element is the
   * conjunct itself, unless the comparisons are equivalent to it.
   */
  def of(conjunct: Conjunct): Seq[Conjunct] =
    if (conjunct.relation.isDefined) Seq(conjunct)
    else if (mayBeOpen(conjunct.expression)) by(whereTrue(conjunct.expression), conjunct)
    else if (sides.isAcross(conjunct.expression)) by(ofExtremes(conjunct.expression), conjunct)
    else Seq(conjunct)

  private def by(clauses: Clauses, conjunct: Conjunct): Seq[Conjunct] = {
    val known = clauses.all.filter(_.comparison.isDefined).distinct
    if (known.isEmpty || clauses.all.length > MostClauses) Seq(conjunct)
    else {
      val open = known.map(clause => conjunct.copy(expression = clause.toExpression))
      if (clauses.areComplete && known.length == clauses.all.distinct.length) open
      else open :+ conjunct
    }
  }

  /**
   * The clauses of `greatest(a.ts, b.ts) <= least(a.te, b.te)`: each operand of the one is at most
   * each operand of the other, unless one is NULL, which both functions skip.
   */
  private def ofExtremes(e: Expression): Clauses = e match {
    case LessThan(l, g) => ofExtremes(l, g)(LessThan(_, _))
    case LessThanOrEqual(l, g) => ofExtremes(l, g)(LessThanOrEqual(_, _))
    case GreaterThan(g, l) => ofExtremes(l, g)(LessThan(_, _))
    case GreaterThanOrEqual(g, l) => ofExtremes(l, g)(LessThanOrEqual(_, _))
    case _ => Clauses.unknown
  }

  private def ofExtremes(lesser: Expression, greater: Expression)(
      compare: (Expression, Expression) => Expression): Clauses = {
    val (lessers, greaters) =
      (operands(lesser, ofGreatest = true), operands(greater, ofGreatest = false))
    def skipped(all: Seq[Expression], e: Expression): Seq[Expression] =
      if (all.length > 1 && e.nullable) Seq(IsNull(e)) else Nil
    val pairs = for {
      l <- lessers
      g <- greaters
      if sides.isAcross(compare(l, g))
      exceptions = skipped(lessers, l) ++ skipped(greaters, g) if exceptions.forall(isException)
    } yield Clause(Some(compare(l, g)), exceptions)
    if (lessers.length * greaters.length == 1) Clauses.unknown
    else Clauses(pairs, areComplete = false)
  }

  private def operands(e: Expression, ofGreatest: Boolean): Seq[Expression] = e match {
    case Greatest(children) if ofGreatest && sides.isAcross(e) =>
      children.flatMap(operands(_, ofGreatest))
    case Least(children) if !ofGreatest && sides.isAcross(e) =>
      children.flatMap(operands(_, ofGreatest))
    case _ => Seq(e)
  }

  /**
   * True if a NULL may waive the only comparison of both sides. A disjunction of several such
   * comparisons becomes several joins instead.
   */
  private def mayBeOpen(e: Expression): Boolean = e match {
    case Or(left, right) => Seq(left, right).count(sides.isAcross) == 1
    case Not(And(left, right)) => Seq(left, right).count(sides.isAcross) == 1
    case _: If | _: CaseWhen | _: Coalesce | _: Not => sides.isAcross(e)
    case _ => false
  }

  /** The clauses of "the condition is true". NULL counts as false. */
  private def whereTrue(e: Expression): Clauses = e match {
    case And(left, right) => whereTrue(left) ++ whereTrue(right)
    case Or(left, right) => whereTrue(left) or whereTrue(right)
    case If(p, a, b) => choice(p, whereTrue(a), whereTrue(b))
    case CaseWhen(branches, otherwise) =>
      branches.foldRight(whereTrue(otherwise.getOrElse(Literal.FalseLiteral))) {
        case ((p, a), rest) => choice(p, whereTrue(a), rest)
      }
    case IsTrue(p) => whereTrue(p)
    case IsNotFalse(p) => whereNotFalse(p)
    case Not(child) => pushed(child).map(whereTrue).getOrElse(leaf(e))
    case p: IntervalPredicate => whereTrue(p.conjunction)
    case _ => leaf(e)
  }

  /** The clauses of "the condition is not false". */
  private def whereNotFalse(e: Expression): Clauses = e match {
    case And(left, right) => whereNotFalse(left) ++ whereNotFalse(right)
    case Or(left, right) => whereNotFalse(left) or whereNotFalse(right)
    case IsTrue(_) | IsNotFalse(_) => whereTrue(e)
    case Not(child) if pushed(child).isDefined => whereNotFalse(pushed(child).get)
    case p: IntervalPredicate => whereNotFalse(p.conjunction)
    case _ if isOneSided(e) => leaf(Coalesce(Seq(e, Literal.TrueLiteral)))
    case c @ Compares(operands) =>
      val unknown = operands.filter(_.nullable).map(IsNull(_))
      if (unknown.forall(isException)) Clauses.of(Clause(Some(c), unknown)) else Clauses.unknown
    case _ => Clauses.unknown
  }

  /** The condition with NOT pushed below its first operator, in three-valued logic. */
  private def pushed(e: Expression): Option[Expression] = e match {
    case Not(child) => Some(child)
    case And(left, right) => Some(Or(Not(left), Not(right)))
    case Or(left, right) => Some(And(Not(left), Not(right)))
    case p: IntervalPredicate => Some(Not(p.conjunction)).filter(_ => p.conjuncts.length > 1)
    case other => Conjuncts.opposite(other)
  }

  /** `if(p, a, b)`: what both have, `a` unless p is not true, and `b` unless p is true. */
  private def choice(p: Expression, a: Clauses, b: Clauses): Clauses = {
    val common = a.all.filter(b.all.contains)
    val isNot = p match {
      case Not(child) if !child.nullable => child
      case _ if p.nullable => Not(Coalesce(Seq(p, Literal.FalseLiteral)))
      case _ => Not(p)
    }
    if (isException(p))
      Clauses(common) ++ (leaf(isNot) or a.without(common)) ++ (leaf(p) or b.without(common))
    else Clauses(common, areComplete = false)
  }

  private def leaf(e: Expression): Clauses = e match {
    case Literal.TrueLiteral => Clauses(Nil)
    case Literal.FalseLiteral | Literal(null, _) => Clauses.of(Clause(None, Nil))
    case Not(IsNotNull(child)) => leaf(IsNull(child))
    case _ if isException(e) => Clauses.of(Clause(None, Seq(e)))
    case _ =>
      Conjuncts.parts(e) match {
        case parts if parts.forall(Compares.unapply(_).isDefined) && sides.isAcross(e) =>
          Clauses(parts.map(part => Clause(Some(part), Nil)))
        case _ => Clauses.unknown
      }
  }

  private def isException(e: Expression): Boolean = isOneSided(e) && IsTotal(e)

  private def isOneSided(e: Expression): Boolean = e.deterministic && !sides.isAcross(e)
}

private[condition] object OpenComparisons {
  private val MostClauses = 8

  /** A disjunction of at most one comparison and of conditions over one side. */
  case class Clause(comparison: Option[Expression], exceptions: Seq[Expression]) {
    def toExpression: Expression =
      if (exceptions.isEmpty) comparison.get else OpenComparison(comparison.get, exceptions)

    /** None if both clauses have a comparison, and not the same one. */
    def or(other: Clause): Option[Clause] = {
      val all =
        Clause(comparison.orElse(other.comparison), (exceptions ++ other.exceptions).distinct)
      val areOne = comparison.zip(other.comparison).forall { case (a, b) => a.semanticEquals(b) }
      Option.when(areOne)(all)
    }
  }

  /**
   * A conjunction of clauses.
   *
   * @param areComplete whether the clauses are equivalent to the condition. If not, they are
   *                    necessary for it but not sufficient
   */
  case class Clauses(all: Seq[Clause], areComplete: Boolean = true) {
    def ++(other: Clauses): Clauses =
      Clauses(all ++ other.all, areComplete && other.areComplete)

    def without(some: Seq[Clause]): Clauses = copy(all = all.filterNot(some.contains))

    def or(other: Clauses): Clauses = {
      val merged = for (a <- all; b <- other.all) yield a or b
      Clauses(merged.flatten, areComplete && other.areComplete && merged.forall(_.isDefined))
    }
  }

  object Clauses {
    val unknown: Clauses = Clauses(Nil, areComplete = false)
    def of(clause: Clause): Clauses = Clauses(Seq(clause))
  }

  /**
   * The operands of an inequality. It is NULL if and only if one of them is. Equalities are left to
   * Spark: `a = b OR a IS NULL OR b IS NULL` is its null-aware anti join.
   */
  object Compares {
    def unapply(e: Expression): Option[Seq[Expression]] = e match {
      case _: LessThan | _: LessThanOrEqual | _: GreaterThan | _: GreaterThanOrEqual |
          _: DifferenceAtMost => Some(e.children)
      case _ => None
    }
  }

  /** Wrappers of `p` that are true if `p` is true, and false otherwise. */
  object IsTrue {
    def unapply(e: Expression): Option[Expression] = e match {
      case Coalesce(Seq(p, Literal.FalseLiteral)) => Some(p)
      case EqualNullSafe(p, Literal.TrueLiteral) => Some(p)
      case EqualNullSafe(Literal.TrueLiteral, p) => Some(p)
      case EqualNullSafe(p, Literal.FalseLiteral) => Some(Not(p))
      case EqualNullSafe(Literal.FalseLiteral, p) => Some(Not(p))
      case Not(IsNotFalse(p)) => Some(Not(p))
      case _ => None
    }
  }

  /** Wrappers of `p` that are true if `p` is true or NULL, and false otherwise. */
  object IsNotFalse {
    def unapply(e: Expression): Option[Expression] = e match {
      case Coalesce(Seq(p, Literal.TrueLiteral)) => Some(p)
      case Not(Coalesce(Seq(p, Literal.FalseLiteral))) => Some(Not(p))
      case Not(EqualNullSafe(p, Literal.FalseLiteral)) => Some(p)
      case Not(EqualNullSafe(Literal.FalseLiteral, p)) => Some(p)
      case Not(EqualNullSafe(p, Literal.TrueLiteral)) => Some(Not(p))
      case Not(EqualNullSafe(Literal.TrueLiteral, p)) => Some(Not(p))
      case _ => None
    }
  }
}
