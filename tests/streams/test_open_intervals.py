# SPDX-License-Identifier: Apache-2.0
"""Joins of intervals that are still open: pairs leave when the relation is certain, each once."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import joined
from intervalsweep.dataframe import stream_join
from joined import FAR, PROVIDER, ROCKSDB, Arrivals, at, bag

SCHEMA = "id INT, k INT, ts TIMESTAMP, te TIMESTAMP, at TIMESTAMP, v INT"
SECONDS = timedelta(seconds=6)
# Those whose rows leave by themselves, and those that need a parameter.
RELATIONS: dict[str, dict[str, timedelta]] = {
    "interval_intersects": {},
    "allen_overlaps": {},
    "allen_overlapped_by": {},
    "allen_during": {},
    "allen_contains": {},
    "allen_meets": {},
    "allen_starts": {},
    "allen_finishes": {},
    "allen_equals": {},
    "iseql_start_preceding": {},
    "iseql_reverse_start_preceding": {"delta": SECONDS},
    "iseql_end_following": {"epsilon": SECONDS},
    "iseql_before": {"delta": SECONDS},
    "iseql_left_overlap": {"delta": SECONDS, "epsilon": SECONDS},
    "iseql_during": {"epsilon": SECONDS},
}


@pytest.fixture
def streaming(spark: Any, conf: Any) -> Any:
    conf({PROVIDER: ROCKSDB, "spark.sql.shuffle.partitions": "2"})
    return spark


def started(number: int, ts: float, key: int = 1) -> Any:
    return (number, key, at(ts), None, at(ts), 0)


def ended(number: int, ts: float, te: float, key: int = 1) -> Any:
    return (number, key, at(ts), at(te), at(te), 0)


def far() -> joined.Batch:
    return {s: [started(FAR, FAR + n, -1)] for n, s in enumerate("ab")}


def random_arrivals(folder: Path, rng: random.Random, rows: int, cuts: int) -> Arrivals:
    """Starts and ends of intervals, out of order by less than the lateness."""
    arriving = []
    for side in "ab":
        for number in range(rows):
            ts, key = rng.randrange(2 * rows), rng.choice([1, 1, 2])
            te = ts + rng.choice([0, 1, 2, 5, 15, 40])
            for when, row in ((ts, started(number, ts, key)), (te, ended(number, ts, te, key))):
                arriving.append((when + rng.uniform(0, joined.LATENESS - 1), side, row))
    arriving.sort(key=lambda a: a[0])
    borders = sorted(rng.randrange(len(arriving)) for _ in range(cuts - 1))
    batches = [
        {side: [row for _, s, row in arriving[i:j] if s == side] for side in "ab"}
        for i, j in zip([0, *borders], [*borders, len(arriving)], strict=True)
    ]
    return Arrivals(folder, [*batches, far()], schema=SCHEMA, clock="at")


def joins(spark: Any, names: Iterator[str], by: str | None) -> Any:
    both = [spark.table(side) for side in "ab"]
    union = None
    for name in names:
        keys = {} if by is None else {"by": by}
        pairs = stream_join(*both, name, open_id="id", **keys, **RELATIONS[name])  # type: ignore[arg-type]
        one = pairs.where(f"id < {FAR} AND id_right < {FAR}")
        one = one.selectExpr(f"'{name}' AS relation", "id", "id_right")
        union = one if union is None else union.unionAll(one)
    return union


@pytest.mark.parametrize("by", [None, "k"])
def test_pairs_are_those_of_ended_rows(streaming: Any, tmp_path: Path, by: str | None) -> None:
    rng = random.Random(f"open {by}")
    names = rng.sample(sorted(RELATIONS), 6)
    arrivals = random_arrivals(tmp_path, rng, rows=30, cuts=6)
    arrivals.write(3)
    arrivals.streams(streaming)
    query, found = joins(streaming, iter(names), by), []
    joined.start_and_wait(query, tmp_path / "checkpoint", found)
    arrivals.write()
    last = joined.start_and_wait(query, tmp_path / "checkpoint", found)
    arrivals.tables(streaming)
    wanted = bag(joins(streaming, iter(names), by).collect())
    assert len({row[0] for row in wanted}) > 3
    assert bag(found) == wanted
    counts = joined.counted(last)
    assert counts["lateRows"] == counts["reversedRows"] == 0


def test_a_pair_leaves_when_it_is_certain(streaming: Any, tmp_path: Path) -> None:
    """START_PRECEDING leaves when the watermark passes s.ts, not when r ends."""
    batches: list[joined.Batch] = [
        {"a": [started(1, 100)], "b": [started(7, 110)]},
        # The watermark of both is 115 then.
        {"a": [started(2, 135)], "b": [started(8, 135)]},
        {"a": [started(3, 300)], "b": [started(9, 300)]},
        {"a": [ended(1, 100, 400)], "b": [ended(7, 110, 405)]},
    ]
    arrivals = Arrivals(tmp_path, batches, schema=SCHEMA, clock="at")
    pairs, when = [], {}
    arrivals.streams(streaming)
    query = joins(streaming, iter(["iseql_start_preceding", "allen_overlaps"]), None)
    for number in range(4):
        arrivals.write(1)
        found: list[Any] = []
        joined.start_and_wait(query, tmp_path / "checkpoint", found)
        pairs += found
        when.update({(row.relation, row.id, row.id_right): number for row in found})
    assert len(pairs) == len(when)
    assert when["iseql_start_preceding", 1, 7] == 1
    assert when["iseql_start_preceding", 1, 8] == 2
    assert when["allen_overlaps", 1, 7] == 3


def test_rows_that_are_late_are_counted(streaming: Any, tmp_path: Path) -> None:
    batches: list[joined.Batch] = [
        {"a": [started(1, 100), started(2, 100)], "b": [started(7, 110)]},
        {"a": [ended(2, 100, 90)], "b": [started(8, 400)]},
        {"a": [started(3, 401)], "b": []},
        {"a": [started(5, 402)], "b": []},
        # It would have been known to have started long ago.
        {"a": [ended(4, 105, 500)], "b": []},
        far(),
    ]
    arrivals = Arrivals(tmp_path, batches, schema=SCHEMA, clock="at")
    arrivals.write()
    arrivals.streams(streaming)
    found: list[Any] = []
    pairs = joins(streaming, iter(["iseql_start_preceding"]), None)
    query = joined.start_and_wait(pairs, tmp_path / "checkpoint", found)
    assert bag(found) == bag([("iseql_start_preceding", a, b) for a in (1, 2) for b in (7, 8)])
    counts = joined.counted(query)
    assert (counts["lateRows"], counts["reversedRows"]) == (1, 1)


@pytest.mark.parametrize(
    ("relation", "how", "name", "says"),
    [
        ("allen_before", "inner", "UNBOUNDED_STATE", "delta"),
        ("iseql_start_preceding", "left", "UNSUPPORTED", "inner join"),
    ],
)
def test_errors(
    streaming: Any, tmp_path: Path, relation: Any, how: Any, name: str, says: str
) -> None:
    arrivals = Arrivals(tmp_path, [far()], schema=SCHEMA, clock="at")
    arrivals.write()
    arrivals.streams(streaming)
    both = [streaming.table(side) for side in "ab"]
    with pytest.raises(Exception, match=rf"INTERVALSWEEP_STREAM\.{name}") as error:
        stream_join(*both, relation, open_id="id", how=how)
    assert says in str(error.value)


@pytest.mark.parametrize("sides", ["b", "ab"])
def test_sides_may_get_columns(streaming: Any, tmp_path: Path, sides: str) -> None:
    """Intervals that have started before go on, with NULL for what they did not have."""
    arrivals = random_arrivals(tmp_path, random.Random(11), rows=30, cuts=6)
    found: list[Any] = []
    for first, added in ((3, ""), (None, ", note STRING, more DOUBLE")):
        arrivals.write(first)
        arrivals.streams(streaming)
        for side in sides if added else "":
            source = streaming.readStream.schema(SCHEMA + added).option("maxFilesPerTrigger", 1)
            stream = source.json(str(tmp_path / side))
            stream.withWatermark("at", f"{arrivals.lateness} seconds").createOrReplaceTempView(side)
        pairs = joins(streaming, iter(["interval_intersects"]), "k")
        joined.start_and_wait(pairs, tmp_path / "checkpoint", found)
    arrivals.tables(streaming)
    wanted = bag(joins(streaming, iter(["interval_intersects"]), "k").collect())
    assert bag(found) == wanted
    assert wanted.total() > 20


def test_a_column_in_front_of_others_is_refused(streaming: Any, tmp_path: Path) -> None:
    arrivals = random_arrivals(tmp_path, random.Random(12), rows=5, cuts=2)
    arrivals.write(1)
    for schema in (SCHEMA, f"note STRING, {SCHEMA}"):
        arrivals.schema = schema
        arrivals.streams(streaming)
        pairs = joins(streaming, iter(["interval_intersects"]), "k")
        if schema == SCHEMA:
            joined.start_and_wait(pairs, tmp_path / "checkpoint", [])
        else:
            arrivals.write()
            with pytest.raises(Exception, match="STATE_MISMATCH"):
                joined.start_and_wait(pairs, tmp_path / "checkpoint", [])
