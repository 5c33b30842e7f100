// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.functions

import org.apache.spark.sql.catalyst.analysis.{AnsiTypeCoercion, TypeCoercion}
import org.apache.spark.sql.catalyst.expressions.{Alias, Cast, Coalesce, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.DataType

/** The types of the columns of a set operation, by Spark's rules for UNION and EXCEPT. */
private[temporal] object SetOperationTypes {

  /** The common type of each column; None if there is none, or the numbers of columns differ. */
  def of(tables: Seq[Seq[DataType]]): Option[Seq[DataType]] = {
    val columns = tables.map(_.size).distinct.size == 1
    val common = if (columns) tables.transpose.map(widest) else Nil
    Option.when(columns && common.forall(_.isDefined))(common.flatten)
  }

  private def widest(types: Seq[DataType]): Option[DataType] =
    if (types.distinct.size == 1) types.headOption
    else {
      val rules = if (SQLConf.get.ansiEnabled) AnsiTypeCoercion else TypeCoercion
      // Spark coerces the arguments of COALESCE by the rules for the columns of UNION.
      val arguments = Coalesce(types.map(Literal.create(null, _)))
      val coerced = rules.FunctionArgumentTypeCoercion(arguments).children.map(_.dataType).distinct
      Option.when(coerced.size == 1)(coerced.head)
    }

  def cast(table: LogicalPlan, types: Seq[DataType]): LogicalPlan =
    if (table.output.map(_.dataType.asNullable) == types) table
    else Project(
      table.output.zip(types).map { case (column, wanted) =>
        if (column.dataType.asNullable == wanted) column
        else Alias(
          Cast(column, wanted, Some(SQLConf.get.sessionLocalTimeZone)),
          column.name)()
      },
      table)
}
