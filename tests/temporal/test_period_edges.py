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
