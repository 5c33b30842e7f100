// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.intervalsweep.condition.model.{
  LeftSide, RightSide, Side, Sweep, SweepNumber
}

/**
 * Alternatives below OR. Each has sweeps of its own, and all of them together find a pair once:
 * {{{
 *   (b.ts BETWEEN a.ts AND a.te) OR (a.ts BETWEEN b.ts AND b.te)
 *
 *     sweep 0   boxes left    b.ts in [a.ts, a.te]
 *     sweep 1   boxes right   a.ts in [b.ts, b.te]
 *     residual  CASE WHEN sweep < 1 THEN first
 *                    ELSE NOT coalesce(first, false) AND second END
 * }}}
 * A sweep only proposes pairs here, and the residual decides, by the number of the sweep. So an
 * endpoint of one alternative may be NULL where another one holds: such an endpoint has some value.
 *
 * @param branches the comparisons of each alternative, those of the whole condition among them
 */
private[condition] case class Alternatives(branches: Seq[Seq[Comparison]]) {
  import Alternatives._

  /** The sweeps of each branch; None if one has no range, or if they need several orders of rows. */
  def toSweeps(table: EndpointTable): Option[Seq[Seq[Sweep]]] =
    best.map(_.map(_.toSweeps(table))).filter(_.map(_.length).sum <= MostSweeps)

  /**
   * A side is sorted by one point, whichever sweeps it is points in: of all choices of these two
   * points the one with the strongest of the weakest leads.
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

  /** Whether a branch has but one inequality: not worth a sweep beside equality keys. */
  def areWeak: Boolean = best.exists(_.exists(c => c.strength == PointAxis.OneSided))
}

private[condition] object Alternatives {

  /** A pair is looked at by each sweep. */
  private val MostSweeps = 8

  /** The alternatives of a condition, if it is several; in the sense of a filter. */
  def unapply(e: Expression): Option[Seq[Expression]] = Some(split(e)).filter(_.length > 1)

  private def split(e: Expression): Seq[Expression] = e match {
    case Or(left, right) => split(left) ++ split(right)
    case Not(And(left, right)) => split(Not(left)) ++ split(Not(right))
    case Not(Not(child)) => split(child)
    case other => Seq(other)
  }

  /**
   * Which pairs count, by the number of the sweep that proposes them.
   *
   * @param sweeps how many sweeps each of the alternatives has
   */
  def residual(alternatives: Seq[Expression], sweeps: Seq[Int]): Expression = {
    // Looked at in the order in which OR does: what an earlier one guards may fail.
    val first = alternatives.indices.map { i =>
      val earlier = alternatives.take(i).map(e => Not(Coalesce(Seq(e, Literal.FalseLiteral))))
      (earlier :+ alternatives(i)).reduce(And)
    }
    val ends = sweeps.scanLeft(0)(_ + _).tail
    val cases = ends.zip(first).map { case (end, e) => (LessThan(SweepNumber(), Literal(end)), e) }
    CaseWhen(cases.init, first.last)
  }

  /**
   * One way to sweep a branch.
   *
   * @param leads the point by which a side is sorted that is points
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
