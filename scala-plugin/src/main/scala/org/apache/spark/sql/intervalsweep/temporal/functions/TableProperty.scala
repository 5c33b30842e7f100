// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.functions

import scala.util.Try

import org.apache.spark.sql.catalyst.catalog.{CatalogTable, HiveTableRelation}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, SubqueryAlias, View}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.connector.catalog.{CatalogPlugin, Identifier, TableCatalog}
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

/**
 * Reads the table property `validtime`, which names the period's columns, as 'ts,te' or 'ts'. A
 * table of Spark's AUTO CDC needs no property: its columns are `__START_AT` and `__END_AT`.
 *
 * A plan does not have all properties of its tables: Delta keeps them in its log, and Spark reads a
 * Delta table by a relation whose entry in the session catalog has none. So a table whose plan does
 * not have the property is loaded from its catalog.
 */
private[temporal] object TableProperty {

  private val Name = "validtime"

  def period(table: LogicalPlan): Option[(String, Option[String])] =
    property(table).map(_.split(',').map(_.trim)).collect {
      case Array(ts) => (ts, None)
      case Array(ts, te) => (ts, Some(te))
    }.orElse(Option.when(ofAutoCdc.forall(name => table.output.exists(_.name == name)))(
      (ofAutoCdc.head, ofAutoCdc.lastOption)))

  private val ofAutoCdc = Seq("__START_AT", "__END_AT")

  private def property(table: LogicalPlan): Option[String] = table match {
    case SubqueryAlias(_, child) => property(child)
    case view: View => property(view.child)
    case Project(columns, child) if columns == child.output => property(child)
    case relation: LogicalRelation => relation.catalogTable.flatMap(ofEntry)
    case relation: HiveTableRelation => ofEntry(relation.tableMeta)
    case relation: DataSourceV2Relation =>
      Option(relation.table.properties.get(Name)).orElse(for {
        catalog <- relation.catalog
        name <- relation.identifier
        found <- loaded(catalog, name)
      } yield found)
    case _ => None
  }

  private def ofEntry(entry: CatalogTable): Option[String] = entry.properties.get(Name).orElse {
    val name = entry.identifier
    val catalogs = SparkSession.active.sessionState.catalogManager
    val catalog = name.catalog.fold(catalogs.v2SessionCatalog)(catalogs.catalog)
    name.database.flatMap(space => loaded(catalog, Identifier.of(Array(space), name.table)))
  }

  private def loaded(catalog: CatalogPlugin, name: Identifier): Option[String] = catalog match {
    case tables: TableCatalog =>
      Try(tables.loadTable(name)).toOption.flatMap(table => Option(table.properties.get(Name)))
    case _ => None
  }
}
