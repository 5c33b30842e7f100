// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions

import org.apache.spark.sql.catalyst.expressions.ExpressionInfo

/** What DESCRIBE FUNCTION says of a function. */
object FunctionInfo {

  /**
   * @param owner     what is the function, or makes its plan
   * @param kind      one of Spark's groups of functions
   * @param arguments in the form of Spark's own functions, as `examples` and `note` are
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

  /** Of a table function. */
  def ofTable(
      owner: AnyRef,
      name: String,
      usage: String,
      arguments: String = "",
      examples: String = ""): ExpressionInfo =
    apply(owner.getClass, name, "table_funcs", usage, arguments, examples)
}
