# SPDX-License-Identifier: Apache-2.0
"""Makes a case from a seed: two tables, settings, and some queries."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Mapping
from dataclasses import dataclass

from fuzz.joins.conditions import Scope
from fuzz.joins.endpoints import KEYS, KINDS, MIXED, Table, tables
from fuzz.joins.queries import Query, query
from fuzz.settings import SETTINGS, SHUFFLED
from support.spark.comparison import ANSI, TIME_ZONE


@dataclass(frozen=True)
class Case:
    """Tables, settings, and queries, which run together or one by one."""

    tables: Mapping[str, Table]
    settings: Mapping[str, str]
    queries: tuple[Query, ...]
    alone: bool = False  # True if each query runs by itself
    files: bool = False  # True if the tables are Parquet files, which joins read in batches

    def only(self, *queries: Query) -> Case:
        return dataclasses.replace(self, queries=queries)


def case(seed: str, size: int) -> Case:
    """The case of a seed, with `size` queries, or fewer if each runs by itself."""
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
    if files:  # without generated code Spark reads rows, not batches
        settings["spark.sql.codegen.wholeStage"] = "true"
    # One side has fewer rows than a LIMIT takes, and the join has more.
    few = shuffled or rng.random() < 0.2
    return Case(tables(rng, kinds, keys, extremes, few), settings, queries, alone, files)
