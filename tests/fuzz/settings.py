# SPDX-License-Identifier: Apache-2.0
"""Settings that random queries run with."""

from __future__ import annotations

from support.spark.comparison import ANSI, BROADCAST, EXCLUDED_RULES, FOLDING, TIME_ZONE

# The values of each setting; the default comes first, and slow values are rarer.
SETTINGS: dict[str, tuple[str, ...]] = {
    ANSI: ("true", "false"),
    TIME_ZONE: ("UTC", "Europe/Berlin", "America/St_Johns"),
    BROADCAST: ("10MB", "-1"),
    EXCLUDED_RULES: (FOLDING, FOLDING, FOLDING, ""),
    "spark.sql.shuffle.partitions": ("1", "1", "2", "2", "3", "5"),
    "spark.sql.leafNodeDefaultParallelism": ("1", "1", "1", "2", "3"),
    "spark.sql.adaptive.enabled": ("false", "true"),
    "spark.sql.adaptive.coalescePartitions.enabled": ("true", "false"),
    "spark.sql.adaptive.autoBroadcastJoinThreshold": ("-1", "-1", "10MB"),
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": ("64MB", "100b"),
    "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": ("256MB", "10b"),
    "spark.sql.adaptive.skewJoin.skewedPartitionFactor": ("5", "1"),
    "spark.sql.codegen.wholeStage": ("false", "false", "true"),
    "spark.sql.codegen.factoryMode": ("NO_CODEGEN", "NO_CODEGEN", "FALLBACK"),
    "spark.sql.intervalsweep.batchRows": ("65536", "1", "2", "3", "7"),
    "spark.sql.intervalsweep.rangeRows": ("262144", "1", "2", "5"),
    "spark.sql.intervalsweep.smallGroupPairs": ("1048576", "0", "0", "9"),
    "spark.sql.intervalsweep.boxes": ("auto", "auto", "left", "right"),
    "spark.sql.intervalsweep.weakRanges": ("false", "true"),
    "spark.sql.intervalsweep.partialSums": ("auto", "always", "never"),
    "spark.sql.intervalsweep.packedExchange": ("true", "true", "false"),
}
# Settings of a third of all cases: both sides are shuffled, and adaptive execution plans the rest
# of the query again when it knows the row counts. Tables of one partition are not shuffled, so
# mistakes in the statistics and partitioning that the join reports to Spark would not show.
SHUFFLED: dict[str, tuple[str, ...]] = {
    BROADCAST: ("-1",),
    "spark.sql.shuffle.partitions": ("2", "3", "5"),
    "spark.sql.leafNodeDefaultParallelism": ("2", "3"),
    "spark.sql.adaptive.enabled": ("true",),
    "spark.sql.adaptive.autoBroadcastJoinThreshold": ("-1",),
}
