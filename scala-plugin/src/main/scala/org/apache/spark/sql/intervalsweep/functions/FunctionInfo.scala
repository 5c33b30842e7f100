// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions

import org.apache.spark.sql.catalyst.expressions.ExpressionInfo

/** The text of DESCRIBE FUNCTION for a function. */
object FunctionInfo {

  /**
   * @param owner     the class of the function, or of the object that builds its plan
   * @param kind      one of Spark's groups of functions
   * @param arguments the text in the layout of Spark's own functions, like `examples` and `note`
   */
  def apply(
      owner: Class[_],
      name: String,
      kind: String,
      usage: String,
      arguments: String = "",
      examples: String = "",
      note: String = ""): ExpressionInfo = new ExpressionInfo(
    owner.getName.stripSuffix("$"),
    null,
    name,
    usage,
    arguments,
    examples,
    note,
    kind,
    "0.1.0",
    "",
    "built-in")

  /** The text for a table function. */
  def ofTable(
      owner: AnyRef,
      name: String,
      usage: String,
      arguments: String = "",
      examples: String = ""): ExpressionInfo =
    apply(owner.getClass, name, "table_funcs", usage, arguments, examples)
}
