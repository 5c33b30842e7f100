// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.chunks

import java.lang.ref.WeakReference
import java.util.concurrent.CountDownLatch

import org.apache.spark.TaskKilledException
import org.scalatest.funsuite.AnyFunSuite

class ExecutorCacheSuite extends AnyFunSuite {
  private val rows = Array("a row")
  private val alive = () => ()

  private def eventuallyForgotten(value: WeakReference[_]): Boolean =
    Iterator.continually { System.gc(); Thread.sleep(10); value.get == null }.take(
      500).contains(true)

  test("tasks get one value, by what it is made of and by name") {
    val shared = new ExecutorCache[Object]
    val first = shared.get(rows, "join", alive)(new Object)
    assert(shared.get(rows, "join", alive)(fail("made twice")) eq first)
    assert(shared.get(rows, "another join", alive)(new Object) ne first)
    assert(shared.get(rows.clone, "join", alive)(new Object) ne first)
  }

  test("a value whose making fails is made again") {
    val shared = new ExecutorCache[Object]
    intercept[IllegalStateException] {
      shared.get(rows, "join", alive)(throw new IllegalStateException)
    }
    val value = new Object
    assert(shared.get(rows, "join", alive)(value) eq value)
  }

  test("an index stayed in memory as long as the query was kept, and some time longer") {
    val shared = new ExecutorCache[Array[Long]]
    val value = new WeakReference(shared.get(rows, "join", alive)(new Array[Long](1 << 20)))
    assert(eventuallyForgotten(value))
    assert(shared.get(rows, "join", alive)(Array(1L)) === Array(1L))
  }

  test("a killed task waited for the task that makes the value") {
    val shared = new ExecutorCache[Object]
    val (isBegun, mayEnd) = (new CountDownLatch(1), new CountDownLatch(1))
    val maker = new Thread(() => {
      shared.get(rows, "join", alive) { isBegun.countDown(); mayEnd.await(); new Object }
      ()
    })
    maker.start()
    isBegun.await()
    try intercept[TaskKilledException] {
        shared.get(rows, "join", () => throw new TaskKilledException("killed"))(new Object)
      }
    finally {
      mayEnd.countDown()
      maker.join()
    }
  }
}
