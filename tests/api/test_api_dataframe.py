# SPDX-License-Identifier: Apache-2.0
"""The helpers for DataFrames on Spark, compared with brute force.

Each case has random tables of intervals. The tables of all cases become one DataFrame with the
number of the case as a key, so one query tests all cases.
"""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from pyspark.errors import PySparkException

import intervalsweep
from intervalsweep import arrow as isa
from intervalsweep import dataframe as isd
from intervalsweep.session import check_active
from support.docs.examples import run_example
from support.joins import brute
from support.joins.brute import REPEATABLE, Interval
from support.spark.comparison import BROADCAST, EXCLUDED_RULES, FOLDING, physical, sweeps
from support.spark.session import INTERPRETED

Tables = list[tuple[list[Interval], list[Interval]]]
CASES = 120
FEW_ROWS = INTERPRETED | {"spark.sql.shuffle.partitions": "1"}


@pytest.fixture(scope="module")
def tables() -> Tables:
    """Pairs of random tables, the same ones in each run."""
    found: Tables = []

    @settings(REPEATABLE, max_examples=CASES, phases=[Phase.generate])
    @given(st.tuples(brute.intervals(), brute.intervals()))
    def draw(pair: tuple[list[Interval], list[Interval]]) -> None:
        found.append(pair)

    draw()
    assert len(found) == CASES
    return found


@pytest.fixture(scope="module")
def r(spark: Any, tables: Tables) -> Any:
    return frame(spark, [left for left, _ in tables])


@pytest.fixture(scope="module")
def s(spark: Any, tables: Tables) -> Any:
    return frame(spark, [right for _, right in tables])


def frame(spark: Any, cases: list[list[Interval]]) -> Any:
    rows = [(n, i, *row) for n, case in enumerate(cases) for i, row in enumerate(case)]
    assert rows
    schema = "k INT, id INT, ts INT, te INT"
    return spark.createDataFrame(rows, schema).repartition(2).cache()


def bag(rows: Any) -> Counter[Any]:
    return Counter(tuple(row) for row in rows)


@pytest.mark.parametrize(
    "function",
    [getattr(isd, name) for name in isd.__all__],
    ids=isd.__all__,
)
def test_example_of_the_docstring(spark: Any, function: Any) -> None:
    assert run_example(function, spark=spark) > 0


@pytest.mark.parametrize("how", ["inner", "left", "right", "full", "semi", "anti"])
def test_interval_join(r: Any, s: Any, tables: Tables, conf: Any, how: str) -> None:
    conf({EXCLUDED_RULES: FOLDING, BROADCAST: "-1"})
    joined = isd.join(r, s, "iseql_start_preceding", by="k", how=how, delta=3)
    assert sweeps(physical(joined)) == 1
    assert joined.columns == ["k", "id", "ts", "te"] + (
        [] if how in ("semi", "anti") else ["id_right", "ts_right", "te_right"]
    )
    expected: Counter[Any] = Counter()
    for k, (left, right) in enumerate(tables):
        pairs = {
            (i, j)
            for i, a in enumerate(left)
            for j, b in enumerate(right)
            if brute.holds("ISEQL_START_PRECEDING", a, b, delta=3)
        }
        met, met_right = {i for i, _ in pairs}, {j for _, j in pairs}
        if how in ("inner", "left", "right", "full"):
            expected += Counter((k, i, *left[i], j, *right[j]) for i, j in pairs)
        if how in ("left", "full"):
            none = (None, None, None)
            expected += Counter((k, i, *a, *none) for i, a in enumerate(left) if i not in met)
        if how in ("right", "full"):
            none = (None, None, None)
            expected += Counter(
                (k, *none, j, *b) for j, b in enumerate(right) if j not in met_right
            )
        if how in ("semi", "anti"):
            wanted = how == "semi"
            expected += Counter((k, i, *a) for i, a in enumerate(left) if (i in met) == wanted)
    assert bag(joined.collect()) == expected
    assert expected


def test_interval_join_of_structs_keys_and_a_column_as_parameter(spark: Any) -> None:
    r = spark.sql("SELECT named_struct('a', 1, 'b', 3) AS `p.q`, 'x' AS id, 2 AS reach, 7 AS Te")
    s = spark.sql("SELECT 5 AS ts, 9 AS te, 'x' AS name UNION ALL SELECT 6, 9, 'x'")
    s = s.selectExpr("named_struct('c', ts, 'd', te) AS period", "name", "te")
    joined = isd.join(
        r, s, "ISEQL_Before", left_on="p.q", right_on="period", by=[("id", "name")], delta="reach"
    )
    assert joined.columns == ["p.q", "id", "reach", "Te", "period", "name", "te_right"]
    assert [(row.name, tuple(row.period)) for row in joined.collect()] == [("x", (5, 9))]


def test_interval_join_of_a_table_with_itself(spark: Any) -> None:
    r = spark.sql("SELECT id, id AS ts, id + 2 AS te FROM range(5)")
    joined = isd.join(r, r, "interval_intersects", suffix="2").where("id < id2")
    assert sorted((row.id, row.id2) for row in joined.collect()) == [(0, 1), (1, 2), (2, 3), (3, 4)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"relation": "allen_overlap"},
            "Unknown relation 'allen_overlap'. Did you mean allen_overlaps",
        ),
        ({"on": ("tss", "te")}, "left side has no column tss. Did you mean ts"),
        ({"right_on": ("ts", "end")}, "right side has no column end. "),
        ({"by": "key"}, "left side has no column key. Did you mean k"),
        ({"epsilon": 3}, "ALLEN_BEFORE has no parameter epsilon; it has none"),
        (
            {"how": "lefft"},
            "`how` must be one of inner, left, right, full, semi, anti; got 'lefft'.",
        ),
        ({"suffix": ""}, "Two columns of the result would be called k: choose another suffix"),
    ],
)
def test_interval_join_says_what_is_wrong(spark: Any, change: Any, message: str) -> None:
    frame = spark.sql("SELECT 1 AS k, 2 AS ts, 3 AS te")
    arguments = {"relation": "allen_before", **change}
    with pytest.raises(intervalsweep.IntervalSweepError) as raised:
        isd.join(frame, frame, **arguments)
    assert message in str(raised.value)


def test_session_without_the_extension_is_told_what_to_do() -> None:
    bare = SimpleNamespace(catalog=SimpleNamespace(functionExists=lambda name: False))
    with pytest.raises(intervalsweep.IntervalSweepError, match=r"intervalsweep\.register\(spark\)"):
        check_active(bare)  # type: ignore[arg-type]


@pytest.mark.parametrize("direction", ["backward", "forward"])
@pytest.mark.parametrize("tolerance", [None, 2])
def test_as_of_join(r: Any, s: Any, tables: Tables, direction: str, tolerance: int | None) -> None:
    joined = isd.as_of_join(
        r, s.drop("te"), on="ts", by="k", direction=direction, tolerance=tolerance
    )
    assert joined.columns == ["k", "id", "ts", "te", "id_right", "ts_right"]
    sign = 1 if direction == "backward" else -1
    expected: Counter[Any] = Counter()
    for k, (left, right) in enumerate(tables):
        for i, (ts, te) in enumerate(left):
            found = [
                (sign * at, j)
                for j, (at, _) in enumerate(right)
                if None not in (at, ts)
                and 0 <= sign * (ts - at) <= (99 if tolerance is None else tolerance)
            ]
            at, j = max(found, default=(None, None))
            expected[k, i, ts, te, j, None if at is None else sign * at] += 1
    got = bag(joined.collect())
    assert got == expected
    assert any(row[-1] is not None for row in got)
    inner = isd.as_of_join(
        r, s, on="ts", by="k", direction=direction, tolerance=tolerance, how="inner"
    )
    assert inner.count() == sum(n for row, n in expected.items() if row[-1] is not None)


def test_as_of_join_of_timestamps_with_other_names(spark: Any) -> None:
    trades = spark.sql("SELECT TIMESTAMP'2024-01-01 10:00:00' AS at, 'x' AS sym")
    quotes = spark.sql(
        "SELECT TIMESTAMP_NTZ'2024-01-01 09:59:00' AS since, 'x' AS s, 1 AS p, map(1, 2) AS m"
    ).selectExpr("CAST(since AS TIMESTAMP) AS since", "s", "p", "m")
    for tolerance, p in ((timedelta(minutes=1), 1), (timedelta(seconds=59), None)):
        joined = isd.as_of_join(
            trades, quotes, left_on="at", right_on="since", by=[("sym", "s")], tolerance=tolerance
        )
        assert joined.first().p == p


@pytest.mark.parametrize("most", [None, 3])
def test_nearest(r: Any, s: Any, tables: Tables, most: int | None) -> None:
    joined = isd.nearest(r, s, by="k", max_distance=most)
    assert joined.columns == [
        *["k", "id", "ts", "te", "id_right", "ts_right", "te_right", "distance"]
    ]
    rows = joined.collect()
    assert Counter((row.k, row.id) for row in rows) == Counter(
        (k, i) for k, (left, _) in enumerate(tables) for i in range(len(left))
    )
    for row in rows:
        least = brute.least_distance((row.ts, row.te), tables[row.k][1])
        if most is not None and least is not None and least > most:
            least = None
        assert row.distance == least, row
        if least is None:
            assert row.id_right is None
        else:
            found = (row.ts_right, row.te_right)
            assert brute.distance((row.ts, row.te), found) == least
            assert tables[row.k][1][row.id_right] == found
    assert {row.distance for row in rows} > {None, 0, 1}
    kept = isd.nearest(r, s, by="k", max_distance=most, how="inner").count()
    assert kept == sum(row.distance is not None for row in rows)


def test_null_keys_find_nothing(spark: Any, conf: Any) -> None:
    """NULL keys never match, as with `=`. NULL equals NULL only in groups of one table's rows."""
    conf(FEW_ROWS)
    r = spark.sql("SELECT CAST(NULL AS INT) AS k, 1 AS ts, 3 AS te UNION ALL SELECT 1, 1, 3")
    for found, column, expected in (
        (isd.as_of_join(r, r, on="ts", by="k"), "te_right", {None: None, 1: 3}),
        (isd.nearest(r, r, by="k"), "distance", {None: None, 1: 0}),
        (isd.coverage(r, r, by="k"), "covered", {None: 0, 1: 2}),
        (
            isd.join(r, r, "allen_equals", by="k", how="left"),
            "te_right",
            {None: None, 1: 3},
        ),
        (isd.merge(r.union(r), by="k"), "count", {None: 2, 1: 2}),
    ):
        assert {row.k: row[column] for row in found.collect()} == expected


@pytest.mark.parametrize("gap", [None, 2])
def test_merge(s: Any, tables: Tables, gap: int | None) -> None:
    got = bag(isd.merge(s, by="k", gap=gap).collect())
    assert got == Counter(
        (k, *row)
        for k, (_, rows) in enumerate(tables)
        for row in brute.unbounded(brute.merged, rows, gap or 0)
    )
    assert max(row[-1] for row in got) > 2


def test_split(s: Any, tables: Tables) -> None:
    got = bag(isd.split(s, by=["k"]).collect())
    assert got == Counter(
        (k, *row)
        for k, (_, rows) in enumerate(tables)
        for row in brute.unbounded(brute.pieces, rows)
    )
    assert max(row[-1] for row in got) > 2


@pytest.mark.parametrize("within", [None, (-3, 20), (5, 7)])
def test_complement(s: Any, tables: Tables, within: Any) -> None:
    got = bag(isd.complement(s, by="k", within=within).collect())
    assert got == Counter(
        (k, *row)
        for k, (_, rows) in enumerate(tables)
        for row in brute.unbounded(brute.gaps, rows, within)
    )
    assert got


def test_coverage(r: Any, s: Any, tables: Tables) -> None:
    got = bag(isd.coverage(r, s, by="k").collect())
    assert got == Counter(
        (k, i, *row, brute.covered(row, right))
        for k, (left, right) in enumerate(tables)
        for i, row in enumerate(left)
    )
    assert {row[-1] for row in got} > {None, 0, 1, 2}


@pytest.mark.parametrize(
    ("kind", "first", "unit", "least"),
    [
        ("DATE", date(2024, 3, 30), timedelta(days=1), 2),
        ("TIMESTAMP", datetime(2024, 3, 30), timedelta(hours=1), 7_200_000_000),
        ("TIMESTAMP_NTZ", datetime(2024, 3, 30), timedelta(hours=24), 172_800_000_000),
        ("DOUBLE", 1.0, 0.5, 1.0),
        ("DECIMAL(9,2)", Decimal("1.00"), Decimal("0.50"), Decimal("1.00")),
    ],
)
def test_lengths_of_other_types(
    spark: Any, conf: Any, kind: str, first: Any, unit: Any, least: Any
) -> None:
    """Between timestamps without a zone, a day is 24 hours, even at a clock change."""
    conf(FEW_ROWS | {"spark.sql.session.timeZone": "Europe/Zurich"})
    ends = [first + n * unit for n in range(6)]
    schema = f"ts {kind}, te {kind}"
    r = spark.createDataFrame([(ends[0], ends[1]), (ends[0], ends[5])], schema)
    s = spark.createDataFrame([(ends[3], ends[5])], schema)
    far, near = isd.nearest(r, s).orderBy("te").collect()
    assert (far.distance, near.distance) == (least, least * 0)
    none, some = isd.coverage(r, s).orderBy("te").collect()
    assert (none.covered, some.covered) == (least * 0, least)


def test_half_open_of_closed_ends(spark: Any) -> None:
    frame = spark.sql(
        "SELECT 1 AS i, 5Y AS j, DATE'2024-02-28' AS d, 1.50 AS c, TIMESTAMP'2024-01-01' AS t, 0D x"
    )

    def ends(start: str, end: str | None = None, **more: Any) -> tuple[Any, Any]:
        row = isd.half_open(frame, start, end, **more).first()
        return row.ts, row.te

    assert ends("i", "j") == (1, 5)
    assert ends("i", "j", closed="both") == (1, 6)
    assert ends("i", "j", closed="right") == (2, 6)
    assert ends("i", "j", closed="neither") == (2, 5)
    assert ends("d") == (date(2024, 2, 28), date(2024, 2, 29))
    assert ends("c") == (Decimal("1.50"), Decimal("1.51"))
    assert ends("t") == (datetime(2024, 1, 1), datetime(2024, 1, 1, microsecond=1))
    assert ends("x", "x", closed="left") == (0.0, 0.0)
    with pytest.raises(intervalsweep.IntervalSweepError, match="x is DOUBLE, which has no"):
        ends("x")
    with pytest.raises(intervalsweep.IntervalSweepError, match=r"no column y\. Known: i, j, d"):
        ends("y")
    replaced = isd.half_open(frame, "i", "j", closed="both", names=("i", "j"))
    assert (replaced.columns, replaced.first().j) == (frame.columns, 6)


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_half_open_never_wraps(spark: Any, conf: Any, ansi: str) -> None:
    conf({"spark.sql.ansi.enabled": ansi})
    for last in ("127Y", "9223372036854775807", "99.9"):
        frame = spark.sql(f"SELECT {last} AS i")
        with pytest.raises(PySparkException, match="last value of its type"):
            isd.half_open(frame, "i").collect()


def test_half_open_of_the_last_day(spark: Any) -> None:
    frame = spark.sql("SELECT DATE'2024-02-28' AS i, DATE'9999-12-31' AS j")
    assert isd.half_open(frame, "i", "j", closed="both").first().te is None
    unbounded = isd.half_open(frame, "i", "j", closed="both", unbounded_end=True)
    assert unbounded.first().te == date(9999, 12, 31)
    here = isa.half_open(frame.toArrow(), "i", "j", closed="both")
    assert here.column("te").to_pylist() == [None]


def test_half_open_with_a_step(spark: Any) -> None:
    frame = spark.sql(
        "SELECT TIMESTAMP_NTZ'2024-01-01' AS a, TIMESTAMP_NTZ'2024-01-31 23:59:59' AS b, "
        "TIMESTAMP_NTZ'9999-12-31 23:59:59' AS c, 1 AS i, 5 AS j, 1.5BD AS d, 2.5BD AS e"
    )
    cases: list[Any] = [
        ("a", "b", timedelta(seconds=1), datetime(2024, 2, 1)),
        ("a", "c", timedelta(seconds=1), None),
        ("i", "j", 10, 15),
        ("d", "e", Decimal("0.5"), Decimal("3.0")),
    ]
    for start, end, step, wanted in cases:
        found = isd.half_open(frame, start, end, closed="both", step=step)
        assert found.first().te == wanted
        here = isa.half_open(frame.toArrow(), start, end, closed="both", step=step)
        assert here.column("te").to_pylist() == [wanted]


@pytest.mark.parametrize("by", [None, "k"])
def test_null_is_no_end(spark: Any, by: str | None) -> None:
    rows = [(1, 1, 5), (1, 7, None), (1, None, 0), (1, 9, 12), (2, 3, 4)]
    frame = spark.createDataFrame(rows, "k INT, ts INT, te INT")
    table, keys = frame.toArrow(), {"by": by} if by else {}
    for module, data in ((isd, frame), (isa, table)):
        found = module.cluster(data, **keys)
        found = found.toArrow() if module is isd else found
        numbers = {(row["ts"], row["te"]): row["cluster"] for row in found.to_pylist()}
        last = 1 if by else 2
        assert numbers == {(None, 0): 1, (1, 5): 2, (3, 4): last, (7, None): 3, (9, 12): 3}
        dropped = module.merge(data, nulls="drop", **keys)
        dropped = dropped.toArrow() if module is isd else dropped
        assert sum(dropped.column("count").to_pylist()) == 3
    with pytest.raises(intervalsweep.EndpointValueError, match="NULL endpoint"):
        isa.split(table, nulls="error")
    with pytest.raises(PySparkException, match="NULL_END"):
        isd.split(frame, nulls="error").collect()
    with pytest.raises(PySparkException, match="NULL_END"):
        isd.cluster(frame, nulls="error").collect()


def test_half_open_of_no_end_yet(spark: Any) -> None:
    frame = spark.sql(
        "SELECT CAST(NULL AS INT) i, CAST(NULL AS DATE) d, CAST(NULL AS TIMESTAMP) t, "
        "CAST(NULL AS FLOAT) f, CAST(NULL AS DECIMAL(4,1)) c, CAST(NULL AS STRING) s"
    )
    expected = {
        "i": 2**31 - 1,
        "d": date(9999, 12, 31),
        "t": datetime(9999, 12, 31),
        "f": float("inf"),
        "c": Decimal("999.9"),
    }
    for name, end in expected.items():
        row = isd.half_open(frame, name, name, closed="left", unbounded_end=True).first()
        assert (row.ts, row.te) == (None, end)
        row = isd.half_open(frame, name, name, closed="left").first()
        assert (row.ts, row.te) == (None, None)
    with pytest.raises(intervalsweep.IntervalSweepError, match="STRING has no largest value"):
        isd.half_open(frame, "s", "s", closed="left", unbounded_end=True)
