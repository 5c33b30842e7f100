// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.nodes

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag

/** Rules as EXPLAIN shows them. */
private[intervalsweep] object RuleNames {

  private val Made = TreeNodeTag[String]("intervalsweep.madeBy")

  /** The name without the package. */
  def short(rule: Rule[LogicalPlan]): String = rule.ruleName.split('.').last

  /** A part of a condition that says which rule made it, wherever Spark puts it. */
  def madeBy[E <: Expression](rule: Rule[LogicalPlan], part: E): E = {
    part.setTagValue(Made, short(rule))
    part
  }

  /** The rules that made parts of a condition. */
  def of(condition: Expression): Seq[String] = condition.flatMap(_.getTagValue(Made)).distinct

  def shown(rules: Seq[String]): Option[String] =
    Option.when(rules.nonEmpty)(rules.mkString("rules [", ", ", "]"))
}
