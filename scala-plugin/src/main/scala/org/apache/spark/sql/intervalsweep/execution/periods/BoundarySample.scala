// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

import java.util.TreeMap

/**
 * The rows that start or end at an instant. `events` is their number, and `changes` is how much
 * each sum changes then. It does no harm if a change leaves 64 bits.
 *
 * @param width the number of sums
 */
private[periods] final class BoundaryEvent(val instant: Long, width: Int) extends Serializable {
  var events = 0L
  val changes = new Array[Long](width)

  def add(other: BoundaryEvent): Unit = {
    events += other.events
    changes.indices.foreach(k => changes(k) += other.changes(k))
  }
}

/**
 * A sample of the instants at which rows start or end, with everything that happens then: the
 * instants with the smallest hashes. A hash that is among the smallest of all rows is among the
 * smallest in each part of the rows that has it. So samples of parts can be merged without a loss
 * (the k minimum values of Bar-Yossef et al., Counting distinct elements in a data stream, RANDOM
 * 2002).
 *
 * @param most the number of instants that are kept
 * @param width the number of sums that are kept for each instant
 */
private[periods] final class BoundarySample(most: Int, width: Int) extends Serializable {
  private val kept = new TreeMap[Long, BoundaryEvent]
  private var largest = Long.MaxValue

  def boundaryEvents: Seq[BoundaryEvent] = {
    val all = Seq.newBuilder[BoundaryEvent]
    kept.values().forEach(all += _)
    all.result()
  }

  /** The event of an instant, to be added to; None if the instant is not kept. */
  def at(instant: Long): Option[BoundaryEvent] = {
    val hash = BoundarySample.mixed(instant)
    if (hash > largest) None
    else {
      var found = kept.get(hash)
      if (found == null) {
        found = new BoundaryEvent(instant, width)
        kept.put(hash, found)
        if (kept.size > most) kept.pollLastEntry()
        if (kept.size == most) largest = kept.lastKey()
      }
      Some(found)
    }
  }

  def addAll(other: BoundarySample): Unit =
    other.boundaryEvents.foreach(event => at(event.instant).foreach(_.add(event)))
}

private object BoundarySample {

  /**
   * A hash that differs for any two instants, since each step can be undone (the finalizer of
   * MurmurHash3).
   */
  private def mixed(instant: Long): Long = {
    var h = instant
    h = (h ^ (h >>> 33)) * 0xff51afd7ed558ccdL
    h = (h ^ (h >>> 33)) * 0xc4ceb9fe1a85ec53L
    h ^ (h >>> 33)
  }
}
