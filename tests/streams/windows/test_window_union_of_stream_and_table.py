# SPDX-License-Identifier: Apache-2.0
"""Window unions whose base rows are a stream, and whose probe rows are a table."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import intervalsweep
from intervalsweep.dataframe import window_union
from support.spark.comparison import BROADCAST, OWN_PLAN, bag, configured, difference, sweeps
from support.streams import micro_batches
from support.streams.window_queries import BOTH, COUNT, KEYED, QUERIES, WINDOW, lateral
from support.streams.window_rows import SCHEMA, rows

pytestmark = pytest.mark.usefixtures("two_partitions")

BATCHES = 2
ADAPTIVE = "spark.sql.adaptive.enabled"
Check = Callable[..., str]


@pytest.fixture(scope="module", autouse=True)
def tables(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("base")
    parts = [rows(20, part) for part in range(BATCHES)]
    micro_batches.views(spark, folder / "in", SCHEMA, parts)
    # Spark knows that files are small. Without this, windows without keys are not swept.
    spark.createDataFrame(rows(60, 60), SCHEMA).write.parquet(str(folder / "probe"))
    spark.read.parquet(str(folder / "probe")).createOrReplaceTempView("probe")
    names = spark.sql("SELECT * FROM VALUES ('a', 2), ('b', 3), ('b', 5) t(k, f)")
    names.createOrReplaceTempView("names")
    yield
    for name in ("incoming", "past", "probe", "names"):
        spark.catalog.dropTempView(name)


@pytest.fixture
def checked(spark: Any, tmp_path: Path) -> Check:
    """A function that runs a query over the stream, compares its rows, and returns the plan."""

    def check(text: str, least: int = 1) -> str:
        got = micro_batches.run(spark, spark.sql(text.format(base="incoming base")), tmp_path)
        assert got.batches == BATCHES
        expected = by_spark(spark, text.format(base="past base"))
        assert len(expected) >= least
        assert not difference(bag(expected), bag(got.rows))
        return got.plan

    return check


def by_spark(spark: Any, query: str) -> list[Any]:
    with configured(spark, OWN_PLAN):
        return list(spark.sql(query).collect())


@pytest.mark.parametrize("name", [n for n in QUERIES if n != "itself"])
def test_the_rows_of_the_table(conf: Any, checked: Check, name: str) -> None:
    keyless = name == "keyless"
    conf({BROADCAST: "-1" if random.Random(name).random() < 0.5 and not keyless else "10MB"})
    plan = checked(f"SELECT * FROM {QUERIES[name]}", least=6)
    assert sweeps(plan) == 1, plan
    # There is no state between micro-batches.
    assert "StateStore" not in plan


def test_a_large_table_without_keys_is_left_to_spark(conf: Any, checked: Check) -> None:
    conf({BROADCAST: "-1"})
    plan = checked(f"SELECT * FROM {QUERIES['keyless']}")
    assert sweeps(plan) == 0, plan
    assert "StateStore" not in plan


@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_each_row_once(conf: Any, checked: Check, adaptive: str) -> None:
    conf({BROADCAST: "-1", ADAPTIVE: adaptive})
    plan = checked(f"SELECT base.*, w.*, w.s + base.v t FROM {lateral(BOTH)} WHERE base.v > 0")
    assert "StreamingGroupAggregate" in plan
    assert "Aggregate" not in plan.replace("StreamingGroupAggregate", "")


def test_several_distinct(checked: Check) -> None:
    checked(f"SELECT * FROM {lateral('count(DISTINCT v) a, count(DISTINCT n) b, sum(v) s')}")


def test_scalar_subqueries(checked: Check) -> None:
    plan = checked(f"""SELECT base.k, (SELECT sum(v) FROM probe WHERE {KEYED}) s FROM {{base}}
        WHERE (SELECT count(*) FROM probe WHERE {KEYED}) > 2""")
    assert sweeps(plan) == 2


def test_an_aggregate_above_is_the_streams(spark: Any, tmp_path: Path) -> None:
    """The aggregate uses the stream's watermark, which the window union passes on."""
    text = f"""SELECT window(at, '5 minutes') w, sum(c) c, count(*) n
        FROM (SELECT base.at, w.c FROM {lateral(COUNT)}) GROUP BY 1"""
    spark.table("incoming").withWatermark("at", "1 day").createOrReplaceTempView("marked")
    got = micro_batches.run(spark, spark.sql(text.format(base="marked base")), tmp_path, "complete")
    expected = by_spark(spark, text.format(base="past base"))
    assert expected
    assert not difference(bag(expected), bag(got.rows))


def test_an_empty_table(checked: Check) -> None:
    checked(f"SELECT * FROM {lateral(BOTH, of='(SELECT * FROM probe WHERE false) probe')}")


def test_base_rows_with_state(spark: Any, tmp_path: Path) -> None:
    """Windows for the rows of a streaming aggregate, which change with each micro-batch."""
    base = """(SELECT window(at, '4 minutes').end at, k, count(*) n FROM {} GROUP BY 1, 2) base"""
    condition = "probe.k = base.k AND probe.at BETWEEN base.at - INTERVAL 4 MINUTES AND base.at"
    text = f"SELECT * FROM {lateral('count(*) c, sum(v) s', condition)}"
    frame = spark.sql(text.format(base=base.format("incoming")))
    got = micro_batches.run(spark, frame, tmp_path, "complete")
    assert sweeps(got.plan) == 1
    expected = by_spark(spark, text.format(base=base.format("past")))
    assert any(row.c for row in expected)
    assert not difference(bag(expected), bag(got.rows))


def test_on_frames(spark: Any, tmp_path: Path) -> None:
    def of(base: Any) -> Any:
        aggs = {"c": "count(*)", "s": "sum(v)"}
        return window_union(base, spark.table("probe"), by="k", on="ts", pre=3, aggs=aggs)

    got = micro_batches.run(spark, of(spark.table("incoming")), tmp_path)
    assert got.batches == BATCHES
    assert sweeps(got.plan) == 1
    expected = of(spark.table("past")).collect()
    assert expected
    assert not difference(bag(expected), bag(got.rows))


def test_revisions_are_those_of_tables(spark: Any, tmp_path: Path) -> None:
    """A table does not change, so the first revision of each base row is final."""
    marks = "window_revision() r, window_is_final() f"
    text = f"SELECT base.ts, w.* FROM {lateral(f'{COUNT}, {marks}')}"
    got = micro_batches.run(spark, spark.sql(text.format(base="incoming base")), tmp_path)
    assert got.batches == BATCHES
    assert got.rows
    assert {(row.r, row.f) for row in got.rows} == {(1, True)}


def test_reports(spark: Any, conf: Any) -> None:
    frame = spark.sql(f"SELECT * FROM {lateral(BOTH)}".format(base="incoming base"))
    (report,) = intervalsweep.why_not(frame)
    assert report.swept
    assert "runs for the aggregate above" in report.how
    conf({BROADCAST: "-1"})
    frame = spark.sql(f"SELECT * FROM {lateral(BOTH, WINDOW)}".format(base="incoming base"))
    (report,) = intervalsweep.why_not(frame)
    assert (report.swept, report.reason) == (False, "StreamByRanges")
