// SPDX-License-Identifier: Apache-2.0
package org.intervalsweep

import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}
import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.intervalsweep.functions.{
  DropUnreadEndpoints, InferEndpointsNotNull, IntervalFunctions
}
import org.apache.spark.sql.intervalsweep.planner.{
  AggregateRuns, EqualityRelations, GatherTotals, IntervalSweepStrategy, JoinReportFunction,
  ReadVectors,
  SplitSkewedKeys
}

/**
 * What `spark.sql.extensions` names:
 *
 * {{{
 *   spark-sql --jars intervalsweep.jar \
 *     --conf spark.sql.extensions=org.intervalsweep.IntervalSweepExtensions
 * }}}
 *
 * It only injects, into the Spark that it was made for: the functions, four optimizer rules, the
 * strategy, a rule for columnar inputs and two for adaptive execution.
 */
class IntervalSweepExtensions extends SparkSessionExtensionsProvider {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    MadeFor.check()
    IntervalSweepConf.register()
    IntervalFunctions.descriptions.foreach(extensions.injectFunction)
    extensions.injectTableFunction(JoinReportFunction.description)
    extensions.injectOptimizerRule(_ => EqualityRelations)
    extensions.injectOptimizerRule(_ => DropUnreadEndpoints)
    extensions.injectOptimizerRule(_ => InferEndpointsNotNull)
    extensions.injectPreCBORule(_ => AggregateRuns)
    extensions.injectPlannerStrategy(_ => IntervalSweepStrategy)
    extensions.injectColumnar(_ => ReadVectors)
    extensions.injectQueryStagePrepRule(_ => SplitSkewedKeys)
    extensions.injectQueryStagePrepRule(_ => GatherTotals)
  }
}
