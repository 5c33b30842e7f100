# SPDX-License-Identifier: Apache-2.0
"""Periods that are one column: a struct of their start and end."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from intervalsweep import table_functions, temporal
from support.spark.comparison import physical

ROWS = """
  SELECT id % 3 AS k, IF(id % 11 = 0, NULL, named_struct('a', IF(id % 7 = 0, NULL, {0}),
    'b', IF(id % 5 = 0, NULL, {1}))) AS valid FROM range(60)
"""
TYPES = {
    "INT": ("CAST(id AS INT)", "CAST(id + id % 9 AS INT)"),
    "DATE": ("date_add(DATE '2024-01-01', CAST(id AS INT))",
             "date_add(DATE '2024-01-01', CAST(id + id % 9 AS INT))"),
    "TIMESTAMP": ("timestamp_seconds(id)", "timestamp_seconds(id + id % 9)"),
}  # fmt: skip
QUERY = "SELECT * FROM sequenced(TABLE(SELECT k, count(*) AS n FROM {0} GROUP BY k){1})"


@pytest.fixture(params=TYPES)
def table(spark: Any, request: pytest.FixtureRequest) -> Any:
    spark.sql(ROWS.format(*TYPES[request.param])).createOrReplaceTempView("whole")
    parts = "SELECT k, valid.a AS a, valid.b AS b FROM whole WHERE valid IS NOT NULL"
    spark.sql(parts).createOrReplaceTempView("parts")
    yield spark.table("whole")
    for name in ("whole", "parts"):
        spark.catalog.dropTempView(name)


def bag(frame: Any) -> list[str]:
    return sorted(map(repr, frame.collect()))


@pytest.mark.parametrize("nulls", ["unbounded", "drop"])
def test_a_struct_is_the_period_of_its_fields(spark: Any, table: Any, nulls: str) -> None:
    """The names of the period are those of the fields; a NULL struct is no period."""
    struct = f"(SELECT * FROM validtime(TABLE(whole), 'valid', nulls => '{nulls}'))"
    fields = f"(SELECT * FROM validtime(TABLE(parts), 'a', 'b', nulls => '{nulls}'))"
    for options in ("", ", coalesce => true", ", names => array('x', 'y')"):
        found = spark.sql(QUERY.format(struct, options))
        wanted = spark.sql(QUERY.format(fields, options))
        assert found.columns == wanted.columns
        assert len(rows := bag(found)) > 20
        assert rows == bag(wanted)


def test_python_and_functions_alone_take_structs(spark: Any, table: Any) -> None:
    wanted = bag(
        temporal.valid(spark.table("parts"), "a", "b").group_by("k").agg(n="count(*)").frame
    )
    assert wanted == bag(temporal.valid(table, "valid").group_by("k").agg(n="count(*)").frame)
    marked = table_functions.validtime(table, "valid").groupBy("k").count()
    assert len(bag(table_functions.sequenced(marked))) == len(wanted)
    merged = "SELECT * FROM temporal_coalesce(TABLE({0}), ts => '{1}'{2})"
    found = spark.sql(merged.format("whole", "valid", ""))
    assert bag(found) == bag(spark.sql(merged.format("parts", "a", ", te => 'b'")))


def test_a_property_may_name_a_struct(spark: Any) -> None:
    spark.sql(
        "CREATE TABLE of_structs USING parquet TBLPROPERTIES (validtime = 'valid') AS "
        "SELECT 1 AS k, named_struct('a', 1, 'b', 5) AS valid"
    )
    try:
        source = "(SELECT * FROM validtime(TABLE(of_structs)))"
        assert [tuple(r) for r in spark.sql(QUERY.format(source, "")).collect()] == [(1, 1, 1, 5)]
    finally:
        spark.sql("DROP TABLE of_structs")


def test_an_instant_reaches_the_fields_of_a_struct_in_a_file(spark: Any, tmp_path: Any) -> None:
    spark.sql(ROWS.format(*TYPES["DATE"])).write.parquet(str(tmp_path / "rows"))
    whole = spark.read.parquet(str(tmp_path / "rows"))
    marked = temporal.valid(whole, "valid", nulls="drop")
    found = marked.at(dt.date(2024, 1, 20)).frame
    assert "valid.a" in physical(found)
    own = "valid.a <= DATE'2024-01-20' AND valid.b > DATE'2024-01-20'"
    assert bag(found) == bag(whole.where(own).select("k"))
    assert found.count() > 0


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ("named_struct('a', 1)", "", "a struct of two fields, the start and the end"),
        ("named_struct('a', 1, 'b', 2, 'c', 3)", "", "a struct of two fields"),
        ("named_struct('a', 1, 'b', DATE'2024-01-01')", "", "must have the same type"),
        ("named_struct('a', 'x', 'b', 'y')", "", "PERIOD_TYPE"),
        ("IF(k > 0, NULL, named_struct('a', 1, 'b', 2))", ", nulls => 'error'", "NULL_END"),
    ],
)
def test_structs_that_are_no_period(spark: Any, rows: str, options: str, message: str) -> None:
    source = f"TABLE(SELECT k, {rows} AS valid FROM VALUES (1), (0) t(k))"
    marked = f"(SELECT * FROM validtime({source}, 'valid'{options}))"
    with pytest.raises(Exception, match=message):
        spark.sql(QUERY.format(marked, "")).collect()
