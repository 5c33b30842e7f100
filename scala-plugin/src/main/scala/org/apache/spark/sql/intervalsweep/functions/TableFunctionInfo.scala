// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions

import org.apache.spark.sql.catalyst.expressions.ExpressionInfo

/** What DESCRIBE FUNCTION says of a table function. */
object TableFunctionInfo {

  /**
   * @param owner     the object that makes the function's plan
   * @param arguments in the form of Spark's own functions, as `examples` are
   */
  def apply(
      owner: AnyRef,
      name: String,
      usage: String,
      arguments: String = "",
      examples: String = ""): ExpressionInfo = new ExpressionInfo(
    owner.getClass.getName.stripSuffix("$"),
    null,
    name,
    usage,
    arguments,
    examples,
    "",
    "table_funcs",
    "0.1.0",
    "",
    "built-in")
}
