# SPDX-License-Identifier: Apache-2.0
"""`interval_merge`, `interval_split` and `interval_complement`: the intervals of one table."""

from __future__ import annotations

import datetime as dt
import math
import random
from collections import Counter
from collections.abc import Callable, Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException

from support.joins import brute
from support.spark.comparison import configured

RANGE_ROWS = "spark.sql.intervalsweep.rangeRows"
BATCH_ROWS = "spark.sql.intervalsweep.batchRows"
ADAPTIVE = "spark.sql.adaptive.enabled"
SETTINGS = {
    "as they are": {},
    "small windows": {BATCH_ROWS: "1", ADAPTIVE: "false"},
    "many ranges": {RANGE_ROWS: "1", "spark.sql.shuffle.partitions": "7"},
}

# Type -> (value for a whole number, SQL of a gap).
START = dt.datetime(2024, 3, 30)
Value = Callable[[int], Any]
TYPES: dict[str, tuple[Value, Callable[[int], str]]] = {
    "INT": (int, str),
    "BIGINT": (lambda n: n + 2**40, lambda gap: f"{gap}.9BD"),
    "DATE": (lambda n: START.date() + dt.timedelta(n), str),
    "TIMESTAMP": (lambda n: START + dt.timedelta(hours=n), lambda gap: f"INTERVAL {gap} HOURS"),
    "TIMESTAMP_NTZ": (lambda n: START + dt.timedelta(n), lambda gap: f"INTERVAL {gap} DAYS"),
    "DECIMAL(9, 2)": (lambda n: Decimal(n) / 4, lambda gap: f"{gap / 4}"),
    "DOUBLE": (lambda n: n / 8, lambda gap: f"{gap / 8}D"),
    "FLOAT": (lambda n: n / 2 - 9, lambda gap: f"{gap / 2}"),
}
CASES = [*(("INT", settings) for settings in SETTINGS), ("DOUBLE", "many ranges")]
CASES += [(kind, "as they are") for kind in TYPES if kind != "INT"]
KEYS = (None, 0, 1, 2)


def bag(rows: Iterable[Any]) -> Counter[Any]:
    return Counter(map(tuple, rows))


def some_rows(seed: int, size: int = 60) -> list[tuple[Any, Any, Any]]:
    rng = random.Random(seed)
    ends = [None, *range(0, 60, 3), *range(10)]
    rows = []
    for _ in range(size):
        ts = rng.choice(ends)
        te = rng.choice([None, *([0, 1, 2, 3, 5, 9] if ts is not None else [])])
        rows.append((rng.choice(KEYS), ts, None if te is None else ts + te))
    return [*rows, (0, 9, 4), (1, 7, 7), (None, None, 3)]


def view(spark: Any, kind: str, rows: list[Any], value: Value, name: str = "t") -> None:
    of = [(k, *(None if e is None else value(e) for e in ends)) for k, *ends in rows]
    frame = spark.createDataFrame(of, f"k INT, ts {kind}, te {kind}")
    frame.repartition(3).createOrReplaceTempView(name)


def by_key(rows: list[Any], found: Callable[[list[Any]], Any], *, keys: bool) -> Counter[Any]:
    groups: dict[Any, list[Any]] = {}
    for k, *ends in rows:
        groups.setdefault(k if keys else "all", []).append(tuple(ends))
    return Counter((k, *row) for k, some in groups.items() for row in found(some))


def assert_swept(
    spark: Any,
    call: str,
    wanted: Counter[Any],
    value: Value,
    *,
    keys: bool = True,
    nulls: str = "drop",
) -> None:
    options = f", nulls => '{nulls}'" + (", keys => 'k'" if keys else "")
    frame = spark.sql(f"SELECT * FROM {call.replace('(t', '(TABLE(t)')[:-1]}{options})")
    assert "PeriodSweep" in frame._jdf.queryExecution().executedPlan().toString()
    typed = [
        (
            *(() if k == "all" else (k,)),
            None if ts is None else value(ts),
            None if te is None else value(te),
            *more,
        )
        for k, ts, te, *more in wanted.elements()
    ]
    assert typed
    assert bag(frame.collect()) == bag(typed)


@pytest.mark.parametrize("keys", [True, False])
@pytest.mark.parametrize("gap", [None, 0, 2])
@pytest.mark.parametrize(("kind", "settings"), CASES)
def test_merge(spark: Any, kind: str, gap: int | None, settings: str, keys: bool) -> None:
    value, written = TYPES[kind]
    rows = some_rows(len(kind), 60 if keys else 12)
    view(spark, kind, rows, value)
    given = "" if gap is None else f", gap => {written(gap)}"
    wanted = by_key(rows, lambda some: brute.merged(some, gap or 0), keys=keys)
    with configured(spark, SETTINGS[settings]):
        assert_swept(spark, f"interval_merge(t, 'ts', 'te'{given})", wanted, value, keys=keys)


@pytest.mark.parametrize("keys", [True, False])
@pytest.mark.parametrize(("kind", "settings"), CASES)
def test_split(spark: Any, kind: str, settings: str, keys: bool) -> None:
    value, _ = TYPES[kind]
    rows = some_rows(len(kind) + 1)
    view(spark, kind, rows, value)
    wanted = by_key(rows, brute.pieces, keys=keys)
    with configured(spark, SETTINGS[settings]):
        assert_swept(spark, "interval_split(t, 'ts', 'te')", wanted, value, keys=keys)


@pytest.mark.parametrize("keys", [True, False])
@pytest.mark.parametrize("within", [None, (-3, 80), (5, 40)])
@pytest.mark.parametrize(("kind", "settings"), CASES)
def test_complement(spark: Any, kind: str, within: Any, settings: str, keys: bool) -> None:
    value, _ = TYPES[kind]
    rows = some_rows(len(kind) + 2, 60 if keys else 12)
    view(spark, kind, rows, value)
    given = ""
    if within is not None:
        # Strings are cast to the type of the endpoints.
        given = ", within => array({})".format(", ".join(f"'{value(end)}'" for end in within))
    wanted = by_key(rows, lambda some: brute.gaps(some, within), keys=keys)
    with configured(spark, SETTINGS[settings]):
        assert_swept(spark, f"interval_complement(t, 'ts', 'te'{given})", wanted, value, keys=keys)


@pytest.mark.parametrize("keys", [True, False])
@pytest.mark.parametrize("kind", ["INT", "DATE", "TIMESTAMP", "DECIMAL(9, 2)", "DOUBLE"])
def test_null_means_unbounded(spark: Any, kind: str, keys: bool) -> None:
    value, written = TYPES[kind]
    rows = [row for row in some_rows(3) if None not in row]
    rows += [(0, 50, None), (0, 55, None), (1, None, 4), (1, None, None), (2, None, 3)]
    rows = rows if keys else [(0, None, 2), (1, 4, 9), (2, 11, 12), (0, 14, None), (1, 30, None)]
    view(spark, kind, rows, value)
    within = ", within => array({})".format(", ".join(f"'{value(end)}'" for end in (-3, 80)))
    for call, found, *more in (
        ("interval_merge(t, 'ts', 'te')", brute.merged),
        (f"interval_merge(t, 'ts', 'te', gap => {written(2)})", brute.merged, 2),
        ("interval_split(t, 'ts', 'te')", brute.pieces),
        ("interval_complement(t, 'ts', 'te')", brute.gaps),
        (f"interval_complement(t, 'ts', 'te'{within})", brute.gaps, (-3, 80)),
    ):
        wanted = by_key(rows, lambda some, f=found, m=more: brute.unbounded(f, some, *m), keys=keys)
        assert_swept(spark, call, wanted, value, keys=keys, nulls="unbounded")


def test_nulls_may_be_errors(spark: Any) -> None:
    view(spark, "INT", [(0, 1, 5), (0, 7, None)], int)
    gaps = "SELECT * FROM interval_complement(TABLE(t), 'ts', 'te', within => array(0, 20)"
    assert bag(spark.sql(f"{gaps})").collect()) == bag([(0, 1), (5, 7)])
    assert bag(spark.sql(f"{gaps}, nulls => 'drop')").collect()) == bag([(0, 1), (5, 20)])
    with pytest.raises(Exception, match="NULL_END"):
        spark.sql(f"{gaps}, nulls => 'error')").collect()


def test_names_places_and_order_of_columns(spark: Any) -> None:
    spark.sql(
        "SELECT 'x' AS `from`, 5 AS until, NULL AS a, 1 AS since, true AS b"
    ).createOrReplaceTempView("t")
    merged = spark.sql(
        "SELECT * FROM interval_merge(TABLE(t), te => 'until', ts => 'SINCE', count => 'n', "
        "keys => array('from', 'A', 'b'))"
    )
    assert merged.columns == ["from", "a", "b", "since", "until", "n"]
    assert [tuple(row) for row in merged.collect()] == [("x", None, True, 1, 5, 1)]
    split = spark.sql("SELECT * FROM interval_split(TABLE(t), 'since', 'until')")
    assert split.columns == ["since", "until", "count"]
    call = "interval_complement(TABLE(t), 'since', 'until', array(0, 9), array('b', 'from'))"
    gaps = spark.sql(f"SELECT * FROM {call}")
    assert gaps.columns == ["b", "from", "since", "until"]
    assert bag(gaps.collect()) == bag([(True, "x", 0, 1), (True, "x", 5, 9)])


def test_the_smallest_and_the_largest_values_are_no_bounds_of_time(spark: Any) -> None:
    low, high = -(2**63), 2**63 - 1
    rows = [(0, low, low + 5), (0, high - 3, high), (1, low, high)]
    spark.createDataFrame(rows, "k INT, ts BIGINT, te BIGINT").createOrReplaceTempView("t")
    # A difference that exceeds a LONG exceeds any gap.
    for gap in ("", f", gap => {high}", f", gap => {high}BD + {high}BD"):
        call = f"interval_merge(TABLE(t), 'ts', 'te', keys => 'k', nulls => 'drop'{gap})"
        found = spark.sql(f"SELECT * FROM {call}")
        assert bag(found.collect()) == bag([(*row, 1) for row in rows])
    gaps = spark.sql("SELECT * FROM interval_complement(TABLE(t), 'ts', 'te', keys => 'k')")
    assert bag(gaps.collect()) == bag([(0, low + 5, high - 3)])
    ints = "SELECT 2147483640 AS ts, 2147483647 AS te"
    merged = spark.sql(f"SELECT * FROM interval_merge(TABLE({ints}), 'ts', 'te')")
    assert bag(merged.collect()) == bag([(2147483640, 2147483647, 1)])


def test_infinite_and_undefined_numbers(spark: Any) -> None:
    inf, nan = math.inf, math.nan
    rows = [(-inf, -2.0), (-0.0, 1.0), (-1.0, 0.0), (1.5, inf), (3.0, nan), (nan, 9.0)]
    spark.createDataFrame(rows, "ts DOUBLE, te DOUBLE").createOrReplaceTempView("t")
    merged = spark.sql("SELECT ts, te, count FROM interval_merge(TABLE(t), 'ts', 'te', gap => 0.5)")
    found = sorted(map(tuple, merged.collect()))
    # NaN is larger than all other numbers.
    assert [row[2] for row in found] == [1, 4]
    assert found[0][:2] == (-inf, -2.0)
    assert found[1][0] == -1.0
    assert math.isnan(found[1][1])
    gaps = spark.sql("SELECT * FROM interval_complement(TABLE(t), 'ts', 'te')")
    assert bag(gaps.collect()) == bag([(-2.0, -1.0), (1.0, 1.5)])


def test_a_gap_between_fractions_is_their_difference(spark: Any) -> None:
    """In DOUBLE, 0.1 + 0.2 > 0.3, but 0.3 - 0.1 <= 0.2. The difference decides."""
    spark.sql("SELECT * FROM VALUES (0D, 0.1D), (0.3D, 1D) t(ts, te)").createOrReplaceTempView("t")
    for gap, islands in (("0.2D", 1), ("0.19D", 2)):
        merged = spark.sql(f"SELECT * FROM interval_merge(TABLE(t), 'ts', 'te', gap => {gap})")
        assert merged.count() == islands
    assert spark.sql("SELECT 0.3D - 0.1D <= 0.2D AS near").first().near


def test_equal_keys(spark: Any) -> None:
    """NULL equals NULL, NaN equals NaN, and 0.0 equals -0.0, as in GROUP BY."""
    keys = ["0.0D", "-0.0D", "double('NaN')", "double('NaN')", "NULL", "NULL"]
    spark.sql(
        " UNION ALL ".join(f"SELECT {k} AS k, {n} AS ts, {n + 1} AS te" for n, k in enumerate(keys))
    ).createOrReplaceTempView("t")
    merged = spark.sql(
        "SELECT * FROM interval_merge(TABLE(t), 'ts', 'te', keys => 'k') ORDER BY ts"
    )
    assert [tuple(row[1:]) for row in merged.collect()] == [(0, 2, 2), (2, 4, 2), (4, 6, 2)]


@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_below_and_above_other_operators(spark: Any, adaptive: str) -> None:
    rows = some_rows(9)
    view(spark, "INT", rows, int)
    table = "TABLE(SELECT * FROM t WHERE ts < 40)"
    call = f"interval_merge({table}, 'ts', 'te', keys => 'k', nulls => 'drop')"
    wanted = by_key([row for row in rows if row[1] is not None and row[1] < 40], brute.merged,
                    keys=True)  # fmt: skip
    with configured(spark, {ADAPTIVE: adaptive}):
        found = spark.sql(f"SELECT * FROM {call}").cache()
        try:
            assert bag(found.collect()) == wanted
            assert found.count() == wanted.total()
        finally:
            found.unpersist()
        assert len(spark.sql(f"SELECT * FROM {call} LIMIT 3").collect()) == 3
        first = spark.sql(f"SELECT ts FROM {call} WHERE k IS NOT NULL ORDER BY ts, te LIMIT 2")
        assert [row.ts for row in first.collect()] == sorted(
            ts for k, ts, _, _ in wanted.elements() if k is not None
        )[:2]
        one_key = spark.sql(f"SELECT ts, te FROM {call} WHERE k = 1")
        assert bag(one_key.collect()) == Counter(row[1:3] for row in wanted if row[0] == 1)
        inside = spark.sql(
            f"SELECT t.k, t.ts FROM t JOIN {call} m ON t.k = m.k AND t.ts >= m.ts AND t.te <= m.te"
            " WHERE t.ts < t.te AND t.ts < 40"
        )
        assert inside.count() == sum(1 for k, ts, te in rows if k is not None and te is not None
                                     and ts is not None and ts < te and ts < 40)  # fmt: skip


def test_ends_that_are_intervals(spark: Any) -> None:
    for unit in ("MONTH", "DAY"):
        rows = [f"SELECT INTERVAL {a} {unit} AS ts, INTERVAL {b} {unit} AS te" for a, b in
                ((1, 3), (5, 6), (6, 9))]  # fmt: skip
        spark.sql(" UNION ALL ".join(rows)).createOrReplaceTempView("t")
        for gap, counts in ((1, [1, 2]), (2, [3])):
            call = f"interval_merge(TABLE(t), 'ts', 'te', gap => INTERVAL {gap} {unit})"
            merged = spark.sql(f"SELECT count FROM {call} ORDER BY ts")
            assert [row[0] for row in merged.collect()] == counts


def test_one_result_joined_with_itself(spark: Any) -> None:
    rows = some_rows(5)
    view(spark, "INT", rows, int)
    wanted = by_key(rows, brute.merged, keys=True)
    call = "interval_merge(TABLE(t), 'ts', 'te', keys => 'k', nulls => 'drop')"
    spark.sql(f"SELECT * FROM {call}").createOrReplaceTempView("m")
    joined = spark.sql(
        "SELECT a.* FROM m a JOIN m b ON a.k <=> b.k AND a.ts = b.ts AND b.count > 1"
    )
    assert bag(joined.collect()) == Counter(row for row in wanted if row[-1] > 1)


def test_rows_that_may_be_others_when_read_again_are_swept_in_one_task(spark: Any) -> None:
    """Ranges need a first read of the rows, so they need rows that do not change."""
    spark.range(4_000).selectExpr("id * 10 AS ts", "id * 10 + 3 AS te").createOrReplaceTempView("t")
    with configured(spark, {RANGE_ROWS: "500", ADAPTIVE: "false"}):
        for table, is_by_ranges in (
            ("t", True),
            ("SELECT * FROM t LIMIT 3999", False),
            ("SELECT ts, te FROM t WHERE rand() < 0.999", False),
            (
                "SELECT ts, te FROM (SELECT *, row_number() OVER (PARTITION BY ts % 9 ORDER BY "
                "te % 7) AS n FROM t) WHERE n > 0",
                False,
            ),
        ):
            for name in ("merge", "complement"):
                found = spark.sql(f"SELECT * FROM interval_{name}(TABLE({table}), 'ts', 'te')")
                rows = found.rdd.glom().map(len).collect()
                assert sum(rows) > 3_900
                assert (max(rows) < sum(rows)) is is_by_ranges, (table, rows)


def test_rows_that_are_others_when_read_again_are_an_error(spark: Any) -> None:
    """The function is declared as deterministic but is not."""
    spark.udf.register("any_time", lambda _: random.randrange(1_000_000), "INT")
    table = "SELECT ts, ts + 100 AS te FROM (SELECT any_time(id) AS ts FROM range(4000))"
    settings = {RANGE_ROWS: "50", ADAPTIVE: "false", "spark.sql.shuffle.partitions": "32"}
    with configured(spark, settings), pytest.raises(Exception, match="CHANGED_ROWS"):
        spark.sql(f"SELECT * FROM interval_merge(TABLE({table}), 'ts', 'te')").collect()


def test_a_stream_without_event_times_is_refused(spark: Any, tmp_path: Path) -> None:
    spark.sql("SELECT 1 AS ts, 2 AS te").write.parquet(str(tmp_path / "t"))
    stream = spark.readStream.schema("ts INT, te INT").parquet(str(tmp_path / "t"))
    stream.createOrReplaceTempView("arriving")
    says = "Periods of INT are not supported: .* a TIMESTAMP with a watermark"
    for name in ("merge", "split", "complement"):
        with pytest.raises(AnalysisException, match=says):
            spark.sql(f"SELECT * FROM interval_{name}(TABLE(arriving), 'ts', 'te')")


def test_rows_without_an_interval(spark: Any) -> None:
    spark.sql("SELECT 1 AS k, 5 AS ts, 5 AS te").createOrReplaceTempView("t")
    for name in ("merge", "split", "complement"):
        for table, keys in (("t", ", keys => 'k'"), ("t", ""), ("SELECT * FROM t WHERE false", "")):
            call = f"SELECT * FROM interval_{name}(TABLE({table}), 'ts', 'te'{keys})"
            assert spark.sql(call).collect() == []


def test_islands_are_swept_by_ranges_where_nothing_holds_between_them(spark: Any) -> None:
    spark.range(40_000).selectExpr(
        "id DIV 4 * 10 AS ts", "id DIV 4 * 10 + 1 + id % 4 AS te"
    ).createOrReplaceTempView("t")
    with configured(spark, {RANGE_ROWS: "5000", ADAPTIVE: "false"}):
        merged = spark.sql("SELECT * FROM interval_merge(TABLE(t), 'ts', 'te', gap => 2)")
        parts = merged.rdd.glom().map(len).collect()
        assert len([size for size in parts if size > 1000]) >= 4
        assert bag(merged.collect()) == Counter({(10 * n, 10 * n + 4, 4): 1 for n in range(10_000)})
        gaps = spark.sql("SELECT * FROM interval_complement(TABLE(t), 'ts', 'te')")
        parts = gaps.rdd.glom().map(len).collect()
        assert len([size for size in parts if size > 1000]) >= 4
        assert bag(gaps.collect()) == Counter((10 * n + 4, 10 * n + 10) for n in range(9_999))
        one = spark.sql("SELECT * FROM interval_merge(TABLE(t), 'ts', 'te', gap => 6)")
        assert [tuple(row) for row in one.collect()] == [(0, 99_994, 40_000)]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("interval_merge(TABLE(t), 'ts')", "`te` of interval_merge must be the name of a column;"),
        ("interval_merge(TABLE(t), 'ts', 'end')", "`end`"),
        ("interval_merge(TABLE(t), 'ts', 'te', keys => 'ts')", "columns other than ts and te"),
        ("interval_merge(TABLE(t), 'ts', 'te', keys => 3)", "a STRING or an array of STRINGs"),
        ("interval_split(TABLE(t), 'ts', 'te', count => 'ts')", "a name that no other column has"),
        ("interval_merge(TABLE(t), 'ts', 'k')", "start and end must have the same type"),
        ("interval_merge(TABLE(t), 'ts', 'ts')", "another column than `ts`; got 'ts' for both"),
        ("interval_merge(TABLE(t), 'ts', 'te', gap => -1)", "must be at least 0; got -1"),
        ("interval_merge(TABLE(t), 'ts', 'te', gap => 'x')", "must be a number for endpoints"),
        ("interval_merge(TABLE(t), 'ts', 'te', gap => ts)", "gap"),
        (
            "interval_merge(TABLE(SELECT DATE(ts) AS ts, DATE(te) AS te FROM d), 'ts', 'te', "
            "gap => INTERVAL 1 MONTH)",
            "a number of days or an INTERVAL DAY TO SECOND for endpoints of DATE",
        ),
        (
            "interval_merge(TABLE(d), 'ts', 'te', gap => 3)",
            "an INTERVAL DAY TO SECOND for endpoints of TIMESTAMP",
        ),
        ("interval_split(TABLE(m), 'ts', 'te', keys => 'v')", "the column `v`, a MAP<INT, INT>"),
        (
            "interval_complement(TABLE(t), 'ts', 'te', within => array(1, NULL))",
            "`within` of interval_complement must be of INT and not NULL",
        ),
        ("interval_complement(TABLE(t), 'ts', 'te', within => 3)", "must be array(a, b)"),
        ("interval_split('t', 'ts', 'te')", "`t` of interval_split must be TABLE(...)"),
    ],
)
def test_wrong_arguments(spark: Any, call: str, said: str) -> None:
    spark.sql("SELECT 'a' AS k, 1 AS ts, 2 AS te").createOrReplaceTempView("t")
    spark.sql(
        "SELECT TIMESTAMP '2024-01-01' AS ts, TIMESTAMP '2024-01-02' AS te"
    ).createOrReplaceTempView("d")
    spark.sql("SELECT map(1, 2) AS v, 1 AS ts, 2 AS te").createOrReplaceTempView("m")
    with pytest.raises(AnalysisException) as error:
        spark.sql(f"SELECT * FROM {call}").collect()
    assert said in str(error.value)
