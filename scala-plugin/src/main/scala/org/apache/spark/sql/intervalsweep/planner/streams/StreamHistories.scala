// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.planner.streams

import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.intervalsweep.streams.histories.HistoryPlan
import org.apache.spark.sql.intervalsweep.temporal.streams.SequencedStream

/** Replaces the history of a query over streams by stateful operators. */
object StreamHistories extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.isStreaming) plan
    else AnalysisHelper.allowInvokingTransformsInAnalyzer {
      plan.transformUp {
        case stream: SequencedStream if stream.childrenResolved => new HistoryPlan(stream).plan
      }
    }
}
