# SPDX-License-Identifier: Apache-2.0
"""Joins of ongoing intervals: each pair is emitted once, when its relation is certain."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from intervalsweep.dataframe import stream_join
from support.joins.oracle import RELATIONS, Limit, Variant, formula
from support.streams import joined, open_intervals, streaming_process
from support.streams.arrivals import QUICKLY
from support.streams.joined import FAR, Arrivals, bag
from support.streams.open_intervals import (
    BARE,
    BOUNDED,
    GAPS,
    LIMIT,
    SCHEMA,
    ended,
    far,
    joins,
    named,
    random_arrivals,
    started,
)


@dataclass
class Timed:
    """The emitted rows with their micro-batches; the files and watermark of each micro-batch."""

    folder: Path
    rows: list[Any] = field(default_factory=list)
    files: dict[int, int] = field(default_factory=dict)
    watermarks: dict[int, datetime] = field(default_factory=dict)

    def run(self, query: Any) -> None:
        def keep(batch: Any, number: int) -> None:
            self.rows += [(*row, number) for row in batch.collect()]

        writer = query.writeStream.foreachBatch(keep).trigger(availableNow=True)
        started = writer.option("checkpointLocation", str(self.folder / "checkpoint")).start()
        started.awaitTermination()
        for progress in started.recentProgress:
            number = progress["batchId"]
            ends = {json.loads(s["endOffset"])["logOffset"] for s in progress["sources"]}
            self.files[number] = 1 + ends.pop()
            assert not ends
            text = progress["eventTime"]["watermark"]
            self.watermarks[number] = datetime.fromisoformat(text).replace(tzinfo=None)


@dataclass(frozen=True)
class Interval:
    """The known endpoints of an interval, in microseconds."""

    ts: int
    te: int | None


def known(batches: list[joined.Batch], side: str) -> dict[tuple[int, int], Interval]:
    """The intervals by id and key, as known after some micro-batches."""
    found: dict[tuple[int, int], Interval] = {}
    for batch in batches:
        for number, key, ts, te, _, _ in batch[side]:
            if number < FAR and (te is not None or (number, key) not in found):
                found[number, key] = Interval(micros(ts), None if te is None else micros(te))
    return found


def micros(when: datetime) -> int:
    return (when - joined.START) // timedelta(microseconds=1)


def endings(one: Interval, watermark: int, others: Iterable[int]) -> list[int]:
    """Possible ends: the nearest, one far away, and values around all that it is compared with."""
    if one.te is not None:
        return [one.te]
    first, limit = max(watermark + 1, one.ts), micros(joined.START + LIMIT)
    near = {p + d + e for p in others for d in (-limit, 0, limit) for e in (-1, 0, 1)}
    return [first, *sorted(p for p in near if p > first), 2**50 + one.ts]


def is_certain(holds: Any, r: Interval, s: Interval, watermark: int) -> bool:
    """True if the formula is true for all possible ends of ongoing intervals."""
    starts = [r.ts, s.ts]
    for end in endings(r, watermark, [*starts, *([] if s.te is None else [s.te])]):
        for other in endings(s, watermark, [*starts, end]):
            if not holds(Interval(r.ts, end), Interval(s.ts, other)):
                return False
    return True


def formula_of(variant: Variant) -> Any:
    limit = Limit("", "{later} - {earlier} <= " + str(micros(joined.START + LIMIT)))
    text = formula(variant.relation.name, **dict.fromkeys(variant.parameters, limit))
    text = text.replace(" AND ", " and ").replace(" = ", " == ")
    return eval(f"lambda r, s: {text}")


def when_certain(
    timed: Timed, arrivals: Arrivals, some: list[Variant], by: str | None
) -> Counter[Any]:
    """Each pair, with the first micro-batch in which its relation is certain."""
    formulas = {str(variant): formula_of(variant) for variant in some}
    first: dict[Any, int] = {}
    for number in sorted(timed.files):
        read = arrivals.batches[: timed.files[number]]
        watermark = micros(timed.watermarks[number])
        for (a, k), r in known(read, "a").items():
            for (b, other), s in known(read, "b").items():
                for name, holds in formulas.items():
                    pair = (name, a, b)
                    is_due = pair not in first and (by is None or k == other)
                    if is_due and is_certain(holds, r, s, watermark):
                        first[pair] = number
    return Counter((*pair, number) for pair, number in first.items())


# One relation of each kind: certain at once, at a watermark, or when an interval ends.
FEW = [*named("INTERVAL_INTERSECTS", "ALLEN_OVERLAPS", "ALLEN_MEETS"), *BOUNDED[:1]]


@pytest.mark.parametrize(
    ("some", "by", "cuts"),
    [
        pytest.param(BARE, None, 5, marks=pytest.mark.extended, id="bare"),
        pytest.param(BOUNDED, "k", 5, marks=pytest.mark.extended, id="bounded"),
        pytest.param(FEW, "k", 3, id="few"),
    ],
)
def test_pairs_leave_when_they_are_certain(
    streaming: Any, conf: Any, tmp_path: Path, some: list[Variant], by: str | None, cuts: int
) -> None:
    """Each pair is emitted once, in the first micro-batch in which no end can change it."""
    arrivals = random_arrivals(tmp_path, random.Random(f"open {by}"), rows=20, cuts=cuts)
    # Without keys, there is one state partition.
    conf({"spark.sql.shuffle.partitions": "1" if by is None else "2"})
    arrivals.write(cuts // 2 + 1)
    arrivals.streams(streaming)
    timed = Timed(tmp_path)
    query = joins(streaming, some, by)
    timed.run(query)
    arrivals.write()
    timed.run(query)
    assert Counter(timed.rows) == when_certain(timed, arrivals, some, by)
    arrivals.tables(streaming)
    wanted = bag(joins(streaming, some, by).collect())
    assert {row[0] for row in wanted} == {str(variant) for variant in some}
    assert Counter(row[:-1] for row in timed.rows) == wanted


def test_every_relation_is_taken_or_refused() -> None:
    assert {v.relation.name for v in BARE + BOUNDED} | set(GAPS) == set(RELATIONS)
    assert set(GAPS) - {v.relation.name for v in BOUNDED} == {"ALLEN_BEFORE", "ALLEN_AFTER"}


def test_a_pair_leaves_when_it_is_certain(streaming: Any, tmp_path: Path) -> None:
    """A pair of START_PRECEDING is emitted when the watermark passes s.ts, not when r ends."""
    batches: list[joined.Batch] = [
        {"a": [started(1, 100)], "b": [started(7, 110)]},
        # After this micro-batch, the watermark of both sides is 115.
        {"a": [started(2, 135)], "b": [started(8, 135)]},
        {"a": [started(3, 300)], "b": [started(9, 300)]},
        {"a": [ended(1, 100, 400)], "b": [ended(7, 110, 405)]},
    ]
    arrivals = open_intervals.arrivals(tmp_path, batches)
    pairs, when = [], {}
    arrivals.streams(streaming)
    query = joins(streaming, named("ISEQL_START_PRECEDING", "ALLEN_OVERLAPS"), None)
    for number in range(4):
        arrivals.write(1)
        found: list[Any] = []
        joined.start_and_wait(query, tmp_path / "checkpoint", found)
        pairs += found
        when.update({(row.relation, row.id, row.id_right): number for row in found})
    assert len(pairs) == len(when)
    assert when["ISEQL_START_PRECEDING", 1, 7] == 1
    assert when["ISEQL_START_PRECEDING", 1, 8] == 2
    assert when["ALLEN_OVERLAPS", 1, 7] == 3


def test_rows_that_are_late_are_counted(streaming: Any, tmp_path: Path) -> None:
    batches: list[joined.Batch] = [
        {"a": [started(1, 100), started(2, 100)], "b": [started(7, 110)]},
        {"a": [ended(2, 100, 90)], "b": [started(8, 400)]},
        {"a": [started(3, 401)], "b": []},
        {"a": [started(5, 402)], "b": []},
        # This row is late: a start at 105 would have arrived long ago.
        {"a": [ended(4, 105, 500)], "b": []},
        far(),
    ]
    arrivals = open_intervals.arrivals(tmp_path, batches)
    arrivals.write()
    arrivals.streams(streaming)
    found: list[Any] = []
    pairs = joins(streaming, named("ISEQL_START_PRECEDING"), None)
    query = joined.start_and_wait(pairs, tmp_path / "checkpoint", found)
    assert bag(found) == bag([("ISEQL_START_PRECEDING", a, b) for a in (1, 2) for b in (7, 8)])
    counts = joined.counted(query)
    assert (counts["lateRows"], counts["reversedRows"]) == (1, 1)


@pytest.mark.parametrize(
    ("relation", "how", "name", "says"),
    [
        ("allen_before", "inner", "UNBOUNDED_STATE", "join by iseql_before with a delta"),
        ("allen_after", "inner", "UNBOUNDED_STATE", "join by iseql_after with a delta"),
        ("iseql_before", "inner", "UNBOUNDED_STATE", "left side .*: give iseql_before a delta"),
        ("iseql_after", "inner", "UNBOUNDED_STATE", "right side .*: give iseql_after a delta"),
        ("iseql_start_preceding", "left", "UNSUPPORTED", "inner join"),
    ],
)
def test_errors(
    streaming: Any, tmp_path: Path, relation: Any, how: Any, name: str, says: str
) -> None:
    arrivals = open_intervals.arrivals(tmp_path, [far()])
    arrivals.write()
    arrivals.streams(streaming)
    both = [streaming.table(side) for side in "ab"]
    with pytest.raises(Exception, match=rf"INTERVALSWEEP_STREAM\.{name}\].*{says}"):
        stream_join(*both, relation, open_id="id", how=how)


@pytest.mark.parametrize("sides", ["b", "ab"])
def test_sides_may_get_columns(streaming: Any, tmp_path: Path, sides: str) -> None:
    """Intervals that started before go on, with NULL in the new columns."""
    arrivals = random_arrivals(tmp_path, random.Random(11), rows=30, cuts=3)
    found: list[Any] = []
    for first, added in ((2, ""), (None, ", note STRING, more DOUBLE")):
        arrivals.write(first)
        arrivals.streams(streaming)
        for side in sides if added else "":
            source = streaming.readStream.schema(SCHEMA + added).option("maxFilesPerTrigger", 1)
            stream = source.json(str(tmp_path / side))
            stream.withWatermark("at", f"{arrivals.lateness} seconds").createOrReplaceTempView(side)
        pairs = joins(streaming, named("INTERVAL_INTERSECTS"), "k")
        joined.start_and_wait(pairs, tmp_path / "checkpoint", found)
    arrivals.tables(streaming)
    wanted = bag(joins(streaming, named("INTERVAL_INTERSECTS"), "k").collect())
    assert bag(found) == wanted
    assert wanted.total() > 20


def test_a_column_in_front_of_others_is_refused(streaming: Any, tmp_path: Path) -> None:
    arrivals = random_arrivals(tmp_path, random.Random(12), rows=5, cuts=2)
    arrivals.write(1)
    for schema in (SCHEMA, f"note STRING, {SCHEMA}"):
        arrivals.schema = schema
        arrivals.streams(streaming)
        pairs = joins(streaming, named("INTERVAL_INTERSECTS"), "k")
        if schema == SCHEMA:
            joined.start_and_wait(pairs, tmp_path / "checkpoint", [])
        else:
            arrivals.write()
            with pytest.raises(Exception, match="STATE_MISMATCH"):
                joined.start_and_wait(pairs, tmp_path / "checkpoint", [])


@pytest.mark.extended
def test_killed_between_and_within_micro_batches(streaming: Any, tmp_path: Path) -> None:
    """The sink has each pair once."""
    rng = random.Random(33)
    arrivals = random_arrivals(tmp_path, rng, rows=60, cuts=8)
    arrivals.write()
    streaming_process.describe_open_joins(tmp_path, "k", QUICKLY)
    assert streaming_process.run_and_kill([tmp_path], rng, most=4) > 2
    # After a restart, there may be no micro-batch without rows, which would emit the last pairs.
    arrivals.batches.append(far(2 * FAR))
    arrivals.write()
    arrivals.streams(streaming)
    joined.write(joins(streaming, open_intervals.KILLED, "k"), tmp_path)
    arrivals.tables(streaming)
    wanted = bag(joins(streaming, open_intervals.KILLED, "k").collect())
    assert wanted.total() > 200
    assert bag(joined.written(streaming, tmp_path)) == wanted
