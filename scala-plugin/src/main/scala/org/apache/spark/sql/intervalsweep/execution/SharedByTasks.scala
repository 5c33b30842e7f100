// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution

import java.lang.ref.WeakReference
import java.util.concurrent.ConcurrentHashMap
import java.util.{Collections, Map => JMap, WeakHashMap}

/**
 * What the tasks of an executor make of something that they all have, such as a broadcast: the first
 * one makes it, the others wait for it. It is kept by the tasks that use it, and by nobody else: a
 * query that is over leaves nothing behind, even where a person keeps the query.
 */
final class SharedByTasks[V <: AnyRef] {
  private type Named = ConcurrentHashMap[String, WeakReference[V]]
  private val known: JMap[AnyRef, Named] = Collections.synchronizedMap(new WeakHashMap)

  /**
   * The value of this name that some task still uses, or a new one.
   *
   * @param source what it is made of; told apart as its `equals` does, which of an array is identity
   */
  def get(source: AnyRef, name: String)(make: => V): V = {
    var value = null.asInstanceOf[V] // strong, until it is returned
    known.computeIfAbsent(source, _ => new Named).compute(
      name,
      (_, kept) => {
        if (kept != null) value = kept.get
        if (value != null) kept
        else {
          value = make
          new WeakReference(value)
        }
      })
    value
  }
}
