# SPDX-License-Identifier: Apache-2.0
"""Types in queries over histories: common types, decimals, and types that cannot be compared."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.errors import AnalysisException

VIEWS = {
    "e": "VALUES (1, 10, 1, 5), (1, 20, 5, 9) AS t(id, sal, ts, te)",
    "m": "VALUES (1, map(1, 2), 1, 5), (2, map(1, 2), 5, 9) AS t(id, pairs, ts, te)",
    "s": "VALUES (1, 5, 1, 2), (2, 7, 6, 7) AS t(id, w, ts, te)",
    "days": "VALUES (1, DATE '2026-01-01', DATE '2026-01-05') AS t(k, ts, te)",
    "times": "VALUES (1, TIMESTAMP '2026-01-01', TIMESTAMP '2026-01-05') AS t(k, ts, te)",
    "parts": "VALUES (1, 1.5BD, 4.2BD) AS t(k, ts, te)",
}


@pytest.fixture(scope="module", autouse=True)
def _views(spark: Any) -> None:
    for name, rows in VIEWS.items():
        spark.sql(
            f"CREATE OR REPLACE TEMP VIEW {name} AS "
            f"SELECT * FROM validtime(TABLE(SELECT * FROM {rows}), 'ts', 'te')"
        )


def history(spark: Any, query: str, options: str = "") -> list[tuple[Any, ...]]:
    frame = spark.sql(f"SELECT * FROM sequenced(TABLE({query}){options})")
    return sorted((tuple(row) for row in frame.collect()), key=repr)


def test_coalesce_does_not_compare_columns_of_order_by(spark: Any) -> None:
    query = "SELECT id FROM e ORDER BY sal"
    assert history(spark, query) == [(1, 1, 5), (1, 5, 9)]
    assert history(spark, query, ", coalesce => true") == [(1, 1, 9)]


def test_a_window_of_dates_is_joined_with_timestamps(spark: Any) -> None:
    windows = (
        "SELECT * FROM temporal_window(TABLE(SELECT k FROM days), fixed => INTERVAL '1' DAY, "
        "origin => DATE '2026-01-04')"
    )
    query = f"SELECT times.k FROM times JOIN ({windows}) a ON times.k = a.k"
    frame = spark.sql(f"SELECT k, CAST(te AS STRING) FROM sequenced(TABLE({query}))")
    assert [tuple(row) for row in frame.collect()] == [(1, "2026-01-02 00:00:00")]


@pytest.mark.parametrize("function", ["temporal_union_max", "temporal_except_strict"])
def test_set_operations_coerce_types_as_union_does(spark: Any, function: str) -> None:
    query = (
        f"SELECT * FROM {function}(TABLE(SELECT CAST(sal AS BIGINT) AS x FROM e), "
        "TABLE(SELECT 20 AS x FROM e))"
    )
    found = {"temporal_union_max": [(10, 1, 5), (20, 1, 9)], "temporal_except_strict": [(10, 1, 5)]}
    assert history(spark, query) == found[function]
    typed = spark.sql(f"SELECT * FROM sequenced(TABLE({query}))")
    assert typed.schema["x"].dataType.simpleString() == "bigint"
    with pytest.raises(AnalysisException, match="of the types"):
        history(spark, query.replace("SELECT 20 AS x", "SELECT array(20) AS x"))


def test_lengths_of_decimals_are_exact(spark: Any) -> None:
    call = "temporal_split(TABLE({}), {}, ts => 'ts', te => 'te')"
    split = f"SELECT k, double(ts), double(te) FROM {call}"
    rows = "SELECT * FROM " + VIEWS["parts"]
    got = spark.sql(split.format(rows, 2)).collect()
    assert sorted(map(tuple, got)) == [(1, 1.5, 3.5), (1, 3.5, 4.2)]
    assert len(spark.sql(split.format(rows, "0.1BD")).collect()) == 27
    with pytest.raises(AnalysisException, match=r"multiple of 0\.1"):
        spark.sql(split.format(rows, "0.25BD"))
    window = "SELECT * FROM temporal_window(TABLE(SELECT k FROM parts), fixed => 0.5BD)"
    assert [float(row[2]) for row in history(spark, window)] == [2.0]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT m.id, s.w FROM m LEFT JOIN s ON m.id >= s.id",
         [(1, 5, 1, 2), (1, None, 2, 5), (2, 7, 6, 7), (2, None, 5, 6), (2, None, 7, 9)]),
        ("SELECT s.w FROM s WHERE NOT EXISTS (SELECT 1 FROM m WHERE m.id > s.id)",
         [(5, 1, 2), (7, 6, 7)]),
        ("SELECT count(s.w) AS n FROM m FULL JOIN s ON m.id >= s.id WHERE m.id = 2 GROUP BY m.id",
         [(0, 5, 6), (0, 7, 9), (1, 6, 7)]),
    ],
)  # fmt: skip
def test_a_map_that_is_not_read(spark: Any, query: str, expected: list[Any]) -> None:
    assert history(spark, query) == expected


def test_a_map_that_is_read(spark: Any) -> None:
    with pytest.raises(AnalysisException, match="a condition other than equal keys compares"):
        history(spark, "SELECT m.pairs, s.w FROM m LEFT JOIN s ON m.id >= s.id")
