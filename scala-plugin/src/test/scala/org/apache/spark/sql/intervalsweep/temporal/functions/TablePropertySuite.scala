// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.functions

import java.lang.reflect.{InvocationHandler, Method, Proxy}
import java.util.{Collections, Map => JMap, Set => JSet}

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, SubqueryAlias}
import org.apache.spark.sql.connector.catalog.{Identifier, Table, TableCapability, TableCatalog}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.types.{IntegerType, StructType}

/** The property `validtime`, which a table has itself or only in its catalog, as in Delta. */
class TablePropertySuite extends AnyFunSuite {

  private class FakeTable(found: JMap[String, String]) extends Table {
    override def name: String = "t"
    override def schema: StructType = new StructType().add("ts", IntegerType).add("te", IntegerType)
    override def capabilities: JSet[TableCapability] = Collections.emptySet()
    override def properties: JMap[String, String] = found
  }

  private val none = Collections.emptyMap[String, String]
  private def property(value: String) = Collections.singletonMap("validtime", value)

  private def catalog(load: => Table): TableCatalog = {
    val handler = new InvocationHandler {
      override def invoke(proxy: Any, method: Method, arguments: Array[AnyRef]): AnyRef =
        method.getName match {
          case "loadTable" => load
          case "name" => "c"
          case other => fail(s"an unexpected call of $other")
        }
    }
    Proxy.newProxyInstance(getClass.getClassLoader, Array(classOf[TableCatalog]), handler)
      .asInstanceOf[TableCatalog]
  }

  private def relation(own: JMap[String, String], load: => Table): SubqueryAlias = {
    val name = Identifier.of(Array("db"), "t")
    SubqueryAlias(
      "t",
      DataSourceV2Relation.create(new FakeTable(own), Some(catalog(load)), Some(name)))
  }

  test("a table has the property itself") {
    val plan = relation(property("ts, te"), fail("the catalog is not needed"))
    assert(TableProperty.period(plan) == Some(("ts", Some("te"))))
  }

  test("the catalog has the property") {
    val plan = relation(none, new FakeTable(property("ts")))
    assert(TableProperty.period(plan) == Some(("ts", None)))
  }

  test("neither has the property, or the catalog fails") {
    assert(TableProperty.period(relation(none, new FakeTable(none))).isEmpty)
    assert(TableProperty.period(relation(none, throw new RuntimeException("away"))).isEmpty)
  }

  test("the columns of AUTO CDC need no property") {
    val columns = Seq("id", "__START_AT", "__END_AT").map(AttributeReference(_, IntegerType)())
    assert(TableProperty.period(LocalRelation(columns)) == Some(("__START_AT", Some("__END_AT"))))
    assert(TableProperty.period(LocalRelation(columns.init)).isEmpty)
  }
}
