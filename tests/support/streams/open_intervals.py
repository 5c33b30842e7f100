# SPDX-License-Identifier: Apache-2.0
"""Streams of ongoing intervals, which report starts and ends, and joins of them."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path
from typing import Any

from support.joins.oracle import RELATIONS, Variant, variants
from support.streams import joined
from support.streams.joined import FAR, Arrivals, at

SCHEMA = "id INT, k INT, ts TIMESTAMP, te TIMESTAMP, at TIMESTAMP, v INT"
# Metadata of the column that identifies the interval of a row.
OPEN_ID = "intervalsweep.open_id"
LIMIT = timedelta(seconds=6)
# Relations that need a parameter to limit how much later a match may start.
GAPS = ["ALLEN_BEFORE", "ALLEN_AFTER", "ISEQL_BEFORE", "ISEQL_AFTER"]
BARE = [v for v in variants() if not v.parameters and v.relation.name not in GAPS]
BOUNDED = [v for v in variants() if v.parameters and v.parameters == v.relation.parameters]


def named(*names: str) -> list[Variant]:
    return [Variant(RELATIONS[name]) for name in names]


def started(number: int, ts: float, key: int = 1) -> Any:
    return (number, key, at(ts), None, at(ts), 0)


def ended(number: int, ts: float, te: float, key: int = 1) -> Any:
    return (number, key, at(ts), at(te), at(te), 0)


def far(seconds: int = FAR) -> joined.Batch:
    return {s: [started(FAR, seconds + n, -1)] for n, s in enumerate("ab")}


def random_arrivals(folder: Path, rng: random.Random, rows: int, cuts: int) -> Arrivals:
    """Random starts and ends of intervals, out of order by less than the lateness."""
    arriving = []
    for side in "ab":
        for number in range(rows):
            ts, key = rng.randrange(0, 2 * rows, 4), rng.choice([1, 1, 2])
            te = ts + rng.choice([0, 1, 4, 5, 15, 40])
            for when, row in ((ts, started(number, ts, key)), (te, ended(number, ts, te, key))):
                arriving.append((when + rng.uniform(0, joined.LATENESS - 1), side, row))
    arriving.sort(key=lambda a: a[0])
    borders = sorted(rng.randrange(len(arriving)) for _ in range(cuts - 1))
    batches = [
        {side: [row for _, s, row in arriving[i:j] if s == side] for side in "ab"}
        for i, j in zip([0, *borders], [*borders, len(arriving)], strict=True)
    ]
    return arrivals(folder, [*batches, far()])


def arrivals(folder: Path, batches: list[joined.Batch]) -> Arrivals:
    return Arrivals(folder, batches, schema=SCHEMA, clock="at")


def joins(spark: Any, some: list[Variant], by: str | None) -> Any:
    """The pairs of `a` and `b` by each relation, without the rows that are far away."""
    union = None
    for variant in some:
        one = _pairs(spark, variant, by)
        union = one if union is None else union.unionAll(one)
    return union


def _pairs(spark: Any, variant: Variant, by: str | None) -> Any:
    from intervalsweep.dataframe import stream_join

    given: dict[str, Any] = dict.fromkeys(variant.parameters, LIMIT)
    if by is not None:
        given["by"] = by
    both = (spark.table(side) for side in "ab")
    pairs = stream_join(*both, variant.relation.name.lower(), open_id="id", **given)
    pairs = pairs.where(f"id < {FAR} AND id_right < {FAR}")
    return pairs.selectExpr(f"'{variant}' AS relation", "id", "id_right")


def marked(stream: Any) -> Any:
    """A stream with the metadata that `open_id="id"` sets, for use in SQL."""
    from pyspark.sql import functions as sf

    column = sf.col("id").alias("id", metadata={OPEN_ID: True})
    return stream.select([column if name == "id" else sf.col(name) for name in stream.columns])


# The joins of a process that is killed.
KILLED = named("INTERVAL_INTERSECTS", "ALLEN_DURING", "ALLEN_MEETS", "ISEQL_START_PRECEDING")
