// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.nodes

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag

/** The names of rules in EXPLAIN. */
private[intervalsweep] object RuleNames {

  private val Made = TreeNodeTag[String]("intervalsweep.madeBy")

  /** The name of a rule without its package. */
  def short(rule: Rule[LogicalPlan]): String = rule.ruleName.split('.').last

  /** Marks a part of a condition with the rule that made it. The mark moves with the part. */
  def madeBy[E <: Expression](rule: Rule[LogicalPlan], part: E): E = {
    part.setTagValue(Made, short(rule))
    part
  }

  /** The rules that made parts of a condition. */
  def of(condition: Expression): Seq[String] = condition.flatMap(_.getTagValue(Made)).distinct

  def shown(rules: Seq[String]): Option[String] =
    Option.when(rules.nonEmpty)(rules.mkString("rules [", ", ", "]"))
}
