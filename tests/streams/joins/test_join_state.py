# SPDX-License-Identifier: Apache-2.0
"""The state of joins: evicted rows are counted, and the state of another join is rejected."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from support.streams import joined, open_intervals
from support.streams.arrivals import QUICKLY
from support.streams.joined import ENDS, FAR, Arrivals, interval
from support.streams.open_intervals import ended, named, started


@pytest.fixture
def streaming(spark: Any, conf: Any) -> Any:
    conf({**QUICKLY, "spark.sql.shuffle.partitions": "1"})
    return spark


JOIN = "SELECT a.id FROM (SELECT id, k, ts, te, v FROM a) a JOIN b ON a.k = b.k AND {} AND a.v < 9"
RELATION = f"interval_intersects({ENDS})"
# Change -> (text of the query, its replacement, error message).
CHANGES = {
    "relation": (
        RELATION,
        f"allen_overlaps({ENDS})",
        r"condition: in the checkpoint .*interval_intersects\(.*, in this query .*allen_overlaps\(",
    ),
    "kind": (
        " JOIN b",
        " LEFT JOIN b",
        "type of join: in the checkpoint INNER, in this query LEFT OUTER",
    ),
    "columns": (
        "ts, te, v FROM",
        "ts, te, v + 0.5 AS v FROM",
        r"columns of the left side: in the checkpoint .*, v INT, in this query .*, v DECIMAL",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_another_join_is_refused_with_what_differs(
    streaming: Any, tmp_path: Path, change: str
) -> None:
    arrivals = joined.random_arrivals(tmp_path, random.Random(51), rows=10, cuts=2)
    arrivals.streams(streaming)
    arrivals.write(1)
    text = JOIN.format(RELATION)
    before, after, says = CHANGES[change]
    assert before in text
    joined.start_and_wait(streaming.sql(text), tmp_path / "checkpoint", [])
    arrivals.write()
    other = streaming.sql(text.replace(before, after))
    with pytest.raises(Exception, match=rf"(?s)\[INTERVALSWEEP_STREAM\.STATE_MISMATCH\].*{says}"):
        joined.start_and_wait(other, tmp_path / "checkpoint", [])
    joined.start_and_wait(streaming.sql(text), tmp_path / "checkpoint", [])


def test_another_join_of_open_intervals_is_refused_so(streaming: Any, tmp_path: Path) -> None:
    arrivals = open_intervals.random_arrivals(tmp_path, random.Random(52), rows=5, cuts=2)
    arrivals.streams(streaming)
    arrivals.write(2)

    def start(relation: str) -> None:
        query = open_intervals.joins(streaming, named(relation), "k")
        joined.start_and_wait(query, tmp_path / "checkpoint", [])

    start("ALLEN_OVERLAPS")
    arrivals.write()
    says = r"condition: in the checkpoint .*allen_overlaps\(.*, in this query .*allen_during\("
    with pytest.raises(Exception, match=rf"(?s)STATE_MISMATCH\].*{says}"):
        start("ALLEN_DURING")
    start("ALLEN_OVERLAPS")


def expired(query: Any) -> list[int]:
    """The number of rows that were evicted in each micro-batch."""
    some = [p["observedMetrics"] for p in query.recentProgress]
    return [sum(counts.expiredRows or 0 for counts in each.values()) for each in some]


def test_rows_that_have_left_are_counted(streaming: Any, tmp_path: Path) -> None:
    batches: list[Any] = [
        {"a": [interval(1, 0, 10)], "b": [interval(1, 5, 15)]},
        {"a": [interval(2, 100, 110), interval(3, 100, 300)], "b": [interval(2, 100, 110)]},
        # The watermark is 80 seconds.
        {"a": [interval(4, 200, 210)], "b": [interval(4, 200, 210)]},
        # The watermark is 180 seconds.
        {"a": [interval(FAR, 220, 230)], "b": [interval(FAR, 220, 230)]},
    ]
    arrivals = Arrivals(tmp_path, batches, clock="ts")
    arrivals.write()
    arrivals.streams(streaming)
    pairs = streaming.sql(JOIN.format(RELATION))
    query = joined.start_and_wait(pairs, tmp_path / "checkpoint", [])
    counts = expired(query)
    assert counts[:4] == [0, 0, 2, 2]
    (last,) = query.recentProgress[-1]["observedMetrics"].values()
    assert sum(counts) + last.storedRows == sum(
        len(rows) for batch in batches for rows in batch.values()
    )


def test_a_row_leaves_without_a_match_when_the_watermark_is_at_its_expiry(
    streaming: Any, tmp_path: Path
) -> None:
    """The expiry of the first row of `a` is 15 seconds, which is also the next watermark."""
    batches: list[Any] = [
        {"a": [interval(1, 0, 10), interval(2, 35, 36)], "b": [interval(1, 35, 36)]},
        {"a": [], "b": [interval(2, 36, 37)]},
    ]
    arrivals = Arrivals(tmp_path, batches, clock="ts", lateness=20)
    condition = f"a.k = b.k AND iseql_before({ENDS}, delta => INTERVAL '5' SECOND)"
    sql = f"SELECT a.id, b.id AS other FROM a LEFT JOIN b ON {condition}"
    found = joined.bag(joined.run(streaming, arrivals, sql))
    assert found == joined.bag(joined.expected(streaming, arrivals, sql))
    assert found == joined.bag([(1, None), (2, 2)])


def test_rows_of_a_semi_join_have_left_with_their_match(streaming: Any, tmp_path: Path) -> None:
    batches: list[Any] = [
        {"a": [interval(1, 0, 10), interval(2, 0, 4)], "b": [interval(3, 50, 60)]},
        {"a": [], "b": [interval(4, 5, 6)]},
    ]
    arrivals = Arrivals(tmp_path, batches, clock="ts", lateness=1000)
    arrivals.write()
    arrivals.streams(streaming)
    sql = f"SELECT a.id FROM a LEFT SEMI JOIN b ON a.k = b.k AND {RELATION}"
    found: list[Any] = []
    query = joined.start_and_wait(streaming.sql(sql), tmp_path / "checkpoint", found)
    assert [row.id for row in found] == [1]
    assert expired(query)[:2] == [0, 1]


def test_intervals_that_have_left_are_counted(streaming: Any, tmp_path: Path) -> None:
    batches: list[Any] = [
        {"a": [started(1, 0), ended(1, 0, 10)], "b": [started(1, 5), ended(1, 5, 15)]},
        {"a": [started(2, 100)], "b": [started(2, 100)]},
        # The watermark is 80 seconds.
        {"a": [ended(2, 100, 110)], "b": [started(3, 100)]},
    ]
    arrivals = open_intervals.arrivals(tmp_path, batches)
    arrivals.write()
    arrivals.streams(streaming)
    pairs = open_intervals.joins(streaming, named("INTERVAL_INTERSECTS"), None)
    query = joined.start_and_wait(pairs, tmp_path / "checkpoint", [])
    assert expired(query) == [0, 0, 2]
    assert joined.counted(query)["storedRows"] == 2 + 4 + 3
