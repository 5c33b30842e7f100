# SPDX-License-Identifier: Apache-2.0
"""Queries whose history would silently be wrong, or whose error would not say what to write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException

from intervalsweep import temporal

PAY = "VALUES (1, 10, 1, 5), (1, 20, 5, 9), (2, 30, 2, NULL) AS t(id, sal, valid_from, valid_to)"
RANKS = "VALUES (1, 'a', 3, 4), (2, 'b', 0, 9) AS t(id, grade, valid_from, valid_to)"


@pytest.fixture(scope="module", autouse=True)
def _views(spark: Any) -> None:
    spark.sql(f"CREATE OR REPLACE TEMP VIEW pay AS SELECT * FROM {PAY}")
    spark.sql(f"CREATE OR REPLACE TEMP VIEW ranks AS SELECT * FROM {RANKS}")
    spark.sql("CREATE OR REPLACE TEMP VIEW names AS SELECT 1 AS id, 'Ann' AS name, 0 AS valid_from")
    spark.sql(
        "CREATE OR REPLACE TEMP VIEW p AS "
        "SELECT * FROM validtime(TABLE(pay), 'valid_from', 'valid_to')"
    )


def history(spark: Any, query: str, options: str = "") -> list[tuple[Any, ...]]:
    frame = spark.sql(f"SELECT * FROM sequenced(TABLE({query}){options})")
    return sorted((tuple(row) for row in frame.collect()), key=repr)


def error(spark: Any, query: str, options: str = "") -> str:
    with pytest.raises(AnalysisException) as raised:
        history(spark, query, options)
    return str(raised.value)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT sal, grade FROM p JOIN ranks USING (id)",
        "SELECT sal, grade FROM p LEFT JOIN ranks r ON p.id = r.id",
        "SELECT sal FROM p WHERE EXISTS (SELECT 1 FROM ranks WHERE ranks.id = p.id)",
        "SELECT id FROM p UNION SELECT id FROM ranks",
        "WITH r AS (SELECT * FROM ranks) SELECT sal FROM p JOIN r USING (id)",
    ],
)
@pytest.mark.parametrize("options", ["", ", at => 3"])
def test_a_table_that_is_not_marked_but_has_a_period(spark: Any, query: str, options: str) -> None:
    message = error(spark, query, options)
    assert "[INTERVALSWEEP_SEQUENCED.NOT_MARKED]" in message
    assert "validtime(TABLE(...), 'valid_from', 'valid_to')" in message
    assert "temporal.valid(...)" in message


def test_tables_that_are_always_valid(spark: Any) -> None:
    grades = "(SELECT id, grade FROM ranks)"
    wanted = [(10, "a", 1, 5), (20, "a", 5, 9), (30, "b", 2, None)]
    assert history(spark, f"SELECT sal, grade FROM p JOIN {grades} USING (id)") == wanted
    names = "SELECT sal, name FROM p JOIN names USING (id)"
    assert history(spark, names) == [(10, "Ann", 1, 5), (20, "Ann", 5, 9)]
    frame = temporal.valid(spark.table("pay"), "valid_from", "valid_to")
    joined = frame.join(spark.table("ranks").drop("valid_to"), "id").select("sal", "grade")
    assert sorted(map(tuple, joined.frame.collect())) == wanted
    with pytest.raises(AnalysisException, match="is not marked"):
        frame.join(spark.table("ranks"), "id").frame.collect()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id FROM p WHERE valid_to IS NULL",
        "SELECT id, valid_to FROM p",
        "SELECT id FROM p ORDER BY p.valid_to",
        "SELECT id FROM (SELECT * FROM p WHERE sal > (SELECT max(id) FROM p WHERE VALID_TO > 3))",
    ],
)
def test_the_period_is_hidden(spark: Any, query: str) -> None:
    message = error(spark, query)
    assert "[INTERVALSWEEP_SEQUENCED.HIDDEN] The column `valid_to` is hidden" in message
    assert "at => or period =>" in message
    assert "UNRESOLVED_COLUMN" in error(spark, query.replace("_", "__").replace("VALID", "x"))


def test_a_column_of_the_outer_query_may_have_the_hidden_name(spark: Any) -> None:
    outer = "(SELECT 1 AS valid_to) o"
    query = f"SELECT * FROM {outer} WHERE EXISTS (SELECT 1 FROM p WHERE p.id = valid_to)"
    frame = spark.sql(f"SELECT * FROM sequenced(TABLE({query}), names => array('f', 'u'))")
    assert sorted(map(tuple, frame.collect())) == [(1, 1, 9)]


def test_the_error_proposes_other_names(spark: Any) -> None:
    message = error(spark, "SELECT id AS valid_from FROM p")
    assert "two columns `valid_from`" in message
    assert "names => array('ts', 'te')" in message


def test_start_and_end_are_two_columns(spark: Any) -> None:
    query = "SELECT * FROM validtime(TABLE(pay), 'valid_from', 'VALID_FROM')"
    assert "`te` of validtime must be another column than `ts`" in error(spark, query)


@pytest.mark.parametrize(
    ("table", "construct"),
    [
        ("SELECT * FROM pay LIMIT 2", "LIMIT without ORDER BY in the table of validtime"),
        ("SELECT * FROM pay TABLESAMPLE (50 PERCENT)", "TABLESAMPLE in the table of validtime"),
        ("SELECT *, monotonically_increasing_id() AS n FROM pay", "in the table of validtime"),
    ],
)
def test_a_table_whose_rows_may_change(spark: Any, table: str, construct: str) -> None:
    message = error(spark, f"SELECT * FROM validtime(TABLE({table}), 'valid_from', 'valid_to')")
    assert construct in message
    assert "write the rows to a table first" in message
    assert "add an ORDER BY" in error(spark, "SELECT * FROM p LIMIT 2")


def test_a_subquery_in_order_by(spark: Any) -> None:
    query = "SELECT id FROM p ORDER BY sal * (SELECT min(id) FROM p) DESC LIMIT 1"
    assert history(spark, query) == [(1, 1, 2), (2, 2, None)]


def test_the_property_of_a_table(spark: Any, tmp_path: Path) -> None:
    spark.sql(
        f"CREATE TABLE pay_table USING parquet LOCATION '{tmp_path}/pay' "
        "TBLPROPERTIES (validtime = 'valid_from, valid_to') AS SELECT * FROM pay"
    )
    try:
        query = "SELECT id FROM validtime(TABLE(pay_table)) WHERE sal > 15"
        assert history(spark, query) == [(1, 5, 9), (2, 2, None)]
    finally:
        spark.sql("DROP TABLE pay_table")


def test_a_table_of_auto_cdc_needs_no_names(spark: Any) -> None:
    spark.sql(
        "CREATE OR REPLACE TEMP VIEW cdc AS SELECT id, sal, valid_from AS __START_AT, "
        "valid_to AS __END_AT FROM pay"
    )
    frame = spark.sql("SELECT * FROM sequenced(TABLE(SELECT id FROM validtime(TABLE(cdc))))")
    assert frame.columns == ["id", "__START_AT", "__END_AT"]
    assert frame.count() == 3


def test_the_result_in_the_convention_of_the_user(spark: Any) -> None:
    query = "SELECT sal FROM p"
    both = ", closed => 'both', unbounded => 99"
    assert history(spark, query, both) == [(10, 1, 4), (20, 5, 8), (30, 2, 99)]
    assert history(spark, query, ", closed => 'right'")[0] == (10, 0, 4)
    assert history(spark, query, ", closed => 'both', step => 2")[0] == (10, 1, 3)
    assert history(spark, query, ", unbounded => 99")[-1] == (30, 2, 99)
    assert "must be absent" in error(spark, query, ", step => 2")
    marked = temporal.valid(spark.table("pay"), "valid_from", "valid_to")
    shown = marked.shown_as(closed="both", unbounded=99).select("sal").frame
    assert sorted(map(tuple, shown.collect())) == [(10, 1, 4), (20, 5, 8), (30, 2, 99)]
    again = temporal.valid(shown, "valid_from", "valid_to", closed="both", unbounded=99)
    assert sorted(map(tuple, again.frame.collect())) == [(10, 1, 5), (20, 5, 9), (30, 2, None)]


def test_several_values_that_mean_unbounded(spark: Any) -> None:
    frame = spark.sql("SELECT * FROM VALUES (1, 0, 99), (2, 3, 98), (3, 0, 5) AS t(id, ts, te)")
    marked = temporal.valid(frame, "ts", "te", unbounded=(98, 99), unbounded_start=0)
    wanted = [(1, None, None), (2, 3, None), (3, None, 5)]
    assert sorted(map(tuple, marked.frame.collect())) == wanted
    assert sorted(row.id for row in marked.at(200).frame.collect()) == [1, 2]
    assert sorted(row.id for row in marked.at(-7).frame.collect()) == [1, 3]
    wrong = (
        "SELECT * FROM validtime(TABLE(SELECT 1 AS ts, 2 AS te), 'ts', 'te', "
        "unbounded => array(9, try_cast('x' AS INT)))"
    )
    assert "`unbounded` of validtime must be of INT" in error(spark, wrong)


def test_a_view_of_a_history_reads_temporary_views(spark: Any) -> None:
    """A view stores its text, and the temporary views that its query reads, in subqueries too."""
    query = "SELECT id FROM p WHERE id NOT IN (SELECT id FROM (SELECT id FROM names))"
    history = f"SELECT * FROM sequenced(TABLE({query}))"
    expected = spark.sql(history).collect()
    assert expected
    spark.sql(f"CREATE OR REPLACE TEMP VIEW stored AS {history}")
    try:
        assert spark.table("stored").collect() == expected
        assert spark.sql("SELECT count(*) FROM stored").first()[0] == len(expected)
    finally:
        spark.catalog.dropTempView("stored")
