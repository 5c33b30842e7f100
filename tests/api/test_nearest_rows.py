# SPDX-License-Identifier: Apache-2.0
"""`nearest` with k rows, one direction, or without overlaps, on Arrow tables and on Spark."""

from __future__ import annotations

import datetime as dt
import random
from typing import Any

import pyarrow as pa
import pytest

from intervalsweep import arrow
from intervalsweep import dataframe as on_spark
from support.spark.comparison import BROADCAST, physical

SCHEMA = "id INT, k INT, ts INT, te INT"
COLUMNS = pa.schema([(name, pa.int32()) for name in ("id", "k", "ts", "te")])
Row = tuple[Any, ...]


def rows(draw: random.Random, size: int) -> list[Row]:
    """Intervals among 30 points; some are empty or reversed, some keys and ends are NULL."""

    def row(number: int) -> Row:
        ts = draw.choice([None, *range(30)])
        te = None if ts is None or draw.random() < 0.05 else ts + draw.randrange(-1, 6)
        return (number, draw.choice([None, 0, 1]), ts, te)

    return [row(number) for number in range(size)]


def slow(left: list[Row], right: list[Row], by: Any, options: dict[str, Any]) -> dict[int, Any]:
    """The distances of the nearest rows of each row, by comparing all pairs."""
    return {a[0]: sorted(_distances(a, right, by, **options))[: options["k"]] for a in left}


def _distances(
    a: Row,
    right: list[Row],
    by: Any,
    *,
    k: int,
    direction: str,
    overlapping: bool,
    max_distance: int | None,
) -> list[int]:
    del k
    found = []
    for b in right:
        if None in (*a[2:], *b[2:]) or a[2] > a[3] or b[2] > b[3]:
            continue
        if by and (a[1] is None or a[1] != b[1]):
            continue
        is_before, is_after = b[3] <= a[2], b[2] >= a[3]
        is_wanted = {"both": True, "backward": is_before, "forward": is_after}[direction]
        if not (is_wanted if is_before or is_after else overlapping):
            continue
        distance = max(0, b[2] - a[3], a[2] - b[3])
        if max_distance is None or distance <= max_distance:
            found.append(distance)
    return found


def distances(found: list[dict[str, Any]]) -> dict[int, list[int]]:
    result: dict[int, list[int]] = {}
    for row in found:
        own = result.setdefault(row["id"], [])
        if row["id_right"] is not None:
            own.append(row["distance"])
    return {number: sorted(own) for number, own in result.items()}


def table(some: list[Row]) -> Any:
    columns = zip(*some, strict=True) if some else [[]] * 4
    return pa.table([pa.array(column, pa.int32()) for column in columns], schema=COLUMNS)


def case(seed: int) -> tuple[list[Row], list[Row], Any, dict[str, Any]]:
    draw = random.Random(seed)
    left, right = (rows(draw, draw.choice([0, 1, 15, 15, 25])) for _ in range(2))
    options = {
        "k": draw.choice([1, 2, 4]),
        "direction": draw.choice(["both", "backward", "forward"]),
        "overlapping": draw.random() < 0.5,
        "max_distance": draw.choice([None, None, 0, 3]),
    }
    return left, right, draw.choice(["k", ()]), options


@pytest.mark.parametrize("how", ["left", "inner"])
def test_arrow_tables(how: str) -> None:
    seen = 0
    for seed in range(60):
        left, right, by, options = case(seed)
        found = arrow.nearest(table(left), table(right), by=by, how=how, **options)
        wanted = slow(left, right, by, options)
        kept = {number: own for number, own in wanted.items() if own or how == "left"}
        assert distances(found.to_pylist()) == kept, (seed, options)
        seen += sum(map(len, kept.values()))
    assert seen > 300


@pytest.mark.parametrize(
    "seed", [0, 1, 2, *(pytest.param(n, marks=pytest.mark.extended) for n in range(3, 30))]
)
def test_data_frames(spark: Any, conf: Any, seed: int) -> None:
    conf({BROADCAST: random.Random(seed).choice(["-1", "10MB"])})
    left, right, by, options = case(seed)
    frames = (spark.createDataFrame(some, SCHEMA) for some in (left, right))
    found = on_spark.nearest(*frames, by=by, **options)
    wanted = slow(left, right, by, options)
    assert distances([row.asDict() for row in found.collect()]) == wanted, options


def test_rows_are_searched_and_named(spark: Any, conf: Any) -> None:
    """Also beside columns with the names that the plan uses."""
    conf({BROADCAST: "-1"})
    text = "SELECT at, at + 2 AS till, 'x' AS found, 1 AS row FROM VALUES {} t(at)"
    left = spark.sql(text.format("(TIMESTAMP'2026-01-01 10:00:00')").replace("+ 2", ""))
    right = spark.sql(
        "SELECT TIMESTAMP'2026-01-01 09:00:00' + make_dt_interval(0, 0, id) AS at, "
        "TIMESTAMP'2026-01-01 09:00:00' + make_dt_interval(0, 0, id) AS till, id AS found "
        "FROM range(50)"
    )
    found = on_spark.nearest(left, right, on=("at", "till"), k=3, overlapping=False)
    assert found.columns == [
        *("at", "till", "found", "row", "at_right", "till_right", "found_right", "distance")
    ]
    minute = 60_000_000
    got = sorted((row.found_right, row.distance) for row in found.collect())
    assert got == [(47, 13 * minute), (48, 12 * minute), (49, 11 * minute)]
    plan = physical(found)
    assert "last 3" in plan
    assert "first 3" in plan
    tables = (frame.toArrow() for frame in (left, right))
    same = arrow.nearest(*tables, on=("at", "till"), k=3, overlapping=False)
    assert sorted(same.column("found_right").to_pylist()) == [47, 48, 49]
    near = on_spark.nearest(
        left, right, on=("at", "till"), k=3, max_distance=dt.timedelta(minutes=12)
    )
    assert near.count() == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k must be a whole number of at least 1; got 0"),
        ({"direction": "up"}, "`direction` must be one of both, backward, forward; got 'up'"),
        ({"k": 2, "max_distance": -1}, "`max_distance` must not be negative"),
    ],
)
def test_errors(spark: Any, options: dict[str, Any], message: str) -> None:
    frame = spark.createDataFrame([(1, 2)], "ts INT, te INT")
    for module, one in ((arrow, frame.toArrow()), (on_spark, frame)):
        with pytest.raises(ValueError, match=message):
            module.nearest(one, one, **options)
