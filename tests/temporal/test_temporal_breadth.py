# SPDX-License-Identifier: Apache-2.0
"""Rarer SQL inside `sequenced`, and regressions."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql.functions import pandas_udf, udf

from support.spark.comparison import BROADCAST, EXCLUDED_RULES, FOLDING, configured
from support.temporal.snapshots import Snapshots, Table, bag

NAN = float("nan")
TABLES = {
    "r": Table(
        "k INT, v INT",
        [
            (1, 10, 0, 4), (1, 10, 2, 6), (1, 20, 4, 9), (2, 10, None, 3), (2, 30, 5, None),
            (None, 30, 1, 8), (None, 30, 1, 8), (3, None, 7, 7), (4, 40, 3, 5), (4, 40, 5, 7),
        ],
    ),
    "s": Table(
        "k INT, w INT",
        [(1, 10, 1, 3), (1, 50, 0, 11), (2, 30, None, None), (None, 30, 2, 6), (4, 15, 4, 6)],
    ),
    "d": Table(
        "k INT, x DOUBLE",
        [
            (1, 0.5, 0, 4), (1, NAN, 2, 6), (1, -0.0, 3, 8), (1, 0.0, 5, 9),
            (2, float("inf"), None, 4), (2, NAN, 1, None), (2, None, 3, 7),
        ],
    ),
    "n": Table("k INT, v INT", [(None, None, 2, 9), (1, 10, 0, 4), (2, None, 3, None)]),
    "c": Table("k INT, name STRING", [(1, "one"), (2, "two"), (9, "nine")], False),
}  # fmt: skip

QUERIES = [
    # A theta join below a scalar subquery: both sides read the same columns.
    "SELECT v, (SELECT count(*) FROM s WHERE s.w > r.v) AS n FROM r",
    "SELECT k, sum(x) AS a, avg(x) AS b, min(x) AS c, max(x) AS m FROM d GROUP BY k",
    "SELECT sum(CAST(v AS DECIMAL(12, 2))) AS a, avg(CAST(v AS DECIMAL(12, 2))) AS b, "
    "sum(v * 10000000000) AS c, max(DATE'2020-01-01' + v) AS m, count_if(v > 15) AS n FROM r",
    "SELECT k, sum(v) FILTER (WHERE v > 10) AS f, min(v) FILTER (WHERE v < 0) AS g FROM r "
    "GROUP BY k",
    "SELECT k + 1 AS kk, sum(v) * 2 AS z FROM r GROUP BY k + 1",
    "SELECT * FROM n WHERE v NOT IN (SELECT w FROM s)",
    "SELECT * FROM r WHERE (k, v) NOT IN (SELECT k, w FROM s)",
    "SELECT * FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.k = r.k) OR v IN (SELECT w FROM s)",
    # Nested subqueries: the inner one reads columns of the outer one.
    "SELECT * FROM r WHERE v NOT IN (SELECT w FROM s WHERE s.k = 4 OR EXISTS "
    "(SELECT 1 FROM n WHERE n.k = s.k))",
    "SELECT * FROM r WHERE v NOT IN (SELECT w FROM s WHERE s.k = r.k AND (s.w = 10 OR NOT EXISTS "
    "(SELECT 1 FROM n WHERE n.v < s.w)))",
    "SELECT * FROM r WHERE EXISTS (SELECT 1 FROM s WHERE s.k = r.k AND w IN "
    "(SELECT v FROM n WHERE n.k = s.k))",
    # A correlated subquery within an uncorrelated scalar subquery, which must keep one column.
    "SELECT k, (SELECT max(n) FROM (SELECT (SELECT count(*) FROM c b WHERE b.k = a.k) AS n "
    "FROM c a)) AS n FROM r",
    # An existence join whose rows are read twice.
    "SELECT k, sum(DISTINCT v) AS w FROM (SELECT * FROM r WHERE k <> 2 OR NOT EXISTS "
    "(SELECT 1 FROM c WHERE c.k <> r.k)) GROUP BY k",
    # Correlated subqueries over an aggregate of all rows.
    *(
        "SELECT * FROM r WHERE k <= (SELECT max(b.n) FROM (SELECT min(w) AS m, "
        f"CAST(count(*) AS INT) AS n FROM s HAVING count(*) > 1) b WHERE b.m {compared} r.v)"
        for compared in ("=", "<", ">=")
    ),
    # MAP values cannot be compared, so periods with equal maps are not merged.
    "SELECT k, map_from_entries(array_sort(collect_set(struct(v, k)))) AS m FROM r "
    "WHERE v > 0 GROUP BY k",
    "SELECT count(*) AS n, map_from_entries(array_sort(collect_set(struct(v, 1)))) AS m FROM r",
    "SELECT k, v, EXISTS (SELECT 1 FROM s WHERE s.k = r.k) AS e FROM r",
    "SELECT * FROM c FULL JOIN r USING (k)",
    "SELECT r.k, m FROM r, LATERAL (SELECT max(w) AS m FROM s WHERE s.k = r.k)",
    "SELECT k, lag(v) OVER (PARTITION BY k ORDER BY v) AS l FROM r",
    "SELECT k, n FROM (SELECT k, count(*) AS n FROM r GROUP BY k) ORDER BY n DESC, k LIMIT 2",
    "SELECT DISTINCT struct(k, v) AS z FROM r",
    "SELECT * FROM r PIVOT (sum(v) FOR k IN (1 AS a, 2 AS b))",
    "SELECT k, e FROM r LATERAL VIEW OUTER explode(IF(v > 15, array(k, v), array())) x AS e",
]


@pytest.fixture(scope="module")
def snapshots(spark: Any) -> Snapshots:
    return Snapshots(spark, TABLES)


@pytest.mark.parametrize("query", QUERIES)
def test_breadth(snapshots: Snapshots, query: str) -> None:
    snapshots.check(query, duck=None)


def test_the_report_inside_sequenced(spark: Any, snapshots: Snapshots) -> None:
    joined = "SELECT * FROM sequenced(TABLE(SELECT 1 AS x FROM r JOIN s ON r.k = s.k))"
    report = f"interval_join_report('{joined}')"
    frame = snapshots.history(f"SELECT r.k, v, swept, join_type FROM r, {report}")
    rows = frame.collect()
    assert bag(rows) == bag((*r[:2], True, "INNER", *r[2:]) for r in snapshots.history(
        "SELECT k, v FROM r").collect())  # fmt: skip
    assert rows


GROUPED_UDFS = [
    "SELECT k, mean_of(v) AS m FROM r GROUP BY k",
    "SELECT mean_of(v) AS m FROM r",
    "SELECT k, mean_of(v + 1) AS m FROM r GROUP BY k HAVING mean_of(v) > 10",
    "SELECT k, v, mean_of(v) OVER (PARTITION BY k) AS m FROM r",
]


@pytest.mark.parametrize("query", GROUPED_UDFS)
def test_grouped_udfs_see_the_rows_of_an_instant(
    spark: Any, snapshots: Snapshots, query: str
) -> None:
    # Spark reads the kind of function from its type hints, which must not be strings.
    def mean_of(values: Any) -> Any:
        return float(values.mean()) if len(values) else -1.0

    mean_of.__annotations__ = {"values": pd.Series, "return": float}
    spark.udf.register("mean_of", pandas_udf(mean_of, "double"))
    snapshots.check(query, duck=None)


ROW_UDFS = [
    "SELECT k, {after}(v) AS x FROM r",
    "SELECT k, v FROM r WHERE {after}(v) > 11",
    "SELECT k, sum({after}(v)) AS t, max({after}(k)) AS m FROM r GROUP BY k",
    "SELECT r.k, {after}(w) AS x FROM r LEFT JOIN s ON r.k = s.k AND {after}(r.v) < s.w",
    "SELECT DISTINCT {after}(v) AS x FROM r",
]


@pytest.mark.parametrize("query", ROW_UDFS)
@pytest.mark.parametrize("name", ["row_after", "pandas_after"])
def test_udfs_of_rows(spark: Any, snapshots: Snapshots, name: str, query: str) -> None:
    """Python functions, by row or by column, compute the values of each snapshot."""

    def after(values: Any) -> Any:
        return values + 1

    after.__annotations__ = {"values": pd.Series, "return": pd.Series}
    spark.udf.register("pandas_after", pandas_udf(after, "int"))
    spark.udf.register("row_after", udf(lambda v: None if v is None else v + 1, "int"))
    snapshots.check(query.format(after=name), duck=query.replace("{after}", "1 + "))


def test_functions_of_whole_groups_are_refused(spark: Any, snapshots: Snapshots) -> None:
    groups = spark.table("r").groupBy("k")
    frames = {
        "FlatMapGroupsInPandas": groups.applyInPandas(lambda rows: rows, "k INT, v INT"),
        "FlatMapGroupsInArrow": groups.applyInArrow(lambda rows: rows, "k INT, v INT"),
        "MapInPandas": spark.table("r").mapInPandas(lambda rows: rows, "k INT, v INT"),
    }
    for operator, frame in frames.items():
        frame.createOrReplaceTempView("grouped_r")
        with pytest.raises(AnalysisException, match=f"NO_SNAPSHOT_FORM.*{operator}"):
            snapshots.history("SELECT * FROM grouped_r")
    spark.catalog.dropTempView("grouped_r")


@pytest.mark.parametrize(
    "settings",
    [
        {"spark.sql.adaptive.enabled": "false", BROADCAST: "-1"},
        {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"},
    ],
)
@pytest.mark.parametrize("query", QUERIES[:2])
def test_other_settings(
    spark: Any, snapshots: Snapshots, query: str, settings: dict[str, str]
) -> None:
    with configured(spark, {**settings, EXCLUDED_RULES: FOLDING}):
        snapshots.check(query, duck=None)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("DATE", ["DATE'2024-01-01'", "DATE'2024-01-05'", "DATE'2024-01-09'"]),
        ("TIMESTAMP", ["TIMESTAMP'2024-01-01 01:00:00'", "TIMESTAMP'2024-01-01 01:00:01'",
                       "TIMESTAMP'2024-01-02 00:00:00'"]),
        ("DECIMAL(18, 2)", ["-1.50", "2.25", "9.00"]),
        ("DOUBLE", ["-1.5D", "0D", "DOUBLE('Infinity')"]),
        ("BIGINT", ["-5L", "0L", "9223372036854775806L"]),
        ("INTERVAL DAY TO SECOND", ["INTERVAL '1' DAY", "INTERVAL '2' DAY", "INTERVAL '3' DAY"]),
    ],
)  # fmt: skip
def test_types_of_periods(spark: Any, kind: str, values: list[str]) -> None:
    a, b, c = (f"CAST({value} AS {kind})" for value in values)
    rows = f"SELECT 'x' AS v, {a} AS ts, {c} AS te UNION ALL SELECT 'x', {b}, NULL"
    counts = f"SELECT v, count(*) AS n FROM validtime(TABLE({rows}), 'ts', 'te') GROUP BY v"
    got = spark.sql(
        f"SELECT n, ts <=> {a}, ts <=> {b}, ts <=> {c}, te <=> {b}, te <=> {c}, te IS NULL "
        f"FROM sequenced(TABLE({counts})) ORDER BY ts"
    ).collect()
    assert [tuple(row) for row in got] == [
        (1, True, False, False, True, False, False),
        (2, False, True, False, False, True, False),
        (1, False, False, True, False, False, True),
    ]


def test_the_property_of_a_table(spark: Any) -> None:
    spark.sql("DROP TABLE IF EXISTS spells_of_table")
    spark.sql(
        "CREATE TABLE spells_of_table USING parquet TBLPROPERTIES (validtime = 'f, u') "
        "AS SELECT 1 AS x, 3 AS f, 5 AS u"
    )
    try:
        # The period is a property of the table, and must be found through the view.
        spark.table("spells_of_table").createOrReplaceTempView("spells_of_view")
        for name in ("spells_of_table", "spells_of_view"):
            frame = spark.sql(
                f"SELECT * FROM sequenced(TABLE(SELECT x FROM validtime(TABLE({name}))))"
            )
            assert frame.columns == ["x", "f", "u"]
            assert [tuple(row) for row in frame.collect()] == [(1, 3, 5)]
    finally:
        spark.catalog.dropTempView("spells_of_view")
        spark.sql("DROP TABLE spells_of_table")


def test_an_operator_over_what_is_not_marked_was_outside(snapshots: Snapshots) -> None:
    """Tables without a mark are always valid, and so are the results of operators over them."""
    some = "SELECT k, v FROM r WHERE EXISTS (SELECT 1 FROM {} b WHERE b.k = r.k)"
    expected = snapshots.history(some.format("c")).collect()
    assert expected
    for operator in (
        "temporal_coalesce(TABLE(SELECT * FROM c))",
        "temporal_union_max(TABLE(SELECT * FROM c), TABLE(SELECT * FROM c))",
    ):
        assert bag(snapshots.history(some.format(operator)).collect()) == bag(expected)


def test_a_sum_leaves_its_type(spark: Any) -> None:
    rows = (
        "SELECT * FROM VALUES (9223372036854775807L, 1, 3), (9223372036854775807L, 2, 5) "
        "AS t(v, ts, te)"
    )
    query = f"SELECT sum(v) AS t FROM validtime(TABLE({rows}), 'ts', 'te')"
    frame = spark.sql(f"SELECT * FROM sequenced(TABLE({query}))")
    with pytest.raises(Exception, match="ARITHMETIC_OVERFLOW"):
        frame.collect()
    with configured(spark, {"spark.sql.ansi.enabled": "false"}):
        frame = spark.sql(f"SELECT * FROM sequenced(TABLE({query}))")
        assert sorted(row.t for row in frame.collect() if row.t is not None) == [
            -2,
            9223372036854775807,
            9223372036854775807,
        ]
