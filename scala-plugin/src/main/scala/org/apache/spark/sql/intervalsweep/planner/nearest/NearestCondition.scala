// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.nearest

import org.apache.spark.sql.catalyst.expressions.{And, Expression, PredicateHelper}
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.intervalsweep.condition.model.{
  Axis, KeptMatches, LeftSide, MatchLimit, Sweep, SweepCondition, SweepOptions, WhyNot
}
import org.apache.spark.sql.intervalsweep.condition.reading.ConditionAnalysis
import org.apache.spark.sql.intervalsweep.planner.nodes.NearestMatches

/**
 * The condition of a [[NearestMatches]] as one sweep over the value by which matches are kept.
 *
 * {{{
 *   p.id = o.id AND p.at <= o.at AND p.price > 0 AND p.note <> o.note, last by p.at
 *
 *   keys       p.id = o.id
 *   lead axis  p.at in (-infinity, o.at]
 *   residual   p.price > 0 AND p.note <> o.note
 * }}}
 */
private[nearest] object NearestCondition extends PredicateHelper {

  def of(node: NearestMatches): Either[WhyNot, (SweepCondition, MatchLimit)] =
    ConditionAnalysis.encoded(node.value)
      .toRight(WhyNot.UnsupportedEndpoint(node.value, node.condition))
      .flatMap(of(node, _).toRight(WhyNot.NoRange(node.condition)))

  /** None if the bounds of the value cannot be computed. */
  private def of(
      node: NearestMatches,
      value: Expression): Option[(SweepCondition, MatchLimit)] = {
    val conjuncts = splitConjunctivePredicates(node.condition).filter(_ != TrueLiteral)
    val (decided, others) = conjuncts.partition(c => isKey(c, node) || isBound(c, node))
    for {
      condition <- swept(decided, node, value)
      if isOnValue(condition, value)
      (centered, kept) <- withCenter(condition, node)
    } yield {
      val residual = (condition.residual ++ others).reduceOption(And)
      (centered.copy(residual = residual), MatchLimit(kept, node.count))
    }
  }

  private def isKey(conjunct: Expression, node: NearestMatches): Boolean =
    ConditionAnalysis.keys(conjunct, node.left.outputSet, node.right.outputSet).isDefined

  /** Whether a conjunct compares the value, and no other column of the right side. */
  private def isBound(conjunct: Expression, node: NearestMatches): Boolean = {
    val ofRight = conjunct.references.filter(node.right.outputSet.contains)
    ofRight.nonEmpty && ofRight.forall(node.value.references.contains)
  }

  private def swept(
      conjuncts: Seq[Expression],
      node: NearestMatches,
      value: Expression): Option[SweepCondition] =
    if (conjuncts.exists(isBound(_, node)))
      conjuncts.reduceOption(And).flatMap(ConditionAnalysis.of(
        _,
        node.left.outputSet,
        node.right.outputSet,
        SweepOptions(forcedBoxes = Some(LeftSide), weakRanges = true)).toOption)
    else unbounded(conjuncts, node, value)

  /** A sweep over all right rows with the keys of a left row. */
  private def unbounded(
      keys: Seq[Expression],
      node: NearestMatches,
      value: Expression): Option[SweepCondition] = {
    val pairs = keys.flatMap(key =>
      ConditionAnalysis.keys(key, node.left.outputSet, node.right.outputSet).toSeq.flatten)
    Some(SweepCondition(
      pairs.map(_._1),
      pairs.map(_._2),
      leftEndpoints = Nil,
      rightEndpoints = Seq(value),
      Seq(Sweep(LeftSide, Axis(point = 0, lower = None, upper = None), second = None)),
      residual = None,
      leftChecks = Nil,
      rightChecks = Nil))
  }

  private def isOnValue(condition: SweepCondition, value: Expression): Boolean =
    condition.sweeps match {
      case Seq(Sweep(LeftSide, lead, None)) =>
        condition.rightEndpoints(lead.point).semanticEquals(value)
      case _ => false
    }

  /** Adds the center to the endpoints of the left side, if the nearest matches are kept. */
  private def withCenter(
      condition: SweepCondition,
      node: NearestMatches): Option[(SweepCondition, KeptMatches)] = node.center match {
    case None =>
      Some((condition, if (node.fromEnd) KeptMatches.Last else KeptMatches.First))
    case Some(center) =>
      ConditionAnalysis.encoded(center).map { encoded =>
        val known = condition.leftEndpoints.indexWhere(_.semanticEquals(encoded))
        val at = if (known >= 0) known else condition.leftEndpoints.size
        val endpoints =
          if (known >= 0) condition.leftEndpoints else condition.leftEndpoints :+ encoded
        (
          condition.copy(leftEndpoints = endpoints),
          KeptMatches.Nearest(at, node.value.dataType))
      }
  }
}
