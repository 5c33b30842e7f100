# SPDX-License-Identifier: Apache-2.0
"""`dataframe.window_union` returns the same as `arrow.window_union`."""

from __future__ import annotations

import random
from collections import Counter
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from intervalsweep import IntervalSweepError
from intervalsweep import arrow as isa
from intervalsweep import dataframe as isd
from support.spark.comparison import physical, sweeps
from support.streams import eager
from support.streams.arrivals import QUICKLY, Arrivals, assert_written, read, run

SCHEMA = "k STRING, `a.t` INT, v INT, d DATE, at TIMESTAMP"
AGGS = {name: f"{name}(v)" for name in ("count", "sum", "avg", "min", "max", "first", "last")}


@pytest.fixture(scope="module")
def frames(spark: Any) -> tuple[Any, Any]:
    """Instants of `probe` differ, so the first and the last value are unique."""
    draw = random.Random(5)

    def frame(rows: list[Any]) -> Any:
        made = spark.createDataFrame(rows, "k STRING, t INT, v INT")
        return made.selectExpr(
            "k",
            "t AS `a.t`",
            "v",
            "DATE'2024-01-01' + t AS d",
            "TIMESTAMP'2024-01-01' + make_dt_interval(0, 0, t) AS at",
        )

    keys = ["a", "b", None]
    base = [(draw.choice(keys), draw.choice([None, *range(20)]), n) for n in range(30)]
    probe = [
        (key, t, draw.choice([None, 1, 5, 9])) for key in "ab" for t in draw.sample(range(20), 12)
    ]
    return frame(base).cache(), frame(probe).cache()


@pytest.mark.parametrize(
    ("on", "window"),
    [
        ("a.t", {"pre": 4}),
        ("a.t", {"pre": 6, "fol": -2}),
        ("a.t", {"pre": None, "fol": 1}),
        ("d", {"pre": timedelta(days=3), "fol": 1}),
        ("at", {"pre": timedelta(minutes=4), "fol": timedelta(minutes=-1)}),
        ("at", {"pre": "2 minutes"}),
        ("a.t", {"pre": None, "max_rows": 3}),
        ("at", {"pre": "6 minutes", "fol": "1 minute", "max_rows": 2}),
    ],
)
def test_as_on_arrow_tables(frames: Any, on: str, window: dict[str, Any]) -> None:
    base, probe = frames
    window = {"by": "k"} | window
    found = isd.window_union(
        base, probe, on=on, aggs=AGGS | {"list": "list(v)", "n": "count(*)"}, **window
    )
    assert sweeps(physical(found)) == 1
    ours, theirs = base.toArrow(), probe.toArrow()
    expected = isa.window_union(
        ours, theirs, on=on, aggs=AGGS | {"list": "list(v)", "n": "count(*)"}, **window
    )
    assert found.columns == expected.column_names
    pairs = [
        sorted(map(comparable, rows))
        for rows in (found.toArrow().to_pylist(), expected.to_pylist())
    ]
    assert pairs[0] == pairs[1]
    assert sum(row["n"] > 1 for row in expected.to_pylist()) > 5


def comparable(row: dict[str, Any]) -> str:
    """The row as a text. Spark does not define the order of lists and of rows at one instant."""
    plain = {k: v for k, v in row.items() if k not in ("first", "last") or row["k"] is not None}
    return repr(plain | {"list": sorted(row["list"])})


def test_any_aggregate_of_sql(frames: Any) -> None:
    base, probe = frames
    aggs = {"two": "sum(v) FILTER (WHERE v > 1) + count(*)", "text": "listagg(k, '')"}
    found = isd.window_union(base, probe, on="a.t", by=[("k", "k")], pre=9, aggs=aggs)
    assert found.where("two > 9 AND length(text) > 1").count() > 3
    with_itself = isd.window_union(base, base, on="a.t", by="k", pre=0, aggs={"n": "count(*)"})
    assert with_itself.where("k IS NOT NULL AND `a.t` IS NOT NULL AND n = 0").count() == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"aggs": {}}, "needs an aggregate"),
        ({"aggs": {"v": "sum(v)"}}, "called v"),
        ({"aggs": {"s": "sum(v)"}, "on": "zz"}, "no column zz"),
        ({"aggs": {"s": "sum(v)"}, "pre": timedelta(days=1)}, "not a distance between int"),
        (
            {"aggs": {"s": "sum(v)"}, "on": "d", "pre": timedelta(hours=1)},
            "not a distance between date",
        ),
        ({"aggs": {"s": "sum(v)"}, "pre": None, "fol": None}, "window has no limits"),
        ({"aggs": {"s": "sum(v)"}, "max_rows": 1.5}, "whole number of at least 1; got 1.5"),
        ({"aggs": {"s": "sum(v)"}, "emit": "now"}, "`emit` must be one of final, eager; got 'now'"),
    ],
)
def test_errors(frames: Any, given: dict[str, Any], message: str) -> None:
    base, probe = frames
    with pytest.raises(IntervalSweepError, match=message):
        isd.window_union(base, probe, **({"on": "a.t", "pre": 1} | given))


def test_rows_of_tables_come_once(frames: Any) -> None:
    given: dict[str, Any] = {"on": "a.t", "by": "k", "pre": 4, "aggs": {"n": "count(*)"}}
    final = isd.window_union(*frames, **given)
    early = isd.window_union(*frames, emit="eager", **given)
    assert early.columns == [*final.columns, "revision", "is_final"]
    assert sweeps(physical(early)) == 1
    wanted = Counter((*row, 1, True) for row in final.collect())
    assert Counter(map(tuple, early.collect())) == wanted
    assert wanted.total() == 30
    with pytest.raises(IntervalSweepError, match="called is_final"):
        isd.window_union(*frames, emit="eager", **given | {"aggs": {"is_final": "count(*)"}})


STREAMED = """SELECT S.*, w.* FROM {S} S LEFT JOIN LATERAL (
  SELECT count(*) n, sum(v) s, max_by(v, R.id) l FROM {R} R
  WHERE R.k = S.k AND R.ts BETWEEN S.ts - INTERVAL 9 SECONDS AND S.ts + INTERVAL 2 SECONDS
) w ON true"""


def of_streams(spark: Any, folder: Path, emit: Any) -> Any:
    found = Arrivals(random.Random(emit), files=3)
    found.write(folder)
    read(spark, folder, found.lateness + 1)
    return isd.window_union(
        spark.table("S"),
        spark.table("R"),
        by="k",
        pre=timedelta(seconds=9),
        fol=timedelta(seconds=2),
        aggs={"n": "count(*)", "s": "sum(v)", "l": "max_by(v, id)"},
        emit=emit,
    )


def test_two_streams_when_windows_are_final(spark: Any, tmp_path: Path, conf: Any) -> None:
    conf(QUICKLY)
    run(of_streams(spark, tmp_path, "final"), tmp_path)
    assert_written(spark, tmp_path, STREAMED)


def test_two_streams_at_once(spark: Any, tmp_path: Path, conf: Any) -> None:
    conf(QUICKLY)
    frame = of_streams(spark, tmp_path, "eager").withColumnRenamed("is_final", "final")
    eager.run(frame, tmp_path)
    marked = STREAMED.replace(" FROM {R}", f", {eager.MARKS} FROM {{R}}")
    assert not eager.differences(spark, tmp_path, marked)
    assert any(row["revision"] > 2 for row in eager.written(spark, tmp_path))


def test_decimals_and_doubles(spark: Any) -> None:
    base = spark.sql(
        "SELECT CAST(t AS DECIMAL(5, 1)) t, CAST(t AS DOUBLE) x FROM VALUES (1.5), (3.0) b(t)"
    )
    for on, pre in (("t", Decimal("1.5")), ("x", 1.5)):
        found = isd.window_union(base, base, on=on, pre=pre, aggs={"n": "count(*)"})
        assert [row.n for row in found.orderBy("t").collect()] == [1, 2]
