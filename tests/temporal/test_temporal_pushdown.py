# SPDX-License-Identifier: Apache-2.0
"""`at` and `period` read only the rows of a table that overlap them, from partitions and files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from support.spark.comparison import configured, physical

FIRST = date(2020, 1, 1)


@pytest.fixture(scope="module", autouse=True)
def _tables(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder: Path = tmp_path_factory.mktemp("pushdown")
    rows = [
        (n % 7, n, FIRST + timedelta(n), None if n % 90 == 0 else FIRST + timedelta(n + 40))
        for n in range(720)
    ]
    frame = spark.createDataFrame(rows, "k INT, v INT, ts DATE, te DATE")
    frame.write.parquet(str(folder / "plain"))
    by_year = frame.selectExpr("k", "v", "te", "ts", "make_date(year(ts), 1, 1) AS year")
    by_year.write.partitionBy("year").parquet(str(folder / "years"))
    spark.read.parquet(str(folder / "plain")).createOrReplaceTempView("plain")
    spark.read.parquet(str(folder / "years")).createOrReplaceTempView("years")
    for name, table, options in (
        ("h", "plain", "'ts', 'te'"),
        ("g", "plain", "'ts', 'te', unbounded => DATE '9999-12-31'"),
        ("closed", "plain", "'ts', 'te', closed => 'both'"),
        ("checked", "plain", "'ts', 'te', invalid => 'error'"),
        ("y", "SELECT k, v, te, year FROM years", "'year', 'te'"),
    ):
        spark.sql(
            f"CREATE OR REPLACE TEMP VIEW {name} AS "
            f"SELECT * FROM validtime(TABLE({table}), {options})"
        )
    yield
    spark.catalog.dropTempView("plain")


PERIOD = ", period => array(DATE '2020-03-01', DATE '2020-04-01')"
AT = ", at => DATE '2020-03-01'"
QUERIES = {
    "SELECT k, v FROM h": 1,
    "SELECT k, count(*) AS n, sum(v) AS s FROM h GROUP BY k": 1,
    "SELECT count(*) AS n FROM closed": 1,
    "SELECT k FROM h EXCEPT ALL SELECT k FROM g WHERE v > 70": 2,
    "SELECT h.v, g.v AS w FROM h LEFT JOIN g ON h.k = g.k AND g.v > 50": 2,
    "SELECT h.v FROM h WHERE EXISTS (SELECT 1 FROM g WHERE g.k = h.k AND g.v = h.v + 7)": 2,
    "SELECT v FROM h ORDER BY v LIMIT 2": 1,
}


def history(spark: Any, query: str, options: str) -> Any:
    return spark.sql(f"SELECT * FROM sequenced(TABLE({query}){options})")


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("options", [PERIOD, AT])
def test_the_filter_reaches_the_file(spark: Any, query: str, options: str) -> None:
    with configured(spark, {"spark.sql.maxMetadataStringLength": "1000"}):
        plan = physical(history(spark, query, options))
    pushed = re.findall(r"PushedFilters: \[([^\]]*)\]", plan)
    assert len(pushed) >= QUERIES[query]
    assert all("(ts,2020-0" in filters for filters in pushed), pushed
    assert all("IsNull(te)" in filters for filters in pushed), pushed


@pytest.mark.parametrize("query", QUERIES)
def test_the_result_stays_the_same(spark: Any, query: str) -> None:
    start, end = date(2020, 3, 1), date(2020, 4, 1)
    whole = [tuple(row) for row in history(spark, query, "").collect()]

    def cut(row: tuple[Any, ...]) -> tuple[Any, ...]:
        low, high = row[-2] or date.min, row[-1] or date.max
        return (*row[:-2], max(low, start), min(high, end))

    wanted = sorted((row for row in map(cut, whole) if row[-2] < row[-1]), key=repr)
    assert wanted
    assert sorted(map(tuple, history(spark, query, PERIOD).collect()), key=repr) == wanted
    valid = [row[:-2] for row in wanted if row[-2] == start]
    assert sorted(map(tuple, history(spark, query, AT).collect()), key=repr) == sorted(
        valid, key=repr
    )


def test_bounds_of_timestamps_reach_dates(spark: Any) -> None:
    start, end = "TIMESTAMP '2020-03-01 12:00:00'", "TIMESTAMP '2020-03-20 00:00:00'"
    query = "SELECT v FROM h"
    with configured(spark, {"spark.sql.maxMetadataStringLength": "1000"}):
        for options in (f", period => array({start}, {end})", f", at => {start}"):
            frame = history(spark, query, options)
            assert "LessThanOrEqual(ts,2020-03-" in physical(frame)
            times = (f"{start} < te", f"ts < {end}" if "period" in options else f"ts <= {start}")
            wanted = f"SELECT v FROM plain WHERE (te IS NULL OR {times[0]}) AND {times[1]}"
            assert sorted(row.v for row in frame.collect()) == sorted(
                row.v for row in spark.sql(wanted).collect()
            )


def test_partitions_are_pruned(spark: Any) -> None:
    plan = physical(history(spark, "SELECT count(*) AS n FROM y", PERIOD))
    (filters,) = re.findall(r"PartitionFilters: \[([^\]]*)\]", plan)
    assert "year" in filters


def test_windows_and_checks_read_all_rows(spark: Any) -> None:
    window = "SELECT v FROM temporal_window(TABLE(SELECT v FROM h), sliding => 100)"
    got = history(spark, f"SELECT max(v) AS m FROM ({window})", AT)
    # The window of a row that ended in February goes on.
    rows = history(spark, window, AT).collect()
    assert len(rows) == 61
    for frame in (got, history(spark, "SELECT v FROM checked", PERIOD)):
        assert "(ts,2020-0" not in "".join(re.findall(r"PushedFilters: .*", physical(frame)))


def test_bounds_at_the_ends_of_a_type(spark: Any) -> None:
    smallest = -(2**31)
    table = f"SELECT 1 AS k, CAST({smallest} AS INT) AS ts, CAST({smallest} AS INT) AS te"
    marked = f"SELECT * FROM validtime(TABLE({table}), 'ts', 'te', closed => 'both')"
    for first in (smallest, smallest + 1):
        found = history(spark, marked, f", period => array(CAST({first} AS INT), 5)").collect()
        assert [row.k for row in found] == ([1] if first == smallest else [])
