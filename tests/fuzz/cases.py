# SPDX-License-Identifier: Apache-2.0
"""A seed makes a case: two tables, settings, and some queries."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Mapping
from dataclasses import dataclass

from comparison import ANSI, BROADCAST, EXCLUDED_RULES, FOLDING, TIME_ZONE
from fuzz.conditions import Scope
from fuzz.endpoints import KEYS, KINDS, MIXED, Table, tables
from fuzz.queries import Query, query

# What queries may be run with, the usual first; those that take their time are rarer.
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
}
# A third of all cases: both sides are shuffled, and adaptive execution plans the rest of the query
# anew when it knows how many rows came. With tables of one partition nothing is shuffled, so that
# what the join tells Spark of itself then shows nowhere.
SHUFFLED: dict[str, tuple[str, ...]] = {
    BROADCAST: ("-1",),
    "spark.sql.shuffle.partitions": ("2", "3", "5"),
    "spark.sql.leafNodeDefaultParallelism": ("2", "3"),
    "spark.sql.adaptive.enabled": ("true",),
    "spark.sql.adaptive.autoBroadcastJoinThreshold": ("-1",),
}
# Spark's own plan is run in the way that is quickest for small tables.
PLAINEST = {
    BROADCAST: "10MB",
    **{
        key: SETTINGS[key][0]
        for key in (
            *("spark.sql.shuffle.partitions", "spark.sql.leafNodeDefaultParallelism"),
            *("spark.sql.adaptive.enabled", "spark.sql.codegen.wholeStage"),
            "spark.sql.codegen.factoryMode",
        )
    },
}


@dataclass(frozen=True)
class Case:
    """Tables, settings, and queries that are run together, or one alone."""

    tables: Mapping[str, Table]
    settings: Mapping[str, str]
    queries: tuple[Query, ...]
    alone: bool = False  # whether each query is run by itself
    files: bool = False  # whether the tables are Parquet files, which joins read in batches

    def only(self, *queries: Query) -> Case:
        return dataclasses.replace(self, queries=queries)


def case(seed: str, size: int) -> Case:
    """The case of a seed, of so many queries; fewer where they have to run alone."""
    rng = random.Random(seed)
    shuffled = rng.random() < 1 / 3
    choices = SETTINGS | (SHUFFLED if shuffled else {})
    settings = {key: rng.choice(values) for key, values in choices.items()}
    names = rng.choice(MIXED) if rng.random() < 0.2 else (rng.choice(list(KINDS)),) * 2
    kinds = [KINDS[name] for name in rng.sample(names, 2)]
    keys = [rng.choice(list(KEYS))] * 2
    if rng.random() < 0.2:
        keys = rng.sample(("INT", "BIGINT", "DOUBLE"), 2)
    alone = rng.random() < 0.1
    bold = alone and rng.random() < 0.5  # conditions that may raise errors
    extremes = (bold or rng.random() < 0.5) and not (
        kinds[0] != kinds[1] and "DATE" in (kinds[0].sql, kinds[1].sql)
    )
    scope = Scope(
        dict(zip("rst", (*kinds, kinds[0]), strict=True)),
        dict(zip("rst", (*keys, keys[0]), strict=True)),
        arithmetic=bold
        or all(k.arithmetic.usable(extremes, settings[ANSI] == "true") for k in kinds),
        calendar=not extremes,
        written=kinds[0].sql != "TIMESTAMP_NTZ" or settings[TIME_ZONE] == "UTC",
    )
    queries = tuple(query(rng, scope) for _ in range(1 + size // 6 if alone else size))
    files = rng.random() < 0.4
    if files:  # else Spark reads rows
        settings["spark.sql.codegen.wholeStage"] = "true"
    # Fewer rows of one side than a LIMIT takes, and more pairs.
    few = shuffled or rng.random() < 0.2
    return Case(tables(rng, kinds, keys, extremes, few), settings, queries, alone, files)
