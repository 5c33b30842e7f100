// SPDX-License-Identifier: Apache-2.0
package org.intervalsweep

import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}
import org.apache.spark.sql.intervalsweep.IntervalSweepConf
import org.apache.spark.sql.intervalsweep.functions.{
  PairEventTime, Placeholder, RelationDescriptions, WindowFunctions
}
import org.apache.spark.sql.intervalsweep.planner.adaptive.{
  GatherTotalsInOnePartition, PackExchanges, PrunePartitions, ReadVectors, SplitSkewedKeys
}
import org.apache.spark.sql.intervalsweep.planner.aggregates.AggregateRuns
import org.apache.spark.sql.intervalsweep.planner.joins.{
  ExpandEqualityRelations, ExpandSingleTableFilters, InferEndpointsNotNull, IntervalSweepStrategy,
  PruneUnusedEndpoints, SplitAlternatives
}
import org.apache.spark.sql.intervalsweep.planner.laterals.{
  LateralAggregates, PushFiltersBelowRowId
}
import org.apache.spark.sql.intervalsweep.planner.nearest.{
  LimitRankedPairs, NearestJoins, NearestMatchesStrategy, PushFiltersBelowNearest
}
import org.apache.spark.sql.intervalsweep.planner.periods.PeriodSweepStrategy
import org.apache.spark.sql.intervalsweep.planner.report.JoinReportFunction
import org.apache.spark.sql.intervalsweep.planner.streams.{
  PairTimes, ResolveStatePartitions, StreamHistories, StreamJoins, StreamModes, StreamStrategy,
  StreamSubqueries, StreamWatermarks
}
import org.apache.spark.sql.intervalsweep.planner.windows.{
  StreamMatches, StreamWindows, WindowTimes
}
import org.apache.spark.sql.intervalsweep.temporal.functions.TemporalFunctions
import org.apache.spark.sql.intervalsweep.temporal.rules.{
  DropInnerSweep, FlattenPeriodJoins, HiddenPeriod, MergeSetOperations, PushDistinctThroughJoin,
  PushFilterThroughSweep
}

/**
 * The class to name in `spark.sql.extensions`:
 *
 * {{{
 *   spark-sql --jars intervalsweep.jar \
 *     --conf spark.sql.extensions=org.intervalsweep.IntervalSweepExtensions
 * }}}
 *
 * It checks that this Spark is the version that the jar was compiled for. Then it injects the SQL
 * functions, the rules and checks of the analyzer, the rules of the optimizer, the planner
 * strategies, a rule for columnar inputs and the rules for adaptive execution.
 */
class IntervalSweepExtensions extends SparkSessionExtensionsProvider {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    MadeFor.check()
    IntervalSweepConf.register()
    RelationDescriptions.descriptions.foreach(extensions.injectFunction)
    WindowFunctions.descriptions.foreach(extensions.injectFunction)
    extensions.injectFunction(PairEventTime.description)
    extensions.injectTableFunction(JoinReportFunction.description)
    new TemporalFunctions(Seq(MergeSetOperations, DropInnerSweep, PushDistinctThroughJoin))
      .descriptions.foreach(extensions.injectTableFunction)
    extensions.injectResolutionRule(_ => WindowTimes)
    extensions.injectCheckRule(Placeholder.check)
    extensions.injectCheckRule(StreamModes.check)
    extensions.injectCheckRule(StreamWatermarks.check)
    extensions.injectResolutionRule(_ => StreamHistories)
    extensions.injectResolutionRule(_ => StreamWindows)
    extensions.injectResolutionRule(_ => LateralAggregates)
    // Also as a hint rule, which runs when a query starts, before Spark checks what it supports.
    extensions.injectHintResolutionRule(_ => StreamJoins)
    extensions.injectHintResolutionRule(_ => StreamWatermarks)
    extensions.injectResolutionRule(_ => StreamJoins)
    extensions.injectResolutionRule(_ => PairTimes)
    extensions.injectPostHocResolutionRule(_ => NearestJoins)
    extensions.injectPostHocResolutionRule(_ => StreamMatches)
    extensions.injectPostHocResolutionRule(_ => HiddenPeriod)
    extensions.injectPostHocResolutionRule(_ => StreamSubqueries)
    extensions.injectOptimizerRule(_ => ResolveStatePartitions)
    extensions.injectOptimizerRule(_ => ExpandEqualityRelations)
    extensions.injectOptimizerRule(_ => PushFiltersBelowRowId)
    extensions.injectOptimizerRule(_ => LimitRankedPairs)
    extensions.injectOptimizerRule(_ => PushFiltersBelowNearest)
    extensions.injectOptimizerRule(_ => ExpandSingleTableFilters)
    extensions.injectOptimizerRule(_ => PruneUnusedEndpoints)
    extensions.injectOptimizerRule(_ => InferEndpointsNotNull)
    extensions.injectOptimizerRule(_ => PushFilterThroughSweep)
    extensions.injectOptimizerRule(_ => FlattenPeriodJoins)
    extensions.injectPreCBORule(_ => SplitAlternatives)
    extensions.injectPreCBORule(_ => AggregateRuns)
    extensions.injectPlannerStrategy(_ => NearestMatchesStrategy)
    extensions.injectPlannerStrategy(_ => IntervalSweepStrategy)
    extensions.injectPlannerStrategy(_ => StreamStrategy)
    extensions.injectPlannerStrategy(_ => PeriodSweepStrategy)
    extensions.injectColumnar(_ => PackExchanges.Columnar)
    extensions.injectColumnar(_ => ReadVectors)
    extensions.injectQueryStagePrepRule(_ => PrunePartitions)
    extensions.injectQueryStagePrepRule(_ => SplitSkewedKeys)
    extensions.injectQueryStagePrepRule(_ => GatherTotalsInOnePartition)
    extensions.injectQueryStagePrepRule(_ => PackExchanges)
  }
}
