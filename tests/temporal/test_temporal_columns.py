# SPDX-License-Identifier: Apache-2.0
"""The methods of histories take Columns and named aggregates, as PySpark's own do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import functions as sf

from intervalsweep import ArgumentError, ColumnError, temporal

WORKS = "VALUES ('Ann','SP',3,10), ('Joe','NS',8,16), ('Sam','SP',8,16), ('Ann','SP',18,20) "
WORKS += "t(name, skill, ts, te)"
ASSIGN = "VALUES ('M1','SP',3,12), ('M2','SP',6,14), ('M3','NS',3,16) t(mach, skill, ts, te)"


@pytest.fixture(scope="module")
def tables(spark: Any) -> tuple[Any, Any]:
    return tuple(
        temporal.valid(spark.sql(f"SELECT * FROM {rows}"), "ts", "te") for rows in (WORKS, ASSIGN)
    )


def bag(relation: Any) -> list[str]:
    return sorted(map(repr, relation.frame.collect()))


Made = Callable[[Any, Any], Any]
# A call with Columns or names, and the same with SQL texts.
SAME: list[tuple[Made, Made]] = [
    (lambda w, a: w.where(sf.col("skill") == "SP"), lambda w, a: w.where("skill = 'SP'")),
    (lambda w, a: w.where(sf.length("name") > 2), lambda w, a: w.where("length(name) > 2")),
    (lambda w, a: w.select("name", sf.upper("skill").alias("s")),
     lambda w, a: w.select("name", "upper(skill) AS s")),
    (lambda w, a: w.select(n="lower(name)", s=sf.col("skill")),
     lambda w, a: w.select("lower(name) AS n", "skill AS s")),
    (lambda w, a: w.select(n="lower(name)"), lambda w, a: w.select("lower(name) AS n")),
    (lambda w, a: w.agg(c="count(*)"), lambda w, a: w.agg("count(*) AS c")),
    (lambda w, a: w.agg(sf.count("*").alias("c"), most="max(name)"),
     lambda w, a: w.agg("count(*) AS c", "max(name) AS most")),
    (lambda w, a: w.group_by(sf.col("skill")).agg(c="count(*)"),
     lambda w, a: w.group_by("skill").agg("count(*) AS c")),
    (lambda w, a: w.group_by("SKILL").agg(sf.count("*").alias("c")),
     lambda w, a: w.group_by("skill").agg("count(*) AS c")),
    (lambda w, a: w.join(a, sf.col("skill")), lambda w, a: w.join(a, "skill")),
    (lambda w, a: w.left_join(a, "Skill", sf.col("r.name") < sf.col("s.mach")),
     lambda w, a: w.left_join(a, "skill", "r.name < s.mach")),
    (lambda w, a: w.full_join(a, "skill", sf.col("s.mach") != "M1"),
     lambda w, a: w.full_join(a, "skill", "s.mach <> 'M1'")),
    (lambda w, a: a.anti_join(w, (), sf.col("r.skill") == sf.col("s.skill")),
     lambda w, a: a.anti_join(w, "skill")),
    (lambda w, a: w.where(sf.col("skill") == "SP").select("skill").except_all(a.select("skill")),
     lambda w, a: w.where("skill = 'SP'").select("skill").except_all(a.select("skill"))),
    (lambda w, a: w.where(sf.col("skill") == "SP").period(5, 9).select(sf.col("name")),
     lambda w, a: w.where("skill = 'SP'").select("name").period(5, 9)),
    (lambda w, a: w.where(sf.col("skill") == "SP").split(3),
     lambda w, a: w.where("skill = 'SP'").split(3)),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(SAME)))
def test_columns_mean_the_same_as_texts(tables: tuple[Any, Any], number: int) -> None:
    with_columns, with_texts = SAME[number]
    got, expected = with_columns(*tables), with_texts(*tables)
    assert got.columns == expected.columns
    assert bag(got) == bag(expected)
    assert bag(got)


def test_a_column_after_an_operator_of_histories(tables: tuple[Any, Any]) -> None:
    w, _ = tables
    for made in (w.split(3), w.coalesce(), w.window(5)):
        assert bag(made.where(sf.col("skill") == "SP")) == bag(made.where("skill = 'SP'"))


def test_a_relation_shows_itself(tables: tuple[Any, Any], capsys: Any) -> None:
    w, _ = tables
    assert repr(w) == "Relation[name, skill]"
    w.agg(c="count(*)").period(3, 9).show()
    assert "|  1|  3|  8|" in capsys.readouterr().out
    pytest.importorskip("pandas", reason="pandas is not installed")
    assert len(w.toPandas()) == 4


def test_names_in_another_case_and_as_columns(spark: Any) -> None:
    frame = spark.sql(f"SELECT * FROM {WORKS}")
    marked = temporal.valid(frame, "TS", sf.col("te"))
    assert marked.columns == ["name", "skill"]
    with pytest.raises(ColumnError, match="no column tss"):
        temporal.valid(frame, "tss")
    with pytest.raises(ArgumentError, match="must be given by its name"):
        marked.group_by(sf.upper("skill"))
