# SPDX-License-Identifier: Apache-2.0
"""Window unions with windows much longer than a micro-batch read sums of time buckets."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from support.spark.comparison import bag, difference
from support.streams import eager
from support.streams.arrivals import (
    Arrivals,
    assert_streamed,
    at,
    expected,
    progresses,
    read,
    run,
    write,
)

pytestmark = pytest.mark.usefixtures("quickly")

FILES = 25
ALL_KINDS = (
    "count(*) n, count(v) c, sum(v) s, avg(v) a, min(v) lo, max(v) hi, min(txt) first, "
    "max(txt) last, min(x) low, max(x) high, sum(CAST(v AS BIGINT)) big, max(R.ts) latest, "
    "min(v > 3) some, max(struct(txt, v)) pair, min(CAST(txt AS BINARY)) bytes, "
    "max(CAST(ts AS DATE)) day"
)
BEHIND = "R.ts BETWEEN S.ts - INTERVAL 60 SECONDS AND S.ts"
# Case -> (aggregates, condition, True if sums of time buckets are used; None: for some buckets).
CASES = {
    "all kinds": (ALL_KINDS, f"R.k = S.k AND {BEHIND}", True),
    "no keys": (ALL_KINDS, BEHIND, True),
    "two keys, one a text": (
        ALL_KINDS,
        f"R.g <=> S.g AND length(R.g) = length(S.g) AND {BEHIND}",
        True,
    ),
    "ahead": (
        ALL_KINDS,
        "R.g = S.g AND R.ts BETWEEN S.ts - INTERVAL 20 SECONDS AND S.ts + INTERVAL 50 SECONDS",
        True,
    ),
    "as large as fits": ("sum(v * 2000000000000000) s, count(*) n", BEHIND, False),
    "small, and later large": (
        "sum(if(R.ts < '2024-01-01 00:01:20', 1, 2000000000000000) * v) s, count(*) n",
        BEHIND,
        None,
    ),
    "row by row": ("sort_array(collect_list(v)) l, count(*) n", f"R.k = S.k AND {BEHIND}", False),
    "a further condition": ("sum(v) s, count(*) n", f"R.v <> S.v AND {BEHIND}", False),
}


def text(selected: str, condition: str) -> str:
    return (
        "SELECT S.id, S.k, S.ts, w.* FROM {S} S LEFT JOIN LATERAL "
        f"(SELECT {selected} FROM {{R}} R WHERE {condition}) w ON true"
    )


def dense(seed: str) -> Arrivals:
    """About twelve rows per second; a time bucket of the windows below is about as long."""
    return Arrivals(random.Random(seed), rows=1500, files=FILES, lateness=4, span=120, keys=2)


def rows_read(query: Any) -> int:
    return sum(
        row.readRows for p in query.recentProgress for row in (p.observedMetrics or {}).values()
    )


@pytest.mark.extended
@pytest.mark.parametrize("case", CASES)
def test_long_windows_read_sums(spark: Any, tmp_path: Path, case: str) -> None:
    selected, condition, has_sums = CASES[case]
    arrivals = dense(case)
    arrivals.write(tmp_path)
    query = assert_streamed(spark, tmp_path, text(selected, condition), arrivals.lateness + 1)
    assert len(list(progresses(query))) >= FILES
    # A row is in the windows of some twelve micro-batches.
    often = rows_read(query) / arrivals.rows
    assert has_sums is None or (often < 5.5 if has_sums else often > 6)


def test_sums_leave_with_their_slices(spark: Any, tmp_path: Path) -> None:
    """Windows have 60 seconds, and start two seconds apart. The last rows are far ahead."""
    for number, seconds in enumerate([range(1, 61), [61, 62], [63, 64], [100_000]]):
        last = seconds[-1]
        base = (-1 if last == 100_000 else number, 1, "a", at(last), 1, None, None)
        probe = [(n, 1, "a", at(s), n, None, None) for s in seconds for n in range(4)]
        write(tmp_path / "S", [base], number)
        write(tmp_path / "R", probe, number)
    asked = text("count(*) n, sum(v) s", f"R.k = S.k AND {BEHIND}")
    query = assert_streamed(spark, tmp_path, asked, lateness=1)
    # Without sums, each of the three windows reads 240 rows and more.
    assert 240 <= rows_read(query) < 500
    keys = [p.stateOperators[0].numRowsTotal for p in progresses(query)]
    assert max(keys) > 100, "a slice for each of 64 seconds, and sums of most"
    assert keys[-1] < 20, "nothing but the last rows"


@pytest.mark.extended
def test_rows_at_once_of_sums(spark: Any, tmp_path: Path) -> None:
    arrivals = dense("eager")
    arrivals.write(tmp_path)
    read(spark, tmp_path, arrivals.lateness + 1)
    asked = text(f"{ALL_KINDS}, {eager.MARKS}", f"R.k = S.k AND {BEHIND}")
    eager.run(spark.sql(asked.format(S="S", R="R")), tmp_path)
    assert not eager.differences(spark, tmp_path, asked, [7, 19, FILES])


@pytest.mark.extended
def test_sums_of_other_aggregates_are_not_used(spark: Any, tmp_path: Path) -> None:
    """A changed query that goes on from a checkpoint finds the sums of the earlier query."""
    arrivals = dense("changed")
    arrivals.write(tmp_path)
    later = {name: sorted((tmp_path / name).glob("*"))[15:] for name in "SR"}
    for name, files in later.items():
        for file in files:
            file.rename(tmp_path / f"{name}-{file.name}")
    condition = f"R.k = S.k AND {BEHIND}"
    read(spark, tmp_path, arrivals.lateness + 1)
    run(spark.sql(text("max(v) a0, count(x) b0", condition).format(S="S", R="R")), tmp_path)
    before = {row.id for row in spark.read.parquet(str(tmp_path / "out")).collect()}
    for name, files in later.items():
        for file in files:
            (tmp_path / f"{name}-{file.name}").rename(file)
    read(spark, tmp_path, arrivals.lateness + 1)
    changed = text("min(v) a, max(x) b, count(v) c", condition)
    run(spark.sql(changed.format(S="S", R="R")), tmp_path)
    assert len(before) > 300
    ids = ", ".join(map(str, before))
    wanted = expected(spark, f"SELECT * FROM ({changed}) WHERE id NOT IN ({ids})")
    rows = spark.read.option("mergeSchema", "true").parquet(str(tmp_path / "out"))
    rows = rows.select("id", "k", "ts", "a", "b", "c").where(f"id NOT IN ({ids}, -1)")
    assert wanted.total() > 300
    assert not difference(wanted, bag(rows.collect()))
