// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.expressions

import org.apache.spark.sql.catalyst.expressions.{Attribute, Cast, EvalMode, Expression}
import org.apache.spark.sql.catalyst.expressions.aggregate.Average

/** The value of Spark's average, from a sum and a count that are computed in another way. */
object AverageValue {

  /**
   * @param sum   the sum of the values that are not NULL; it is cast to the type of Spark's sum
   * @param count the number of these values, a LONG
   */
  def apply(average: Average, sum: Expression, count: Expression): Expression = {
    val (ofSum, ofCount) = (average.aggBufferAttributes.head, average.aggBufferAttributes.last)
    average.evaluateExpression.transform {
      case a: Attribute if a.semanticEquals(ofSum) =>
        if (sum.dataType == a.dataType) sum else Cast(sum, a.dataType, None, EvalMode.LEGACY)
      case a: Attribute if a.semanticEquals(ofCount) => count
    }
  }
}
