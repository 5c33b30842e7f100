// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.model

import org.apache.spark.sql.catalyst.expressions.Expression

/** The text of a [[SweepCondition]] in EXPLAIN. */
case class Description(condition: SweepCondition) {

  def parts: Seq[String] =
    Option.when(condition.leftKeys.nonEmpty)(s"keys $keys").toSeq ++
      condition.sweeps.flatMap(sweep => Seq(s"boxes ${sweep.boxes}", s"axes ${axes(sweep)}")) ++
      condition.residual.map(residual => s"residual ${show(residual)}")

  private def keys: String =
    condition.leftKeys.zip(condition.rightKeys)
      .map { case (l, r) => s"${show(l)} = ${show(r)}" }
      .mkString("[", ", ", "]")

  private def axes(sweep: Sweep): String = sweep.axes.map(axis(sweep, _)).mkString("[", ", ", "]")

  private def axis(sweep: Sweep, axis: Axis): String = {
    def end(bound: Bound): String = show(condition.endpoints(sweep.boxes)(bound.endpoint))
    val point = show(condition.endpoints(sweep.points)(axis.point))
    val lower = axis.lower.fold("(-inf")(b => (if (b.strict) "(" else "[") + end(b))
    val upper = axis.upper.fold("inf)")(b => end(b) + (if (b.strict) ")" else "]"))
    s"$point in $lower, $upper"
  }

  private def show(e: Expression): String = e.sql
}
