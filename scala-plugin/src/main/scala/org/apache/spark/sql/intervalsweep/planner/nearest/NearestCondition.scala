// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.nearest

import org.apache.spark.sql.catalyst.expressions.{
  And, Cast, Expression, If, Literal, PredicateHelper
}
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.intervalsweep.condition.expressions.{
  EncodedEndpoint, IsTotal, OnErrorElse
}
import org.apache.spark.sql.intervalsweep.condition.model.{
  Axis, KeptMatches, LeftSide, MatchLimit, Sweep, SweepCondition, SweepOptions, WhyNot
}
import org.apache.spark.sql.intervalsweep.condition.reading.ConditionAnalysis
import org.apache.spark.sql.intervalsweep.planner.nodes.NearestMatches
import org.apache.spark.sql.types.{DateType, LongType, TimestampNTZType, TimestampType}

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
      if isOnValue(condition, value) || isOnCast(condition, node)
      (centered, kept) <- withCenter(condition, node)
    } yield {
      val (ofLeft, residual) =
        others.partition(c => decidesLeftRows(c, node) && hasEndpoints(centered))
      val limited = centered.copy(
        leftEndpoints = ofLeft.foldLeft(centered.leftEndpoints)(orNull),
        residual = (condition.residual ++ residual).reduceOption(And))
      (limited, MatchLimit(kept, node.count))
    }
  }

  private def hasEndpoints(condition: SweepCondition): Boolean = condition.leftEndpoints.nonEmpty

  /** Whether a conjunct reads left rows only, and may be evaluated for all of them. */
  private def decidesLeftRows(conjunct: Expression, node: NearestMatches): Boolean =
    conjunct.references.nonEmpty && conjunct.references.subsetOf(node.left.outputSet) &&
      conjunct.deterministic && IsTotal(conjunct)

  /** A row whose condition is not true gets a NULL endpoint: it has no match. */
  private def orNull(endpoints: Seq[Expression], condition: Expression): Seq[Expression] =
    If(condition, endpoints.head, Literal(null, LongType)) +: endpoints.tail

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
      // A constant, which a condition on left rows turns into NULL; or else the center.
      leftEndpoints = if (node.center.isEmpty) Seq(Literal(0L)) else Nil,
      rightEndpoints = Seq(value),
      Seq(Sweep(LeftSide, Axis(point = 0, lower = None, upper = None), second = None)),
      residual = None,
      leftChecks = Nil,
      rightChecks = Nil))
  }

  private def isOnValue(condition: SweepCondition, value: Expression): Boolean =
    pointOf(condition).exists(_.semanticEquals(value))

  /**
   * Whether the points are dates that Spark casts to timestamps, for a comparison with timestamps.
   * They are in the order of the dates, but in some time zones two dates begin at one instant.
   */
  def isOnCast(condition: SweepCondition, node: NearestMatches): Boolean =
    node.center.isEmpty && pointOf(condition).exists {
      case EncodedEndpoint(date) => isCastOf(date, node.value)
      case OnErrorElse(EncodedEndpoint(date), _) => isCastOf(date, node.value)
      case _ => false
    }

  private def isCastOf(e: Expression, date: Expression): Boolean = e match {
    case Cast(child, TimestampType | TimestampNTZType, _, _) =>
      child.dataType == DateType && child.semanticEquals(date)
    case _ => false
  }

  private def pointOf(condition: SweepCondition): Option[Expression] = condition.sweeps match {
    case Seq(Sweep(LeftSide, lead, None)) => Some(condition.rightEndpoints(lead.point))
    case _ => None
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
