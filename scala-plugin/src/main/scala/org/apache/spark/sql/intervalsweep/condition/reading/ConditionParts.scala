// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import org.apache.spark.sql.catalyst.expressions.{And, AttributeSet, Expression, Or}
import org.apache.spark.sql.intervalsweep.condition.conjuncts.{Conjunct, Sides}
import org.apache.spark.sql.intervalsweep.condition.model.WhyNot

/** A conjunct that is an equi-join key, as pairs of an expression of each side, left first. */
private[reading] case class KeyConjunct(conjunct: Conjunct, pairs: Seq[(Expression, Expression)])

/**
 * The conjuncts of a condition, in its order, and what each was read as.
 *
 * @param reasons for conjuncts that are neither keys nor comparisons
 */
private[reading] case class ConditionParts(
    conjuncts: Seq[Conjunct],
    keys: Seq[KeyConjunct] = Nil,
    comparisons: Seq[Comparison] = Nil,
    reasons: Seq[WhyNot] = Nil) {

  def ++(other: ConditionParts): ConditionParts = ConditionParts(
    conjuncts ++ other.conjuncts,
    keys ++ other.keys,
    comparisons ++ other.comparisons,
    reasons ++ other.reasons)

  def keyConjuncts: Seq[Conjunct] = keys.map(_.conjunct)

  /** The distinct keys, left and right. */
  lazy val (leftKeys, rightKeys) = keys.flatMap(_.pairs).distinct.unzip

  /** The reason if all keys can be hashed but not sorted: Spark's hash join is then better. */
  def unorderableKeys: Option[WhyNot] =
    reasons.collectFirst { case u: WhyNot.UnorderableKeys if keys.isEmpty => u }

  /** The reason if the comparisons have no form. */
  def whyNoForm(condition: Expression, sides: Sides): WhyNot =
    reasons.collectFirst { case u: WhyNot.UnsupportedEndpoint => u }
      .orElse(reasons.collectFirst { case c: WhyNot.CrossSide => c })
      .orElse(reasons.collectFirst { case m: WhyNot.MayFail => m })
      .getOrElse(whyNoRange(condition, sides))

  /** The reason if no comparison was found. Conjuncts over one side alone are filters: ignored. */
  private def whyNoRange(condition: Expression, sides: Sides): WhyNot = {
    def written(some: Seq[Conjunct]): Option[Expression] =
      some.map(_.written).distinct.reduceOption(And)
    val others = conjuncts.filter { c =>
      sides.isAcross(c.expression) && !keyConjuncts.exists(_ eq c)
    }
    others.map(_.written).collectFirst { case either: Or => WhyNot.Disjunction(either) }
      .orElse(written(others).map(WhyNot.NoRange))
      .orElse(written(keyConjuncts).map(WhyNot.OnlyEqualities))
      .getOrElse(WhyNot.NoRange(condition))
  }
}

private[reading] object ConditionParts {
  def read(conjuncts: Seq[Conjunct], sides: Sides, keys: EqualityKeys): ConditionParts = {
    val comparisons =
      Comparisons(sides, AttributeSet(conjuncts.flatMap(c => OpenBounds.notNull(c.expression))))
    def partOf(conjunct: Conjunct): ConditionParts = {
      val part = ConditionParts(Seq(conjunct))
      keys.of(conjunct) match {
        case Some(Right(pairs)) => part.copy(keys = Seq(KeyConjunct(conjunct, pairs)))
        case Some(Left(reason)) => part.copy(reasons = Seq(reason))
        case None => comparisons.of(conjunct).fold(
            reason => part.copy(reasons = Seq(reason)),
            comparison => part.copy(comparisons = Seq(comparison)))
      }
    }
    conjuncts.map(partOf).foldLeft(ConditionParts(Nil))(_ ++ _)
  }
}
