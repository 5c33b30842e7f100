// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition

import org.apache.spark.sql.catalyst.expressions.EvalMode
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum

/** What a sum does where it leaves its type. */
private[intervalsweep] object SumMode {
  def of(sum: Sum): EvalMode.Value = sum.evalContext.evalMode
}
