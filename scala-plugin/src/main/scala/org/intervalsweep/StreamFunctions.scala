// SPDX-License-Identifier: Apache-2.0
package org.intervalsweep

import org.apache.spark.sql.Column
import org.intervalsweep.FunctionCalls.call

/** The functions of [[IntervalFunctions]] for event times and revisions of streams. */
private[intervalsweep] trait StreamFunctions {

  /**
   * The event time of a row of an interval join, for use directly above the join. For a pair it is
   * the later of the two times. For an unmatched row it is the time from which on the row can have
   * no match. Over two streams the column has a watermark.
   *
   * @param left  the event-time column of the left side
   * @param right the event-time column of the right side, of the same type
   */
  def pairEventTime(left: Column, right: Column): Column = call("pair_event_time", left, right)

  /**
   * The event time of a row of a window union: the end of its window, or the time of the base row
   * if that is later. A TIMESTAMP.
   */
  def windowEventTime(): Column = call("window_event_time")

  /** Whether a row of a window union is its base row's last revision. A BOOLEAN; true for tables. */
  def windowIsFinal(): Column = call("window_is_final")

  /** The number of a row among the revisions of its base row. An INT from 1 on; 1 for tables. */
  def windowRevision(): Column = call("window_revision")
}
