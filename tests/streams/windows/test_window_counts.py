# SPDX-License-Identifier: Apache-2.0
"""COUNT(*) over the rows of another stream in a window of rows: the aggregate of SPO-Join."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException

from support.streams import joined
from support.streams.joined import FAR, Arrivals, bag, far_away, start_and_wait

CONDITIONS = {
    "two inequalities": "a.v < b.v AND a.w > b.w AND abs(a.seq - b.seq) < 9",
    "slices": "a.v < b.v AND a.w > b.w AND abs(a.seq div 5 - b.seq div 5) < 2 "
    "AND abs(a.seq - b.seq) < 15",
    "slices of wide numbers": "a.v < b.v AND a.w > b.w AND abs(a.seq - b.seq) < 15L "
    "AND abs(a.seq div 5L - b.seq div 5L) < 2L",
    "wide numbers": "a.v < b.v AND a.w > b.w AND abs(cast(a.seq AS BIGINT) - b.seq) < 15 "
    "AND abs(cast(a.seq AS BIGINT) div 5 - cast(b.seq AS BIGINT) div 5) < 2",
    "earlier rows alone": "a.w >= b.w AND b.seq <= a.seq AND b.seq > a.seq - 12",
    "by a key": "a.k = b.k AND abs(a.seq - b.seq) < 9",
    "by a key and two inequalities": "a.k = b.k AND a.v < b.v AND a.w >= b.w "
    "AND abs(a.seq - b.seq) < 30",
    "by a hash": "hex(a.k) = hex(b.k) AND a.v < b.v AND a.w >= b.w AND abs(a.seq - b.seq) < 30",
    "one side's own": "b.v > 1 AND a.v < b.v AND a.w > b.w AND abs(a.seq - b.seq) < 9",
}


def counts(condition: str, probe: str = "bn") -> str:
    return (
        "SELECT a.id, a.k, a.seq, w.n + 1 AS n FROM an AS a LEFT JOIN LATERAL "
        f"(SELECT count(*) AS n FROM {probe} AS b WHERE {condition}) w ON true WHERE a.id < {FAR}"
    )


def tables(spark: Any, arrivals: Arrivals) -> None:
    arrivals.tables(spark)
    for side in "ab":
        spark.table(side).createOrReplaceTempView(f"{side}n")


@pytest.mark.parametrize("probe", ["bn", "an"])
@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
def test_counts_are_those_of_tables(
    streaming: Any, tmp_path: Path, condition: str, probe: str
) -> None:
    arrivals = joined.random_arrivals(tmp_path, random.Random(3), rows=50, cuts=3)
    # This micro-batch makes all earlier rows final, but not all of its own.
    arrivals.batches.append(far_away(2 * FAR))
    arrivals.streams(streaming)
    query, found = streaming.sql(counts(condition, probe)), []
    assert "StreamJoin COUNT" in query._jdf.queryExecution().analyzed().toString()
    for count in (2, None):
        arrivals.write(count)
        start_and_wait(query, tmp_path / "checkpoint", found)
    tables(streaming, arrivals)
    # A row without a number is in no window.
    wanted = streaming.sql(counts(condition, probe))
    assert "StreamJoin" not in wanted._jdf.queryExecution().analyzed().toString()
    rows = bag(wanted.collect())
    assert sum(row[3] > 2 for row in rows) > 10
    assert bag(found) == rows


def test_a_row_leaves_when_its_count_is_final(streaming: Any, tmp_path: Path) -> None:
    def part(*numbers: int) -> Any:
        rows = [joined.interval(n, n, n + 1) for n in numbers]
        return {"a": rows, "b": rows}

    arrivals = Arrivals(tmp_path, [part(0, 1, 2), part(3), part(4, 5, 6), part(20)])
    arrivals.streams(streaming)
    query = streaming.sql(counts("abs(a.seq - b.seq) < 3"))
    left = []
    for _ in arrivals.batches:
        found: list[Any] = []
        arrivals.write(1)
        start_and_wait(query, tmp_path / "checkpoint", found)
        left.append(sorted((row.seq, row.n - 1) for row in found))
    # Row 0 is final with row 2, as later rows are 3 and more. At the end, only row 20 is not final.
    assert left == [[(0, 3)], [(1, 4)], [(2, 5), (3, 5), (4, 5)], [(5, 4), (6, 3)]]


def test_what_is_not_counted_needs_a_watermark(streaming: Any, tmp_path: Path) -> None:
    joined.random_arrivals(tmp_path, random.Random(1), rows=2, cuts=1).streams(streaming)
    for aggregate in ("sum(b.v)", "count(b.v)", "count(DISTINCT b.v)"):
        text = counts(CONDITIONS["slices"]).replace("count(*)", aggregate)
        with pytest.raises(AnalysisException, match=r"NO_WATERMARK.*count\(\*\)"):
            streaming.sql(text)
    with pytest.raises(AnalysisException, match=r"NO_WATERMARK.*abs\(a.seq - b.seq\)"):
        streaming.sql(counts("a.v < b.v AND a.w > b.w"))
