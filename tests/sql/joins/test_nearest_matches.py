# SPDX-License-Identifier: Apache-2.0
"""As-of joins, nearest joins and the first rows of lateral subqueries make only the kept pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions as sf

import intervalsweep
from fuzz.nearest.run import Totals, known_forms, run
from support.spark.comparison import BROADCAST, Both, physical
from support.spark.metrics import metric

ASOF = "spark.sql.join.asofJoin.enabled"
# Each key has 150 rows of each side or more. A task takes 64 right rows of a key at a time.
PARTS = {
    BROADCAST: "-1",
    "spark.sql.intervalsweep.batchRows": "1",
    "spark.sql.shuffle.partitions": "2",
}
TABLE = (
    "SELECT CAST(id AS INT) AS id, CAST(id % 2 AS INT) AS k, id * {0} % 97 AS t, id % 5 AS x "
    "FROM range({1})"
)
LAST = (
    "SELECT a.id, w.id AS found FROM a {0} JOIN LATERAL (SELECT * FROM b "
    "WHERE {1} b.t <= a.t{2} ORDER BY b.t DESC, b.id LIMIT {3}) w {4}"
)
# The same, by a window function over all pairs.
RANKED = (
    "SELECT id, found FROM (SELECT a.id, b.id AS found, "
    "row_number() OVER (PARTITION BY a.id ORDER BY b.t DESC, b.id) AS n "
    "FROM a {0} JOIN b ON {1} b.t <= a.t{2}) WHERE n <= {3}"
)


@pytest.fixture(scope="module", autouse=True)
def views(spark: Any) -> None:
    for name, step, rows in (("a", 7, 310), ("b", 11, 300)):
        spark.sql(TABLE.format(step, rows)).createOrReplaceTempView(name)


def rows_of(spark: Any, text: str) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, spark.sql(text).collect()))


@pytest.fixture(scope="module")
def totals(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Totals:
    return run(spark, 3, 60, tmp_path_factory.mktemp("fuzz"))


def test_random_queries_find_the_rows_of_a_slow_search(totals: Totals) -> None:
    assert totals.programs == [], "what they show is above"


def test_random_queries_are_swept_and_have_rows(totals: Totals) -> None:
    assert totals.queries >= 60
    assert totals.with_rows * 2 > totals.queries, totals
    assert totals.swept * 2 > totals.queries, totals


@pytest.mark.extended
def test_more_random_queries(spark: Any, tmp_path: Path) -> None:
    totals = run(spark, 4, 600, tmp_path)
    assert totals.programs == [], "what they show is above"
    assert set(totals.forms) == set(known_forms(spark.version)), totals


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("residual", ["", " AND b.x <> a.x"])
@pytest.mark.parametrize("kind", ["LEFT", "INNER"])
def test_a_key_whose_rows_do_not_fit_into_memory(
    spark: Any, both: Both, kind: str, residual: str, count: int
) -> None:
    on = "ON true" if kind == "LEFT" else ""
    swept = LAST.format(kind, "a.k = b.k AND", residual, count, on)
    ranked = RANKED.format(kind, "a.k = b.k AND", residual, count)
    assert both(swept, ranked, ways=[PARTS]) > 250
    assert metric(both.frame, "partialRows", "LimitMatches") > 0


@pytest.mark.parametrize("count", [1, 3])
def test_ranges_without_rows_near_a_border(spark: Any, both: Both, conf: Any, count: int) -> None:
    """All right rows are far before some of the left ones, in other ranges."""
    ways = [PARTS | {"spark.sql.intervalsweep.rangeRows": "10"}]
    swept = LAST.format("LEFT", "b.t < 20 AND", "", count, "ON true")
    assert both(swept, RANKED.format("LEFT", "b.t < 20 AND", "", count), ways=ways) > 300
    assert "by ranges" in physical(both.frame)


def test_report_names_the_kept_rows_or_the_reason(spark: Any, conf: Any) -> None:
    conf({BROADCAST: "-1"})
    report = intervalsweep.why_not(spark.sql(LAST.format("LEFT", "", "", 2, "ON true")))[0]
    assert report.swept
    assert str(report.how).endswith("by ranges, last 2"), report
    frame = spark.sql(LAST.format("LEFT", "", " AND b.x <> a.x", 2, "ON true"))
    report = intervalsweep.why_not(frame)[0]
    assert (report.swept, report.reason) == (False, "FurtherCondition")
    assert "add an equality key" in str(report.advice)
    assert "Window" in physical(frame)


def test_a_further_condition_without_keys_ranks_all_pairs(both: Both) -> None:
    swept = LAST.format("LEFT", "", " AND b.x <> a.x", 2, "ON true")
    assert both(swept, RANKED.format("LEFT", "", " AND b.x <> a.x", 2), ways=[PARTS]) > 300


NUMBER = "row_number() OVER (PARTITION BY {} ORDER BY {}) AS n"
# (the order of the numbers of a's rows, the condition, the numbers that are kept)
NUMBERED = {
    "the last": ("b.t DESC, b.id", "a.k = b.k AND b.t <= a.t", "n = 1"),
    "the first three": ("b.t, b.x, b.id", "b.t > a.t", "4 > n"),
    "the second": ("b.t DESC, b.id", "b.t < a.t AND b.k = a.k AND b.x <> a.x", "n = 2"),
    "an order by a first": ("a.x, b.t DESC, a.id, b.id", "b.t <= a.t", "n <= 2"),
    "the nearest": ("abs(a.t - b.t), b.t, b.id", "b.t BETWEEN a.t - 9 AND a.t + 9", "n <= 2"),
    "a difference": ("a.t - b.t, b.id", "b.t <= a.t AND a.k = b.k", "n = 1 AND a % 2 = 0"),
}


def numbered(order: str, condition: str, kept: str, by: str = "a.id", kind: str = "") -> str:
    number = NUMBER.format(by, order)
    return (
        f"SELECT a, found FROM (SELECT a.id AS a, b.id AS found, {number} "
        f"FROM a {kind} JOIN b ON {condition}) WHERE {kept}"
    )


@pytest.mark.parametrize("kind", ["", "LEFT"])
@pytest.mark.parametrize("name", NUMBERED)
def test_pairs_with_low_numbers(both: Both, name: str, kind: str) -> None:
    assert both(numbered(*NUMBERED[name], kind=kind), ways=[{BROADCAST: "-1"}]) > 50
    assert any(f"{what} {n}" in physical(both.frame) for n in "123" for what in LIMITS)


LIMITS = ("last", "first", "nearest")


def test_pairs_that_are_numbered_by_right_rows_or_by_groups(both: Both) -> None:
    last = NUMBERED["the last"]
    by_right = numbered("a.t DESC, a.id", "a.k = b.k AND a.t <= b.t", "n = 1", by="b.id")
    for text in (by_right, numbered(*last, by="a.x"), numbered(*last, by="a.x + a.k, a.id")):
        assert both(text, swept=None) > 0
        assert "last 1" in physical(both.frame)


@pytest.mark.parametrize(
    "order",
    [
        "abs(a.t - b.t), b.id",
        "abs(a.t - b.t), b.t DESC, b.id",
        "timestampdiff(HOUR, timestamp_seconds(900 * b.t), timestamp_seconds(900 * a.t)), b.id",
        "round(a.t / 7) - round(b.t / 7), b.x, b.id",
        "CAST(a.t * 1e17 AS DOUBLE) - CAST(b.t AS DOUBLE), b.x DESC, b.id",
    ],
)
def test_further_columns_decide_between_equal_differences(both: Both, order: str) -> None:
    """The nearest row by the exact difference is another one."""
    condition = "b.t BETWEEN a.t - 9 AND a.t + 9"
    assert both(numbered(order, condition, "n = 1"), swept=1) > 200
    assert not any(f"{limit} 1" in physical(both.frame) for limit in LIMITS)


def test_numbers_that_need_all_pairs(both: Both) -> None:
    """Another function of the window, ties that all count, an order or a group of both sides."""
    last = numbered(*NUMBERED["the last"])
    for text in (
        last.replace(" AS n", " AS n, count(*) OVER (PARTITION BY a.id) AS c").replace(
            "SELECT a, found", "SELECT a, found, c"
        ),
        last.replace("row_number()", "rank()"),
        numbered("b.t + a.x DESC, b.id", "b.t <= a.t", "n = 1"),
        numbered("b.t DESC, b.id", "b.t <= a.t", "n = 1", by="a.id, b.x"),
        numbered("b.t DESC, b.id", "b.t <= a.t AND a.x <> b.x", "n = 1"),
        numbered("b.t, b.id", "a.k = b.k AND b.x < a.x", "n = 1"),
    ):
        assert both(text, swept=None) > 0
        assert not any(f"{limit} 1" in physical(both.frame) for limit in LIMITS)


def test_a_tolerance_below_zero_is_an_error_of_spark(spark: Any) -> None:
    frames = spark.table("a"), spark.table("b")
    left, right = (frame._jdf for frame in frames)
    with pytest.raises(Exception, match=r"(?i)tolerance"):
        left.joinAsOf(
            right,
            left.col("t"),
            right.col("t"),
            None,
            "inner",
            spark._jvm.org.apache.spark.sql.functions.lit(-1),
            True,
            "backward",
        ).count()


@pytest.mark.parametrize(
    "options",
    [
        {"by": "k"},
        {"by": "k", "direction": "forward"},
        {"direction": "nearest"},
        {"by": "k", "direction": "nearest", "tolerance": 2},
        {"allow_exact_matches": False},
    ],
    ids=str,
)
def test_merge_asof_of_pandas_on_spark(spark: Any, conf: Any, options: dict[str, Any]) -> None:
    conf({"spark.sql.ansi.enabled": "false"})  # pandas on Spark 4.0 refuses the ANSI mode
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    on_spark = pytest.importorskip("pyspark.pandas", reason="pandas on Spark needs pandas")
    trades = pandas.DataFrame({"t": [1, 5, 9, 12], "k": ["a", "a", "b", "c"]})
    quotes = pandas.DataFrame({"t": [0, 4, 5, 6, 11], "k": list("aaabb"), "v": [1, 2, 3, 4, 5]})
    expected = pandas.merge_asof(trades, quotes, on="t", **options)
    found = on_spark.merge_asof(*map(on_spark.from_pandas, (trades, quotes)), on="t", **options)
    frame = found.spark.frame()
    assert "IntervalSweepJoin" in physical(frame)
    rows = {row.t: -1 if row.v is None else row.v for row in frame.collect()}
    assert rows == dict(zip(expected["t"], expected["v"].fillna(-1), strict=True))


def test_nearest_by_join_of_dataframes(spark: Any) -> None:
    a, b = spark.table("a"), spark.table("b")
    if "nearest" not in known_forms(spark.version):
        pytest.skip("nearestByJoin needs Spark 4.2")
    found = a.nearestByJoin(b, sf.abs(a.t - b.t), 2, "exact", "distance").select(a.id, a.t, b.t)
    assert "nearest 2" in physical(found)
    others = sorted(row.t for row in b.collect())
    rows = found.collect()
    assert len(rows) == 620
    distances: dict[int, list[int]] = {}
    for number, t, other in rows:
        distances.setdefault(number, []).append(abs(t - other))
    for number, t in a.select("id", "t").collect():
        best = sorted(abs(t - other) for other in others)[:2]
        assert sorted(distances[number]) == best


def test_filters_on_left_rows_are_applied_before_the_search(spark: Any, conf: Any) -> None:
    query = LAST.format("LEFT", "a.k = b.k AND", "", 1, "ON true")
    frame = spark.sql(f"SELECT * FROM ({query}) WHERE id < 3")
    assert sorted(row.id for row in frame.collect()) == [0, 1, 2]
    plan = physical(frame)
    assert plan.index("Filter") > plan.index("IntervalSweepJoin"), plan


def test_a_limit_and_an_order_above(both: Both) -> None:
    query = LAST.format("INNER", "a.k = b.k AND", "", 2, "")
    ranked = RANKED.format("INNER", "a.k = b.k AND", "", 2)
    above = "SELECT * FROM ({}) ORDER BY id, found LIMIT 9"
    assert both(above.format(query), above.format(ranked)) == 9


def test_columns_of_the_subquery_are_null_without_a_match(spark: Any) -> None:
    rows = rows_of(
        spark,
        "SELECT l.t, w.one, w.sum FROM VALUES (1), (5) l(t) LEFT JOIN LATERAL ("
        "SELECT 1 AS one, coalesce(r.v, 0) + l.t AS sum FROM VALUES (3, 10) r(t, v) "
        "WHERE r.t <= l.t ORDER BY r.t DESC LIMIT 1) w ON true",
    )
    assert rows == [(1, None, None), (5, 1, 15)]


def test_a_value_that_fails_is_computed_for_found_rows_only(spark: Any) -> None:
    rows = rows_of(
        spark,
        "SELECT l.t, w.q FROM VALUES (1), (5) l(t) LEFT JOIN LATERAL ("
        "SELECT 10 / r.v AS q FROM VALUES (0, 0), (1, 5), (4, 2) r(t, v) "
        "WHERE r.t <= l.t ORDER BY r.t DESC LIMIT 1) w ON true",
    )
    assert rows == [(1, 2.0), (5, 5.0)]


def test_the_sort_column_need_not_be_selected(spark: Any) -> None:
    """Spark 4.3.0 alone returns wrong rows for this text."""
    rows = rows_of(
        spark,
        "SELECT l.id, w.price FROM VALUES (1, 7), (2, 7) l(id, at) LEFT JOIN LATERAL ("
        "SELECT price FROM VALUES (1, 3, 30), (1, 5, 50), (2, 6, 60), (1, 9, 90) p(id, at, price) "
        "WHERE p.id = l.id AND p.at <= l.at ORDER BY p.at DESC LIMIT 1) w ON true",
    )
    assert rows == [(1, 50), (2, 60)]


def test_nan_and_infinite_values_have_sparks_order(spark: Any) -> None:
    values = "(1D), (double('-inf')), (double('inf')), (double('nan')), (-0.0D)"
    rows = spark.sql(
        f"SELECT l.t, w.t AS found FROM VALUES {values} l(t) JOIN LATERAL (SELECT * FROM VALUES "
        f"{values} r(t) WHERE r.t < l.t ORDER BY r.t DESC LIMIT 1) w"
    ).collect()
    found = {str(t): str(other) for t, other in rows}
    assert found == {"1.0": "-0.0", "inf": "1.0", "nan": "inf", "-0.0": "-inf"}


@pytest.mark.parametrize("key", ["b.k = a.k AND", ""])
@pytest.mark.parametrize("residual", ["", " AND b.x <> a.x"])
def test_an_aggregate_of_the_last_rows(both: Both, key: str, residual: str) -> None:
    """The MAXSIZE of a window: `ORDER BY` and `LIMIT` below an aggregate."""
    functions = "count(*) AS n, sum(x) AS sum, max(b.id) AS most"
    limited = f"SELECT * FROM b WHERE {key} b.t <= a.t - 9{residual} ORDER BY t DESC, id LIMIT 3"
    swept = f"SELECT a.id, w.* FROM a, LATERAL (SELECT {functions} FROM ({limited}) b) w"
    ranked = (
        "SELECT a.id AS i, b.*, row_number() OVER (PARTITION BY a.id ORDER BY b.t DESC, b.id) AS n "
        f"FROM a JOIN b ON {key} b.t <= a.t - 9{residual}"
    )
    written = (
        "SELECT a.id, count(b.id) AS n, sum(b.x) AS sum, max(b.id) AS most FROM a LEFT JOIN "
        f"(SELECT * FROM ({ranked}) WHERE n <= 3) b ON a.id = b.i GROUP BY a.id"
    )
    assert both(swept, written, ways=[{}, {BROADCAST: "-1"}]) == 310


def test_columns_computed_below_the_limit_are_aggregated(spark: Any) -> None:
    rows = rows_of(
        spark,
        "SELECT l.t, w.s FROM VALUES (1), (5), (0) l(t), LATERAL (SELECT sum(y) AS s FROM ("
        "SELECT 2 * x + l.t AS y FROM ("
        "SELECT v AS x, t FROM VALUES (1, 10), (2, 20), (3, 30) r(t, v)) "
        "WHERE t <= l.t ORDER BY t DESC LIMIT 2)) w",
    )
    assert rows == [(0, None), (1, 21), (5, 110)]


def test_dates_beside_timestamps(spark: Any) -> None:
    """Spark casts the dates. On Samoa, 30 and 31 December 2011 begin at one instant."""
    spark.conf.set("spark.sql.session.timeZone", "Pacific/Apia")
    try:
        frame = spark.sql(
            "SELECT l.at, w.day FROM VALUES (TIMESTAMP'2011-12-29 12:00:00'), "
            "(TIMESTAMP'2011-12-31 12:00:00'), (TIMESTAMP'2012-01-05 00:00:00') l(at) "
            "JOIN LATERAL (SELECT * FROM VALUES (DATE'2011-12-29'), (DATE'2011-12-31'), "
            "(DATE'2011-12-30'), (DATE'2012-01-04') r(day) "
            "WHERE r.day <= l.at ORDER BY r.day DESC LIMIT 1) w"
        )
        assert "last 1" in physical(frame)
        found = [str(row.day) for row in sorted(frame.collect())]
        assert found == ["2011-12-29", "2011-12-31", "2012-01-04"]
    finally:
        spark.conf.unset("spark.sql.session.timeZone")


@pytest.mark.parametrize("kind", ["LEFT", "INNER"])
def test_a_condition_on_the_left_row_alone(both: Both, kind: str) -> None:
    """It decides whether a row has a match, and needs no key."""
    on = "ON true" if kind == "LEFT" else ""
    swept = LAST.format(kind, "", " AND a.x > 1", 2, on)
    assert both(swept, RANKED.format(kind, "", " AND a.x > 1", 2), ways=[PARTS]) > 300
    assert "by ranges" in physical(both.frame)
    assert "Window" not in physical(both.frame)


@pytest.mark.parametrize(
    ("ranking", "found"),
    [
        ("DISTANCE l.t - r.t", 9),
        ("DISTANCE r.t - l.t", 2),
        ("SIMILARITY l.t - r.t", 2),
        ("SIMILARITY -(l.t - r.t)", 9),
        ("DISTANCE datediff(date_add(DATE'2024-01-01', l.t), date_add(DATE'2024-01-01', r.t))", 9),
    ],
)
@pytest.mark.parametrize("threshold", ["10MB", "-1"])
def test_nearest_by_a_difference_with_a_sign(
    spark: Any, conf: Any, ranking: str, found: int, threshold: str
) -> None:
    """The least or the greatest value; a row whose part of the difference is NULL has none."""
    if "nearest" not in known_forms(spark.version):
        pytest.skip("NEAREST BY needs Spark 4.2")
    conf({BROADCAST: threshold})
    frame = spark.sql(
        "SELECT l.id, r.t FROM VALUES (1, 5), (2, NULL), (3, 7) l(id, t) LEFT JOIN "
        f"(SELECT * FROM VALUES (2), (9), (NULL), (4) r(t)) r EXACT NEAREST 1 BY {ranking}"
    )
    assert "Window" not in physical(frame)
    assert sorted(map(tuple, frame.collect())) == [(1, found), (2, None), (3, found)]
