# SPDX-License-Identifier: Apache-2.0
"""`stream_join(time=)`: aggregates and joins above a join of streams equal those of tables."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import functions as sf

from intervalsweep import ArgumentError
from intervalsweep.dataframe import stream_join
from support.streams import joined
from support.streams.joined import FAR, bag, far_away, start_and_wait


def pairs(spark: Any, **how: Any) -> Any:
    """Pairs of intersecting intervals; either row of a pair may be the later one."""
    return stream_join(spark.table("a"), spark.table("b"), **how, time="at")


def counts(spark: Any, how: str) -> Any:
    windows = pairs(spark, by="k", how=how).groupBy(sf.window("at", "5 seconds"), "k")
    return windows.agg(sf.count("*"), sf.sum("v_right")).where(f"window.start < date'{NEAR}'")


def followed(spark: Any, how: str) -> Any:
    """Pairs, each with rows of a third stream in the two seconds after it."""
    found = pairs(spark, how=how).select("id", "id_right", "at")
    third = spark.table("b").selectExpr("id AS third", "ts AS then")
    after = sf.expr("then > at AND then < at + INTERVAL 2 SECONDS")
    return found.where(f"id < {FAR}").join(third, after).select("id", "id_right", "third")


NEAR = "2024-01-02"


@pytest.mark.parametrize("how", ["inner", "left", "full"])
@pytest.mark.parametrize("query", [counts, followed])
def test_what_follows_is_that_of_tables(
    streaming: Any, tmp_path: Path, query: Any, how: str
) -> None:
    arrivals = joined.random_arrivals(tmp_path, random.Random(12), rows=40, cuts=3)
    arrivals.batches.append(far_away(2 * FAR))
    arrivals.streams(streaming)
    stream, found = query(streaming, how), []
    plan = stream._jdf.queryExecution().analyzed().toString()
    assert plan.count("StreamJoin ") == (2 if query is followed else 1)
    marked = {f.name for f in pairs(streaming).schema if "spark.watermarkDelayMs" in f.metadata}
    assert marked == {"at"}
    for count in (2, None):
        arrivals.write(count)
        start_and_wait(stream, tmp_path / "checkpoint", found)
    arrivals.tables(streaming)
    wanted = bag(query(streaming, how).collect())
    assert wanted.total() > 10
    assert bag(found) == wanted


def test_the_time_of_rows_without_a_match(spark: Any) -> None:
    """A match of r may start up to 5 seconds after r.te, and a match of s may end up to s.ts."""
    spark.createDataFrame(
        [(1, 0, 4), (2, 50, 52), (3, None, 60), (4, 90, 80)], "id INT, ts INT, te INT"
    ).createOrReplaceTempView("r_seconds")
    spark.createDataFrame(
        [(7, 7, 8), (8, 70, 99)], "id INT, ts INT, te INT"
    ).createOrReplaceTempView("s_seconds")
    ends = "timestamp_seconds(ts) AS ts, timestamp_seconds(te) AS te"
    rows = spark.sql(
        "SELECT r.id, s.id, unix_timestamp(pair_event_time(r.ts, s.ts)) FROM "
        f"(SELECT id, {ends} FROM r_seconds) r FULL JOIN (SELECT id, {ends} FROM s_seconds) s "
        "ON ISEQL_BEFORE(r.ts, r.te, s.ts, s.te, delta => INTERVAL '5' SECOND)"
    )
    pair = (1, 7, 7)
    alone = [(2, None, 57), (3, None, None), (4, None, 90), (None, 8, 70)]
    assert bag(rows.collect()) == bag([pair, *alone])


@pytest.mark.parametrize("how", ["semi", "anti", None])
def test_rows_that_are_no_pairs_have_no_time(spark: Any, how: Any) -> None:
    a = spark.sql("SELECT 1 AS id, timestamp'2024-01-01' AS ts, timestamp'2024-01-02' AS te")
    more = {"how": how} if how else {"open_id": "id"}
    with pytest.raises(ArgumentError, match="time= needs a join that returns pairs"):
        stream_join(a, a, **more, time="at")


ENDS = "timestamp'2024-01-01' AS ts, timestamp'2024-01-02' AS te"
R, S = f"(SELECT 1 AS id, {ENDS}) r", f"(SELECT 2 AS id, {ENDS}) s"
INTERSECTS = "INTERVAL_INTERSECTS(r.ts, r.te, s.ts, s.te)"


@pytest.mark.parametrize(
    ("query", "said"),
    {
        f"SELECT pair_event_time(r.ts, r.te) FROM {R}": "directly above the join",
        f"SELECT pair_event_time(r.ts, r.te) FROM {R} JOIN {S} ON {INTERSECTS}": "of its left side",
        f"SELECT pair_event_time(r.ts, s.id) FROM {R} JOIN {S} ON {INTERSECTS}": "have one type",
        f"SELECT pair_event_time(r.ts, s.ts) FROM {R} LEFT JOIN {S} ON "
        "ALLEN_BEFORE(r.ts, r.te, s.ts, s.te)": "up to when a row of the left side may find",
    }.items(),
)
def test_what_is_no_time_of_a_pair(spark: Any, query: str, said: str) -> None:
    with pytest.raises(AnalysisException, match=f"NO_PAIR_TIME.*{said}"):
        spark.sql(query).collect()


def test_the_time_is_by_the_columns_with_watermarks(streaming: Any, tmp_path: Path) -> None:
    joined.random_arrivals(tmp_path, random.Random(1), rows=2, cuts=1).streams(streaming)
    with pytest.raises(AnalysisException, match=r"NO_PAIR_TIME.*columns .*ts.* and .*ts"):
        streaming.sql(
            "SELECT pair_event_time(a.te, b.te) FROM a JOIN b "
            "ON INTERVAL_INTERSECTS(a.ts, a.te, b.ts, b.te)"
        )
