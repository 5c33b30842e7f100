# SPDX-License-Identifier: Apache-2.0
"""`intervalsweep.temporal`: each method equals its SQL, and converts its arguments."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from intervalsweep import ArgumentError, ColumnError, temporal
from intervalsweep._sql.literals import literal
from support.docs.examples import run_example
from support.spark.comparison import bag

WORKS = """VALUES ('Ann', 'SP', 3, 10), ('Joe', 'NS', 8, 16), ('Sam', 'SP', 8, 16),
  ('Ann', 'SP', 18, 20), ('Eve', NULL, NULL, 9) AS t(name, skill, ts, te)"""
ASSIGN = """VALUES ('M1', 'SP', 3, 12), ('M2', 'SP', 6, 14), ('M3', 'NS', 3, 16),
  ('M4', NULL, 1, NULL) AS t(mach, skill, f, u)"""
TITLES = "VALUES ('SP', 'programmer'), ('XX', 'a {brace}') AS t(skill, title)"

Made = Callable[[Any, Any, Any], Any]
METHODS: list[tuple[Made, str, str]] = [
    (lambda w, a, c: w.where("skill = 'SP'"), "SELECT * FROM w WHERE skill = 'SP'", ""),
    (lambda w, a, c: w.where("name <> '{'"), "SELECT * FROM w WHERE name <> '{'", ""),
    (lambda w, a, c: w.select("upper(name) AS n", "skill"),
     "SELECT upper(name) AS n, skill FROM w", ""),
    (lambda w, a, c: a.join(w, "skill"), "SELECT mach, skill, name FROM a JOIN w USING (skill)",
     ""),
    (lambda w, a, c: a.join(w, ["skill"], "s.name < 'K' AND r.mach < 'M3'"),
     "SELECT mach, skill, name FROM a JOIN w USING (skill) WHERE name < 'K' AND mach < 'M3'", ""),
    (lambda w, a, c: w.join(w, condition="r.name < s.name"),
     "SELECT r.*, s.name AS name_right, s.skill AS skill_right FROM w r JOIN w s "
     "ON r.name < s.name", ""),
    (lambda w, a, c: a.select("mach", "skill AS k").join(w, [("k", "skill")]),
     "SELECT mach, a.skill AS k, name, w.skill FROM a JOIN w ON a.skill = w.skill", ""),
    (lambda w, a, c: w.join(c, "skill"),
     "SELECT name, skill, title FROM w JOIN c USING (skill)", ""),
    (lambda w, a, c: a.left_join(w, "skill"),
     "SELECT mach, skill, name FROM a LEFT JOIN w USING (skill)", ""),
    (lambda w, a, c: a.right_join(w, "skill"),
     "SELECT mach, skill, name FROM a RIGHT JOIN w USING (skill)", ""),
    (lambda w, a, c: a.full_join(w, "skill", suffix="_w"),
     "SELECT mach, skill, name FROM a FULL JOIN w USING (skill)", ""),
    (lambda w, a, c: a.semi_join(w, "skill"),
     "SELECT mach, skill FROM a LEFT SEMI JOIN w USING (skill)", ""),
    (lambda w, a, c: a.anti_join(w, "skill", "s.name < 'K'"),
     "SELECT a.* FROM a LEFT ANTI JOIN w ON a.skill = w.skill AND name < 'K'", ""),
    (lambda w, a, c: a.anti_join(c, "skill"),
     "SELECT mach, skill FROM a LEFT ANTI JOIN c USING (skill)", ""),
    (lambda w, a, c: w.select("skill").distinct(), "SELECT DISTINCT skill FROM w", ""),
    (lambda w, a, c: a.select("skill").union(w.select("skill")),
     "SELECT skill FROM a UNION SELECT skill FROM w", ""),
    (lambda w, a, c: a.select("skill").union_all(c.select("skill")),
     "SELECT skill FROM a UNION ALL SELECT skill FROM c", ""),
    (lambda w, a, c: a.select("skill").union_max(w.select("skill")),
     "SELECT * FROM temporal_union_max(TABLE(SELECT skill FROM a), TABLE(SELECT skill FROM w))",
     ""),
    (lambda w, a, c: a.select("skill").except_(w.select("skill")),
     "SELECT skill FROM a EXCEPT SELECT skill FROM w", ""),
    (lambda w, a, c: a.select("skill").except_all(w.select("skill")),
     "SELECT skill FROM a EXCEPT ALL SELECT skill FROM w", ""),
    (lambda w, a, c: a.select("skill").except_strict(w.select("skill")),
     "SELECT * FROM temporal_except_strict(TABLE(SELECT skill FROM a), TABLE(SELECT skill FROM w))",
     ""),
    (lambda w, a, c: a.select("skill").intersect(w.select("skill")),
     "SELECT skill FROM a INTERSECT SELECT skill FROM w", ""),
    (lambda w, a, c: a.select("skill").intersect_all(w.select("skill")),
     "SELECT skill FROM a INTERSECT ALL SELECT skill FROM w", ""),
    (lambda w, a, c: w.group_by("skill").agg("count(*) AS n", "max(name) AS m"),
     "SELECT skill, count(*) AS n, max(name) AS m FROM w GROUP BY skill", ""),
    (lambda w, a, c: w.agg("count(*) AS n").period(0, 24), "SELECT count(*) AS n FROM w",
     ", period => array(0, 24)"),
    (lambda w, a, c: w.period(None, 9).select("name"), "SELECT name FROM w",
     ", period => array(NULL, 9)"),
    (lambda w, a, c: w.where("skill IS NOT NULL").split(5),
     "SELECT * FROM temporal_split(TABLE(SELECT * FROM w WHERE skill IS NOT NULL), 5)", ""),
    (lambda w, a, c: a.window(2), "SELECT * FROM temporal_window(TABLE(SELECT * FROM a), "
     "sliding => 2)", ""),
    (lambda w, a, c: a.window(fixed=4, origin=1), "SELECT * FROM temporal_window(TABLE(SELECT * "
     "FROM a), fixed => 4, origin => 1)", ""),
    (lambda w, a, c: w.select("1 AS x").coalesce(), "SELECT 1 AS x FROM w",
     ", coalesce => true"),
    (lambda w, a, c: w.where("skill IS NOT NULL").select("1 AS x").coalesce(3),
     "SELECT * FROM temporal_coalesce(TABLE(SELECT 1 AS x FROM w WHERE skill IS NOT NULL), 3)",
     ""),
    (lambda w, a, c: a.left_join(w, "skill").at(7),
     "SELECT mach, skill, name FROM a LEFT JOIN w USING (skill)", ", at => 7"),
    (lambda w, a, c: w.select("name").shown_as(closed="both", unbounded=99), "SELECT name FROM w",
     ", closed => 'both', unbounded => 99"),
]  # fmt: skip


@pytest.fixture(scope="module")
def tables(spark: Any) -> dict[str, Any]:
    frames = {n: spark.sql(f"SELECT * FROM {t}") for n, t in
              (("works", WORKS), ("assign", ASSIGN), ("titles", TITLES))}  # fmt: skip
    for name, frame in frames.items():
        frame.createOrReplaceTempView(name)
    spark.sql("CREATE OR REPLACE TEMP VIEW w AS SELECT * FROM validtime(TABLE(works), 'ts', 'te')")
    spark.sql("CREATE OR REPLACE TEMP VIEW a AS SELECT * FROM validtime(TABLE(assign), 'f', 'u')")
    spark.sql("CREATE OR REPLACE TEMP VIEW c AS SELECT * FROM titles")
    return {
        "w": temporal.valid(frames["works"], "ts", "te"),
        "a": temporal.valid(frames["assign"], "f", "u"),
        "c": frames["titles"],
    }


@pytest.mark.parametrize(
    ("made", "query", "options"), METHODS, ids=[query for _, query, _ in METHODS]
)
def test_a_method_is_its_sql(
    spark: Any, tables: dict[str, Any], made: Made, query: str, options: str
) -> None:
    expected = spark.sql(f"SELECT * FROM sequenced(TABLE({query}){options})")
    relation = made(**tables)
    got = relation.frame
    assert got.columns == expected.columns
    assert got.columns[: len(relation.columns)] == relation.columns
    rows = bag(map(tuple, got.collect()))
    assert rows == bag(map(tuple, expected.collect()))
    assert rows


def test_all_methods_are_tested() -> None:
    names = {name for made, _, _ in METHODS for name in made.__code__.co_names}
    methods = {name for name, member in vars(temporal.Relation).items() if callable(member)}
    public = {name for name in methods if not name.startswith("_")}
    # The result of resample is not a history: test_temporal_resample.py tests it.
    # Streams have their own tests, in test_histories_of_streams.py.
    public -= {"check_no_settings", "emit", "resample", "show", "toPandas"}
    assert len(public) == 25
    assert public - names == set()


@pytest.mark.parametrize("of", [temporal.valid, temporal.sequenced, temporal.Relation])
def test_example_of_the_docstring(spark: Any, of: Any) -> None:
    assert run_example(of, spark=spark, valid=temporal.valid) > 0


def test_a_query_over_frames(spark: Any, tables: dict[str, Any]) -> None:
    text = """
        WITH some AS (SELECT name, skill FROM w WHERE name <> '{braces}')
        SELECT name, title, mach FROM some LEFT JOIN c USING (skill) JOIN a USING (skill)
        ORDER BY name DESC  -- the order of the history"""
    got = temporal.sequenced(spark, text, names=("x", "y"), **tables)
    assert got.columns == ["name", "title", "mach", "x", "y"]
    rows = [tuple(row) for row in got.collect()]
    assert [row[0] for row in rows] == sorted((row[0] for row in rows), reverse=True)
    assert ("Ann", "programmer", "M2", 6, 10) in rows
    # Views of the session need not be passed as frames; derived relations can be passed.
    views = temporal.sequenced(spark, "SELECT DISTINCT skill FROM w", period=(4, 9))
    made = temporal.sequenced(
        spark, "SELECT * FROM d", d=tables["w"].select("skill").distinct(), period=(4, 9)
    )
    assert bag(views.collect()) == bag(made.collect())
    assert views.count() == 3


def test_options_of_valid(spark: Any) -> None:
    dates = spark.sql(
        "SELECT * FROM VALUES (1, DATE '2024-01-01', DATE '9999-12-31'), "
        "(2, DATE '2024-01-01', DATE '2024-01-01'), (3, NULL, DATE '2024-02-01') AS t(id, f, u)"
    )
    marked = temporal.valid(
        dates, "f", "u", closed="both", nulls="drop", unbounded=date(9999, 12, 31), names=("p", "q")
    )
    first = date(2024, 1, 1)
    assert marked.frame.columns == ["id", "p", "q"]
    assert sorted(map(tuple, marked.frame.collect())) == [
        (1, first, None),
        (2, first, first + timedelta(days=1)),
    ]
    assert temporal.valid(dates, "f").frame.where("id = 2").collect() == [(2, first, first, None)]
    ids = sorted(row.id for row in marked.at(date(2024, 1, 1)).frame.collect())
    assert ids == [1, 2]
    assert marked.window(timedelta(days=2)).at(date(2024, 1, 2)).frame.count() == 2


@pytest.mark.parametrize(
    "value",
    [
        *(True, 0, -(2**31), 2**40, -1.5, 1e300, Decimal("-12.340"), "it's a \\ {b}"),
        *(date(2024, 2, 29), timedelta(days=-2, microseconds=1)),
        timedelta(days=400, hours=3),
    ],
)
def test_values_become_those_of_sql(spark: Any, value: Any) -> None:
    assert spark.sql(f"SELECT {literal('x', value)} AS x").first().x == value


def test_times_become_those_of_sql(spark: Any) -> None:
    east = datetime(2024, 1, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    for value, text in (
        (datetime(2024, 1, 1, 12, 0, 0, 5), "2024-01-01 12:00:00.000005"),
        (east, "2024-01-01 10:00:00"),
    ):
        assert spark.sql(f"SELECT CAST({literal('x', value)} AS STRING) AS x").first().x == text


@pytest.mark.parametrize(
    ("error", "call", "says"),
    [
        (ColumnError, lambda w, a, c: temporal.valid(c, "t"), "no column t"),
        (ColumnError, lambda w, a, c: a.join(w, "skil"), "Did you mean skill"),
        (ColumnError, lambda w, a, c: w.group_by("x"), "no column x"),
        (ColumnError, lambda w, a, c: w.join(w, suffix=""), "choose another suffix"),
        (ArgumentError, lambda w, a, c: temporal.valid(w, "ts"), "already marked"),
        (ArgumentError, lambda w, a, c: a.join([1]), "arrow.temporal"),
        (ArgumentError, lambda w, a, c: w.where(True), "must be SQL text"),
        (ArgumentError, lambda w, a, c: w.select(), "at least one"),
        (ArgumentError, lambda w, a, c: w.agg(), "at least one"),
        (ArgumentError, lambda w, a, c: w.at(3).period(1, 2), "one of them"),
        (ArgumentError, lambda w, a, c: w.at([3]).frame, "a list"),
        (ArgumentError, lambda w, a, c: w.at(None), "must not be None"),
        (ArgumentError, lambda w, a, c: w.union(w.at(3)), "call them on the result"),
        (
            ArgumentError,
            lambda w, a, c: temporal.sequenced(c.sparkSession, "SELECT * FROM x", x=w.at(3)),
            "the frame x",
        ),
        (
            ArgumentError,
            lambda w, a, c: temporal.sequenced(c.sparkSession, "SELECT 1", period=[1, 2], w=w),
            "a tuple of two values",
        ),
    ],
)
def test_errors(tables: dict[str, Any], error: type[Exception], call: Made, says: str) -> None:
    with pytest.raises(error, match=says):
        call(**tables)
