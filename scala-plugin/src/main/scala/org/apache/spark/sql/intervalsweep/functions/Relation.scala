// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions

/** One of the four endpoints of a relation. `index` is its position among the arguments. */
sealed abstract class Endpoint(val name: String, val index: Int) extends Product with Serializable {
  override def toString: String = name
}

object Endpoint {
  case object RStart extends Endpoint("r.ts", 0)
  case object REnd extends Endpoint("r.te", 1)
  case object SStart extends Endpoint("s.ts", 2)
  case object SEnd extends Endpoint("s.te", 3)

  val all: Seq[Endpoint] = Seq(RStart, REnd, SStart, SEnd)
}

sealed abstract class Operator(val symbol: String) extends Product with Serializable

object Operator {
  case object Less extends Operator("<")
  case object LessOrEqual extends Operator("<=")
  case object Equal extends Operator("=")

  val all: Seq[Operator] = Seq(Less, LessOrEqual, Equal)
}

case class EndpointComparison(left: Endpoint, operator: Operator, right: Endpoint) {
  override def toString: String = s"$left ${operator.symbol} $right"
}

/** The distance that a parameter bounds: the relation demands `later - earlier <= parameter`. */
case class EndpointDistance(later: Endpoint, earlier: Endpoint) {
  override def toString: String = s"$later - $earlier"
}

/** Two intervals of integers for which the relation is true. */
case class Example(r: (Int, Int), s: (Int, Int)) {
  def at(endpoint: Endpoint): Int = Seq(r._1, r._2, s._1, s._2)(endpoint.index)
  def of(distance: EndpointDistance): Int = at(distance.later) - at(distance.earlier)
}

/**
 * A relation between two half-open intervals `r` and `s`: the conjunction of the comparisons of its
 * `formula` and, for each parameter that is given, of `distance <= parameter`.
 *
 * @param name    the name of the SQL function, in capitals
 * @param inverse the name of the relation with `r` and `s` swapped. Its parameters bound the same
 *                distances
 * @param aliases other names of the SQL function
 */
case class Relation(
    name: String,
    family: String,
    inverse: String,
    summary: String,
    formula: Seq[EndpointComparison],
    delta: Option[EndpointDistance],
    epsilon: Option[EndpointDistance],
    example: Example,
    aliases: Seq[String] = Nil) {

  def functionName: String = Relation.functionName(name)

  /** The parameters that the function takes after the endpoints, in the order of the arguments. */
  def parameters: Seq[(String, EndpointDistance)] =
    delta.map(Relation.Delta -> _).toSeq ++ epsilon.map(Relation.Epsilon -> _)
}

object Relation {
  val Delta = "delta"
  val Epsilon = "epsilon"

  def functionName(name: String): String = name.toLowerCase(java.util.Locale.ROOT)
}
