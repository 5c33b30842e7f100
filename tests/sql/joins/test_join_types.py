# SPDX-License-Identifier: Apache-2.0
"""Outer, semi, anti and existence joins, compared with Spark's own plan."""

from __future__ import annotations

from typing import Any

import pytest

from support.joins import oracle
from support.joins.generated import TYPES, draw_tables, register
from support.joins.join_types import QUERIES
from support.spark.comparison import (
    BROADCAST,
    ENABLED,
    EXCLUDED_RULES,
    FOLDING,
    SMALL_GROUPS,
    Both,
    configured,
    physical,
    sweeps,
)
from support.spark.metrics import metric

SMALL_PARTS = {
    BROADCAST: "-1",
    "spark.sql.intervalsweep.rangeRows": "5",
    "spark.sql.intervalsweep.batchRows": "3",
}
WAYS = {
    "broadcast": {BROADCAST: "10MB"},
    "distributed": {BROADCAST: "-1"},
    "in small parts": SMALL_PARTS,
    "without a worker": {**SMALL_PARTS, SMALL_GROUPS: "1000000"},
    "interpreted": {**SMALL_PARTS, "spark.sql.codegen.wholeStage": "false"},
    "not adaptive": {**SMALL_PARTS, "spark.sql.adaptive.enabled": "false"},
}
RELATIONS = [name for name, relation in oracle.RELATIONS.items() if not relation.is_equality]
KEYS = ("", "r.k1 = s.k1 AND ", "r.k1 <=> s.k1 AND r.k2 = s.k2 AND ")
RESIDUALS = ("", " AND (r.x <> s.x OR s.k2 = 'a')", " AND r.x > 0", " AND s.x > 0")


def union(kind: str, turn: int, written: bool) -> tuple[str, int]:
    """A query with a join of this kind for every third relation, and the number of joins."""
    relation = oracle.formula if written else oracle.call
    parts = []
    for n, name in enumerate(RELATIONS[turn % 3 :: 3]):
        mix = n + turn
        on = KEYS[mix % 3] + relation(name) + RESIDUALS[mix // 3 % 4]
        parts.append(QUERIES[kind].format(n=n, on=on))
    return " UNION ALL ".join(parts), len(parts)


def use_tables(spark: Any, number: int, left: int = 26, right: int = 22) -> None:
    """Creates tables of an endpoint type, with NULLs, extremes, empty and reversed intervals."""
    drawn = draw_tables(TYPES[number], left, right, extremes=True)
    for name, rows in zip("rs", drawn, strict=True):
        register(spark, name, TYPES[number], rows)


@pytest.mark.parametrize("kind", list(QUERIES))
def test_same_rows(spark: Any, both: Both, drawn: Any, kind: str) -> None:
    number = list(QUERIES).index(kind)
    use_tables(spark, number % len(TYPES))
    for turn, way in drawn(enumerate(WAYS.values()), 3):
        query, joins = union(kind, turn + number, written=False)
        written, _ = union(kind, turn + number, written=True)
        assert both(query, written, joins, [way]) > 0


def test_a_null_key_matches_null_and_not_zero(spark: Any, both: Both) -> None:
    rows = "VALUES (1, NULL, 0, 5), (2, 0, 1, 6), (3, NULL, 2, 7), (4, 3, 0, 9) AS v(id, k, ts, te)"
    spark.sql(f"SELECT * FROM {rows}").createOrReplaceTempView("r")
    on = oracle.call("INTERVAL_INTERSECTS")
    query = f"SELECT r.id, s.id AS other FROM r JOIN r s ON r.k <=> s.k AND {on}"
    ways = [{EXCLUDED_RULES: FOLDING, BROADCAST: threshold} for threshold in ("10MB", "-1")]
    assert both(query, ways=ways) == 4 + 2


KINDS = ("left", "right", "full", "semi", "anti", "not exists or")


@pytest.mark.parametrize("sizes", [(0, 9), (9, 0), (0, 0), (1, 12), (12, 1)])
@pytest.mark.parametrize("kind", KINDS)
def test_empty_and_tiny_sides(spark: Any, both: Both, sizes: tuple[int, int], kind: str) -> None:
    use_tables(spark, 2, *sizes)
    turn = KINDS.index(kind)
    query, written = (union(kind, turn, written=is_written)[0] for is_written in (False, True))
    # The optimizer drops joins with a side that it knows to be empty.
    rows = both(query, written, None, [WAYS["broadcast"], WAYS["in small parts"]])
    assert rows > 0 or 0 in sizes or kind in ("semi", "anti")


LONG = """
SELECT id, id % 7 AS k, id AS ts,
  if(id % 10 = {0}, {1} + id % 20 * 10, id + 1 + id % 3) AS te,
  if(id % 11 = 0, NULL, id % 5) AS x FROM range({2}, {3}, {4}, 3)
"""


@pytest.fixture
def long_rows(spark: Any) -> None:
    """Tables in which a tenth of the rows lasts to the end; many others are unmatched.

    Half of the long rows of `r` have a match in each of their ranges, the other half has none.
    """
    spark.sql(LONG.format(1, 5050, 0, 3000, 1)).createOrReplaceTempView("r")
    spark.sql(LONG.format(4, 5000, 1000, 5000, 2)).createOrReplaceTempView("s")


@pytest.mark.parametrize("kind", ["left", "right", "full", "semi", "anti", "not exists or"])
@pytest.mark.parametrize("residual", ["", " AND r.x < s.x"])
def test_rows_in_several_ranges(
    spark: Any, conf: Any, long_rows: None, kind: str, residual: str
) -> None:
    """A row in several ranges is unmatched only if no range has a match."""
    join = {"full": "FULL JOIN", "left": "LEFT JOIN", "right": "RIGHT JOIN"}.get(kind, "JOIN")
    on = "{}" + residual
    if join == "JOIN":
        where = QUERIES[kind].partition(" FROM r ")[2].format(on=on)
        query = f"SELECT count(*), sum(r.id), sum(r.x) FROM r {where}"
    else:
        query = f"SELECT count(*), sum(r.id), sum(s.id), count(s.x) FROM r {join} s ON {on}"
    name = "ALLEN_OVERLAPS"
    with configured(spark, {ENABLED: "false", BROADCAST: "10MB"}):
        expected = spark.sql(query.format(oracle.formula(name))).collect()
    conf({BROADCAST: "-1", "spark.sql.intervalsweep.rangeRows": "400"})
    frame = spark.sql(query.format(oracle.call(name)))
    assert sweeps(physical(frame)) == 1
    assert frame.collect() == expected
    assert expected[0][0] > 300
    assert metric(frame, "replicatedRows") > 100


@pytest.mark.parametrize("kind", ["semi", "anti", "not exists or"])
@pytest.mark.parametrize("name", ["INTERVAL_INTERSECTS", "ALLEN_OVERLAPS", "ALLEN_BEFORE"])
def test_existence_does_not_enumerate_pairs(
    spark: Any, conf: Any, both: Both, kind: str, name: str
) -> None:
    """There are four million pairs, but one match for each row is enough."""
    conf({BROADCAST: "10MB"})
    for side, start in (("r", 0), ("s", 0 if name == "INTERVAL_INTERSECTS" else 5000)):
        spark.sql(
            f"SELECT id, id + {start} AS ts, id + {start} + 4000 AS te FROM range(2000)"
        ).createOrReplaceTempView(side)
    query = "SELECT r.id FROM r " + QUERIES[kind].partition(" FROM r ")[2]
    called, written = (query.format(on=f(name)) for f in (oracle.call, oracle.formula))
    assert both(called, written) > 0 or kind == "anti"
    assert metric(both.frame, "runs") < 10_000


def test_a_left_join_keeps_the_partitioning_of_its_keys(spark: Any, conf: Any, both: Both) -> None:
    conf({BROADCAST: "-1", "spark.sql.adaptive.enabled": "false"})
    use_tables(spark, 2)
    for join, side, exchanges in (("LEFT", "r", 2), ("RIGHT", "s", 2), ("FULL", "r", 3)):
        on = "r.k1 = s.k1 AND {}"
        query = f"SELECT {side}.k1, count(s.id) FROM r {join} JOIN s ON {on} GROUP BY {side}.k1"
        called, written = (query.format(f("ALLEN_OVERLAPS")) for f in (oracle.call, oracle.formula))
        assert both(called, written) > 0
        assert physical(spark.sql(called)).count("Exchange hashpartitioning") == exchanges
