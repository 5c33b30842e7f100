// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.classic.SparkSession

import org.intervalsweep.IntervalSweepExtensions

/**
 * Brings the extension into a session that was started without it (`intervalsweep.register` of the
 * Python package). Spark reads `spark.sql.extensions` only when a session starts, but it lets a
 * running one have further functions, optimizer rules and strategies.
 */
object RunningSession {

  def register(session: SparkSession): Unit = {
    val ours = new SparkSessionExtensions
    new IntervalSweepExtensions().apply(ours)
    ours.registerFunctions(session.sessionState.functionRegistry)
    ours.registerTableFunctions(session.sessionState.tableFunctionRegistry)
    val experimental = session.experimental
    experimental.extraOptimizations ++=
      ours.buildOptimizerRules(session) ++ ours.buildPreCBORules(session)
    experimental.extraStrategies ++= ours.buildPlannerStrategies(session)
    // And those that newSession() will make of this one.
    new IntervalSweepExtensions().apply(session.extensions)
  }
}
