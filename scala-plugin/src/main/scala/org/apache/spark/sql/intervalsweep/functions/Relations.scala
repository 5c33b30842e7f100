// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions

import java.nio.charset.StandardCharsets.UTF_8

import scala.jdk.CollectionConverters._
import scala.util.Using
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/** All relations. `relations.json` defines them; this object reads and checks it. */
object Relations {

  val Resource = "intervalsweep/relations.json"

  lazy val all: Seq[Relation] = {
    val stream = Option(getClass.getClassLoader.getResourceAsStream(Resource))
      .getOrElse(throw new IllegalStateException(s"$Resource is not on the class path"))
    parse(Using.resource(stream)(in => new String(in.readAllBytes(), UTF_8)))
  }

  def named(name: String): Relation =
    all.find(_.name == name)
      .getOrElse(throw new NoSuchElementException(s"$Resource has no relation $name"))

  /**
   * The relation itself if it has a `delta`. Otherwise a relation that has a `delta` and compares
   * the same endpoints; the two relations differ only if some of these are equal.
   */
  def withDelta(relation: Relation): Option[Relation] = {
    def compared(r: Relation) = r.formula.map(c => (c.left, c.right))
    (relation +: all).find(r => r.delta.isDefined && compared(r) == compared(relation))
  }

  private[functions] def parse(json: String): Seq[Relation] = {
    val relations =
      try
        new ObjectMapper().readTree(json).required("relations").elements.asScala.map(relation).toSeq
      catch {
        case NonFatal(e) =>
          throw new IllegalStateException(s"$Resource is broken: ${e.getMessage}", e)
      }
    checkNames(relations)
    relations.foreach(checkInverse(_, relations))
    relations
  }

  private def relation(node: JsonNode): Relation = Relation(
    name = text(node, "name"),
    family = text(node, "family"),
    inverse = text(node, "inverse"),
    summary = text(node, "summary"),
    formula = node.required("formula").elements.asScala.map(n => comparison(n.asText)).toSeq,
    delta = distance(node.required(Relation.Delta)),
    epsilon = distance(node.required(Relation.Epsilon)),
    example = Example(pair(node.required("example"), "r"), pair(node.required("example"), "s")),
    aliases = node.path("aliases").elements.asScala.map(_.asText).toSeq)

  private def text(node: JsonNode, field: String): String = {
    val value = node.required(field)
    require(value.isTextual, s"$field must be a string; got $value")
    value.asText
  }

  private def pair(node: JsonNode, field: String): (Int, Int) = {
    val numbers = node.required(field)
    require(
      numbers.size == 2 && numbers.elements.asScala.forall(_.isInt),
      s"$field must be an array of two integers; got $numbers")
    (numbers.get(0).asInt, numbers.get(1).asInt)
  }

  private def comparison(term: String): EndpointComparison = term.split(" ") match {
    case Array(left, symbol, right) =>
      val operator = Operator.all.find(_.symbol == symbol)
        .getOrElse(throw new IllegalArgumentException(s"unknown operator in '$term'"))
      EndpointComparison(endpoint(left), operator, endpoint(right))
    case _ => throw new IllegalArgumentException(s"formula must compare two endpoints; got '$term'")
  }

  private def distance(node: JsonNode): Option[EndpointDistance] =
    if (node.isNull) None
    else node.asText.split(" ") match {
      case Array(later, "-", earlier) => Some(EndpointDistance(endpoint(later), endpoint(earlier)))
      case _ => throw new IllegalArgumentException(s"must be 'later - earlier'; got $node")
    }

  private def endpoint(name: String): Endpoint = Endpoint.all.find(_.name == name)
    .getOrElse(throw new IllegalArgumentException(s"unknown endpoint '$name'"))

  private def checkNames(relations: Seq[Relation]): Unit = {
    val names = relations.flatMap(relation => relation.name +: relation.aliases)
    val twice = names.diff(names.distinct)
    if (twice.nonEmpty)
      throw new IllegalStateException(s"$Resource has ${twice.mkString(", ")} twice")
  }

  private def checkInverse(relation: Relation, relations: Seq[Relation]): Unit = {
    val inverse = relations.find(_.name == relation.inverse)
    if (!inverse.exists(meaning(_) == swapped(meaning(relation)))) {
      throw new IllegalStateException(
        s"$Resource is broken: ${relation.inverse} is not ${relation.name} with r and s swapped")
    }
  }

  private type Meaning =
    (Set[EndpointComparison], Option[EndpointDistance], Option[EndpointDistance])

  private def meaning(relation: Relation): Meaning =
    (relation.formula.map(canonical).toSet, relation.delta, relation.epsilon)

  private def swapped(meaning: Meaning): Meaning = {
    val (formula, delta, epsilon) = meaning
    (
      formula.map(c => canonical(c.copy(left = swap(c.left), right = swap(c.right)))),
      delta.map(swap),
      epsilon.map(swap))
  }

  private def canonical(c: EndpointComparison): EndpointComparison =
    if (c.operator == Operator.Equal && c.left.index > c.right.index)
      c.copy(c.right, right = c.left)
    else c

  private def swap(d: EndpointDistance): EndpointDistance =
    EndpointDistance(swap(d.later), swap(d.earlier))

  private def swap(e: Endpoint): Endpoint = Endpoint.all((e.index + 2) % 4)
}
