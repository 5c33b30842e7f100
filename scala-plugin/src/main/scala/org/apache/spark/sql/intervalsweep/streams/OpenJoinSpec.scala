// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}

/** What the driver decides of a join of intervals that are still open. */
case class OpenJoinSpec(
    description: String,
    fingerprint: Int,
    formula: OpenFormula,
    left: Seq[Attribute],
    right: Seq[Attribute],
    residual: Option[Expression])
