// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions

import org.apache.spark.sql.catalyst.expressions.{Expression, NamedArgumentExpression}
import org.apache.spark.sql.catalyst.plans.logical.{FunctionSignature, NamedParametersSupport}

/** Arguments such as `delta => 1`, by Spark's rules. */
private[intervalsweep] object NamedArguments {

  /** The arguments without a name, and those with one. */
  def split(
      arguments: Seq[Expression],
      function: String): (Seq[Expression], Seq[NamedArgumentExpression]) =
    NamedParametersSupport.splitAndCheckNamedArguments(arguments, function)

  /** The arguments in the order of the signature. */
  def rearranged(
      signature: FunctionSignature,
      arguments: Seq[Expression],
      function: String): Seq[Expression] =
    NamedParametersSupport.defaultRearrange(signature, arguments, function)
}
