# SPDX-License-Identifier: Apache-2.0
"""As-of joins of two streams have the rows of the same query over tables, and a small state."""

from __future__ import annotations

import random
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import intervalsweep
from fuzz.nearest.run import known_forms
from fuzz.streams.last_rows import LastRows
from fuzz.streams.run import Totals
from intervalsweep.dataframe import as_of_join, window_union
from support.spark.comparison import bag
from support.streams.arrivals import Arrivals, at, read, run, write

pytestmark = pytest.mark.usefixtures("quickly")

LIMIT = "ORDER BY r.ts DESC, r.id LIMIT"
BEFORE = "r.k = s.k AND r.ts <= s.ts"
ROWS = (
    "SELECT s.id, s.k, s.ts, w.* FROM {S} s LEFT JOIN LATERAL (SELECT r.id AS rid, r.v FROM {R} r"
)
QUERIES = {
    "the last row": f"{ROWS} WHERE {BEFORE} {LIMIT} 1) w ON true",
    "the last three": f"{ROWS.replace('LEFT ', '')} WHERE r.g = 'a' AND {BEFORE} {LIMIT} 3) w",
    "not older than a minute": (
        f"{ROWS} WHERE {BEFORE} AND r.ts > s.ts - INTERVAL 1 MINUTE {LIMIT} 1) w ON true"
    ),
    "a day ahead of the right row": (
        f"{ROWS} WHERE r.k = s.k AND r.ts <= s.ts - INTERVAL 30 SECONDS {LIMIT} 1) w ON true"
    ),
    "another condition": (
        f"{ROWS} WHERE {BEFORE} AND r.v <> s.v AND r.ts > s.ts - INTERVAL 1 MINUTE {LIMIT} 2) w "
        "ON true"
    ),
    "a condition on left rows": f"{ROWS} WHERE {BEFORE} AND s.v > 0 {LIMIT} 1) w ON true",
    "without a key": f"{ROWS} WHERE r.ts < s.ts {LIMIT} 1) w ON true",
    "the next row": (
        f"{ROWS} WHERE r.k <=> s.k AND r.ts BETWEEN s.ts AND s.ts + INTERVAL 9 SECONDS "
        "ORDER BY r.ts, r.id LIMIT 1) w ON true"
    ),
    "a scalar": f"SELECT s.id, (SELECT v FROM {{R}} r WHERE {BEFORE} {LIMIT} 1) AS v FROM {{S}} s",
    "max_by": (
        "SELECT s.id, w.* FROM {S} s LEFT JOIN LATERAL (SELECT max_by(struct(r.id, r.v), r.ts) last"
        f" FROM {{R}} r WHERE {BEFORE}) w ON true"
    ),
    "an aggregate of the last five": (
        "SELECT s.id, w.* FROM {S} s LEFT JOIN LATERAL (SELECT count(*) n, sum(v) total, "
        f"collect_list(id) ids FROM (SELECT * FROM {{R}} r WHERE {BEFORE} {LIMIT} 5)) w ON true"
    ),
}


def streamed(spark: Any, folder: Path, frame: Any) -> Any:
    query = run(frame, folder)
    return query, bag(spark.read.parquet(str(folder / "out")).where("id >= 0").collect())


@pytest.fixture
def streams(spark: Any, conf: Any, tmp_path: Path) -> Any:
    conf({"spark.sql.shuffle.partitions": "2", "spark.sql.join.asofJoin.enabled": "true"})
    rows = Arrivals(random.Random(7), rows=150, files=4)
    rows.write(tmp_path)
    read(spark, tmp_path, rows.lateness)
    return spark


@pytest.mark.parametrize("name", QUERIES)
def test_rows_are_those_of_tables(streams: Any, tmp_path: Path, name: str) -> None:
    text = QUERIES[name]
    stream = streams.sql(text.format(S="S", R="R"))
    wanted = bag(streams.sql(text.format(S="S_all", R="R_all")).where("id >= 0").collect())
    query, found = streamed(streams, tmp_path, stream)
    assert found == wanted
    assert any("NULL" not in row and "None" not in row for row in wanted)
    assert "intervalsweep_as_of_join" in str(query.lastProgress.observedMetrics)


def test_asof_join_of_streams(streams: Any, tmp_path: Path) -> None:
    if "asof" not in known_forms(streams.version):
        pytest.skip("ASOF JOIN needs Spark 4.3")
    text = (
        "SELECT s.id, r.id AS rid FROM {S} s LEFT ASOF JOIN {R} r "
        "MATCH_CONDITION (s.ts >= r.ts) ON s.k = r.k"
    )
    _, found = streamed(streams, tmp_path, streams.sql(text.format(S="S", R="R")))
    assert found == bag(streams.sql(text.format(S="S_all", R="R_all")).where("id >= 0").collect())
    assert found.total() == 150


def test_functions_of_data_frames(streams: Any, tmp_path: Path) -> None:
    def joined(left: str, right: str) -> Any:
        found = as_of_join(
            streams.table(left).select("id", "k", "ts"),
            streams.table(right).select("k", "ts", "v", "x"),
            on="ts",
            by="k",
            tolerance=timedelta(seconds=40),
        )
        return window_union(
            found.select("id", "k", "ts", "ts_right", "v"),
            streams.table(right),
            on="ts",
            by="k",
            pre=None,
            max_rows=3,
            aggs={"n": "count(*)", "most": "max(v)"},
        )

    _, found = streamed(streams, tmp_path, joined("S", "R"))
    assert found == bag(joined("S_all", "R_all").where("id >= 0").collect())
    assert found.total() == 150


def test_an_aggregate_by_time_above(streams: Any, tmp_path: Path) -> None:
    text = QUERIES["the last row"]
    above = "SELECT window.start AS at, 0 AS id, count(rid) AS n FROM ({}) "
    above += "GROUP BY window(ts, '20 seconds')"
    _, found = streamed(streams, tmp_path, streams.sql(above.format(text.format(S="S", R="R"))))
    wanted = streams.sql(above.format(text.format(S="S_all", R="R_all")))
    # The last row of each stream is far ahead; its window is never complete, nor is that of NULL.
    assert found == bag(wanted.where(f"at < '{at(10_000)}'").collect())
    assert found.total() > 5


def test_the_state_has_one_row_per_key(spark: Any, conf: Any, tmp_path: Path) -> None:
    """It does not grow with the rows, and rows that all windows have left behind are dropped."""
    conf({"spark.sql.shuffle.partitions": "1"})
    for number in range(12):
        times = [at(100 * number + i) for i in range(50)]
        # Each file has keys of its own, and key 0.
        rows = [(i, 0 if i % 2 else number, "a", t, i, 0.0, "") for i, t in enumerate(times)]
        for name in "SR":
            write(tmp_path / name, rows, number)
    for name in "SR":
        write(tmp_path / name, [(-1, None, "a", at(9000), 0, 0.0, "")], 12)
    read(spark, tmp_path, 5)
    query, _ = streamed(
        spark, tmp_path / "all", spark.sql(QUERIES["the last row"].format(S="S", R="R"))
    )
    stored = [row.storedRows for p in query.recentProgress for row in p.observedMetrics.values()]
    assert stored[-1] == 12  # the keys 0 to 11
    text = QUERIES["not older than a minute"].format(S="S", R="R")
    query, _ = streamed(spark, tmp_path / "bounded", spark.sql(text))
    stored = [row.storedRows for p in query.recentProgress for row in p.observedMetrics.values()]
    assert stored[-1] <= 4


def test_the_report(streams: Any) -> None:
    for name, kind in (("the last row", "LEFT OUTER"), ("the last three", "INNER")):
        text = QUERIES[name].format(S="S", R="R")
        (report,) = intervalsweep.why_not(streams.sql(text))
        assert (report.join_type, report.swept) == (kind, True)
        assert re.search(r"WindowUnion \[.* from any time to 0.0 s .* of each key kept", report.how)


ERRORS = {
    f"SELECT * FROM S s, LATERAL (SELECT v FROM R r WHERE {BEFORE} ORDER BY v LIMIT 1)": (
        r"ORDER BY .*v.* order by ts, the column with the watermark"
    ),
    f"SELECT * FROM S s, LATERAL (SELECT v FROM R r WHERE {BEFORE} AND r.v > s.v {LIMIT} 1)": (
        r"The condition .* on the last row .* add a lower bound of ts"
    ),
    "SELECT * FROM S s, LATERAL (SELECT v FROM R r WHERE r.ts > s.ts ORDER BY r.ts LIMIT 1)": (
        r"UNBOUNDED_STATE\].*no upper end"
    ),
    f"SELECT * FROM S s LEFT JOIN LATERAL (SELECT v FROM R r WHERE {BEFORE} {LIMIT} 1) w "
    "ON w.v > 3": r"A condition after ON .* write ON true",
    "SELECT * FROM S s LEFT JOIN LATERAL (SELECT count(*) n, window_revision() FROM "
    f"(SELECT * FROM R r WHERE {BEFORE} {LIMIT} 3)) ON true": (
        r"LIMIT below window_revision\(\).* leave these functions out"
    ),
}


@pytest.mark.parametrize("text", ERRORS)
def test_errors(streams: Any, text: str) -> None:
    with pytest.raises(Exception, match=ERRORS[text]):
        streams.sql(text)


LAST = f"SELECT r.ts FROM R r WHERE {BEFORE} {LIMIT} 1"
# The query, and which of its columns have an event time.
TIMES = {
    f"SELECT s.ts, w.ts AS x FROM S s LEFT JOIN LATERAL ({LAST}) w ON true": [True, False],
    f"SELECT s.ts AS x, ({LAST}) AS y FROM S s": [True, False],
    f"SELECT s.ts, w.x FROM S s, LATERAL (SELECT max_by(r.ts, r.ts) x FROM R r WHERE {BEFORE}) w": (
        [True, False]
    ),
    "SELECT x, y, y + INTERVAL 1 DAY AS z FROM (SELECT s.ts AS x, r.ts AS y FROM S s ASOF JOIN R r "
    "MATCH_CONDITION (s.ts >= r.ts) ON s.k = r.k)": [True, False, False],
}


@pytest.mark.parametrize("text", TIMES)
def test_only_the_time_of_the_left_row_is_an_event_time(streams: Any, text: str) -> None:
    """A right row may be older than the watermark, and an aggregate by its time would drop it."""
    if "ASOF" in text and "asof" not in known_forms(streams.version):
        pytest.skip("ASOF JOIN needs Spark 4.3")
    schema = streams.sql(text).schema
    assert ["spark.watermarkDelayMs" in field.metadata for field in schema] == TIMES[text]


def test_the_next_row_has_no_event_time(streams: Any) -> None:
    """It is emitted after the time of the left row."""
    after = streams.sql(QUERIES["the next row"].format(S="S", R="R"))
    with pytest.raises(Exception, match=r"NO_WATERMARK\].* let the window end at the time of the"):
        window_union(
            after, streams.table("R"), on="ts", by="k", pre="1 minute", aggs={"n": "count(*)"}
        )


def test_another_limit_is_another_query(streams: Any, tmp_path: Path) -> None:
    text = QUERIES["the last three"].format(S="S", R="R")
    run(streams.sql(text), tmp_path)
    write(tmp_path / "S", [(9, 1, "a", at(200_000), 1, 0.0, "")], 100)
    changed = streams.sql(text.replace("LIMIT 3", "LIMIT 2"))
    with pytest.raises(
        Exception, match=r"Different rows of a window.* last 3, in this query last 2"
    ):
        run(changed, tmp_path)


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.extended)])
def test_random_queries(spark: Any, conf: Any, tmp_path: Path, seed: int) -> None:
    totals = Totals()
    case = LastRows(spark, random.Random(seed), tmp_path, totals, 8)
    conf(case.settings)
    case.compare()
    assert totals.rows > 10
