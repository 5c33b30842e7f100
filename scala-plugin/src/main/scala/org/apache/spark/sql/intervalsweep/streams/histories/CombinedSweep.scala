// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.histories

import org.apache.spark.sql.catalyst.expressions.{
  Alias, AliasHelper, Attribute, AttributeMap, AttributeReference, Expression, Literal,
  NamedExpression
}
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, Union}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.LogicalRDD
import org.apache.spark.sql.intervalsweep.temporal.nodes.{MeasureKind, PeriodRule, PeriodSweep}
import org.apache.spark.sql.types.LongType

/**
 * A sweep over rows of a slice. Most rows of long periods are valid in the whole slice. The sweep
 * needs only the sum of their measures for each key, so they are combined where they are read from
 * the state:
 * {{{
 *   slice                    |          |
 *   rows of a key       [===============|====)    combined: 2 x [==========)
 *                  [=========|==========|==)
 *                         [==|=====)              stays
 *                            |   [======|=====)   stays
 * }}}
 */
private[intervalsweep] object CombinedSweep extends AliasHelper {

  /** The sweep over combined rows, if it reads rows of a slice and can combine them. */
  def unapply(sweep: PeriodSweep): Option[PeriodSweep] = sweep.rule match {
    case _: PeriodRule.Values if sweep.measures.forall(_.kind != MeasureKind.Next) =>
      ofValues(sweep)
    case _: PeriodRule.CoalesceUpTo => None
    case _: PeriodRule.Count => ofCounts(sweep)
    case _ => None
  }

  private def ofValues(sweep: PeriodSweep): Option[PeriodSweep] = {
    val inputs = sweep.measures.map(m =>
      AttributeReference("input", m.kind.dataType, nullable = false)())
    val columns = (sweep.keys :+ sweep.from :+ sweep.to) ++ inputs
    combined(
      sweep.child,
      sweep.keys :+ sweep.from :+ sweep.to,
      sweep.measures.map(m => (m.kind, m.input)),
      columns).map { child =>
      val measures = sweep.measures.zip(inputs).map { case (m, input) => m.copy(input = input) }
      sweep.copy(measures = measures, child = child)
    }
  }

  /** The weight of a row is the number of rows that it stands for. */
  private def ofCounts(sweep: PeriodSweep): Option[PeriodSweep] = {
    val weight =
      sweep.weight.getOrElse(AttributeReference("weight", LongType, nullable = false)())
    val columns = sweep.keys :+ sweep.from :+ sweep.to :+ weight
    val sides = sweep.child match {
      case union: Union => union.children
      case other => Seq(other)
    }
    val found = sides.map { side =>
      val own = AttributeMap(sweep.child.output.zip(side.output))
      val (from, to) = (own(sweep.from), own(sweep.to))
      val rows = sweep.keys.map(own) :+ from :+ to
      val one = sweep.weight.fold[Expression](Literal(1L))(own)
      val names = if (side.eq(sides.head)) columns else columns.map(_.newInstance())
      combined(side, rows, Seq((MeasureKind.Sum, one)), names)
        .toRight(Project(renamed(rows :+ one, names), side))
    }
    Option.when(found.exists(_.isRight)) {
      val children = found.map(_.merge)
      val child = if (children.size == 1) children.head else Union(children)
      sweep.copy(weight = Some(weight), child = child)
    }
  }

  private def renamed(values: Seq[Expression], names: Seq[Attribute]): Seq[NamedExpression] =
    values.zip(names).map {
      case (value: Attribute, name) if value.exprId == name.exprId => value
      case (value, name) => Alias(value, name.name)(name.exprId)
    }

  /**
   * The rows of a plan, combined, if each of them is computed from one row of a stream.
   *
   * @param rows   the keys and the period, as columns of the plan
   * @param output the names of the keys, the period and the measures
   */
  private def combined(
      plan: LogicalPlan,
      rows: Seq[Attribute],
      measures: Seq[(MeasureKind, Expression)],
      output: Seq[Attribute]): Option[LogicalPlan] = plan match {
    case PhysicalOperation(projects, filters, scan: LogicalRDD) => scan.rdd match {
        case whole: WholeRows =>
          val aliases = getAliasMap(projects)
          def read(e: Expression): Expression = replaceAlias(e, aliases)
          val (keys, period) = rows.map(read).splitAt(rows.size - 2)
          val found = Combination(
            whole.input,
            scan.output,
            filters,
            keys,
            period.head,
            period.last,
            measures.map { case (kind, e) => (kind, read(e)) })
          Option.when(found.isPossible)(
            LogicalRDD(output, whole.rows.combined(found))(SparkSession.active))
        case _ => None
      }
    case _ => None
  }
}
