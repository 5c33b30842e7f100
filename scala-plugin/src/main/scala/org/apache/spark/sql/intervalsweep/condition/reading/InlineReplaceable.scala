// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.reading

import org.apache.spark.sql.catalyst.expressions.{
  CommonExpressionRef, Expression, RuntimeReplaceable, With
}

/**
 * Replaces expressions that only stand for other expressions (RuntimeReplaceable, deterministic
 * With) by these. The optimizer does the same, but conditions are also read before it runs.
 */
private[intervalsweep] object InlineReplaceable {
  def apply(e: Expression): Expression = e.transform {
    case r: RuntimeReplaceable => apply(r.replacement)
    case w: With if w.deterministic =>
      val values = w.defs.map(d => d.id -> apply(d.child)).toMap
      apply(w.child.transform { case ref: CommonExpressionRef => values(ref.id) })
  }
}
