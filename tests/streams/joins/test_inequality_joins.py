# SPDX-License-Identifier: Apache-2.0
"""Joins of streams by inequalities, in windows of rows and of time; patterns of three streams."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from intervalsweep import ArgumentError, EndpointTypeError
from intervalsweep.dataframe import inequality_join, rows, stream_join, time
from support.streams import joined
from support.streams.joined import FAR, Arrivals, bag, start_and_wait

TRIPS = "seq LONG, dist INT, fare INT, ts TIMESTAMP"
SECOND = timedelta(seconds=1)
CONDITION = "a.dist > b.dist AND a.fare < b.fare"


def trips(
    folder: Path, rng: random.Random, cuts: int, count: int = 60, clock: str | None = None
) -> Arrivals:
    every = [
        (n, rng.randrange(12), rng.randrange(12), joined.at(n + rng.uniform(0, 0.5)))
        for n in range(count)
    ]
    borders = sorted(rng.randrange(count) for _ in range(cuts - 1))
    parts = [every[i:j] for i, j in zip([0, *borders], [*borders, count], strict=True)]
    for part in parts:
        rng.shuffle(part)
    batches = [{"a": part, "b": [(n, f, d, t) for n, d, f, t in part]} for part in parts]
    return Arrivals(folder, batches, schema=TRIPS, clock=clock)


def brute(arrivals: Arrivals, side: str, near: Any) -> Any:
    left = [row for batch in arrivals.batches for row in batch["a"]]
    right = [row for batch in arrivals.batches for row in batch[side]]
    return bag(
        [(a[0], b[0]) for a in left for b in right if a[1] > b[1] and a[2] < b[2] and near(a, b)]
    )


@pytest.mark.parametrize("slide", [None, 5])
def test_self_join_in_a_window_of_rows(streaming: Any, tmp_path: Path, slide: int | None) -> None:
    arrivals = trips(tmp_path, random.Random(5), cuts=5)
    arrivals.write(3)
    arrivals.streams(streaming)
    joined_rows = inequality_join(
        streaming.table("a"), None, CONDITION, window=rows(20, seq="seq", slide=slide)
    ).select("seq", "seq_right")
    found: list[Any] = []
    start_and_wait(joined_rows, tmp_path / "checkpoint", found)
    arrivals.write()
    start_and_wait(joined_rows, tmp_path / "checkpoint", found)
    if slide is None:
        wanted = brute(arrivals, "a", lambda a, b: abs(a[0] - b[0]) < 20)
    else:
        wanted = brute(arrivals, "a", lambda a, b: abs(a[0] // slide - b[0] // slide) < 20 // slide)
    assert len(found) > 20
    assert bag(found) == wanted


@pytest.mark.parametrize(
    ("length", "slide"),
    [
        pytest.param(9.5 * SECOND, None, marks=pytest.mark.extended),
        (10 * SECOND, 2.5 * SECOND),
    ],
)
def test_two_streams_in_a_window_of_time(
    streaming: Any, tmp_path: Path, length: timedelta, slide: timedelta | None
) -> None:
    arrivals = trips(tmp_path, random.Random(6), cuts=4, clock="ts")
    arrivals.write()
    arrivals.streams(streaming)
    both = inequality_join(
        streaming.table("a"), streaming.table("b"), CONDITION, window=time(length, slide=slide)
    ).select("seq", "seq_right")
    found: list[Any] = []
    start_and_wait(both, tmp_path / "checkpoint", found)
    assert len(found) > 20
    assert bag(found) == brute(arrivals, "b", lambda a, b: is_near(a[3], b[3], length, slide))


def is_near(a: datetime, b: datetime, length: timedelta, slide: timedelta | None) -> bool:
    if slide is None:
        return abs(a - b) < length
    start = datetime(1970, 1, 1, tzinfo=a.tzinfo)
    return abs((a - start) // slide - (b - start) // slide) < length // slide


def test_slices_of_time_are_counted_from_1970_either_way(spark: Any) -> None:
    """Windows before 1970 have the same length; division must not round towards zero."""
    instants = [datetime(1970, 1, 1) + n * timedelta(seconds=0.5) for n in range(-12, 12)]
    every = [(n, n, -n, instant) for n, instant in enumerate(instants)]
    frame = spark.createDataFrame(every, "seq INT, dist INT, fare INT, ts TIMESTAMP_NTZ")
    frame = frame.selectExpr("seq", "dist", "fare", "CAST(ts AS TIMESTAMP) AS ts")
    window = time(2 * SECOND, slide=SECOND)
    found = inequality_join(frame, None, CONDITION, window=window).select("seq", "seq_right")
    wanted = [
        (a[0], b[0])
        for a in every
        for b in every
        if a[0] > b[0] and is_near(a[3], b[3], 2 * SECOND, SECOND)
    ]
    assert bag(found.collect()) == bag(wanted)
    wrong = frame.selectExpr("seq", "dist", "fare", "CAST(ts AS DATE) AS ts")
    with pytest.raises(EndpointTypeError, match="column 'ts' of the right side is date"):
        inequality_join(frame, wrong, CONDITION, window=window)


def test_rows_that_are_late_by_their_number(streaming: Any, tmp_path: Path) -> None:
    rows_of = lambda *numbers: [(n, n, -n, joined.at(n)) for n in numbers]  # noqa: E731
    parts = [rows_of(0, 1, 2, 5), rows_of(3, 4, 6), rows_of(2, 7)]
    batches = [{"a": part, "b": []} for part in parts]
    arrivals = Arrivals(tmp_path, batches, schema=TRIPS, clock=None)
    arrivals.write()
    arrivals.streams(streaming)
    for disorder, kept in ((0, [0, 1, 2, 5, 6, 7]), (3, [0, 1, 2, 5, 3, 4, 6, 7])):
        window = rows(3, disorder=disorder)
        pairs = inequality_join(streaming.table("a"), None, CONDITION, window=window)
        found: list[Any] = []
        start_and_wait(pairs.select("seq", "seq_right"), tmp_path / f"{disorder}", found)
        wanted = [(x, y) for x in kept for y in kept if 0 < x - y < 3]
        assert bag(found) == bag(wanted)


def test_a_column_that_is_no_row_number_drops_no_row_in_silence(
    streaming: Any, tmp_path: Path
) -> None:
    """Only the distance of fares bounds the state, and fares do not grow from row to row."""
    fares = [[9, 3, 5], [4, 8]]
    parts = [[(n, n, fare, joined.at(n)) for n, fare in enumerate(part)] for part in fares]
    batches = [{"a": part, "b": part} for part in parts]
    arrivals = Arrivals(tmp_path, batches, schema=TRIPS, clock="ts")
    arrivals.write()
    arrivals.streams(streaming)
    sql = "SELECT a.seq FROM a JOIN b ON a.dist >= b.dist AND abs(a.fare - b.fare) < 3"
    message = r"NUMBER_ORDER\] Only the distance of `?fare`? bounds .* has 4 in .* after 9"
    with pytest.raises(Exception, match=message):
        start_and_wait(streaming.sql(sql), tmp_path / "checkpoint", [])


@pytest.mark.parametrize("how", ["inner", "left", "anti"])
@pytest.mark.parametrize("window", [rows(9), rows(10, slide=5), time(timedelta(seconds=9.5))])
def test_with_a_key_it_does_not_become_a_join_of_spark(
    streaming: Any, tmp_path: Path, how: Any, window: Any
) -> None:
    """Spark's own join would never evict rows with numbers, and does not support anti joins."""
    by_time = not isinstance(window, type(rows(1)))
    arrivals = trips(tmp_path, random.Random(6), cuts=4, clock="ts" if by_time else None)
    # The last row of each side is far away from all others.
    arrivals.batches += [{s: [(FAR, 0, 0, joined.at(FAR))] for s in "ab"}]
    arrivals.streams(streaming)
    keyed = "a.dist > b.dist AND a.fare < b.fare AND a.seq % 3 = b.seq % 3"

    def pairs() -> Any:
        a, b = streaming.table("a"), streaming.table("b")
        found = inequality_join(a, b, keyed, window=window, how=how)
        columns = ["seq"] if how == "anti" else ["seq", "seq_right"]
        return found.select(columns).where(f"seq < {FAR}")

    stream, found = pairs(), []
    assert "StreamJoin " in stream._jdf.queryExecution().analyzed().toString()
    for count in (2, None):
        arrivals.write(count)
        query = start_and_wait(stream, tmp_path / "checkpoint", found)
    assert query.recentProgress[-1]["stateOperators"][0]["numRowsTotal"] < 9
    arrivals.tables(streaming)
    wanted = bag(pairs().collect())
    assert wanted.total() > 10
    assert bag(found) == wanted


def test_pattern_in_windows_of_rows(streaming: Any, tmp_path: Path) -> None:
    """Pairs are not emitted in the order of their numbers, and none of them is late."""
    arrivals = trips(tmp_path, random.Random(6), cuts=5, count=90)
    arrivals.streams(streaming)

    def chain() -> Any:
        a, b = streaming.table("a"), streaming.table("b")
        pairs = inequality_join(a, b, CONDITION, window=rows(12)).select("seq", "fare", "seq_right")
        third = "a.fare < b.fare AND a.seq_right <> b.dist"
        return inequality_join(pairs, a, third, window=rows(8), suffix="_third").select(
            "seq", "seq_right", "seq_third"
        )

    stream, found = chain(), []
    assert stream._jdf.queryExecution().analyzed().toString().count("StreamJoin ") == 2
    for count in (3, None):
        arrivals.write(count)
        start_and_wait(stream, tmp_path / "checkpoint", found)
    arrivals.tables(streaming)
    wanted = bag(chain().collect())
    assert wanted.total() > 100
    assert bag(found) == wanted


@pytest.mark.extended
def test_state_does_not_grow(streaming: Any, tmp_path: Path) -> None:
    arrivals = trips(tmp_path, random.Random(8), cuts=12, count=600)
    arrivals.write()
    arrivals.streams(streaming)
    pairs = inequality_join(streaming.table("a"), None, CONDITION, window=rows(30))
    query = start_and_wait(pairs, tmp_path / "checkpoint", [])
    kept = [p["stateOperators"][0]["numRowsTotal"] for p in query.recentProgress]
    assert len(kept) >= 12
    assert max(kept[6:]) <= max(kept[:6]) + 4


def test_pattern_of_three_streams(streaming: Any, tmp_path: Path) -> None:
    rng = random.Random(9)
    arrivals = joined.random_arrivals(tmp_path, rng, rows=20, cuts=4, reversed_too=False)
    sql = (
        "SELECT a.id, b.id, c.id FROM a JOIN b ON ALLEN_OVERLAPS(a.ts, a.te, b.ts, b.te) "
        "JOIN a AS c ON ISEQL_BEFORE(b.ts, b.te, c.ts, c.te, delta => INTERVAL '9' SECOND) "
        f"WHERE a.id < {FAR} AND c.id < {FAR}"
    )
    found = joined.run(streaming, arrivals, sql, cut=2)
    assert found
    assert bag(found) == bag(joined.expected(streaming, arrivals, sql))


def test_stream_join_of_python(streaming: Any, tmp_path: Path) -> None:
    arrivals = joined.random_arrivals(tmp_path, random.Random(4), 20, 3, clock="te")
    arrivals.write()
    arrivals.streams(streaming)
    limit = timedelta(seconds=10)
    how = {"by": "k", "max_length": limit}
    pairs = stream_join(streaming.table("a"), streaming.table("b"), **how).select("id", "id_right")
    found: list[Any] = []
    start_and_wait(pairs, tmp_path / "checkpoint", found)
    arrivals.tables(streaming)
    batch = stream_join(streaming.table("a"), streaming.table("b"), **how)
    assert found
    assert bag(found) == bag(batch.select("id", "id_right").collect())


def test_windows_that_are_none() -> None:
    for make in (lambda: rows(0), lambda: rows(10, slide=3), lambda: rows(5, disorder=-1)):
        with pytest.raises(ArgumentError):
            make()
    for make in (lambda: time(0 * SECOND), lambda: time(3 * SECOND, slide=2 * SECOND)):
        with pytest.raises(ArgumentError):
            make()


@pytest.mark.parametrize("how", ["inner", "left", "semi"])
def test_rows_that_a_filter_drops_have_numbers(streaming: Any, tmp_path: Path, how: Any) -> None:
    """Their numbers tell which rows can leave the window. The state grew until a row passed."""
    arrivals = trips(tmp_path, random.Random(6), cuts=12, count=300, clock=None)
    arrivals.write()
    arrivals.streams(streaming)

    def pairs() -> Any:
        a = streaming.table("a").where("seq < 20 OR seq > 200")
        b = streaming.table("b").where("seq < 30").where("100 / (30 - seq) > 0")
        if how == "inner":
            a = a.where("dist IS NOT NULL")
        found = inequality_join(a, b, CONDITION, window=rows(9), how=how)
        return found.select(["seq"] if how == "semi" else ["seq", "seq_right"])

    found: list[Any] = []
    query = start_and_wait(pairs(), tmp_path / "checkpoint", found)
    arrivals.tables(streaming)
    wanted = bag(pairs().collect())
    assert wanted.total() > 10
    # The left join keeps the last rows, which may still find a match.
    missing = 0 if how != "left" else 20
    assert not bag(found) - wanted
    assert (wanted - bag(found)).total() <= missing
    kept = [p["stateOperators"][0]["numRowsTotal"] for p in query.recentProgress]
    assert kept[-1] < 60


def test_row_numbers_bound_the_state_of_streams_with_a_watermark(
    streaming: Any, tmp_path: Path
) -> None:
    arrivals = trips(tmp_path, random.Random(6), cuts=12, count=200, clock="ts")
    for batch in arrivals.batches:
        batch["a"].sort()
        batch["b"].sort()
    arrivals.write()
    arrivals.streams(streaming)
    near = "a.dist >= b.dist AND a.fare >= b.fare AND abs(a.seq - b.seq) < 3"
    sql = f"SELECT a.seq, b.seq AS other FROM a JOIN b ON {near}"
    count = (
        "SELECT a.seq, c FROM a LEFT JOIN LATERAL (SELECT count(*) AS c FROM b "
        f"WHERE {near}) ON true WHERE a.seq < 197"
    )
    found: dict[str, list[Any]] = {sql: [], count: []}
    for number, (query, rows_of) in enumerate(found.items()):
        ended = start_and_wait(streaming.sql(query), tmp_path / f"{number}", rows_of)
        assert ended.recentProgress[-1]["stateOperators"][0]["numRowsTotal"] < 80
        assert joined.counted(ended)["lateRows"] == 0
    arrivals.tables(streaming)
    for query, rows_of in found.items():
        assert len(rows_of) > 50
        assert bag(rows_of) == bag(streaming.sql(query).collect())
