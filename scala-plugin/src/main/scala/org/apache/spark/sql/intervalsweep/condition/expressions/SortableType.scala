// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.expressions

import org.apache.spark.sql.catalyst.expressions.RowOrdering
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.types.{DataType, StringType}

object SortableType {

  /**
   * Whether values of a type can be sorted, and equal values are equal as bytes after
   * floating-point numbers are normalized. Some collated strings are equal and have other bytes.
   */
  def apply(dataType: DataType): Boolean =
    RowOrdering.isOrderable(dataType) &&
      !dataType.existsRecursively(t =>
        t.isInstanceOf[StringType] && !UnsafeRowUtils.isBinaryStable(t))
}
