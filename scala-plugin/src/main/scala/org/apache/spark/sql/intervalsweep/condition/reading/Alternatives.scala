// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.intervalsweep.condition.conjuncts.Conjunct
import org.apache.spark.sql.intervalsweep.condition.model.{
  LeftSide, RightSide, Side, Sweep, SweepNumber
}

/**
 * Alternatives below OR. Each has its own sweeps, and all sweeps together find each pair once:
 * {{{
 *   (b.ts BETWEEN a.ts AND a.te) OR (a.ts BETWEEN b.ts AND b.te)
 *
 *     sweep 0   boxes left    b.ts in [a.ts, a.te]
 *     sweep 1   boxes right   a.ts in [b.ts, b.te]
 *     residual  CASE WHEN sweep < 1 THEN first
 *                    ELSE NOT coalesce(first, false) AND second END
 * }}}
 * Here a sweep only proposes pairs. The residual condition decides, by the number of the sweep.
 * Invariant: it accepts a pair only for the sweeps of the first alternative that is true. An
 * endpoint of one alternative can be NULL while another alternative is true, so such an endpoint
 * gets a value.
 *
 * Cost: up to `MostSweeps` sweeps over the same two sort orders. Planning compares O(k^3)
 * expressions for k candidate forms.
 *
 * @param branches the comparisons of each alternative, together with those of the whole condition
 */
private[condition] case class Alternatives(branches: Seq[Seq[Comparison]]) {
  import Alternatives._

  /**
   * The sweeps of each branch. None if a branch has no range, if the branches need different sort
   * orders of one side, or if there are more than `MostSweeps` sweeps.
   */
  def toSweeps(table: EndpointTable): Option[Seq[Seq[Sweep]]] =
    best.map(_.map(_.toSweeps(table))).filter(_.map(_.length).sum <= MostSweeps)

  /**
   * The best candidate for each branch. Each side has one sort key, which all sweeps must share. Of
   * all choices of the two sort keys, the best maximizes the strength of the weakest lead axis.
   */
  private def best: Option[Seq[Candidate]] = {
    val candidates = branches.map(Candidate.of)
    def leads(side: Side): Seq[Option[Expression]] =
      None +: candidates.flatten.flatMap(_.leads.get(side)).map(Some(_))
    val choices = for {
      left <- leads(LeftSide)
      right <- leads(RightSide)
      chosen = candidates.map(_.filter(_.isSortedBy(left, right)))
      if chosen.forall(_.nonEmpty)
    } yield chosen.map(_.maxBy(c => (c.strength, c.comparisons)))
    choices.maxByOption(c => (c.map(_.strength).min, c.map(_.strength).sum))
  }

  /** Whether the lead axis of some branch is one-sided: not worth a sweep next to equality keys. */
  def areWeak: Boolean = best.exists(_.exists(c => c.strength == PointAxis.OneSided))
}

private[condition] object Alternatives {

  /**
   * The largest number of sweeps. Each sweep can propose the same pair to the residual condition.
   */
  private val MostSweeps = 8

  /**
   * The alternatives of a condition, if there are several. Their disjunction is true for the same
   * rows as the condition; NULL counts as false.
   */
  def unapply(e: Expression): Option[Seq[Expression]] = Some(split(e)).filter(_.length > 1)

  private def split(e: Expression): Seq[Expression] = e match {
    case Or(left, right) => split(left) ++ split(right)
    case Not(And(left, right)) => split(Not(left)) ++ split(Not(right))
    case Not(Not(child)) => split(child)
    case other => Seq(other)
  }

  /**
   * The residual condition. It accepts a pair if the alternative of its sweep is true and no
   * earlier alternative is.
   *
   * @param branches the conjuncts of each alternative
   * @param sweeps   the number of sweeps of each alternative
   */
  def residual(branches: Seq[Seq[Conjunct]], sweeps: Seq[Int]): Expression = {
    val alternatives = branches.map { conjuncts =>
      conjuncts.map(_.whole).distinct.reduceOption(And).getOrElse(Literal.TrueLiteral)
    }
    // Evaluated in the order of OR: an earlier alternative can guard a later one against an error.
    val first = alternatives.indices.map { i =>
      val earlier = alternatives.take(i).map(e => Not(Coalesce(Seq(e, Literal.FalseLiteral))))
      (earlier :+ alternatives(i)).reduce(And)
    }
    val ends = sweeps.scanLeft(0)(_ + _).tail
    val cases = ends.zip(first).map { case (end, e) => (LessThan(SweepNumber(), Literal(end)), e) }
    CaseWhen(cases.init, first.last)
  }

  /**
   * The endpoints of a side. If not all branches read an endpoint, it gets a value instead of NULL:
   * the row can still match by another branch, and NULL would exclude it from all sweeps.
   *
   * @param sweeps the sweeps of each branch
   */
  def endpoints(side: Side, table: EndpointTable, sweeps: Seq[Seq[Sweep]]): Seq[Expression] =
    table(side).zipWithIndex.map { case (endpoint, index) =>
      val isInAll = sweeps.forall(_.exists(_.endpointsOf(side).contains(index)))
      if (isInAll || !endpoint.nullable) endpoint
      else Coalesce(Seq(endpoint, BoundExpression.open(upper = false)))
    }

  /**
   * One way to sweep a branch.
   *
   * @param leads the sort key of each side whose rows are points
   */
  private case class Candidate(
      leads: Map[Side, Expression],
      strength: Int,
      comparisons: Int,
      toSweeps: EndpointTable => Seq[Sweep]) {

    def isSortedBy(left: Option[Expression], right: Option[Expression]): Boolean =
      leads.forall {
        case (LeftSide, point) => left.exists(_.semanticEquals(point))
        case (RightSide, point) => right.exists(_.semanticEquals(point))
      }
  }

  private object Candidate {
    def of(comparisons: Seq[Comparison]): Seq[Candidate] =
      SplitForm.of(comparisons).map(ofSplit).toSeq ++ BoxForm.all(comparisons).map(ofBox)

    private def ofSplit(form: SplitForm): Candidate =
      Candidate(form.leads, PointAxis.TwoSided, form.comparisons.length, form.toSweeps)

    private def ofBox(form: BoxForm): Candidate = Candidate(
      Map(form.boxes.other -> form.lead.point),
      form.lead.strength,
      form.comparisons,
      form.toSweeps)
  }
}
