# SPDX-License-Identifier: Apache-2.0
"""Real data, 28,758 versions of files: `sequenced` compared with DuckDB queries over events."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from intervalsweep import temporal
from intervalsweep.arrow import temporal as isat

FILE = Path(__file__).resolve().parents[2] / "sql-examples/data/delta_file_history.csv.gz"

# The number of valid rows between events: a running sum of starts (+1) and ends (-1).
EVENTS = """
  WITH events AS (
    SELECT {key} AS key, "start" AS t, 1 AS change FROM h
    UNION ALL SELECT {key}, "end", -1 FROM h),
  changes AS (SELECT key, t, sum(change) AS change FROM events GROUP BY key, t)
  SELECT key, t AS ts, lead(t) OVER (PARTITION BY key ORDER BY t) AS te,
    sum(change) OVER (PARTITION BY key ORDER BY t) AS n
  FROM changes"""


@pytest.fixture(scope="module")
def database() -> Iterator[Any]:
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE h AS SELECT * FROM read_csv('{FILE}')")
        for name, key in (("total", "0"), ("folders", "key"), ("files", "path_id")):
            connection.execute(f"CREATE TABLE {name} AS {EVENTS.format(key=key)}")
        yield connection


@pytest.fixture(scope="module")
def versions(spark: Any) -> Any:
    frame = spark.read.csv(str(FILE), "path_id INT, key STRING, `start` BIGINT, `end` BIGINT",
                           header=True)  # fmt: skip
    return temporal.valid(frame, "start", "end")


def seconds(database: Any, table: str) -> dict[Any, int]:
    found = database.execute(
        f"SELECT key, n, sum(te - ts) FROM {table} WHERE te > ts AND n > 0 GROUP BY key, n"
    ).fetchall()
    return {(key, int(n)): int(total) for key, n, total in found}


def test_how_many_files_there_were(versions: Any, database: Any) -> None:
    frame = versions.agg("count(*) AS n").frame.where("n > 0")
    got = frame.groupBy("n").agg({"*": "count", "end": "sum", "start": "sum"}).collect()
    expected = seconds(database, "total")
    assert {(0, row[0]): row["sum(end)"] - row["sum(start)"] for row in got} == expected
    assert len(expected) > 900


def test_how_many_files_of_a_folder(versions: Any, database: Any) -> None:
    frame = versions.group_by("key").agg("count(*) AS n").frame
    got = frame.groupBy("key", "n").agg({"end": "sum", "start": "sum"}).collect()
    found = {(row[0], row[1]): row["sum(end)"] - row["sum(start)"] for row in got}
    assert found == seconds(database, "folders")
    assert len(found) > 1000


def test_when_a_file_was_there(versions: Any, database: Any) -> None:
    """Versions that touch or overlap are one period. DuckDB counts the events that begin one."""
    expected = database.execute(
        """SELECT count(*) FROM (
          SELECT n, lag(n) OVER (PARTITION BY key ORDER BY ts) AS before FROM files)
        WHERE n > 0 AND coalesce(before, 0) = 0"""
    ).fetchall()[0][0]
    distinct = versions.select("path_id").distinct().frame
    assert distinct.count() == expected
    table = database.sql('SELECT path_id, "start" AS ts, "end" AS te FROM h').to_arrow_table()
    without_spark = isat.distinct(table)
    assert without_spark.num_rows == expected
    got = sorted(zip(*(column.to_pylist() for column in without_spark.columns), strict=True))
    assert got == sorted(map(tuple, distinct.collect()))


def test_without_spark_the_same(database: Any) -> None:
    table = database.sql("SELECT * FROM h").to_arrow_table()
    counts = isat.aggregate(table, "key", on=("start", "end"), n="count")
    found: dict[Any, int] = {}
    for key, n, start, end in zip(*(c.to_pylist() for c in counts.columns), strict=True):
        found[key, n] = found.get((key, n), 0) + end - start
    assert found == seconds(database, "folders")
