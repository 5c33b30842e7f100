// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions

/** One of the four endpoints that a relation compares; `index` is its place among the arguments. */
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

/** What a parameter bounds: the relation demands `later - earlier <= parameter`. */
case class EndpointDistance(later: Endpoint, earlier: Endpoint) {
  override def toString: String = s"$later - $earlier"
}

/** Two intervals over the integers that are in the relation. */
case class Example(r: (Int, Int), s: (Int, Int)) {
  def at(endpoint: Endpoint): Int = Seq(r._1, r._2, s._1, s._2)(endpoint.index)
  def of(distance: EndpointDistance): Int = at(distance.later) - at(distance.earlier)
}

/**
 * A relation between two half-open intervals `r` and `s`: the conjunction of its `formula` and,
 * where a parameter is given, of the bound on the parameter's distance.
 *
 * @param name    the SQL function's name, in capitals
 * @param inverse the name of the relation that holds between `s` and `r` when this one holds
 *                between `r` and `s`; its parameters bound the same distances
 */
case class Relation(
    name: String,
    family: String,
    inverse: String,
    summary: String,
    formula: Seq[EndpointComparison],
    delta: Option[EndpointDistance],
    epsilon: Option[EndpointDistance],
    example: Example) {

  def functionName: String = name.toLowerCase(java.util.Locale.ROOT)

  /** The parameters that the function takes after its endpoints, in their order. */
  def parameters: Seq[(String, EndpointDistance)] =
    delta.map(Relation.Delta -> _).toSeq ++ epsilon.map(Relation.Epsilon -> _)
}

object Relation {
  val Delta = "delta"
  val Epsilon = "epsilon"
}
