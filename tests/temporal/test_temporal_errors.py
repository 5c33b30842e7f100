# SPDX-License-Identifier: Apache-2.0
"""The periods that `validtime` accepts, and each error of `sequenced`."""

from __future__ import annotations

from typing import Any

import pyspark
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql.functions import udf

WORKS = (
    "SELECT * FROM VALUES ('Ann', 'SP', 3, 10), ('Joe', 'NS', 8, 16), ('Sam', 'SP', 8, 16), "
    "('Ann', 'SP', 18, 20) AS works(name, skill, ts, te)"
)
ASSIGN = (
    "SELECT * FROM VALUES ('M1', 'SP', 3, 12), ('M2', 'SP', 6, 14), ('M3', 'NS', 3, 16) "
    "AS assign(mach, skill, ts, te)"
)


@pytest.fixture(scope="module", autouse=True)
def _tables(spark: Any) -> None:
    for name, marked, rows in (("works", "w", WORKS), ("assign", "a", ASSIGN)):
        spark.sql(f"CREATE OR REPLACE TEMP VIEW {name} AS {rows}")
        spark.sql(
            f"CREATE OR REPLACE TEMP VIEW {marked} AS "
            f"SELECT * FROM validtime(TABLE({name}), 'ts', 'te')"
        )
    spark.sql("CREATE OR REPLACE TEMP VIEW real AS SELECT 1 AS x, 1.0D AS ts, 2.0D AS te")
    spark.readStream.format("rate").load().createOrReplaceTempView("rates")
    spark.udf.register("any_number", udf(lambda: 4, "int").asNondeterministic())


def rows(spark: Any, text: str) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in spark.sql(text).collect()), key=repr)


def test_works_and_assignments(spark: Any) -> None:
    counts = "SELECT count(*) AS c FROM w WHERE skill = 'SP'"
    got = spark.sql(f"SELECT * FROM sequenced(TABLE({counts}), period => array(0, 24))")
    assert got.columns == ["c", "ts", "te"]
    assert sorted(map(tuple, got.collect()), key=lambda row: row[1]) == [
        (0, 0, 3),
        (1, 3, 8),
        (2, 8, 10),
        (1, 10, 16),
        (0, 16, 18),
        (1, 18, 20),
        (0, 20, 24),
    ]
    missing = "SELECT skill FROM a EXCEPT ALL SELECT skill FROM w"
    assert rows(spark, f"SELECT * FROM sequenced(TABLE({missing}))") == [
        ("NS", 3, 8),
        ("SP", 10, 12),
        ("SP", 6, 8),
    ]
    at = "SELECT mach, name FROM a LEFT JOIN w USING (skill)"
    assert rows(spark, f"SELECT * FROM sequenced(TABLE({at}), at => 7)") == [
        ("M1", "Ann"),
        ("M2", "Ann"),
        ("M3", None),
    ]


@pytest.mark.parametrize(
    ("source", "options", "expected"),
    [
        ("(1, 1, 5), (2, NULL, 3), (3, 4, 4), (4, 9, 2)", "", [(1, 1, 5), (2, None, 3)]),
        ("(1, 1, 5), (2, NULL, 3)", ", nulls => 'drop'", [(1, 1, 5)]),
        ("(1, 1, 5), (2, 3, 3)", ", closed => 'both'", [(1, 1, 6), (2, 3, 4)]),
        ("(1, 1, 5)", ", closed => 'right'", [(1, 2, 6)]),
        ("(1, 1, 5)", ", closed => 'neither'", [(1, 2, 5)]),
        ("(1, 1, 99), (2, 1, 5)", ", unbounded => 99", [(1, 1, None), (2, 1, 5)]),
        ("(1, 1, 2147483647)", "", [(1, 1, None)]),
        ("(1, 1, 2147483647)", ", closed => 'both'", [(1, 1, None)]),
    ],
)
def test_what_a_period_is(spark: Any, source: str, options: str, expected: list[Any]) -> None:
    table = f"SELECT * FROM VALUES {source} AS t(id, f, u)"
    marked = f"SELECT * FROM validtime(TABLE({table}), 'f', 'u'{options})"
    assert rows(spark, f"SELECT * FROM sequenced(TABLE({marked}))") == expected


def test_an_end_that_is_not_there(spark: Any) -> None:
    query = "SELECT * FROM validtime(TABLE(SELECT 1 AS id, 3 AS since), 'since')"
    frame = spark.sql(f"SELECT * FROM sequenced(TABLE({query}))")
    assert frame.columns == ["id", "since", "te"]
    assert frame.collect() == [(1, 3, None)]


def test_two_names_and_types_of_periods(spark: Any) -> None:
    query = (
        "SELECT x.a, y.b FROM validtime(TABLE(SELECT 1 AS a, DATE'2024-01-01' AS f, "
        "DATE'2024-01-03' AS u), 'f', 'u') x JOIN validtime(TABLE(SELECT 2 AS b, "
        "TIMESTAMP'2024-01-02 12:00:00' AS ts, CAST(NULL AS TIMESTAMP) AS te), 'ts', 'te') y"
    )
    frame = spark.sql(
        f"SELECT *, CAST(f AS STRING), CAST(u AS STRING) FROM sequenced(TABLE({query}))"
    )
    assert [tuple(row)[-2:] for row in frame.collect()] == [
        ("2024-01-02 12:00:00", "2024-01-03 00:00:00")
    ]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT * FROM temporal_except_strict(TABLE(SELECT skill FROM a), "
         "TABLE(SELECT skill FROM w))",
         [("NS", 3, 8)]),
        ("SELECT * FROM temporal_union_max(TABLE(SELECT skill FROM w), TABLE(SELECT skill FROM w))",
         [("NS", 8, 16), ("SP", 18, 20), ("SP", 3, 10), ("SP", 8, 16)]),
        ("SELECT * FROM temporal_coalesce(TABLE(SELECT 1 AS x FROM w WHERE name = 'Ann'), 5)",
         [(1, 18, 20), (1, 3, 10)]),
        ("SELECT * FROM temporal_coalesce(TABLE(SELECT s.x FROM validtime(TABLE(SELECT * FROM "
         "VALUES (1, 0, 4), (1, 4, 9), (1, 9, 12), (2, 4, 9) s(x, f, u)), 'f', 'u') s), 6)",
         [(1, 0, 9), (1, 9, 12), (2, 4, 9)]),
        ("SELECT * FROM temporal_split(TABLE(SELECT name FROM w WHERE skill = 'NS'), 5)",
         [("Joe", 13, 16), ("Joe", 8, 13)]),
        ("SELECT * FROM temporal_window(TABLE(SELECT mach FROM a), sliding => 2)",
         [("M1", 3, 5), ("M2", 6, 8), ("M3", 3, 5)]),
        ("SELECT * FROM temporal_window(TABLE(SELECT mach FROM a), fixed => 4)",
         [("M1", 3, 4), ("M2", 6, 8), ("M3", 3, 4)]),
    ],
)  # fmt: skip
def test_operators_that_sql_lacks(spark: Any, query: str, expected: list[Any]) -> None:
    assert rows(spark, f"SELECT * FROM sequenced(TABLE({query}))") == expected


SEQUENCED = "SELECT * FROM sequenced(TABLE({}){})"
ERRORS = [
    ("NO_SNAPSHOT_FORM", "SELECT * FROM w LIMIT 1", "", "LIMIT without ORDER BY"),
    ("NO_SNAPSHOT_FORM", "SELECT * FROM w TABLESAMPLE (50 PERCENT)", "", "TABLESAMPLE"),
    ("NO_SNAPSHOT_FORM", "SELECT rand(1) AS x FROM w", "", "not deterministic"),
    ("NO_SNAPSHOT_FORM", "SELECT *, any_number() AS x FROM w", "", "any_number()"),
    ("NO_SNAPSHOT_FORM", "SELECT * FROM w OFFSET 1", "", "OFFSET without ORDER BY"),
    ("NO_SNAPSHOT_FORM", "SELECT * FROM w, rates", "", "A stream"),
    ("NO_SNAPSHOT_FORM", "SELECT * FROM w, rates", ", at => 3", "A stream"),
    ("ARGUMENT", "SELECT * FROM validtime(TABLE(rates), 'timestamp')",
     ", at => TIMESTAMP'2026-01-01'", "`at` of sequenced must be absent"),
    ("ARGUMENT", "SELECT * FROM w", ", emit => 'early'", "reads no marked stream"),
    ("NOT_MARKED", "SELECT * FROM works", "", "validtime"),
    ("NOT_MARKED", "SELECT * FROM validtime(TABLE(works))", "", "TBLPROPERTIES"),
    ("PERIOD_NAME", "SELECT name AS ts FROM w", "", "names =>"),
    ("PERIOD_TYPE", "SELECT * FROM validtime(TABLE(works), 'name', 'skill')", "", "STRING"),
    ("PERIOD_TYPE", "SELECT * FROM validtime(TABLE(works), 'ts', 'name')", "", "same type"),
    ("VALUE_TYPE", "SELECT map(1, 2) AS m FROM w UNION ALL SELECT map(1, 2) FROM w",
     ", coalesce => true", "`m`"),
    ("PERIOD_TYPE", "SELECT * FROM validtime(TABLE(real), 'ts', 'te', closed => 'both')", "",
     "a type with a smallest step"),
    ("VALUE_TYPE", "SELECT parse_json(name) AS j FROM w", ", coalesce => true", "a VARIANT"),
    ("VALUE_TYPE", "SELECT DISTINCT name COLLATE UTF8_LCASE AS n FROM w", "", "DISTINCT compares"),
    ("VALUE_TYPE", "SELECT count(*) AS c FROM w GROUP BY name COLLATE UTF8_LCASE", "",
     "GROUP BY compares rows by collate("),
    ("LENGTH", "SELECT * FROM temporal_split(TABLE(SELECT * FROM w), 0)", "", "more than 0"),
    ("LENGTH", "SELECT * FROM temporal_split(TABLE(SELECT * FROM w), 1.5D)", "", "whole number"),
    ("ARGUMENT", "SELECT * FROM w", ", at => 1, period => array(1, 2)", "not both"),
    ("ARGUMENT", "SELECT * FROM validtime(TABLE(works), 'ts', 'te', nulls => 'no')", "", "'drop'"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "query", "options", "says"), ERRORS)
def test_errors_of_the_query(spark: Any, name: str, query: str, options: str, says: str) -> None:
    with pytest.raises(AnalysisException) as error:
        spark.sql(SEQUENCED.format(query, options))
    assert f"[INTERVALSWEEP_SEQUENCED.{name}]" in str(error.value)
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("query", "where"),
    [
        ("SELECT *\nFROM w\nLIMIT 1", "line 4 pos 0"),
        ("SELECT skill,\n  rand() AS x FROM w", "line 3 pos 2"),
        ("SELECT *\nFROM w TABLESAMPLE (50 PERCENT)", "line 3 pos 7"),
        ("SELECT 1\nFROM (SELECT DISTINCT name COLLATE UTF8_LCASE\n  FROM w)", "line 3 pos 6"),
        ("SELECT * FROM\n  temporal_split(TABLE(SELECT * FROM w), 0)", "line 3 pos 2"),
    ],
)
def test_an_error_says_where_in_the_query(spark: Any, query: str, where: str) -> None:
    """The query begins on the second line."""
    with pytest.raises(AnalysisException) as error:
        spark.sql(SEQUENCED.format(f"\n{query}", ""))
    assert where in str(error.value)


@pytest.mark.skipif(pyspark.__version__ < "4.1", reason="Spark 4.0 has no recursion")
def test_a_recursive_query(spark: Any) -> None:
    """A recursive query over marked relations fails; one without them is an ordinary table."""
    steps = "SELECT {} AS n{} UNION ALL SELECT n || 'x' FROM t WHERE length(n) < 5"
    of_marked = f"WITH RECURSIVE t AS ({steps.format('name', ' FROM w')}) SELECT n FROM t"
    with pytest.raises(AnalysisException, match=r"NO_SNAPSHOT_FORM\] A recursive WITH"):
        spark.sql(SEQUENCED.format(of_marked, ""))
    others = f"WITH RECURSIVE t AS ({steps.format(chr(39) + 'Ann' + chr(39), '')}) "
    joined = f"{others}SELECT w.name, n FROM w JOIN t ON t.n = w.name"
    assert rows(spark, SEQUENCED.format(joined, "")) == [
        ("Ann", "Ann", 18, 20),
        ("Ann", "Ann", 3, 10),
    ]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("OUTSIDE", "SELECT * FROM w", "inside sequenced"),
        ("OUTSIDE", "SELECT * FROM temporal_coalesce(TABLE(SELECT * FROM w))", "inside sequenced"),
        ("OUTER_CTE", "WITH q AS (SELECT * FROM w) SELECT * FROM sequenced(TABLE(SELECT * FROM q))",
         "put the WITH inside"),
        *[("VALUE_TYPE",
           f"SELECT * FROM {f}(TABLE(SELECT map(1, 2) AS m, 1 AS a, 2 AS b), 'a', 'b', "
           "keys => 'm')",
           f"{f} compares rows by the column `m`")
          for f in ("interval_merge", "interval_split", "interval_complement")],
    ],
)  # fmt: skip
def test_errors_of_the_query_around(spark: Any, name: str, text: str, says: str) -> None:
    with pytest.raises(AnalysisException) as error:
        spark.sql(text).collect()
    assert f"[INTERVALSWEEP_SEQUENCED.{name}]" in str(error.value)
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("NULL_END", "SELECT * FROM validtime(TABLE(SELECT 1 AS x, 2 AS ts, CAST(NULL AS INT) "
         "AS te), 'ts', 'te', nulls => 'error')"),
        ("INVALID_PERIOD", "SELECT * FROM validtime(TABLE(SELECT 1 AS x, 7 AS ts, 5 AS te), "
         "'ts', 'te', invalid => 'error')"),
        ("BOUNDED", "SELECT * FROM temporal_window(TABLE(SELECT name FROM w), sliding => 1, "
         "on_bounded => 'error')"),
        ("BOUNDED", "SELECT * FROM temporal_window(TABLE(SELECT name FROM validtime(TABLE("
         "SELECT 'Ann' AS name, CAST(NULL AS INT) AS f, 5 AS u), 'f', 'u')), fixed => 2)"),
        ("LENGTH", "SELECT * FROM temporal_split(TABLE(SELECT name FROM "
         "validtime(TABLE(works), 'ts')), 5)"),
    ],
)  # fmt: skip
def test_errors_of_rows(spark: Any, name: str, query: str) -> None:
    frame = spark.sql(SEQUENCED.format(query, ""))
    with pytest.raises(Exception, match=rf"INTERVALSWEEP_SEQUENCED\.{name}"):
        frame.collect()


def test_the_period_cannot_be_named_inside(spark: Any) -> None:
    with pytest.raises(AnalysisException, match=r"SEQUENCED\.HIDDEN"):
        spark.sql(SEQUENCED.format("SELECT * FROM w WHERE ts > 5", ""))
