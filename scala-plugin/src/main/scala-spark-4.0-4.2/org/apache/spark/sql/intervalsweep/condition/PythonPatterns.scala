// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition

import org.apache.spark.sql.catalyst.trees.TreePattern._

/** What marks an expression that calls a Python function. */
private[condition] object PythonPatterns {
  val all: Seq[TreePattern] = Seq(PYTHON_UDF)
}
