# SPDX-License-Identifier: Apache-2.0
"""Aggregates over a swept join are computed from runs, not pairs, and equal Spark's."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from pyspark.errors import PySparkException

from support.joins import oracle
from support.spark.comparison import (
    AGGREGATE_RUNS,
    ANSI,
    BROADCAST,
    ENABLED,
    OWN_PLAN,
    SMALL_GROUPS,
    configured,
    physical,
    sweeps,
)
from support.spark.metrics import metric

RUNS = "runs ["
SCHEMA = (
    "id INT, k INT, ts BIGINT, te BIGINT, i INT, b BIGINT, t TINYINT, d DOUBLE, f FLOAT, "
    "m DECIMAL(9, 2), w DECIMAL(18, 4), c STRING, z BOOLEAN, e DATE"
)
WAYS = {
    "broadcast": {BROADCAST: "10MB"},
    "distributed": {BROADCAST: "-1"},
    "small parts": {
        BROADCAST: "-1",
        "spark.sql.intervalsweep.rangeRows": "5",
        "spark.sql.intervalsweep.batchRows": "3",
    },
    "interpreted": {BROADCAST: "-1", "spark.sql.codegen.wholeStage": "false"},
    "without a worker": {BROADCAST: "-1", SMALL_GROUPS: "1000000"},
    "not adaptive": {BROADCAST: "-1", "spark.sql.adaptive.enabled": "false"},
}
RELATIONS = {
    "one axis": "ISEQL_START_PRECEDING",
    "one axis, other side": "ISEQL_REVERSE_START_PRECEDING",
    "two axes": "ALLEN_OVERLAPS",
    "split": "INTERVAL_INTERSECTS",
    "half open": "ALLEN_BEFORE",
}
AGGREGATES = [
    "count(*)",
    "count(s.i), count(r.i), count(s.c)",
    "sum(s.i), sum(r.i), sum(s.b), sum(r.t)",
    "sum(r.i + s.i), sum(r.b - s.b), sum(s.b - r.i)",
    "avg(s.i), avg(r.b), avg(r.t)",
    "sum(s.m), sum(r.m), avg(s.m), avg(r.m)",
    "sum(s.w), sum(r.w), avg(s.w), avg(r.w)",
    "sum(s.d), sum(r.d), avg(s.f), sum(r.f)",
    "min(s.i), max(s.b), min(r.i), max(r.t), max(s.e)",
    "min(s.c), max(r.c), max(s.w), min(s.d), max(r.f)",
    "bool_or(s.z), bool_and(s.z), every(r.z), bool_or(r.z)",
    "count(*) + sum(s.i), max(s.i) - min(s.i)",
    "count_if(s.z), count_if(r.z)",
    "try_sum(s.b), try_avg(s.b)",
    "sum(CASE WHEN r.i > 0 THEN r.b END), max(CASE WHEN s.i > 0 THEN s.b END)",
]
JOINS = ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]
GROUPS = {"": "", "r.id": "r.id", "s.id": "s.id", "keys": "r.k, r.k + 1", "expression": "s.i % 7"}


def rows(number: int, seed: int) -> list[tuple[Any, ...]]:
    """Rows with intervals among 60 points and values of all types; a tenth of them is NULL."""
    draw = random.Random(seed)

    def maybe(value: Any) -> Any:
        return None if draw.random() < 0.1 else value

    def row(number: int) -> tuple[Any, ...]:
        start = draw.randrange(60)
        return (
            number,
            maybe(draw.randrange(4)),
            maybe(start),
            maybe(start + draw.randrange(-2, 25)),
            maybe(draw.randrange(-1000, 1000)),
            maybe(draw.randrange(-(10**12), 10**12)),
            maybe(draw.randrange(-128, 128)),
            maybe(draw.uniform(-1, 1)),
            maybe(draw.randrange(100) / 4),
            maybe(Decimal(draw.randrange(-(10**9) + 1, 10**9)).scaleb(-2)),
            maybe(Decimal(draw.randrange(-(10**15) + 1, 10**15)).scaleb(-4)),
            maybe(draw.choice("abcdefgh") * draw.randrange(3)),
            maybe(draw.random() < 0.5),
            maybe(date(2024, 1, 1) + timedelta(draw.randrange(400))),
        )

    return [row(i) for i in range(number)]


@pytest.fixture
def tables(spark: Any) -> Callable[[int, int], None]:
    def make(left: int, right: int) -> None:
        for name, number in (("r", left), ("s", right)):
            frame = spark.createDataFrame(rows(number, number), SCHEMA)
            frame.createOrReplaceTempView(name)

    return make


def close(got: Any, expected: Any) -> bool:
    if isinstance(got, float) and isinstance(expected, float):
        return (
            got == expected
            or (math.isnan(got) and math.isnan(expected))
            or math.isclose(got, expected, rel_tol=1e-9, abs_tol=1e-9)
        )
    return bool(got == expected)


def answers(frame: Any) -> list[tuple[Any, ...]]:
    """The rows, sorted by the grouping columns, which come first."""
    found = [tuple(row) for row in frame.collect()]
    return sorted(found, key=lambda row: [(x is None, x) for x in row[:2] if type(x) is not float])


def check(
    spark: Any,
    query: str,
    written: str | None = None,
    runs: bool = True,
    ways: Iterable[dict[str, str]] = ({},),
) -> int:
    """Asserts the plan and Spark's rows for each of `ways`; returns the number of rows."""
    with configured(spark, OWN_PLAN):
        own = spark.sql(written or query)
        expected = answers(own)
    for way in ways:
        with configured(spark, way):
            compare(spark.sql(query), own, expected, runs)
    return len(expected)


def compare(frame: Any, own: Any, expected: list[tuple[Any, ...]], runs: bool) -> None:
    plan = physical(frame)
    assert sweeps(plan) == 1, plan
    assert (RUNS in plan) == runs, plan
    got = answers(frame)
    same = len(got) == len(expected) and all(
        len(g) == len(e) and all(map(close, g, e)) for g, e in zip(got, expected, strict=True)
    )
    if not same:
        wrong = [(g, e) for g, e in zip(got, expected, strict=False) if not all(map(close, g, e))]
        raise AssertionError(f"{len(got)} rows for {len(expected)}: {wrong[:3]}\n{plan}")
    assert frame.dtypes == own.dtypes


def build(aggregates: str, group: str, join: str, on: str) -> str:
    columns = f"{group}, {aggregates}" if group else aggregates
    by = f" GROUP BY {group}" if group else ""
    return f"SELECT {columns} FROM r {join} s ON {on}{by}"


@pytest.mark.parametrize("relation", list(RELATIONS))
@pytest.mark.parametrize("group", list(GROUPS))
def test_same_answers(
    spark: Any, drawn: Any, tables: Callable[[int, int], None], relation: str, group: str
) -> None:
    tables(60, 47)
    turn, n = list(GROUPS).index(group), list(RELATIONS).index(relation)
    aggregates = ", ".join(AGGREGATES[(turn + n) % 3 :: 3])
    on = "r.k = s.k AND " * (n % 3 == 0) + "{}"
    query = build(aggregates, GROUPS[group], JOINS[(turn + 3 * n) % 4], on)
    called, written = (query.format(f(RELATIONS[relation])) for f in (oracle.call, oracle.formula))
    assert check(spark, called, written, ways=drawn(WAYS.values(), 2)) > 0


@pytest.mark.parametrize("group", list(GROUPS))
def test_a_group_of_many_windows(
    spark: Any, conf: Any, tables: Callable[[int, int], None], group: str
) -> None:
    conf({BROADCAST: "-1", "spark.sql.intervalsweep.batchRows": "3"})
    tables(300, 350)
    columns = "count(*), sum(s.i), sum(r.b), min(s.c), max(r.e), sum(s.d), sum(r.b - s.i)"
    on = f"r.i * 0 = s.i * 0 AND {oracle.call('INTERVAL_INTERSECTS')}"
    for join in JOINS if group in ("r.id", "s.id") else JOINS[:2]:
        assert check(spark, build(columns, GROUPS[group], join, on)) > 0


CONSTANTS = "sum(2), count(1), max('x'), sum(if(r.z, r.i, 0)), sum(coalesce(r.i, 7)), first(3)"


@pytest.mark.parametrize("join", ["JOIN", "LEFT JOIN"])
@pytest.mark.parametrize("group", list(GROUPS))
def test_expressions_that_are_not_null(
    spark: Any, conf: Any, tables: Callable[[int, int], None], join: str, group: str
) -> None:
    conf({BROADCAST: "-1"})
    tables(60, 47)
    on = oracle.formula("INTERVAL_INTERSECTS")
    assert check(spark, build(CONSTANTS, GROUPS[group], join, on)) > 0


@pytest.mark.parametrize("empty", ["r", "s"])
@pytest.mark.parametrize("group", ["", "r.id", "s.id"])
def test_empty_sides(
    spark: Any, drawn: Any, tables: Callable[[int, int], None], empty: str, group: str
) -> None:
    ways = drawn((WAYS[way] for way in ("broadcast", "distributed", "interpreted")), 1)
    tables(20, 20)
    spark.table(empty).where("k > 100").createOrReplaceTempView(empty)
    on = oracle.formula("INTERVAL_INTERSECTS")
    columns = "count(*), count(s.i), sum(s.b), avg(r.m), max(s.c), sum(r.i + s.i)"
    counts = [check(spark, build(columns, group, join, on), ways=ways) for join in JOINS]
    # Without grouping there is one row. With it, there is a row per kept row, or none.
    if not group:
        assert counts == [1] * 4
    else:
        assert counts.count(0) == 2
        assert max(counts) == (1 if group.startswith(empty) else 20)


def test_some_value_of_a_group(spark: Any, conf: Any, tables: Callable[[int, int], None]) -> None:
    conf({BROADCAST: "-1"})
    tables(60, 47)
    on = oracle.formula("INTERVAL_INTERSECTS")
    pairs = {
        (row.a, row.b)
        for row in spark.sql(f"SELECT r.id a, s.id b FROM r JOIN s ON {on}").collect()
    }
    for group, columns in (("r.id", "r.id, first(s.id)"), ("s.id", "first(r.id), s.id")):
        found = f"SELECT {columns}, any_value(s.i, true) FROM r JOIN s ON {on} GROUP BY {group}"
        assert RUNS in physical(spark.sql(found))
        got = spark.sql(found).collect()
        assert len(got) > 30
        assert {tuple(row)[:2] for row in got} <= pairs


@pytest.mark.parametrize("group", ["r.k", "s.k"])
def test_distinct_columns(
    spark: Any, conf: Any, tables: Callable[[int, int], None], group: str
) -> None:
    conf({BROADCAST: "-1"})
    tables(60, 47)
    on = oracle.formula("INTERVAL_INTERSECTS")
    assert check(spark, f"SELECT DISTINCT {group} FROM r JOIN s ON {on}") == 5


PAIRS = {
    "distinct": ("count(DISTINCT s.i)", "r.id", ""),
    "filter": ("count(*) FILTER (WHERE s.i > 0)", "r.id", ""),
    "another function": ("stddev_pop(s.i), count(*)", "r.id", ""),
    "expression of both": ("max(r.i + s.i)", "r.id", ""),
    "product of both": ("sum(CAST(r.i AS BIGINT) * s.i)", "r.id", ""),
    "sum of both in floating point": ("sum(r.d + s.d)", "r.id", ""),
    "long decimals": ("sum(CAST(s.w AS DECIMAL(30, 4)))", "r.id", ""),
    "groups of both": ("count(*)", "r.id, s.id", ""),
    "residual": ("count(*)", "r.id", " AND r.i <> s.i"),
}


@pytest.mark.parametrize("case", list(PAIRS))
def test_pairs_where_they_are_needed(
    spark: Any, conf: Any, tables: Callable[[int, int], None], case: str
) -> None:
    conf({BROADCAST: "-1"})
    tables(60, 47)
    aggregates, group, more = PAIRS[case]
    on = oracle.formula("INTERVAL_INTERSECTS") + more
    query = build(aggregates, group, "JOIN", on)
    assert check(spark, query, runs=False) > 0
    assert "pairs for the aggregate above: " in how(spark, query)


def how(spark: Any, query: str) -> str:
    report = spark.sql("SELECT how FROM interval_join_report(:query)", args={"query": query})
    return str(report.first().how)


def test_report_tells_of_runs_and_why_there_are_pairs(
    spark: Any, conf: Any, tables: Callable[[int, int], None]
) -> None:
    tables(60, 47)
    on = oracle.formula("ALLEN_OVERLAPS")
    query = build("count(*)", "r.id", "JOIN", on)
    assert how(spark, query).endswith("runs for the aggregate above")
    query = build("count(DISTINCT s.i)", "r.id", "JOIN", on)
    assert "pairs for the aggregate above: count(DISTINCT " in how(spark, query)
    assert "aggregate" not in how(spark, f"SELECT r.id FROM r JOIN s ON {on}")


@pytest.mark.parametrize("has_match", [True, False])
@pytest.mark.parametrize("join", ["JOIN", "LEFT JOIN", "FULL JOIN"])
@pytest.mark.parametrize("side", ["r", "s"])
def test_expressions_that_fail(
    spark: Any, conf: Any, join: str, side: str, has_match: bool
) -> None:
    conf({BROADCAST: "-1", ANSI: "true"})
    for name in "rs":
        start = "id" if has_match or name != side else "if(id = 7, 99, id)"
        spark.sql(
            f"SELECT id, {start} AS ts, {start} + if(id = 7, 0, 3) AS te, id - 7 AS v "
            "FROM range(20)"
        ).createOrReplaceTempView(name)
    columns = f"sum(100 div {side}.v), sum({side}.v + {side}.id), sum(r.v * 2 + s.v)"
    on = "r.ts <= s.ts AND s.ts < r.te" if side == "s" else "s.ts <= r.ts AND r.ts < s.te"
    is_kept = "FULL" in join or ("LEFT" in join and side == "r")
    for group in ("", "r.id", "s.id"):
        query = build(columns, group, join, on)
        if not has_match and not is_kept:
            assert check(spark, query) > 0
            continue
        assert RUNS in physical(spark.sql(query))
        for enabled in ("true", "false"):
            with configured(spark, {ENABLED: enabled}), pytest.raises(PySparkException) as raised:
                spark.sql(query).collect()
            assert raised.value.getCondition() == "DIVIDE_BY_ZERO"


@pytest.mark.parametrize("group", ["", "r.id", "s.id"])
@pytest.mark.parametrize("codegen", ["true", "false"])
def test_rows_without_a_match_have_no_values(
    spark: Any, conf: Any, group: str, codegen: str
) -> None:
    conf({BROADCAST: "-1", "spark.sql.codegen.wholeStage": codegen})
    for name, start in (("r", "id"), ("s", "id + 10")):
        spark.sql(
            f"SELECT id, {start} AS ts, {start} + 3 AS te, id - 7 AS v FROM range(20)"
        ).createOrReplaceTempView(name)
    columns = "sum(r.v + s.v), sum(s.v - r.v), sum(s.v), count(s.v), min(s.v), sum(s.v + s.id)"
    for join in JOINS:
        query = build(columns, group, join, "r.ts <= s.ts AND s.ts < r.te")
        assert check(spark, query) > 0


def test_setting(spark: Any, conf: Any, tables: Callable[[int, int], None]) -> None:
    conf({BROADCAST: "-1", AGGREGATE_RUNS: "false"})
    tables(60, 47)
    query = build("count(*)", "r.id", "JOIN", oracle.formula("INTERVAL_INTERSECTS"))
    assert check(spark, query, runs=False) > 0


@pytest.mark.parametrize("boxes", ["left", "right"])
@pytest.mark.parametrize("group", ["", "r.id", "s.id"])
def test_either_side_as_boxes(
    spark: Any, conf: Any, tables: Callable[[int, int], None], boxes: str, group: str
) -> None:
    conf({BROADCAST: "-1", "spark.sql.intervalsweep.boxes": boxes})
    tables(60, 47)
    on = oracle.formula("ALLEN_OVERLAPS")
    query = build("count(*), sum(s.i), sum(r.b), max(s.c), sum(r.d), min(r.c)", group, "JOIN", on)
    assert f"boxes {boxes}" in physical(spark.sql(query))
    assert check(spark, query) > 0


@pytest.mark.parametrize("threshold", ["1g", "-1"])
@pytest.mark.parametrize("group", ["", "r.id", "s.id", "r.id % 10"])
@pytest.mark.parametrize("on", ["r.ts <= s.ts AND s.ts < r.te", "r.ts < s.te AND s.ts < r.te"])
def test_as_many_pairs_as_nobody_could_make(
    spark: Any, conf: Any, threshold: str, group: str, on: str
) -> None:
    conf({BROADCAST: threshold})
    n = 40_000
    spark.sql(f"SELECT id, -id AS ts, id + {n} AS te FROM range({n})").createOrReplaceTempView("r")
    spark.sql(f"SELECT id, id AS ts, id + 1 AS te FROM range({n})").createOrReplaceTempView("s")
    columns = "count(*) AS n, sum(r.id + s.id) AS a, sum(s.id) AS b, min(s.id) AS c, max(r.id) AS d"
    by = f"GROUP BY {group}" if group else ""
    inner = f"SELECT {columns} FROM r JOIN s ON {on} {by}"
    frame = spark.sql(f"SELECT count(*), sum(n), sum(a), sum(b), min(c), max(d) FROM ({inner})")
    assert RUNS in physical(frame)
    groups = {"": 1, "r.id": n, "s.id": n, "r.id % 10": 10}[group]
    total = n * (n - 1) // 2 * n
    assert tuple(frame.collect()[0]) == (groups, n * n, 2 * total, total, 0, n - 1)
    assert 0 < metric(frame, "numOutputRows") < 4 * n


@pytest.mark.parametrize("way", list(WAYS))
def test_sums_of_matches_in_two_axes(
    spark: Any, conf: Any, tables: Callable[[int, int], None], way: str
) -> None:
    """A query that needs only sums of integers: the worker does not return the matches."""
    conf(WAYS[way])
    tables(60, 47)
    aggregates = ", ".join([AGGREGATES[0], *AGGREGATES[2:7], "count(r.c), count(s.c), sum(r.d)"])
    for n, relation in enumerate(["ALLEN_OVERLAPS", "ALLEN_OVERLAPPED_BY", "ISEQL_LEFT_OVERLAP"]):
        turn = list(WAYS).index(way) + n
        on = "r.k = s.k AND " * (turn % 2) + "{}"
        query = build(aggregates, ["", "r.id", "s.id"][n], JOINS[turn % 3], on)
        called, written = (query.format(f(relation)) for f in (oracle.call, oracle.formula))
        assert check(spark, called, written) > 0


@pytest.mark.parametrize("threshold", ["1g", "-1"])
@pytest.mark.parametrize("group", ["", "r.id"])
def test_a_second_axis_is_summed_box_by_box(
    spark: Any, conf: Any, threshold: str, group: str
) -> None:
    """Every other point is in a box, so each point would be its own run."""
    conf(
        {
            BROADCAST: threshold,
            "spark.sql.intervalsweep.boxes": "left",
            "spark.sql.intervalsweep.rangeRows": "250",
        }
    )
    n = 500
    long = "IF(id % 2 = 0, 2000000L, 1L)"
    spark.sql(f"SELECT id, -1 - id AS ts, id + {n} AS te FROM range({n})").createOrReplaceTempView(
        "r"
    )
    spark.sql(
        f"SELECT id, id AS ts, id + {long} AS te, nullif(id % 7, 0) AS v FROM range({n})"
    ).createOrReplaceTempView("s")
    columns = "count(*), sum(r.id + s.id), sum(s.v), count(s.v), sum(r.id), avg(s.v)"
    query = build(columns, group, "LEFT JOIN", "ALLEN_OVERLAPS(r.ts, r.te, s.ts, s.te)")
    assert check(spark, query) > 0
    frame = spark.sql(query)
    frame.collect()
    assert n <= metric(frame, "runs") <= 8 * n  # boxes may be in several ranges


ONLY_OF_ALL = "sum of all runs, not of one"
OVERFLOWS = {
    "sum of the points": ("sum(s.v)", "0L", "9223372036854775807L - id"),
    "sum of the boxes": ("sum(r.v)", "9223372036854775807L - id", "0L"),
    "least value": ("sum(r.v), sum(s.v)", "-9223372036854775807L - 1", "-9223372036854775807L - 1"),
    "sum of both": ("sum(r.v + s.v)", "9223372036854775807L - id", "id + 1"),
    ONLY_OF_ALL: ("sum(s.v)", "0L", "shiftleft(1L, 56) + id"),
    "sum of two INT": ("sum(r.v + s.v)", "2147483647 - CAST(id AS INT)", "CAST(id AS INT) + 1"),
    "difference of two TINYINT": (
        "sum(r.v - s.v)",
        "CAST(120 + id % 8 AS TINYINT)",
        "CAST(-id % 20 AS TINYINT)",
    ),
}


@pytest.mark.parametrize(
    ("case", "group", "second"),
    [
        (case, group, second)
        for case in OVERFLOWS
        for group, second in [("", ""), ("r.id", ""), ("s.id", ""), ("", " AND r.te < s.te")]
        if not (case == ONLY_OF_ALL and group)
    ],
)
def test_overflow_is_that_of_spark(
    spark: Any, conf: Any, case: str, group: str, second: str
) -> None:
    aggregates, left, right = OVERFLOWS[case]
    conf({BROADCAST: "-1"})
    for name, value in (("r", left), ("s", right)):
        frame = spark.sql(f"SELECT id, id AS ts, id + 40 AS te, {value} AS v FROM range(60)")
        frame.createOrReplaceTempView(name)
    query = build(aggregates, group, "JOIN", f"r.ts < s.ts AND s.ts < r.te{second}")
    with configured(spark, {ANSI: "false"}):
        assert check(spark, query) > 0
    errors = []
    with configured(spark, {ANSI: "true"}):
        for enabled in ("true", "false"):
            with configured(spark, {ENABLED: enabled}), pytest.raises(PySparkException) as raised:
                spark.sql(query).collect()
            errors.append(raised.value.getCondition())
    assert errors[0] == errors[1]
    assert "OVERFLOW" in str(errors[0])


def test_sums_of_two_small_numbers_that_leave_their_type_wrap(spark: Any, conf: Any) -> None:
    """The columns of each side fit the type; only the sum of both sides overflows."""
    conf({BROADCAST: "-1", ANSI: "false"})
    for name, i, t in (
        ("r", "2147483647 - CAST(id AS INT)", "120 + id % 8"),
        ("s", "CAST(id AS INT) + 1", "-id % 20"),
    ):
        spark.sql(
            f"SELECT id, id AS ts, id + 40 AS te, {i} AS i, CAST({t} AS TINYINT) AS t "
            "FROM range(60)"
        ).createOrReplaceTempView(name)
    for group in ("", "r.id"):
        columns = "sum(r.i + s.i), sum(r.t - s.t)"
        query = build(columns, group, "JOIN", "r.ts < s.ts AND s.ts < r.te")
        assert check(spark, query) > 0


def test_a_narrowing_cast_below_an_aggregate_stays(
    spark: Any, conf: Any, tables: Callable[[int, int], None]
) -> None:
    conf({BROADCAST: "-1", ANSI: "false"})
    tables(60, 47)
    columns = "sum(CAST(s.b AS INT)), avg(CAST(r.b AS SMALLINT))"
    query = build(columns, "r.id", "JOIN", oracle.formula("INTERVAL_INTERSECTS"))
    assert check(spark, query) > 0


@pytest.mark.parametrize("second", ["", " AND r.te < s.te"])
def test_what_is_not_grouped_goes_out_as_one_row_of_a_batch(
    spark: Any, conf: Any, second: str
) -> None:
    conf({SMALL_GROUPS: "0"})
    for name in "rs":
        spark.sql(
            "SELECT id, id AS ts, id + 20 + id % 9 AS te, nullif(id % 7, 0) AS v FROM range(3000)"
        ).createOrReplaceTempView(name)
    columns = "count(*), count(s.v), sum(s.v), sum(r.v), sum(r.v - s.v), avg(r.v)"
    query = build(columns, "", "JOIN", f"r.ts < s.ts AND s.ts < r.te{second}")
    assert check(spark, query) == 1
    frame = spark.sql(query)
    frame.collect()
    assert metric(frame, "runs") > 2000
    assert 1 <= metric(frame, "numOutputRows") <= spark.sparkContext.defaultParallelism


def test_large_sums_that_fit(spark: Any, conf: Any) -> None:
    conf({BROADCAST: "-1"})
    for name, sign in (("r", ""), ("s", "-")):
        spark.sql(
            f"SELECT id, id AS ts, id + 40 AS te, {sign}(9223372036854775807L - id) AS v "
            "FROM range(60)"
        ).createOrReplaceTempView(name)
    query = "SELECT sum(r.v + s.v), count(*) FROM r JOIN s ON r.ts <= s.ts AND s.ts < r.te"
    assert check(spark, query) == 1


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize("precision", [8, 9, 18])
def test_decimals_keep_their_types(spark: Any, conf: Any, ansi: str, precision: int) -> None:
    conf({ANSI: ansi, BROADCAST: "-1"})
    most = "9" * (precision - 2) + ".99"
    for name in "rs":
        spark.sql(
            f"SELECT id, id AS ts, id + 40 AS te, CAST(if(id % 3 = 0, -1.01, {most}) AS "
            f"DECIMAL({precision}, 2)) AS m FROM range(60)"
        ).createOrReplaceTempView(name)
    for group in ("", "r.id", "s.id"):
        query = build(
            "sum(s.m), avg(s.m), sum(r.m), avg(r.m), max(r.m)",
            group,
            "JOIN",
            "r.ts <= s.ts AND s.ts < r.te",
        )
        assert check(spark, query) > 0


SPECIAL = "CASE id % 7 WHEN {0} THEN double('NaN') WHEN {1} THEN double('{2}Infinity') ELSE id END"


@pytest.mark.parametrize("special", [(0, 9, ""), (9, 0, ""), (9, 0, "-"), (0, 3, ""), (9, 9, "")])
@pytest.mark.parametrize("group", ["", "r.id", "s.id"])
def test_special_numbers(spark: Any, conf: Any, special: tuple[int, int, str], group: str) -> None:
    conf({BROADCAST: "-1"})
    value = SPECIAL.format(*special)
    for name in "rs":
        spark.sql(
            f"SELECT id, id AS ts, id + 5 AS te, {value} AS d, CAST({value} AS FLOAT) AS f FROM "
            "range(60)"
        ).createOrReplaceTempView(name)
    each = [f"{a}({x})" for a in ("sum", "avg", "min", "max") for x in ("r.d", "s.d", "r.f", "s.f")]
    query = build(", ".join(each), group, "JOIN", "r.ts <= s.ts AND s.ts < r.te")
    assert check(spark, query) > 0


def test_sums_of_floating_point_numbers_lose_nothing(spark: Any, conf: Any) -> None:
    conf({BROADCAST: "-1"})
    spark.sql(
        "SELECT id, id AS ts, id + 2 AS te, 1D AS d FROM range(1000)"
    ).createOrReplaceTempView("r")
    spark.sql(
        "SELECT id, id AS ts, id + 2 AS te, if(id = 3, 1e300, 0.1D) AS d FROM range(1000)"
    ).createOrReplaceTempView("s")
    for ids in ("r.id", "s.id"):
        query = build("sum(s.d)", ids, "JOIN", "r.ts <= s.ts AND s.ts < r.te")
        assert check(spark, query) > 0
