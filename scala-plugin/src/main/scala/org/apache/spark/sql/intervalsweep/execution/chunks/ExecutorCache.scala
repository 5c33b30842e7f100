// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.chunks

import java.lang.ref.WeakReference
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.TimeUnit.MILLISECONDS
import java.util.concurrent.locks.ReentrantLock
import java.util.{Collections, Map => JMap, WeakHashMap}

/**
 * A cache of values that the tasks of an executor derive from a shared object, such as a broadcast.
 * The first task makes the value, the others wait for it. Only the tasks that use a value keep it
 * in memory: a query that has ended leaves nothing behind, even if a user keeps the query.
 */
final class ExecutorCache[V <: AnyRef] {
  private type Named = ConcurrentHashMap[String, ExecutorCache.Place[V]]
  private val known: JMap[AnyRef, Named] = Collections.synchronizedMap(new WeakHashMap)

  /**
   * The value of this name that a task still uses, or a new one.
   *
   * @param source the object that the value is made from, compared by `equals`, which for an array
   *   is identity
   * @param check throws if the task was killed; called while another task makes the value
   */
  def get(source: AnyRef, name: String, check: () => Unit)(make: => V): V = {
    val named = known.computeIfAbsent(source, _ => new Named)
    val place = named.computeIfAbsent(name, _ => new ExecutorCache.Place[V])
    while (!place.lock.tryLock(ExecutorCache.WaitMillis, MILLISECONDS)) check()
    try place.get(make)
    finally place.lock.unlock()
  }
}

private object ExecutorCache {
  private val WaitMillis = 200L

  /** The place of a value. Only the thread that has the lock may read it. */
  private final class Place[V <: AnyRef] {
    val lock = new ReentrantLock
    private var kept = new WeakReference[V](null.asInstanceOf[V])

    def get(make: => V): V = Option(kept.get).getOrElse {
      val value = make
      kept = new WeakReference(value)
      value
    }
  }
}
