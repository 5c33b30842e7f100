# SPDX-License-Identifier: Apache-2.0
"""Window unions whose base rows are a stream, and whose other rows a table: batch by batch."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import intervalsweep
from comparison import BROADCAST, ENABLED, bag, configured, difference, sweeps
from intervalsweep.dataframe import window_union
from window_queries import BOTH, COUNT, KEYED, QUERIES, WINDOW, lateral
from window_rows import SCHEMA, rows

BATCHES = 3
ADAPTIVE = "spark.sql.adaptive.enabled"
Run = Callable[[Any], tuple[list[Any], str]]


@pytest.fixture(scope="module", autouse=True)
def tables(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """`base` as a stream of files, one a batch, `past`, the same files as a table, and `probe`."""
    folder = str(tmp_path_factory.mktemp("base") / "in")
    for part in range(BATCHES):
        frame = spark.createDataFrame(rows(14, part), SCHEMA).coalesce(1)
        frame.write.mode("append").parquet(folder)
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    reader.parquet(folder).createOrReplaceTempView("incoming")
    spark.read.schema(SCHEMA).parquet(folder).createOrReplaceTempView("past")
    spark.createDataFrame(rows(60, 60), SCHEMA).createOrReplaceTempView("probe")
    names = spark.sql("SELECT * FROM VALUES ('a', 2), ('b', 3), ('b', 5) t(k, f)")
    names.createOrReplaceTempView("names")
    yield
    for name in ("incoming", "past", "probe", "names"):
        spark.catalog.dropTempView(name)


@pytest.fixture
def streamed(spark: Any, tmp_path: Any) -> Run:
    """The rows that a streaming frame returns, and its last plan."""

    def run(frame: Any) -> tuple[list[Any], str]:
        writer = frame.writeStream.format("memory").queryName("sink")
        writer = writer.option("checkpointLocation", str(tmp_path / "state"))
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination(300)
        assert len([p for p in query.recentProgress if p["numInputRows"]]) == BATCHES
        plan = query._jsq.explainInternal(False).partition("Initial Plan")[0]
        return spark.table("sink").collect(), plan

    return run


def by_spark(spark: Any, query: str) -> list[Any]:
    with configured(spark, {ENABLED: "false"}):
        return list(spark.sql(query).collect())


@pytest.mark.parametrize("name", [n for n in QUERIES if n != "itself"])
def test_the_rows_of_the_table(spark: Any, conf: Any, streamed: Run, name: str) -> None:
    keyless = name == "keyless"
    conf({BROADCAST: "-1" if random.Random(name).random() < 0.5 and not keyless else "10MB"})
    text = f"SELECT * FROM {QUERIES[name]}"
    got, plan = streamed(spark.sql(text.format(base="incoming base")))
    assert sweeps(plan) == 1, plan
    # Nothing is kept between the batches.
    assert "StateStore" not in plan
    expected = by_spark(spark, text.format(base="past base"))
    assert len(expected) > 5
    assert not difference(bag(expected), bag(got))


@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_each_row_once(spark: Any, conf: Any, streamed: Run, adaptive: str) -> None:
    conf({BROADCAST: "-1", ADAPTIVE: adaptive})
    text = f"SELECT base.*, w.*, w.s + base.v t FROM {lateral(BOTH)} WHERE base.v > 0"
    got, plan = streamed(spark.sql(text.format(base="incoming base")))
    assert "EachRowOnce" in plan
    assert "Aggregate" not in plan
    assert not difference(bag(by_spark(spark, text.format(base="past base"))), bag(got))
    assert got


def test_several_distinct(spark: Any, streamed: Run) -> None:
    text = f"SELECT * FROM {lateral('count(DISTINCT v) a, count(DISTINCT n) b, sum(v) s')}"
    got, _ = streamed(spark.sql(text.format(base="incoming base")))
    assert got
    assert not difference(bag(by_spark(spark, text.format(base="past base"))), bag(got))


def test_scalar_subqueries(spark: Any, streamed: Run) -> None:
    text = f"""SELECT base.k, (SELECT sum(v) FROM probe WHERE {KEYED}) s FROM {{base}}
        WHERE (SELECT count(*) FROM probe WHERE {KEYED}) > 2"""
    got, plan = streamed(spark.sql(text.format(base="incoming base")))
    assert sweeps(plan) == 2
    assert got
    assert not difference(bag(by_spark(spark, text.format(base="past base"))), bag(got))


def test_an_aggregate_above_is_the_streams(spark: Any, streamed: Run, tmp_path: Any) -> None:
    """With its watermark, which the window union lets through."""
    text = f"""SELECT window(at, '5 minutes') w, sum(c) c, count(*) n
        FROM (SELECT base.at, w.c FROM {lateral(COUNT)}) GROUP BY 1"""
    spark.table("incoming").withWatermark("at", "1 day").createOrReplaceTempView("marked")
    frame = spark.sql(text.format(base="marked base"))
    writer = frame.writeStream.format("memory").queryName("totals").outputMode("complete")
    query = writer.option("checkpointLocation", str(tmp_path / "state")).start()
    query.processAllAvailable()
    query.stop()
    expected = by_spark(spark, text.format(base="past base"))
    assert expected
    assert not difference(bag(expected), bag(spark.table("totals").collect()))


def test_an_empty_table(spark: Any, streamed: Run) -> None:
    text = f"SELECT * FROM {lateral(BOTH, of='(SELECT * FROM probe WHERE false) probe')}"
    got, _ = streamed(spark.sql(text.format(base="incoming base")))
    assert got
    assert not difference(bag(by_spark(spark, text.format(base="past base"))), bag(got))


def test_base_rows_with_state(spark: Any, tmp_path: Any) -> None:
    """An aggregate of the stream, which changes with each batch, and its windows of the table."""
    base = """(SELECT window(at, '4 minutes').end at, k, count(*) n FROM {} GROUP BY 1, 2) base"""
    condition = "probe.k = base.k AND probe.at BETWEEN base.at - INTERVAL 4 MINUTES AND base.at"
    text = f"SELECT * FROM {lateral('count(*) c, sum(v) s', condition)}"
    frame = spark.sql(text.format(base=base.format("incoming")))
    writer = frame.writeStream.format("memory").queryName("whole").outputMode("complete")
    writer = writer.option("checkpointLocation", str(tmp_path / "state"))
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination(300)
    assert sweeps(query._jsq.explainInternal(False)) == 1
    expected = by_spark(spark, text.format(base=base.format("past")))
    assert any(row.c for row in expected)
    assert not difference(bag(expected), bag(spark.table("whole").collect()))


def test_on_frames(spark: Any, streamed: Run) -> None:
    def of(base: Any) -> Any:
        aggs = {"c": "count(*)", "s": "sum(v)"}
        return window_union(base, spark.table("probe"), by="k", on="ts", pre=3, aggs=aggs)

    got, plan = streamed(of(spark.table("incoming")))
    assert sweeps(plan) == 1
    expected = of(spark.table("past")).collect()
    assert expected
    assert not difference(bag(expected), bag(got))


def test_revisions_are_those_of_tables(spark: Any, streamed: Run) -> None:
    """A table does not change: the first row of each base row is its last."""
    marks = "window_revision() r, window_is_final() f"
    text = f"SELECT base.ts, w.* FROM {lateral(f'{COUNT}, {marks}')}"
    got, _ = streamed(spark.sql(text.format(base="incoming base")))
    assert got
    assert {(row.r, row.f) for row in got} == {(1, True)}


def test_reports(spark: Any, conf: Any) -> None:
    frame = spark.sql(f"SELECT * FROM {lateral(BOTH)}".format(base="incoming base"))
    (report,) = intervalsweep.why_not(frame)
    assert report.swept
    assert "runs for the aggregate above" in report.how
    conf({BROADCAST: "-1"})
    frame = spark.sql(f"SELECT * FROM {lateral(BOTH, WINDOW)}".format(base="incoming base"))
    (report,) = intervalsweep.why_not(frame)
    assert (report.swept, report.reason) == (False, "StreamByRanges")
