// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import org.apache.spark.sql.catalyst.expressions.{And, AttributeSet, Expression}
import org.apache.spark.sql.intervalsweep.condition.conjuncts.{
  Conjunct, Conjuncts, OpenComparisons, Sides
}
import org.apache.spark.sql.intervalsweep.condition.model.{
  LeftSide, RightSide, SweepCondition, SweepOptions, WhyNot
}

/**
 * Reads a join condition and assembles a [[SweepCondition]]:
 *
 *  1. [[Conjuncts]] splits the condition at AND, and expands functions into their formulas.
 *     [[OpenComparisons]] finds the comparisons that are waived for some rows.
 *  1. [[EqualityKeys]] takes the equi-join keys, and [[Comparisons]] the comparisons between the
 *     sides, each solved for a point of either side.
 *  1. [[SplitForm]] or [[BoxForm]] selects the comparisons that become axes.
 *  1. [[ErrorPreservation]] finds the comparisons that must be evaluated for their errors.
 *  1. The residual condition consists of the conjuncts that neither a key nor an axis decides.
 *
 * If no form is found, the disjuncts of one conjunct are tried as [[Alternatives]].
 *
 * Cost: steps 1 to 5 compare O(c^2) expressions for c conjuncts. No row is read.
 */
private[condition] case class ConditionAnalysis(sides: Sides, options: SweepOptions) {

  def apply(condition: Expression): Either[WhyNot, SweepCondition] = {
    val conjuncts = Conjuncts.of(condition)
    conjuncts.find(!_.whole.deterministic) match {
      case Some(conjunct) => Left(WhyNot.NonDeterministic(conjunct.whole))
      case None =>
        byComparisons(condition, conjuncts.flatMap(OpenComparisons(sides).of)).left
          .flatMap(reason => byAlternatives(conjuncts).toRight(reason))
    }
  }

  private def byComparisons(
      condition: Expression,
      conjuncts: Seq[Conjunct]): Either[WhyNot, SweepCondition] = {
    val parts = read(conjuncts)
    bestBox(parts).toRight(parts.whyNoForm(condition, sides)).flatMap { box =>
      val split = splitInsteadOf(box, parts)
      refused(parts, box, split).toLeft(assembled(parts, split.getOrElse(box)))
    }
  }

  /**
   * Reads the conjuncts, and decides whether functions that consist of equalities (ALLEN_MEETS,
   * ALLEN_MET_BY, ALLEN_EQUALS) become keys or axes. Both readings are tried:
   *
   *  - As keys, if the condition has other keys, or a range of more than one inequality. The keys
   *    select groups of rows, and the sweep searches the range within each group:
   *    `allen_meets(r.ts, r.te, s.ts, s.te) AND s.x BETWEEN r.x AND r.k` has the key `r.te = s.ts`
   *    and the axis `s.x in [r.x, r.k]`.
   *  - As axes otherwise. With keys alone there would be nothing to sweep:
   *    `allen_meets(r.ts, r.te, s.ts, s.te)` has the axis `s.ts in [r.te, r.te]`.
   *
   * `SweepOptions.functionsAsAxes` prefers axes in either case.
   */
  private def read(conjuncts: Seq[Conjunct]): ConditionParts = {
    val asKeys = read(conjuncts, functionsAsKeys = true)
    val functions = asKeys.keyConjuncts.count(_.relation.isDefined)
    val areKeys = functions < asKeys.keys.size || bestBox(asKeys).exists(!isOneComparison(_))
    if (functions == 0 || areKeys && !options.functionsAsAxes) asKeys
    else {
      val asAxes = read(conjuncts, functionsAsKeys = false)
      if (bestBox(asAxes).isDefined) asAxes else asKeys
    }
  }

  private def read(conjuncts: Seq[Conjunct], functionsAsKeys: Boolean): ConditionParts =
    ConditionParts.read(conjuncts, sides, EqualityKeys(sides, functionsAsKeys))

  private def bestBox(parts: ConditionParts): Option[BoxForm] =
    BoxForm.best(parts.comparisons, options)

  private def isOneComparison(box: BoxForm): Boolean =
    box.lead.strength == PointAxis.OneSided && box.comparisons < 2

  /** The split form, which is better than a lead axis with one bound. */
  private def splitInsteadOf(box: BoxForm, parts: ConditionParts): Option[SplitForm] =
    SplitForm.of(parts.comparisons).filter { _ =>
      box.lead.strength == PointAxis.OneSided && !options.forcedBoxes.contains(box.boxes)
    }

  /** The reason to leave a join to Spark although it has a form. Functions always get a sweep. */
  private def refused(
      parts: ConditionParts,
      box: BoxForm,
      split: Option[SplitForm]): Option[WhyNot] =
    if (parts.conjuncts.exists(_.isSwept)) None
    else parts.unorderableKeys.orElse(weak(parts, box, split))

  /** With equality keys, a single inequality is not worth a sort; it is left to the hash join. */
  private def weak(
      parts: ConditionParts,
      box: BoxForm,
      split: Option[SplitForm]): Option[WhyNot] = {
    val isWeak =
      !options.weakRanges && parts.keys.nonEmpty && split.isEmpty && isOneComparison(box)
    Option.when(isWeak)(WhyNot.WeakRange(box.lead.comparisons.head._1.conjunct.written))
  }

  /** The sweeps of a form, and a residual of all that neither a key nor the form decides. */
  private def assembled(parts: ConditionParts, form: SweepForm): SweepCondition = {
    val table = new EndpointTable
    val sweeps = form.toSweeps(table)
    val decided = withoutErrors(form.exact)
    val failures = ErrorPreservation(sides, decided)
    SweepCondition(
      parts.leftKeys,
      parts.rightKeys,
      table(LeftSide),
      table(RightSide),
      sweeps,
      residual(parts.conjuncts, parts.keyConjuncts ++ decided.map(_.conjunct)),
      failures.ofRows(LeftSide),
      failures.ofRows(RightSide))
  }

  /** The comparisons that need not be evaluated for the errors that they raise for a pair. */
  private def withoutErrors(comparisons: Seq[Comparison]): Seq[Comparison] = {
    val fallible = ErrorPreservation(sides, comparisons).ofPairs
    comparisons.filterNot(c => fallible.exists(_ eq c))
  }

  /** The sweeps for the alternatives (OR) of one conjunct, if some conjunct has such sweeps. */
  private def byAlternatives(conjuncts: Seq[Conjunct]): Option[SweepCondition] =
    conjuncts.iterator.flatMap { conjunct =>
      conjunct.expression match {
        case Alternatives(several) if conjunct.relation.isEmpty && options.forcedBoxes.isEmpty =>
          byBranches(several.map(Conjuncts.of), conjunct, conjuncts)
        case _ => None
      }
    }.nextOption()

  /**
   * @param branches the conjuncts of each alternative
   * @param either   the conjunct that consists of the alternatives
   */
  private def byBranches(
      branches: Seq[Seq[Conjunct]],
      either: Conjunct,
      conjuncts: Seq[Conjunct]): Option[SweepCondition] = {
    val common = read(conjuncts.filterNot(_ eq either), functionsAsKeys = true)
    val form = Alternatives(branches.map(common.comparisons ++ comparisonsOf(_)))
    val acceptsWeak = options.weakRanges || common.keys.isEmpty ||
      branches.forall(_.exists(_.isSwept))
    val isWanted = options.weakAlternatives && acceptsWeak || !form.areWeak
    val table = new EndpointTable
    val found = if (isWanted) form.toSweeps(table) else None
    found.map { sweeps =>
      val decides = either.copy(whole = Alternatives.residual(branches, sweeps.map(_.length)))
      SweepCondition(
        common.leftKeys,
        common.rightKeys,
        Alternatives.endpoints(LeftSide, table, sweeps),
        Alternatives.endpoints(RightSide, table, sweeps),
        sweeps.flatten,
        residual(conjuncts.map(c => if (c eq either) decides else c), common.keyConjuncts),
        leftChecks = Nil,
        rightChecks = Nil)
    }
  }

  private def comparisonsOf(conjuncts: Seq[Conjunct]): Seq[Comparison] =
    conjuncts.flatMap(Comparisons(sides).of(_).toOption)

  /** The residual, in the order of the condition: one part can guard the next against an error. */
  private def residual(conjuncts: Seq[Conjunct], decided: Seq[Conjunct]): Option[Expression] =
    conjuncts.filterNot(c => decided.exists(_ eq c))
      .map(_.whole)
      .foldLeft(Seq.empty[Expression])((kept, e) => if (kept.exists(_ eq e)) kept else kept :+ e)
      .reduceOption(And)
}

object ConditionAnalysis {

  /**
   * @param condition a resolved join condition
   * @param options   preferences for conditions that allow several forms
   */
  def of(
      condition: Expression,
      left: AttributeSet,
      right: AttributeSet,
      options: SweepOptions = SweepOptions()): Either[WhyNot, SweepCondition] =
    ConditionAnalysis(Sides(left, right), options)(condition)

  /**
   * A value as a LONG that keeps its order. None if two values may have the same LONG, or if it may
   * raise an error.
   */
  def encoded(value: Expression): Option[Expression] =
    Operand.of(value).filter(o => o.hasValue && o.isExact).map(_.encoded)

  /** The keys of a conjunct, left and right. None if the conjunct is not a key. */
  def keys(
      conjunct: Expression,
      left: AttributeSet,
      right: AttributeSet): Option[Seq[(Expression, Expression)]] =
    Conjuncts.of(conjunct) match {
      case Seq(only) =>
        EqualityKeys(Sides(left, right), ofFunctions = true).of(only).flatMap(_.toOption)
      case _ => None
    }
}
