// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import org.apache.spark.sql.catalyst.expressions.{And, AttributeSet, Coalesce, Expression, Or}
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.intervalsweep.condition.model.{
  LeftSide, RightSide, Side, Sweep, SweepCondition, SweepOptions, WhyNot
}

/**
 * Reads a join condition and assembles a [[SweepCondition]]:
 *
 *  1. [[Conjuncts]] splits the condition at AND, and expands functions into their formulas.
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

  private case class Parts(
      keys: Seq[(Conjunct, Seq[(Expression, Expression)])],
      comparisons: Seq[Comparison],
      reasons: Seq[WhyNot])

  def apply(condition: Expression): Either[WhyNot, SweepCondition] = {
    val conjuncts = Conjuncts.of(condition)
    conjuncts.find(!_.whole.deterministic) match {
      case Some(conjunct) => Left(WhyNot.NonDeterministic(conjunct.whole))
      case None =>
        val parts = read(conjuncts)
        bestBox(parts)
          .toRight(reason(condition, conjuncts, parts))
          .flatMap(assemble(conjuncts, parts, _))
          .left.flatMap(reason => alternatives(conjuncts).toRight(reason))
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
  private def read(conjuncts: Seq[Conjunct]): Parts = {
    val asKeys = read(conjuncts, EqualityKeys(sides, ofFunctions = true))
    val functions = asKeys.keys.count(_._1.relation.isDefined)
    val areKeys = functions < asKeys.keys.size || bestBox(asKeys).exists(!isOneComparison(_))
    if (functions == 0 || areKeys && !options.functionsAsAxes) asKeys
    else {
      val asAxes = read(conjuncts, EqualityKeys(sides, ofFunctions = false))
      if (bestBox(asAxes).isDefined) asAxes else asKeys
    }
  }

  private def bestBox(parts: Parts): Option[BoxForm] = BoxForm.best(parts.comparisons, options)

  private def isOneComparison(box: BoxForm): Boolean =
    box.lead.strength == PointAxis.OneSided && box.comparisons < 2

  private def read(conjuncts: Seq[Conjunct], keys: EqualityKeys): Parts = {
    val comparisons = Comparisons(sides)
    conjuncts.foldLeft(Parts(Nil, Nil, Nil)) { (parts, conjunct) =>
      keys.of(conjunct) match {
        case Some(Right(pairs)) => parts.copy(keys = parts.keys :+ (conjunct -> pairs))
        case Some(Left(reason)) => parts.copy(reasons = parts.reasons :+ reason)
        case None => comparisons.of(conjunct) match {
            case Right(comparison) => parts.copy(comparisons = parts.comparisons :+ comparison)
            case Left(reason) => parts.copy(reasons = parts.reasons :+ reason)
          }
      }
    }
  }

  private def assemble(
      conjuncts: Seq[Conjunct],
      parts: Parts,
      box: BoxForm): Either[WhyNot, SweepCondition] = {
    val split = SplitForm.of(parts.comparisons).filter { _ =>
      box.lead.strength == PointAxis.OneSided && !options.forcedBoxes.contains(box.boxes)
    }
    val table = new EndpointTable
    val (sweeps, exact) = split match {
      case Some(form) => (form.toSweeps(table), form.exact)
      case None => (box.toSweeps(table), box.exact)
    }
    val unsafe = ErrorPreservation(sides, exact).ofPairs
    val safe = exact.filterNot(c => unsafe.exists(_ eq c))
    val decided = parts.keys.map(_._1) ++ safe.map(_.conjunct)
    val failures = ErrorPreservation(sides, safe)
    val (leftKeys, rightKeys) = parts.keys.flatMap(_._2).distinct.unzip
    lazy val sweep = SweepCondition(
      leftKeys,
      rightKeys,
      table(LeftSide),
      table(RightSide),
      sweeps,
      rest(conjuncts, decided),
      failures.ofRows(LeftSide),
      failures.ofRows(RightSide))
    if (conjuncts.exists(_.isSwept)) Right(sweep)
    else unorderable(parts).orElse(weak(parts, box, split)).toLeft(sweep)
  }

  /** The sweeps for the alternatives (OR) of one conjunct, if some conjunct has such sweeps. */
  private def alternatives(conjuncts: Seq[Conjunct]): Option[SweepCondition] =
    conjuncts.iterator.flatMap { conjunct =>
      conjunct.expression match {
        case Alternatives(several) if conjunct.relation.isEmpty && !options.forcedBoxes.isDefined =>
          sweptBy(several, conjunct, conjuncts)
        case _ => None
      }
    }.nextOption()

  /** @param either the conjunct that consists of the alternatives */
  private def sweptBy(
      alternatives: Seq[Expression],
      either: Conjunct,
      conjuncts: Seq[Conjunct]): Option[SweepCondition] = {
    val branches = alternatives.map(Conjuncts.of)
    val others = conjuncts.filterNot(_ eq either)
    val common = read(others, EqualityKeys(sides, ofFunctions = true))
    val form = Alternatives(branches.map(common.comparisons ++ comparisonsOf(_)))
    val table = new EndpointTable
    val isWanted = options.weakRanges || common.keys.isEmpty || !form.areWeak ||
      branches.forall(_.exists(_.isSwept))
    for {
      sweeps <- if (isWanted) form.toSweeps(table) else None
      (leftKeys, rightKeys) = common.keys.flatMap(_._2).distinct.unzip
      whole = branches.map(_.map(_.whole).distinct.reduceOption(And).getOrElse(TrueLiteral))
      decides = Alternatives.residual(whole, sweeps.map(_.length))
    } yield SweepCondition(
      leftKeys,
      rightKeys,
      valuesOf(LeftSide, table, sweeps),
      valuesOf(RightSide, table, sweeps),
      sweeps.flatten,
      rest(
        conjuncts.map(c => if (c eq either) c.copy(whole = decides) else c),
        common.keys.map(_._1)),
      leftChecks = Nil,
      rightChecks = Nil)
  }

  private def comparisonsOf(conjuncts: Seq[Conjunct]): Seq[Comparison] =
    conjuncts.flatMap(Comparisons(sides).of(_).toOption)

  /**
   * The endpoints of a side. If not all branches read an endpoint, it gets a value instead of NULL:
   * the row can still match by another branch, and NULL would exclude it from all sweeps.
   */
  private def valuesOf(side: Side, table: EndpointTable, sweeps: Seq[Seq[Sweep]]): Seq[Expression] =
    table(side).zipWithIndex.map { case (endpoint, index) =>
      val isInAll = sweeps.forall(_.exists(_.endpointsOf(side).contains(index)))
      if (isInAll || !endpoint.nullable) endpoint
      else Coalesce(Seq(endpoint, BoundExpression.open(upper = false)))
    }

  /** The residual, in the order of the condition: one part can guard the next against an error. */
  private def rest(conjuncts: Seq[Conjunct], decided: Seq[Conjunct]): Option[Expression] =
    conjuncts.filterNot(c => decided.exists(_ eq c))
      .map(_.whole)
      .foldLeft(Seq.empty[Expression])((kept, e) => if (kept.exists(_ eq e)) kept else kept :+ e)
      .reduceOption(And)

  /** With equality keys, a single inequality is not worth a sort; it is left to the hash join. */
  private def weak(parts: Parts, box: BoxForm, split: Option[SplitForm]): Option[WhyNot] = {
    val isWeak =
      !options.weakRanges && parts.keys.nonEmpty && split.isEmpty && isOneComparison(box)
    Option.when(isWeak)(WhyNot.WeakRange(box.lead.comparisons.head._1.conjunct.written))
  }

  /**
   * If all keys can be hashed but not sorted, they are left to Spark's hash join.
   */
  private def unorderable(parts: Parts): Option[WhyNot] =
    parts.reasons.collectFirst { case u: WhyNot.UnorderableKeys if parts.keys.isEmpty => u }

  private def reason(condition: Expression, conjuncts: Seq[Conjunct], parts: Parts): WhyNot =
    parts.reasons.collectFirst { case u: WhyNot.UnsupportedEndpoint => u }
      .orElse(parts.reasons.collectFirst { case c: WhyNot.CrossSide => c })
      .getOrElse(noRange(condition, conjuncts, parts))

  /** The reason if no comparison was found. Conjuncts over one side alone are filters: ignored. */
  private def noRange(condition: Expression, conjuncts: Seq[Conjunct], parts: Parts): WhyNot = {
    def written(some: Seq[Conjunct]): Option[Expression] =
      some.map(_.written).distinct.reduceOption(And)
    val equalities = parts.keys.map(_._1)
    val others = conjuncts.filter { c =>
      sides.isAcross(c.expression) && !equalities.exists(_ eq c)
    }
    others.map(_.written).collectFirst { case either: Or => WhyNot.Disjunction(either) }
      .orElse(written(others).map(WhyNot.NoRange))
      .orElse(written(equalities).map(WhyNot.OnlyEqualities))
      .getOrElse(WhyNot.NoRange(condition))
  }
}

object ConditionAnalysis {

  /**
   * @param condition a resolved join condition
   * @param options      preferences for conditions that allow several forms
   */
  def of(
      condition: Expression,
      left: AttributeSet,
      right: AttributeSet,
      options: SweepOptions = SweepOptions()): Either[WhyNot, SweepCondition] =
    ConditionAnalysis(Sides(left, right), options)(condition)

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
