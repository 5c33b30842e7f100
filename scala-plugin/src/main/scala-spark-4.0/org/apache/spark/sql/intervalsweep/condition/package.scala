// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep

import org.apache.spark.sql.catalyst.expressions.TimeAdd

package object condition {

  /** Spark 4.0 has it by another name. */
  private[condition] type TimestampAddInterval = TimeAdd
  private[condition] val TimestampAddInterval: TimeAdd.type = TimeAdd
}
