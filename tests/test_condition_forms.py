# SPDX-License-Identifier: Apache-2.0
"""Conditions that are true where an interval condition is, in every join type and plan."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

from comparison import BROADCAST, Both

RANGES = {BROADCAST: "-1"}
COLUMNS = ("id", "k", "ts", "te", "x")


def table(seed: int, rows: int) -> pa.Table:
    """Short intervals; some are empty or reversed, and NULL and the extremes are among the ends."""
    rng = random.Random(seed)
    made: dict[str, list[int | None]] = {name: [] for name in COLUMNS}
    for number in range(rows):
        start = rng.randrange(40)
        values = (number, rng.randrange(3), start, start + rng.randrange(-1, 5), rng.randrange(40))
        for name, value in zip(COLUMNS, values, strict=True):
            missing = name != "id" and rng.random() < 0.06
            made[name].append(None if missing else value)
        if rng.random() < 0.06:
            made[rng.choice(("ts", "te"))][-1] = rng.choice((-(2**63), 2**63 - 1))
    return pa.table({name: pa.array(values, pa.int64()) for name, values in made.items()})


@pytest.fixture(scope="module", autouse=True)
def views(spark: Any) -> None:
    for name, seed, rows in (("a", 1, 70), ("b", 2, 60)):
        frame = spark.createDataFrame(table(seed, rows))
        frame.createOrReplaceTempView(name)
        frame.limit(0).createOrReplaceTempView(f"no_{name}")


def queries(condition: str, a: str = "a", b: str = "b") -> dict[str, str]:
    """The condition in every type of join."""
    columns = "a.id AS i, b.id AS j, b.x"
    shapes = {
        kind: f"SELECT {columns} FROM {a} AS a {kind} JOIN {b} AS b ON {condition}"
        for kind in ("INNER", "LEFT", "RIGHT", "FULL")
    }
    for kind in ("SEMI", "ANTI"):
        shapes[kind] = f"SELECT a.id, a.x FROM {a} AS a LEFT {kind} JOIN {b} AS b ON {condition}"
    exists = f"EXISTS (SELECT 1 FROM {b} AS b WHERE {condition})"
    shapes["EXISTENCE"] = f"SELECT a.id FROM {a} AS a WHERE {exists} OR a.x = 7"
    shapes["COUNT"] = (
        f"SELECT a.k, count(*), sum(b.x) FROM {a} AS a JOIN {b} AS b ON {condition} GROUP BY a.k"
    )
    return shapes


TRUE = {
    "coalesce": "coalesce(a.ts < b.te AND b.ts < a.te, false)",
    "case": "CASE WHEN a.ts < b.te THEN b.ts < a.te ELSE false END",
    "case keys": "CASE WHEN a.k = b.k AND a.ts <= b.ts THEN b.ts < a.te END",
    "null-safe": "(a.ts < b.te AND coalesce(b.ts < a.te, false)) <=> true",
}


@pytest.mark.parametrize("threshold", ["-1", "10MB"])
@pytest.mark.parametrize("name", list(TRUE))
def test_what_is_true_for_the_same_pairs(conf: Any, both: Both, name: str, threshold: str) -> None:
    conf({BROADCAST: threshold})
    for query in queries(TRUE[name]).values():
        assert both(query) > 0


def test_not_coalesced_is_no_interval_condition(both: Both) -> None:
    """Below NOT, NULL and false differ: the pairs with a NULL endpoint are matches."""
    assert both(queries("NOT coalesce(a.ts < b.te AND b.ts < a.te, false)")["INNER"], swept=0) > 0
