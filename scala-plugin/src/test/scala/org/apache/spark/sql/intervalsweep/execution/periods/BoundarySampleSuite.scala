// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

/** Samples of instants: exact for the instants that are kept, and the same from merged parts. */
class BoundarySampleSuite extends AnyFunSuite {

  /** Something that happens at an instant: the change of a sum. */
  private type Change = (Long, Long)

  private def sample(changes: Seq[Change], most: Int): BoundarySample = {
    val sample = new BoundarySample(most, width = 1)
    for ((instant, change) <- changes; event <- sample.at(instant)) {
      event.events += 1
      event.changes(0) += change
    }
    sample
  }

  private def merged(parts: Seq[Seq[Change]], most: Int): BoundarySample = {
    val whole = new BoundarySample(most, width = 1)
    parts.foreach(part => whole.addAll(sample(part, most)))
    whole
  }

  /** Instant -> the number of events, and the sum of their changes. */
  private def shown(sample: BoundarySample): Map[Long, (Long, Long)] =
    sample.boundaryEvents.map(e => e.instant -> ((e.events, e.changes(0)))).toMap

  test("a sample has all that happens at some instants, whatever the parts it is merged from") {
    val random = new Random(4)
    var dropped = 0
    for (_ <- 1 to 200) {
      val most = 1 + random.nextInt(30)
      val span = 1 + random.nextInt(100)
      val parts = Seq.fill(1 + random.nextInt(4))(
        Seq.fill(random.nextInt(80))(
          (random.nextInt(span).toLong - 50, random.nextInt(9).toLong - 4)))
      val all = parts.flatten
      val exact = all.groupBy(_._1).map { case (instant, changes) =>
        instant -> ((changes.size.toLong, changes.map(_._2).sum))
      }
      val kept = shown(sample(all, most))
      assert(kept.size == math.min(most, exact.size))
      assert(kept.forall { case (instant, known) => exact(instant) == known })
      assert(shown(sample(random.shuffle(all), most)) == kept)
      assert(shown(merged(parts, most)) == kept)
      dropped += exact.size - kept.size
    }
    assert(dropped > 1000)
  }

  test("a sample of regular instants is from everywhere") {
    val kept = shown(sample((0L until 10000L).map((_, 1L)), most = 1000)).keys
    val perTenth = kept.groupBy(_ / 1000).map(_._2.size)
    assert(perTenth.size == 10 && perTenth.forall(n => n > 60 && n < 140))
  }
}
