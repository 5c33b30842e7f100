# SPDX-License-Identifier: Apache-2.0
"""Errors of queries over streams name the column and the change that the query needs."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from intervalsweep.dataframe import stream_join, window_union
from support.streams import joined
from support.streams.arrivals import Arrivals, read
from support.streams.joined import ENDS

pytestmark = pytest.mark.usefixtures("quickly")

AHEAD = """SELECT S.*, w.c, w.at FROM S LEFT JOIN LATERAL (
    SELECT count(*) c, window_event_time() at FROM R WHERE R.k = S.k
      AND R.ts BETWEEN S.ts - INTERVAL 9 SECONDS AND S.ts + INTERVAL 9 SECONDS) w ON true"""
NO_TIME = f"SELECT id, k, ts, c FROM ({AHEAD.replace(', window_event_time() at', ', 1 at')})"
OWN_TIME = r"comes out of a window union .* select window_event_time\(\) AS at"


@pytest.fixture
def streams(spark: Any, tmp_path: Path) -> Any:
    Arrivals(random.Random(4), rows=4, files=2).write(tmp_path)
    read(spark, tmp_path, 21)
    return spark


def count_of(base: str, condition: str, probe: str = "R") -> str:
    return f"SELECT * FROM {base} b LEFT JOIN LATERAL (SELECT count(*) n FROM {probe} R " + (
        f"WHERE {condition}) v ON true"
    )


BEHIND = "R.k = b.k AND R.ts BETWEEN b.ts - INTERVAL 9 SECONDS AND b.ts"


def test_a_second_watermark_never_moved(streams: Any) -> None:
    """The watermark of a query is the smallest of all, and the upper one waits for the lower."""
    waits = r"NO_WATERMARK\] withWatermark\('ts', \.\.\.\) stands above .* would never move.*"
    with pytest.raises(Exception, match=waits + "window_event_time"):
        streams.sql(NO_TIME).withWatermark("ts", "1 minute")
    anti = f"SELECT * FROM S LEFT ANTI JOIN R ON {BEHIND.replace('b.', 'S.')}"
    anti = f"{anti} AND INTERVAL_INTERSECTS(S.ts, S.ts + INTERVAL 1 SECOND, R.ts, R.ts)"
    with pytest.raises(Exception, match=waits + "second query"):
        streams.sql(anti).withWatermark("ts", "1 minute")
    # A pair is emitted at once, so a watermark above an inner join moves.
    inner = anti.replace("LEFT ANTI JOIN", "JOIN").replace("*", "S.id, S.ts + INTERVAL 0 DAY ts")
    assert streams.sql(inner).withWatermark("ts", "1 minute").isStreaming


def test_what_comes_out_of_an_operator_needs_no_watermark_of_its_own(streams: Any) -> None:
    with pytest.raises(Exception, match=rf"NO_WATERMARK\] The base stream {OWN_TIME}"):
        streams.sql(count_of(f"({NO_TIME})", BEHIND))
    with pytest.raises(Exception, match=rf"NO_WATERMARK\] The probe stream {OWN_TIME}"):
        streams.sql(count_of("S", BEHIND, f"({NO_TIME})"))
    with pytest.raises(Exception, match=rf"NO_WATERMARK\] The left side {OWN_TIME}"):
        streams.sql(
            f"SELECT * FROM ({NO_TIME}) b JOIN R "
            "ON INTERVAL_INTERSECTS(b.ts, b.ts + INTERVAL 1 SECOND, R.ts, R.ts)"
        )
    again = count_of(f"({AHEAD})", BEHIND.replace("b.ts", "b.at"))
    assert "WindowUnion" in str(streams.sql(again)._jdf.queryExecution().analyzed())


def test_an_aggregate_of_windows_that_reach_ahead(streams: Any, tmp_path: Path) -> None:
    """Spark says only that the aggregate has no watermark."""
    query = f"SELECT window(ts, '1 minute') w, sum(c) FROM ({NO_TIME}) GROUP BY 1"
    writer = streams.sql(query).writeStream.format("memory").queryName("sums")
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
    with pytest.raises(Exception, match=rf"NO_WATERMARK\] The input of an aggregate {OWN_TIME}"):
        writer.start()


WINDOWS = {
    "another column has the watermark": (
        "S",
        "R.at BETWEEN b.at - INTERVAL 9 SECONDS AND b.at",
        r"In the base stream, the window compares at, but the watermark is on ts: call "
        r"withWatermark\('at', \.\.\.\)",
    ),
    "months": (
        "S",
        "R.ts BETWEEN b.ts - INTERVAL 1 MONTH AND b.ts",
        r"UNBOUNDED_STATE\].*Months have no constant length: use days",
    ),
    "a cast above the watermark": (
        "(SELECT *, CAST(CAST(ts AS STRING) AS TIMESTAMP) t FROM S)",
        "R.ts BETWEEN b.t - INTERVAL 9 SECONDS AND b.t",
        r"The base stream has a watermark on ts, but none of its columns is this one.*cast",
    ),
}


@pytest.mark.parametrize("case", WINDOWS)
def test_windows(streams: Any, case: str) -> None:
    base, condition, message = WINDOWS[case]
    for name in "SR":
        more = streams.table(name).selectExpr("*", "ts + INTERVAL 1 SECOND AS at")
        more.createOrReplaceTempView(name)
    base = base if case != "a cast above the watermark" else f"(SELECT id, t FROM {base})"
    with pytest.raises(Exception, match=message):
        streams.sql(count_of(base, condition))


SUBQUERIES = {
    f"SELECT * FROM S WHERE EXISTS (SELECT * FROM R WHERE {BEHIND})": "LEFT SEMI JOIN",
    f"SELECT * FROM S WHERE NOT EXISTS (SELECT * FROM R WHERE {BEHIND})": "LEFT ANTI JOIN",
    f"SELECT * FROM S WHERE k IN (SELECT k FROM R WHERE {BEHIND})": "LEFT SEMI JOIN",
    "SELECT *, (SELECT count(*) FROM R) FROM S": "does not refer to the outer rows",
    f"SELECT * FROM S, LATERAL (SELECT v FROM R WHERE {BEHIND} LIMIT 1)": "ORDER BY ts DESC",
    f"SELECT * FROM S, LATERAL (SELECT g, sum(v) FROM R WHERE {BEHIND} GROUP BY g)": (
        "GROUP BY in a lateral.*Filter the result above"
    ),
    f"SELECT * FROM S, LATERAL (SELECT v FROM R WHERE {BEHIND})": "write a join",
    f"SELECT * FROM S_all S, LATERAL (SELECT sum(v) FROM R WHERE {BEHIND})": (
        "for the rows of a table.*put the stream on the left"
    ),
}


@pytest.mark.parametrize("query", SUBQUERIES)
def test_subqueries(streams: Any, query: str) -> None:
    with pytest.raises(Exception, match=rf"UNSUPPORTED\].*{SUBQUERIES[query]}"):
        streams.sql(query.replace("b.", "S."))


JOINS = {
    "iseql_during": ({"on": ("at", "ts")}, "limit the length of the intervals with max_length"),
    "allen_before": ({}, "use iseql_before with a delta, which also matches intervals that touch"),
    "allen_overlaps": (
        {"on": ("at", "till")},
        r"In the right side, the condition compares at, but the watermark is on ts: call "
        r"withWatermark\('at'",
    ),
    "interval_intersects": ({"on": ("v", "w")}, "make the endpoints TIMESTAMP columns"),
}


@pytest.mark.parametrize("relation", JOINS)
def test_joins(spark: Any, tmp_path: Path, relation: Any) -> None:
    arrivals = joined.random_arrivals(tmp_path, random.Random(1), rows=2, cuts=1)
    arrivals.write()
    arrivals.streams(spark)
    more = ("*", "ts + INTERVAL 1 SECOND AS at", "te + INTERVAL 1 SECOND AS till")
    a, b = (spark.table(side).selectExpr(*more) for side in "ab")
    arguments, message = JOINS[relation]
    with pytest.raises(Exception, match=message) as error:
        stream_join(a, b, relation, **arguments)
    assert "#" not in str(error.value).partition("JVM stacktrace")[0]
    assert stream_join(a, b, "iseql_before", delta=timedelta(seconds=9)).isStreaming


def test_a_relation_is_not_bounded_by_values_that_look_like_numbers(
    spark: Any, tmp_path: Path
) -> None:
    arrivals = joined.random_arrivals(tmp_path, random.Random(1), rows=2, cuts=1)
    arrivals.write()
    arrivals.streams(spark)
    with pytest.raises(Exception, match="UNBOUNDED_STATE"):
        spark.sql(f"SELECT * FROM a JOIN b ON ALLEN_BEFORE({ENDS}) AND abs(a.v - b.v) < 3")


def test_python_names_the_window_too(streams: Any) -> None:
    s, r = streams.table("S"), streams.table("R")
    s = s.selectExpr("id", "k", "CAST(CAST(ts AS STRING) AS TIMESTAMP) AS ts")
    with pytest.raises(Exception, match="has a watermark on ts, but none of its columns"):
        window_union(s, r, by="k", pre=timedelta(days=1), aggs={"n": "count(*)"})


@pytest.mark.parametrize("condition", ["a.k = b.k", "a.k <=> b.k", "b.k = a.k AND a.v < b.w"])
def test_a_key_was_taken_for_a_row_number(spark: Any, tmp_path: Path, condition: str) -> None:
    """Rows with keys that do not grow would be dropped as late."""
    joined.random_arrivals(tmp_path, random.Random(1), rows=2, cuts=1).streams(spark)
    for join in (
        f"a.*, b.id FROM an a JOIN bn b ON interval_intersects({ENDS}) AND {condition}",
        f"a.*, c FROM an a LEFT JOIN LATERAL (SELECT count(*) c FROM bn b WHERE {condition})",
    ):
        frame = spark.sql("SELECT id, k, v, w, ts, te FROM an")
        frame.createOrReplaceTempView("an")
        with pytest.raises(Exception, match="NO_WATERMARK"):
            spark.sql(f"SELECT {join}")
