// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.functions

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.catalog.HiveTableRelation
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, SubqueryAlias, View}
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

/** Reads the table property `validtime`, which names the period's columns, as 'ts,te' or 'ts'. */
private[temporal] object TableProperty {

  private val Name = "validtime"

  def period(table: LogicalPlan): Option[(String, Option[String])] =
    properties(table).get(Name).map(_.split(',').map(_.trim)).collect {
      case Array(ts) => (ts, None)
      case Array(ts, te) => (ts, Some(te))
    }

  private def properties(table: LogicalPlan): Map[String, String] = table match {
    case SubqueryAlias(_, child) => properties(child)
    case view: View => properties(view.child)
    case Project(columns, child) if columns == child.output => properties(child)
    case relation: LogicalRelation =>
      relation.catalogTable.fold(Map.empty[String, String])(_.properties)
    case relation: HiveTableRelation => relation.tableMeta.properties
    case relation: DataSourceV2Relation => relation.table.properties.asScala.toMap
    case _ => Map.empty
  }
}
