# SPDX-License-Identifier: Apache-2.0
"""Tables that take many batches, chunks and ranges. NumPy computes the expected counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.joins import oracle
from support.spark.comparison import BROADCAST, physical, sweeps

ROWS = 60_000
KEYS = 40
# With these settings, tables of this size take several ranges and chunks.
SETTINGS = {
    "broadcast": {BROADCAST: "100MB"},
    "distributed": {
        BROADCAST: "-1",
        "spark.sql.intervalsweep.rangeRows": "9000",
        "spark.sql.intervalsweep.batchRows": "1000",
    },
}


def intervals(seed: int, rows: int) -> np.ndarray:
    """Keys, starts and ends. Half of the rows have the same key, and many starts are close."""
    rng = np.random.default_rng(seed)
    key = np.where(rng.random(rows) < 0.5, 0, rng.integers(0, KEYS, rows))
    start = np.where(
        rng.random(rows) < 0.3, rng.integers(0, 500, rows), rng.integers(0, 10**6, rows)
    )
    length = 1 + rng.exponential(60, rows).astype(np.int64)
    length[rng.random(rows) < 0.001] += 300_000
    return np.stack([key, start, start + length])


@pytest.fixture(scope="module")
def tables(spark: Any) -> dict[str, np.ndarray]:
    import pyarrow as pa

    made = {}
    for name, seed in (("r", 21), ("s", 22)):
        made[name] = intervals(seed, ROWS)
        columns = dict(zip(("k", "ts", "te"), made[name], strict=True))
        frame = spark.createDataFrame(pa.table({**columns, "id": np.arange(ROWS)}))
        frame.repartition(3).cache().createOrReplaceTempView(name)
    return made


def runs(low: np.ndarray, high: np.ndarray, points: np.ndarray) -> tuple[int, int, int]:
    """The number of pairs with low <= point < high, and both sides' sums of row numbers."""
    order = np.argsort(points, kind="stable")
    first, last = (np.searchsorted(points[order], bound) for bound in (low, high))
    counts = np.maximum(last - first, 0)
    sums = np.concatenate(([0], np.cumsum(order)))
    ids = np.arange(len(low))
    some = counts > 0
    return int(counts.sum()), int((counts * ids).sum()), int((sums[last] - sums[first])[some].sum())


def expected(name: str, r: np.ndarray, s: np.ndarray) -> tuple[int, int, int]:
    (_, r_ts, r_te), (_, s_ts, s_te) = r, s
    if name == "ISEQL_START_PRECEDING":
        return runs(r_ts, r_te, s_ts)
    if name == "ISEQL_REVERSE_START_PRECEDING":
        pairs, of_s, of_r = runs(s_ts, s_te, r_ts)
        return pairs, of_r, of_s
    if name == "ISEQL_END_FOLLOWING":
        return runs(r_ts + 1, r_te + 1, s_te)
    assert name == "INTERVAL_INTERSECTS"
    # Proper intervals intersect if s starts in r, or if r starts in s and later than s.
    one, (pairs, of_s, of_r) = runs(r_ts, r_te, s_ts), runs(s_ts + 1, s_te, r_ts)
    return one[0] + pairs, one[1] + of_r, one[2] + of_s


NAMES = (
    "ISEQL_START_PRECEDING",
    "ISEQL_REVERSE_START_PRECEDING",
    "ISEQL_END_FOLLOWING",
    "INTERVAL_INTERSECTS",
)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("distribution", list(SETTINGS))
def test_counts(
    spark: Any, conf: Any, tables: dict[str, np.ndarray], name: str, distribution: str
) -> None:
    conf(SETTINGS[distribution])
    frame = spark.sql(f"SELECT count(*), sum(r.id), sum(s.id) FROM r JOIN s ON {oracle.call(name)}")
    assert sweeps(physical(frame)) == 1
    assert tuple(frame.first()) == expected(name, tables["r"], tables["s"])


@pytest.mark.parametrize("distribution", list(SETTINGS))
def test_counts_by_key(
    spark: Any, conf: Any, tables: dict[str, np.ndarray], distribution: str
) -> None:
    """Counts by key; one key has half of the rows."""
    conf(SETTINGS[distribution])
    for name in NAMES[0], NAMES[3]:
        frame = spark.sql(
            f"SELECT r.k, count(*) AS n FROM r JOIN s ON r.k = s.k AND {oracle.call(name)} "
            "GROUP BY r.k"
        )
        assert sweeps(physical(frame)) == 1
        got = {row.k: row.n for row in frame.collect()}
        sides = [tables["r"], tables["s"]]
        parts = {k: [side[:, side[0] == k] for side in sides] for k in range(KEYS)}
        assert got == {k: expected(name, *part)[0] for k, part in parts.items()}


@pytest.mark.extended
@pytest.mark.parametrize("distribution", list(SETTINGS))
def test_allens_relations_share_out_all_pairs(
    spark: Any, conf: Any, tables: dict[str, np.ndarray], distribution: str
) -> None:
    """For proper intervals exactly one relation is true, so the counts add up to all pairs."""
    conf(SETTINGS[distribution])
    some = {"r": "id % 7 = 0", "s": "id % 6 = 0"}
    joins = [
        f"SELECT '{name}' AS relation, count(*) AS n FROM "
        f"(SELECT * FROM r WHERE {some['r']}) r JOIN (SELECT * FROM s WHERE {some['s']}) s "
        f"ON {oracle.call(name)}"
        for name in oracle.ALLEN
    ]
    counts = {row.relation: row.n for row in spark.sql(" UNION ALL ".join(joins)).collect()}
    sizes = [len(range(0, ROWS, step)) for step in (7, 6)]
    assert sum(counts.values()) == sizes[0] * sizes[1], counts
    assert len(counts) == 13
