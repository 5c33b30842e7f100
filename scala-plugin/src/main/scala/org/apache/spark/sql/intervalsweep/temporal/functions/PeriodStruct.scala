// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.functions

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, GetStructField, IsNotNull}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.intervalsweep.temporal.nodes.TemporalErrors
import org.apache.spark.sql.types.StructType

/**
 * Takes a period out of a column that is a struct of its start and its end. A row whose struct is
 * NULL has no period.
 *
 * {{{
 *   Project [the other columns, period.ts AS ts, period.te AS te]
 *     Filter isnotnull(period)         unless rows without a period are kept
 * }}}
 */
private[functions] object PeriodStruct {

  /** The plan, and the columns with the start and the end. None if the column is not a struct. */
  def ends(
      table: LogicalPlan,
      period: Attribute,
      keepsNull: Boolean): Option[(LogicalPlan, Attribute, Attribute)] = period.dataType match {
    case StructType(Array(first, second)) =>
      val fields = Seq(first, second).zipWithIndex.map { case (field, i) =>
        Alias(GetStructField(period, i, Some(field.name)), field.name)()
      }
      val rows = if (keepsNull) table else Filter(IsNotNull(period), table)
      val others = table.output.filter(_.exprId != period.exprId)
      val plan = Project(others ++ fields, rows)
      Some((plan, fields.head.toAttribute, fields.last.toAttribute))
    case other: StructType =>
      TemporalErrors.periodType(Seq(other), "use a struct of two fields, the start and the end")
    case _ => None
  }
}
