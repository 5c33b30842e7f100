# SPDX-License-Identifier: Apache-2.0
"""Periods without a start or an end, constant periods, and bounds that are no values."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.errors import PySparkException

NULL = "CAST(NULL AS DATE)"
DAY = "DATE '2026-01-01'"


def table(columns: str, of: str = "validtime") -> str:
    return f"SELECT * FROM {of}(TABLE(SELECT {columns}), 'ts', 'te')"


def history(query: str, options: str = "") -> str:
    return f"SELECT * FROM sequenced(TABLE({query}){options})"


def rows(spark: Any, text: str) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in spark.sql(text).collect()), key=repr)


def error(spark: Any, text: str) -> str:
    with pytest.raises(PySparkException) as raised:
        spark.sql(text).collect()
    return str(raised.value)


@pytest.mark.parametrize(("ts", "te"), [(NULL, NULL), (NULL, DAY), (DAY, NULL)])
def test_constant_periods_without_an_end_are_not_split(spark: Any, ts: str, te: str) -> None:
    periods = table(f"1 AS k, {ts} AS ts, {te} AS te")
    split = f"SELECT * FROM temporal_split(TABLE({periods}), max_length => INTERVAL '1' DAY)"
    assert "INTERVALSWEEP_SEQUENCED.LENGTH" in error(spark, history(split))
    empty = split.replace(" AS te)", " AS te WHERE 1 = 0)")
    assert rows(spark, history(empty)) == []


@pytest.mark.parametrize("window", ["fixed => INTERVAL '4' DAY", "sliding => INTERVAL '1' MONTH"])
def test_a_constant_period_without_a_start_has_no_window(spark: Any, window: str) -> None:
    origin = f", origin => {DAY}" if "fixed" in window else ""
    periods = table(f"1 AS k, {NULL} AS ts, {DAY} AS te")
    windows = f"SELECT * FROM temporal_window(TABLE({periods}), {window}{origin})"
    assert "INTERVALSWEEP_SEQUENCED.BOUNDED" in error(spark, history(windows))
    empty = windows.replace(" AS te)", " AS te WHERE 1 = 0)")
    assert rows(spark, history(empty)) == []


def test_fragments_of_a_long_period_are_made_one_by_one(spark: Any) -> None:
    periods = table("1 AS k, 0L AS ts, 3000000L AS te")
    split = f"SELECT * FROM temporal_split(TABLE({periods}), max_length => 1)"
    assert rows(spark, f"SELECT count(*), max(te) FROM ({history(split)})") == [(3000000, 3000000)]


def test_a_fixed_window_near_the_smallest_number(spark: Any) -> None:
    smallest = -(2**63) + 1
    periods = table(f"1 AS k, {smallest}L AS ts, 5L AS te")
    windows = f"SELECT * FROM temporal_window(TABLE({periods}), fixed => 10, origin => 7)"
    (_, start, end) = rows(spark, history(windows))[0]
    assert start == smallest
    assert 0 < end - start <= 10
    assert (end - 7) % 10 == 0


DAYS = table(f"1 AS k, {DAY} AS ts, DATE '2026-02-01' AS te")


@pytest.mark.parametrize(
    ("option", "query"),
    [
        ("at", history(DAYS, ", at => NULL")),
        ("at", history(DAYS, ", at => CAST(NULL AS DATE)")),
        ("at", history(DAYS, ", at => 'not a date'")),
        ("period", history(DAYS, ", period => NULL")),
        ("period", history(DAYS, ", period => array('2026-01-03', 'not a date')")),
        ("period", history(DAYS, ", period => array(DATE '2026-01-09', DATE '2026-01-03')")),
        ("unbounded", history(DAYS.replace("'te')", "'te', unbounded => 'not a date')"))),
        (
            "origin",
            history(
                f"SELECT * FROM temporal_window(TABLE({DAYS}), fixed => INTERVAL '7' DAY, "
                "origin => 'not a date')"
            ),
        ),
        (
            "max_length",
            history(f"SELECT * FROM temporal_coalesce(TABLE({DAYS}), max_length => NULL)"),
        ),
        (
            "within",
            "SELECT * FROM interval_complement(TABLE(SELECT 1 AS ts, 3 AS te), 'ts', 'te', "
            "within => array(9, 0))",
        ),
        (
            "gap",
            "SELECT * FROM interval_merge(TABLE(SELECT 1 AS ts, 3 AS te), 'ts', 'te', "
            "gap => CAST(NULL AS INT))",
        ),
    ],
)
def test_a_bound_that_is_not_a_value_is_an_error(spark: Any, option: str, query: str) -> None:
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        message = error(spark, query)
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)
    assert f"`{option}`" in message
    assert "INTERVALSWEEP_SEQUENCED.ARGUMENT" in message


def test_a_null_that_is_written_in_period_is_no_bound(spark: Any) -> None:
    days = "SELECT k, CAST(ts AS STRING), CAST(te AS STRING)"
    part = history(DAYS, ", period => array(NULL, DATE '2026-01-03')")
    assert rows(spark, f"{days} FROM ({part})") == [(1, "2026-01-01", "2026-01-03")]
    empty = history(DAYS, ", period => array(DATE '2026-01-03', DATE '2026-01-03')")
    assert rows(spark, empty) == []


@pytest.mark.parametrize(
    "last", ["DATE '9999-12-31'", "TIMESTAMP_NTZ '9999-12-31 23:59:59.999999'"]
)
@pytest.mark.parametrize("closed", ["both", "right"])
def test_a_closed_end_at_the_end_of_9999_is_no_end(spark: Any, last: str, closed: str) -> None:
    periods = table(
        f"1 AS k, CAST({DAY} AS TIMESTAMP_NTZ) AS ts, CAST({last} AS TIMESTAMP_NTZ) AS te"
    )
    if "DATE" in last:
        periods = periods.replace("TIMESTAMP_NTZ", "DATE")
    marked = periods.replace("'te')", f"'te', closed => '{closed}')")
    assert rows(spark, f"SELECT k, te FROM ({history(marked)})") == [(1, None)]
