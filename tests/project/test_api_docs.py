# SPDX-License-Identifier: Apache-2.0
"""The page on Python: the results of its programs, and its lists of the modules' names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from intervalsweep import arrow, dataframe
from support.docs import pages

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python-api.md"
TEXT = PAGE.read_text(encoding="utf-8")


def section(title: str) -> str:
    return TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_programs_on_spark_run(spark: Any) -> None:
    names = pages.run(
        PAGE,
        spark,
        r=spark.sql("SELECT 1 AS id, TIMESTAMP'2024-01-01' AS ts, TIMESTAMP'2024-01-02' AS te"),
        s=spark.sql("SELECT 1 AS id, TIMESTAMP'2024-01-02' AS ts, TIMESTAMP'2024-01-03' AS te"),
        stays=spark.sql("SELECT DATE'2024-01-30' AS first_day, CAST(NULL AS DATE) AS last_day"),
    )
    assert names["rows"].count() == names["pairs"].count() == 1
    assert (names["latest"].first().te_right, names["closest"].first().distance) == (None, 0)
    assert names["stays"].first().te.year == 9999


def test_program_on_pandas_runs() -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    (program,) = (block.text for block in pages.blocks(PAGE) if "import pandas" in block.text)
    names: dict[str, Any] = {}
    pages.run_python(program, names)
    r, s = names["r"], names["s"]
    assert list(arrow.join(r, s, "allen_overlaps")["id_right"]) == ["s1"]
    assert list(arrow.count_matches(r, s, "interval_intersects")["count"]) == [1, 0]


def test_all_functions_are_listed() -> None:
    listed = re.findall(r"^\| `(\w+)` \|", section("DataFrames"), re.MULTILINE)
    assert sorted(listed) == sorted(dataframe.__all__)
    without_spark = section("Without Spark").split("have the parameters")[0]
    assert set(arrow.__all__) <= set(re.findall(r"`(\w+)`", without_spark))
