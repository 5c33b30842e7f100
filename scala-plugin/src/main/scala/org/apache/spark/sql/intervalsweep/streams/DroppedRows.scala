// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams

import org.apache.spark.SparkContext
import org.apache.spark.util.LongAccumulator

/** Counts rows of a kind; the stages of the UI show it by its name. */
case class DroppedRows(name: String, counter: Option[LongAccumulator]) {
  def add(rows: Long): Unit = counter.foreach(_.add(rows))
}

object DroppedRows {
  def of(name: String): DroppedRows =
    DroppedRows(name, SparkContext.getActive.map(_.longAccumulator(name)))
}
