# SPDX-License-Identifier: Apache-2.0
"""Endpoints that are swept by a prefix: strings, binaries, long decimals and structs.

Tests cover every join type and plan. Many values share a prefix, so full comparisons decide.
"""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import intervalsweep
from support.spark.comparison import BROADCAST, Both, physical

SAME = "the same beginning "
TEXTS = sorted(
    ("", "\x00", "a", "b", SAME, f"{SAME}\x00", f"{SAME}A", f"{SAME}a", f"{SAME}b", "z", "ä", "😀"),
    key=lambda text: text.encode(),
)
LARGE = 10**33
PLANS = {
    "broadcast": {},
    "shuffled": {BROADCAST: "-1", "spark.sql.adaptive.enabled": "false"},
    "shuffled, adaptive": {BROADCAST: "-1", "spark.sql.adaptive.enabled": "true"},
}
# Type -> (start, end) of the intervals of side {0}.
ENDS = {
    "STRING": ("{0}.t", "{0}.u"),
    "BINARY": ("CAST({0}.t AS BINARY)", "CAST({0}.u AS BINARY)"),
    "DECIMAL": ("{0}.d", "{0}.e"),
    "STRUCT": ("struct({0}.t AS f, {0}.x AS g)", "struct({0}.u AS f, {0}.x AS g)"),
}


def table(seed: int, rows: int) -> pa.Table:
    """Rows with intervals of all types; some are empty or reversed, and some endpoints are NULL."""
    rng = random.Random(seed)
    made: dict[str, list[Any]] = {name: [] for name in ("id", "k", "x", "t", "u", "d", "e")}
    for number in range(rows):
        start = rng.randrange(len(TEXTS))
        end = min(max(start + rng.randrange(-1, 5), 0), len(TEXTS) - 1)
        values = (
            *(number, rng.randrange(3), rng.randrange(4), TEXTS[start], TEXTS[end]),
            *(Decimal(f"{LARGE + n // 3 * 2**60 + n % 3}e-2") for n in (start, end)),
        )
        for name, value in zip(made, values, strict=True):
            made[name].append(None if name != "id" and rng.random() < 0.05 else value)
    wide = pa.decimal128(38, 2)
    types = (pa.int64(), pa.int64(), pa.int64(), pa.string(), pa.string(), wide, wide)
    return pa.table({name: pa.array(made[name], of) for name, of in zip(made, types, strict=True)})


@pytest.fixture(scope="module", autouse=True)
def views(spark: Any) -> None:
    for name, seed, rows in (("a", 1, 60), ("b", 2, 50)):
        spark.createDataFrame(table(seed, rows)).createOrReplaceTempView(name)


SHAPES = {
    **dict.fromkeys(("INNER", "LEFT", "RIGHT", "FULL"), "a {kind} JOIN b ON {on}"),
    "SEMI": "a LEFT SEMI JOIN b ON {on}",
    "ANTI": "a LEFT ANTI JOIN b ON {on}",
    "EXISTENCE": "a WHERE EXISTS (SELECT 1 FROM b WHERE {on}) OR a.x = 3",
}


def query(shape: str, on: str) -> str:
    other = "0" if shape in ("SEMI", "ANTI", "EXISTENCE") else "b.id"
    return f"SELECT a.id, {other} FROM " + SHAPES[shape].format(kind=shape, on=on)


def union(queries: list[str]) -> str:
    return " UNION ALL ".join(f"SELECT {n}, * FROM ({text})" for n, text in enumerate(queries))


@pytest.mark.parametrize("plan", list(PLANS))
@pytest.mark.parametrize("of", list(ENDS))
def test_every_type_of_join(conf: Any, both: Both, plan: str, of: str) -> None:
    """Runs all join types in one query. Each pair is returned once, whichever side starts first."""
    conf(PLANS[plan])
    (a, c), (b, d) = (tuple(end.format(side) for end in ENDS[of]) for side in "ab")
    conditions = (
        (f"INTERVAL_INTERSECTS({a}, {c}, {b}, {d})", f"{a} < {d} AND {b} < {c}"),
        (f"ALLEN_STARTED_BY({a}, {c}, {b}, {d})", f"{a} = {b} AND {d} < {c}"),
        (
            f"a.k = b.k AND ALLEN_OVERLAPS({a}, {c}, {b}, {d})",
            f"a.k = b.k AND {a} < {b} AND {b} < {c} AND {c} < {d}",
        ),
    )
    called, written = [], []
    for number, shape in enumerate(SHAPES):
        call, formula = conditions[number % 3]
        called.append(query(shape, call))
        written.append(query(shape, formula))
    assert both(union(called), union(written), swept=len(called)) > 20 * len(called)


def test_a_count_over_prefixes_counts_pairs(both: Both) -> None:
    """A run by prefixes may contain points that do not match, so counts use the pairs."""
    on = "INTERVAL_INTERSECTS(a.t, a.u, b.t, b.u)"
    counted = f"SELECT a.id, count(*), sum(b.x) FROM a JOIN b ON {on} GROUP BY a.id"
    assert "runs [" not in physical(both.spark.sql(counted))
    assert both(counted, counted.replace(on, "a.t < b.u AND b.t < a.u")) > 20


def test_a_parameter_of_decimals_of_two_lengths(spark: Any, both: Both) -> None:
    """The limit keeps its value, although the decimals of the call differ in precision."""
    one, other = "CAST(a.x AS DECIMAL(10, 2))", "CAST(b.x AS DECIMAL(10, 2))"
    query = "SELECT a.id, b.id FROM a JOIN b ON {}"
    call = f"ISEQL_START_PRECEDING({one}, a.e, {other}, {other}, delta => 1.5)"
    written = f"{one} <= {other} AND {other} < a.e AND {other} - {one} <= 1.5"
    assert both(query.format(call), query.format(written)) > 100
    assert intervalsweep.why_not(spark.sql(query.format(call)))[0].swept
