// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.classic.SparkSession

import org.intervalsweep.IntervalSweepExtensions

/**
 * Adds the extension to a session that was started without it. The Python package calls this in
 * `intervalsweep.register`. Spark reads `spark.sql.extensions` only when a session starts, but a
 * running session accepts functions, optimizer rules and planner strategies. It accepts no analyzer
 * rules and no rules for adaptive execution.
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
    // For sessions that newSession() derives from this one.
    new IntervalSweepExtensions().apply(session.extensions)
  }
}
