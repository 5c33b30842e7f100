# SPDX-License-Identifier: Apache-2.0
"""The metrics of a join in the SQL tab, read from the store that Spark's UI reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.spark.applications import program
from support.spark.metrics import last_query, metrics_of_last_query, number

PAGE = Path(__file__).resolve().parents[3] / "docs" / "architecture.md"
SIZES = ("data sent to Python workers", "data returned from Python workers", "peak memory")
TIMES = ("time in Python", "time waiting for Python", "time in kernels", "sort time")


@pytest.mark.parametrize("broadcast", ["10m", "-1"])
def test_metrics_count_rows_candidates_runs_and_bytes(
    spark: Any, conf: Any, broadcast: str
) -> None:
    conf({"spark.sql.autoBroadcastJoinThreshold": broadcast})
    # Each box has ten points on the lead axis; the second axis keeps those that end late.
    rows = spark.sql(
        """
        SELECT a.id, b.id FROM range(1000) a
        JOIN (SELECT id, id + id % 30 AS till FROM range(1000)) b
        ON a.id < b.id AND b.id < a.id + 11 AND a.id + 20 < b.till
        """
    ).collect()
    metrics = metrics_of_last_query(spark)
    assert rows
    assert number(metrics["number of output rows"]) == len(rows)
    assert len(rows) <= number(metrics["candidates"]) <= 9945
    assert 0 < number(metrics["runs"]) <= len(rows)
    for name in SIZES:
        assert "iB" in metrics[name], (name, metrics[name])
    for name in TIMES:
        assert "s" in metrics[name], (name, metrics[name])
    if broadcast == "-1":
        assert number(metrics["replicated rows"]) > 0, "boxes that touch two ranges"


def test_skipped_blocks(spark: Any, conf: Any) -> None:
    """A box covers 100 blocks of 64 points; only the last block has matches."""
    conf({"spark.sql.autoBroadcastJoinThreshold": "10m"})
    rows = spark.sql(
        """
        SELECT /*+ BROADCAST(s) */ s.ts FROM (SELECT id AS at FROM range(0, 1, 1, 1)) r
        JOIN (SELECT id AS ts, if(id < 6336, 0, id) AS te FROM range(6400)) s
        ON r.at <= s.ts AND s.ts < r.at + 6400 AND r.at + 6000 < s.te
        """
    ).collect()
    metrics = metrics_of_last_query(spark)
    assert len(rows) == 64
    assert number(metrics["candidates"]) == 6400
    assert number(metrics["skipped blocks"]) == 99
    assert number(metrics["runs"]) == 1


@pytest.mark.extended
def test_memory_and_spill_of_a_task_with_little_memory(tmp_path: Path) -> None:
    """One range, joined in chunks of 4096 rows; the other side has 60 MB, and 20 MB of memory."""
    printed = program(
        tmp_path,
        """
        from support.spark.metrics import metrics_of_last_query
        spark = start(
            "local[1]",
            spark__sql__shuffle__partitions="1",
            spark__sql__autoBroadcastJoinThreshold="-1",
            spark__sql__intervalsweep__batchRows="64",
            spark__driver__memory="600m",
            spark__memory__fraction="0.07",
        )
        side = "(SELECT id, repeat(CAST(id AS STRING), 200) AS x FROM range(0, 40000, 1, 1))"
        query = f"SELECT count(*) AS n, max(a.x), max(b.x) FROM {side} a JOIN {side} b "
        frame = swept(spark.sql(query + "ON b.id <= a.id AND a.id < b.id + 3"))
        print(frame.first().n)
        metrics = metrics_of_last_query(spark)
        print(metrics["peak memory"], ",", metrics["spill size"])
        """,
    )
    rows, sizes = printed.splitlines()[-2:]
    assert int(rows) == 3 * 40_000 - 3
    assert all(float(size.split()[0]) > 1 and "MiB" in size for size in sizes.split(" , ")), sizes


def test_the_page_names_the_metrics(spark: Any) -> None:
    spark.sql("SELECT * FROM range(9) a JOIN range(9) b ON a.id < b.id").collect()
    page = PAGE.read_text(encoding="utf-8")
    table = page.partition("| metric | ")[2].partition("\n\n")[0].splitlines()[2:]
    described = {row.split(" | ")[0].removeprefix("| ") for row in table}
    assert described == {metric.name() for metric in last_query(spark)[1]}


@pytest.mark.parametrize("kind", ["LEFT", "FULL"])
def test_output_rows_were_counted_by_the_second_pass_by_ranges_too(
    spark: Any, conf: Any, kind: str
) -> None:
    """Rows in several ranges are evaluated a second time; the second pass is not output."""
    conf({"spark.sql.autoBroadcastJoinThreshold": "-1", "spark.sql.intervalsweep.rangeRows": "100"})
    rows = spark.sql(
        f"""
        SELECT a.id, b.t FROM (SELECT id, id AS ts, id + 300 AS te FROM range(1000)) a
        {kind} JOIN (SELECT 2 * id AS t FROM range(1000)) b ON a.ts < b.t AND b.t < a.te
        """
    ).collect()
    metrics = metrics_of_last_query(spark)
    assert number(metrics["replicated rows"]) > 0
    assert number(metrics["number of output rows"]) == len(rows) > 1000
