// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.chunks

import java.lang.ref.WeakReference
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.TimeUnit.MILLISECONDS
import java.util.concurrent.locks.ReentrantLock
import java.util.{Collections, Map => JMap, WeakHashMap}

/**
 * What the tasks of an executor make of something that they all have, such as a broadcast: the first
 * one makes it, the others wait for it. It is kept by the tasks that use it, and by nobody else: a
 * query that is over leaves nothing behind, even where a person keeps the query.
 */
final class ExecutorCache[V <: AnyRef] {
  private type Named = ConcurrentHashMap[String, ExecutorCache.Place[V]]
  private val known: JMap[AnyRef, Named] = Collections.synchronizedMap(new WeakHashMap)

  /**
   * The value of this name that some task still uses, or a new one.
   *
   * @param source what it is made of; compared by its `equals`, which of an array is identity
   * @param check fails if the task was killed; asked while another task makes the value
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

  /** Where a value is kept; to be asked for it by who has the lock. */
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
