// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

import java.util.TreeMap

/**
 * What happens at an instant.
 *
 * @param events  how many rows start or end then
 * @param changes by how much sums change then; no matter if one leaves 64 bits
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
 * Some of the instants at which rows start or end, with all that happens then: those whose hashes are
 * the smallest. What is among the smallest of all is so in each part, so that samples of parts merge
 * without a loss (the k minimum values of Bar-Yossef et al., Counting distinct elements in a data
 * stream, RANDOM 2002).
 *
 * @param most  how many are kept
 * @param width how many sums are kept of each
 */
private[periods] final class BoundarySample(most: Int, width: Int) extends Serializable {
  private val kept = new TreeMap[Long, BoundaryEvent]
  private var largest = Long.MaxValue

  def happenings: Seq[BoundaryEvent] = {
    val all = Seq.newBuilder[BoundaryEvent]
    kept.values().forEach(all += _)
    all.result()
  }

  /** Adds what happens at an instant; None if that is not kept. */
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
    other.happenings.foreach(happening => at(happening.instant).foreach(_.add(happening)))
}

private object BoundarySample {

  /** Two instants have two hashes: each step can be undone (the finalizer of MurmurHash3). */
  private def mixed(instant: Long): Long = {
    var h = instant
    h = (h ^ (h >>> 33)) * 0xff51afd7ed558ccdL
    h = (h ^ (h >>> 33)) * 0xc4ceb9fe1a85ec53L
    h ^ (h >>> 33)
  }
}
