# SPDX-License-Identifier: Apache-2.0
"""`stream_join(time=)`: aggregates and joins above a join of streams are those of tables."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions as sf

import joined
from intervalsweep import ArgumentError
from intervalsweep.dataframe import stream_join
from joined import FAR, PROVIDER, ROCKSDB, bag, start_and_wait


@pytest.fixture
def streaming(spark: Any, conf: Any) -> Any:
    conf({PROVIDER: ROCKSDB, "spark.sql.shuffle.partitions": "2"})
    return spark


def pairs(spark: Any, **how: Any) -> Any:
    """Of intersecting intervals: either row of a pair may be the later one."""
    return stream_join(spark.table("a"), spark.table("b"), **how, time="at")


def counts(spark: Any) -> Any:
    windows = pairs(spark, by="k").groupBy(sf.window("at", "5 seconds"), "k")
    return windows.agg(sf.count("*"), sf.sum("v_right")).where(f"window.start < date'{NEAR}'")


def followed(spark: Any) -> Any:
    """By a row of a third stream, within seconds after the pair is there."""
    found = pairs(spark).select("id", "id_right", "at")
    third = spark.table("b").selectExpr("id AS third", "ts AS then")
    after = sf.expr("then > at AND then < at + INTERVAL 2 SECONDS")
    return found.where(f"id < {FAR}").join(third, after).select("id", "id_right", "third")


NEAR = "2024-01-02"


@pytest.mark.parametrize("query", [counts, followed])
def test_what_follows_is_that_of_tables(streaming: Any, tmp_path: Path, query: Any) -> None:
    arrivals = joined.random_arrivals(tmp_path, random.Random(12), rows=40, cuts=6)
    arrivals.streams(streaming)
    stream, found = query(streaming), []
    plan = stream._jdf.queryExecution().analyzed().toString()
    assert plan.count("StreamJoin Inner") == (2 if query is followed else 1)
    marked = {f.name for f in pairs(streaming).schema if "spark.watermarkDelayMs" in f.metadata}
    assert marked == {"at"}
    for count in (3, None):
        arrivals.write(count)
        start_and_wait(stream, tmp_path / "checkpoint", found)
    arrivals.tables(streaming)
    wanted = bag(query(streaming).collect())
    assert wanted.total() > 10
    assert bag(found) == wanted


def test_outer_pairs_have_no_time(streaming: Any, tmp_path: Path) -> None:
    arrivals = joined.random_arrivals(tmp_path, random.Random(1), rows=2, cuts=1)
    arrivals.streams(streaming)
    for how in ({"how": "left"}, {"open_id": "id"}):
        with pytest.raises(ArgumentError, match="time= is of inner joins"):
            pairs(streaming, **how)
