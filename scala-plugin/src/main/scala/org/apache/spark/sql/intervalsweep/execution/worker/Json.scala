// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.worker

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.ObjectNode

/** The JSON texts that a worker reads. */
private[execution] object Json {
  private val mapper = new ObjectMapper

  def obj(fields: (String, JsonNode)*): ObjectNode = {
    val node = mapper.createObjectNode()
    fields.foreach { case (name, value) => node.set[JsonNode](name, value) }
    node
  }

  def array(values: Seq[JsonNode]): JsonNode = {
    val node = mapper.createArrayNode()
    values.foreach(node.add)
    node
  }

  def of(value: String): JsonNode = mapper.getNodeFactory.textNode(value)
  def of(value: Long): JsonNode = mapper.getNodeFactory.numberNode(value)
  def of(value: Boolean): JsonNode = mapper.getNodeFactory.booleanNode(value)

  /** NULL for None. */
  def of(value: Option[JsonNode]): JsonNode = value.getOrElse(mapper.getNodeFactory.nullNode())

  /** The text of an object with another field. */
  def plus(text: String, name: String, value: JsonNode): String =
    mapper.readTree(text).asInstanceOf[ObjectNode].set[ObjectNode](name, value).toString
}
