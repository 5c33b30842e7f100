# SPDX-License-Identifier: Apache-2.0
"""Execution of sweeps: in chunks, with groups larger than a chunk, and by ranges of time."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from support.spark.comparison import BROADCAST, EXCLUDED_RULES, FOLDING, configured
from support.spark.metrics import metric
from support.temporal.snapshots import Snapshots, Table, assert_canonical

BATCH_ROWS = "spark.sql.intervalsweep.batchRows"
RANGE_ROWS = "spark.sql.intervalsweep.rangeRows"
PARTIAL_SUMS = "spark.sql.intervalsweep.partialSums"
# The rows of key 1 are sent in several chunks. With the smallest batches, they do not fit into the
# memory of a task either, and Spark sorts them.
ROWS = [(1, n % 3, n % 10, n % 10 + 1 + n % 4) for n in range(200)]
ROWS += [(2 + n % 7, n % 3, n % 10, None if n % 5 == 0 else n % 10 + 2) for n in range(30)]
TABLES = {
    "r": Table("k INT, v INT", ROWS),
    "s": Table("k INT, v INT", [(1 + n % 4, n % 3, n % 7, n % 7 + 3) for n in range(20)]),
    "f": Table("k INT, x DOUBLE", [(1, n / 4, n % 9, n % 9 + 3) for n in range(30)]),
    # At each instant a row ends and another starts; the sum of `v` changes at 0, 6 and 12.
    "p": Table("v INT", [(0, 0, 12), *((1 + n // 6, n, n + 1) for n in range(12))]),
    # Most rows are the only ones with their key, here or on both sides.
    "o": Table(
        "k INT, v INT",
        [(n, n % 2, n % 9 - 1, None if n % 7 == 0 else n % 9 + 2) for n in range(20)]
        + [(n, 1, n, n + 3) for n in (3, 4, 4)]
        + [(None, 1, None, 4), (50, 1, 5, 5), (51, 0, 5, 2)],
    ),
    "q": Table("k INT, v INT", [(n, 1, n % 6, n % 6 + 4) for n in (1, 3, 19, 60, 61)]),
}
QUERIES = [
    "SELECT k, v FROM r EXCEPT ALL SELECT k, v FROM s",
    "SELECT DISTINCT k FROM r",
    "SELECT k, count(*) AS n, sum(v) AS t, min(v) AS a, max(v) AS b FROM r GROUP BY k",
    "SELECT k, sum(x) AS t, avg(x) AS m, max(x) AS b FROM f GROUP BY k",
    "SELECT k, sort_array(collect_list(v)) AS l FROM r GROUP BY k",
]
OF_ALL = [
    "SELECT count(*) AS n, sum(v) AS t, max(v) AS b FROM r",
    "SELECT sum(v) AS t FROM s",
    "SELECT avg(v) AS m FROM s",
    "SELECT sort_array(collect_list(v)) AS l FROM s",
]


@pytest.fixture(scope="module")
def snapshots(spark: Any) -> Snapshots:
    return Snapshots(spark, TABLES)


@pytest.mark.parametrize("batch_rows", ["1", "8"])
@pytest.mark.parametrize("query", [*QUERIES, *OF_ALL])
def test_groups_larger_than_a_window(
    spark: Any, snapshots: Snapshots, query: str, batch_rows: str
) -> None:
    with configured(spark, {BATCH_ROWS: batch_rows, EXCLUDED_RULES: FOLDING}):
        # DuckDB has no sort_array.
        frame = snapshots.check(query, duck=None if "collect_list" in query else "")
        assert_canonical(snapshots.rows)
        assert "PeriodSweep" in shown(frame)


@pytest.mark.parametrize("spills", [False, True])
@pytest.mark.parametrize(
    "query",
    [
        "SELECT DISTINCT k, v FROM o",
        *(f"SELECT k, v FROM o {rule} SELECT k, v FROM q" for rule in (
            "UNION", "EXCEPT ALL", "EXCEPT", "INTERSECT ALL", "INTERSECT")),
        "SELECT k FROM o WHERE EXISTS (SELECT 1 FROM q WHERE q.k = o.k)",
        "SELECT k FROM o WHERE NOT EXISTS (SELECT 1 FROM q WHERE q.k = o.k)",
        "SELECT k, count(*) AS n, sum(v) AS t, min(v) AS a, max(v) AS b FROM o GROUP BY k",
        "SELECT k, avg(v) AS m FROM o GROUP BY k",
        "SELECT k, sum(CAST(v AS DOUBLE) * -0.0) AS t FROM o GROUP BY k",
        "SELECT k FROM o GROUP BY k",
        "SELECT k, sort_array(collect_list(v)) AS l FROM o GROUP BY k",
    ],
)  # fmt: skip
def test_rows_whose_key_no_other_row_has(
    spark: Any, snapshots: Snapshots, query: str, spills: bool
) -> None:
    """The worker does not see them, unless the sweep spills."""
    batch_rows = {BATCH_ROWS: "1"} if spills else {}
    with configured(spark, {**batch_rows, EXCLUDED_RULES: FOLDING}):
        frame = snapshots.check(query, duck=None if "collect_list" in query else "")
        assert_canonical(snapshots.rows)
        assert "PeriodSweep" in shown(frame)


def test_a_worker_gets_only_rows_whose_key_others_have(spark: Any) -> None:
    sent = {}
    for shared in (0, 100):
        spark.range(10_000).selectExpr(
            f"if(id < {shared}, 1, id) AS k", "id AS ts", "id + 2 AS te"
        ).createOrReplaceTempView("ids")
        frame = spark.sql("""SELECT * FROM sequenced(TABLE(
            SELECT DISTINCT k FROM validtime(TABLE(ids), 'ts', 'te')))""")
        assert len(frame.collect()) == 10_000 - max(shared - 1, 0)
        sent[shared] = metric(frame, "pythonDataSent", of="PeriodSweep")
    assert sent[0] == 0
    assert 0 < sent[100] < 10_000


OF_FILES = [
    "SELECT DISTINCT k, v FROM {r}",
    "SELECT k, v FROM {r} EXCEPT ALL SELECT k, v FROM {s}",
    "SELECT k FROM {r} INTERSECT ALL SELECT v FROM {s} WHERE k > 1",
    "SELECT k, max(v) AS b FROM {r} GROUP BY k",
    "SELECT k, v FROM (SELECT k + 1 AS k, v FROM {r}) EXCEPT ALL SELECT k, v FROM {s}",
    "SELECT v, count(*) AS n, sum(k) AS t, avg(k) AS m FROM {r} GROUP BY v",
    "SELECT count(*) AS n, sum(k) AS t FROM {r}",
]
# The last value of a type means unbounded, as NULL does.
ENDS = {
    "INT": "nullif({}, 2)",
    "BIGINT": "if({0} = 3, 9223372036854775807, {0})",
    "DATE": "date_add(DATE'2020-01-01', {})",
    "TIMESTAMP": "timestamp_seconds({})",
    "DOUBLE": "{} / 2D",
    "DECIMAL(9, 1)": "CAST({} AS DECIMAL(9, 1))",
}


@pytest.mark.parametrize("adaptive", ["true", "false"])
@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("query", OF_FILES)
def test_columns_of_files_are_shuffled(
    spark: Any, snapshots: Snapshots, tmp_path: Path, query: str, ends: str, adaptive: str
) -> None:
    """Rows that are read from files in batches are those that are read one by one."""
    tables = {}
    for name in ("r", "s"):
        columns = [f"CAST({ENDS[ends].format(end)} AS {ends}) AS {end}" for end in ("ts", "te")]
        rows = spark.table(f"all_{name}").selectExpr("nullif(k, 3) AS k", "v", *columns)
        rows.where("ts < te OR ts IS NULL OR te IS NULL").write.parquet(str(tmp_path / name))
        tables[name] = f"validtime(TABLE(parquet.`{tmp_path / name}`), 'ts', 'te')"
    history = f"SELECT * FROM sequenced(TABLE({query.format(**tables)}))"
    found = {}
    for batches in ("true", "false"):
        settings = {
            "spark.sql.parquet.enableVectorizedReader": batches,
            "spark.sql.adaptive.enabled": adaptive,
            "spark.sql.shuffle.partitions": "3",
        }
        with configured(spark, settings):
            frame = spark.sql(history)
            found[batches] = Counter(map(repr, frame.collect()))
            is_whole = ends not in ("DOUBLE", "DECIMAL(9, 1)") and "max" not in query
            assert ("VectorRows" in shown(frame)) == (batches == "true" and is_whole)
    assert found["true"] == found["false"]
    assert found["true"].total() > 5


SUMS = [
    "SELECT k, count(*) AS n, sum(v) AS t, avg(v) AS m FROM r GROUP BY k",
    "SELECT k, count(v) AS n FROM r WHERE v > 0 GROUP BY k HAVING count(*) > 1",
    "SELECT avg(v) AS m FROM r",
    "SELECT k, sum(t) AS u FROM (SELECT k, v, sum(v) AS t FROM r GROUP BY k, v) GROUP BY k",
    "SELECT s.k, sum(r.v) AS t FROM r JOIN s ON r.v = s.v GROUP BY s.k",
    "SELECT k, sum(v) AS t FROM (SELECT * FROM r UNION ALL SELECT * FROM s) GROUP BY k",
    "SELECT count(*) AS n, avg(v) AS m FROM r WHERE k > 99",
    "SELECT NULLIF(k, 1) AS j, sum(CAST(v AS DECIMAL(18, 2))) AS t FROM r GROUP BY NULLIF(k, 1)",
]


@pytest.mark.parametrize("codegen", ["true", "false"])
@pytest.mark.parametrize("batch_rows", ["1", "65536"])
@pytest.mark.parametrize("partial", ["auto", "always", "never"])
@pytest.mark.parametrize("query", SUMS)
def test_partial_sums(
    spark: Any, snapshots: Snapshots, query: str, partial: str, batch_rows: str, codegen: str
) -> None:
    settings = {
        PARTIAL_SUMS: partial,
        BATCH_ROWS: batch_rows,
        EXCLUDED_RULES: FOLDING,
        "spark.sql.codegen.wholeStage": codegen,
        "spark.sql.shuffle.partitions": "3",
    }
    with configured(spark, settings):
        frame = snapshots.check(query)
        assert_canonical(snapshots.rows)
        assert ("PartialSums" in shown(frame)) == (partial != "never")


@pytest.mark.parametrize("adaptive", ["true", "false"])
@pytest.mark.parametrize(
    "query",
    [
        "SELECT r.k, count(*) AS n FROM r JOIN plain p ON r.v = p.w GROUP BY r.k",
        "SELECT count(*) AS n, sum(v) AS t FROM r WHERE v IN (SELECT w FROM plain)",
        "SELECT k, count(*) AS n FROM r WHERE v IN (SELECT w FROM plain) GROUP BY k",
    ],
)
def test_partial_sums_above_a_sort_merge_join(
    spark: Any, snapshots: Snapshots, query: str, adaptive: str
) -> None:
    """After its last row, such a join returns from the method that has its generated code."""
    spark.sql("SELECT explode(array(0, 1, 1)) AS w").createOrReplaceTempView("plain")
    settings = {
        BROADCAST: "-1",
        "spark.sql.adaptive.enabled": adaptive,
        "spark.sql.adaptive.autoBroadcastJoinThreshold": "-1",
        "spark.sql.codegen.wholeStage": "true",
        EXCLUDED_RULES: FOLDING,
    }
    found = {}
    for partial in ("always", "never"):
        with configured(spark, {**settings, PARTIAL_SUMS: partial}):
            frame = snapshots.history(query)
            found[partial] = Counter(map(repr, frame.collect()))
            assert "PartialSums" in shown(frame) or partial == "never"
            assert "SortMergeJoin" in shown(frame)
    assert found["always"] == found["never"]
    assert found["never"].total() > 5


@pytest.mark.parametrize("adaptive", ["true", "false"])
@pytest.mark.parametrize("batch_rows", ["1", "65536"])
@pytest.mark.parametrize("partial", ["auto", "always", "never"])
@pytest.mark.parametrize("keys", ["name, k", "k", ""])
def test_partial_sums_of_columns_of_files(
    spark: Any, tmp_path: Path, keys: str, partial: str, batch_rows: str, adaptive: str
) -> None:
    """Rows that come in batches have the sums of rows that come one by one."""
    file = tmp_path / "rows"
    spark.range(0, 20_000, 1, 2).selectExpr(
        "CAST(nullif(id % 7, 5) AS INT) AS k",
        "nullif(concat('name', id % 11), 'name7') AS name",
        "if(id % 13 = 0, NULL, id * 7919 - 50000000) AS v",
        "CAST(if(id % 17 = 0, NULL, id % 100 - 50) AS SMALLINT) AS w",
        "timestamp_seconds(id * 7919 % 15000) AS ts",
        "if(id % 19 = 0, NULL, timestamp_seconds(id * 7919 % 15000 + id % 50)) AS te",
    ).write.parquet(str(file))
    columns, by = (f"{keys}, ", f"GROUP BY {keys}") if keys else ("", "")
    history = f"""SELECT * FROM sequenced(TABLE(
        SELECT {columns}count(*) AS n, count(v) AS c, sum(v) AS s, avg(w) AS m
        FROM validtime(TABLE(parquet.`{file}`), 'ts', 'te') {by}))"""
    settings = {
        PARTIAL_SUMS: partial,
        BATCH_ROWS: batch_rows,
        "spark.sql.adaptive.enabled": adaptive,
    }
    found = {}
    for batches in ("true", "false"):
        with configured(spark, {**settings, "spark.sql.parquet.enableVectorizedReader": batches}):
            frame = spark.sql(history)
            found[batches] = Counter(map(repr, frame.collect()))
            assert ("VectorRows" in shown(frame)) == (batches == "true")
            assert ("PartialSums" in shown(frame)) == (partial != "never")
    assert found["true"] == found["false"]
    assert found["true"].total() > 5000


@pytest.mark.parametrize(("range_rows", "passes"), [("1000000", 1), ("100", 2)])
def test_a_few_rows_of_all_are_computed_once(
    spark: Any, tmp_path: Path, range_rows: str, passes: int
) -> None:
    file = tmp_path / "rows"
    numbers = spark.range(3000).selectExpr("CAST(id AS INT) AS v", "id AS ts", "id + 3 AS te")
    numbers.write.parquet(str(file))
    with configured(spark, {RANGE_ROWS: range_rows, PARTIAL_SUMS: "never"}):
        frame = spark.sql(f"""SELECT * FROM sequenced(TABLE(
            SELECT sum(v) AS s FROM validtime(TABLE(parquet.`{file}`), 'ts', 'te')))""")
        rows = frame.collect()
        assert metric(frame, "numOutputRows", of="Scan") == 3000 * passes
    found = sorted((row.ts, row.te, row.s) for row in rows if row.s is not None)
    assert found == [(t, t + 1, sum(range(max(0, t - 2), min(t + 1, 3000)))) for t in range(3002)]


def test_a_task_adds_up_days_but_not_instants_that_differ(spark: Any) -> None:
    spark.range(0, 100_000, 1, 1).createOrReplaceTempView("ids")
    for days, few in ((50, True), (1 << 40, False)):
        frame = spark.sql(f"""
            SELECT * FROM sequenced(TABLE(SELECT k, sum(id) AS s FROM validtime(TABLE(
              SELECT id, id % 3 AS k, id * 7919 % {days} AS ts, id * 7919 % {days} + 5 AS te
              FROM ids), 'ts', 'te') GROUP BY k))""")
        count = len(frame.collect())
        assert count > 3 * 50
        rows = metric(frame, "numOutputRows", of="PartialSums")
        assert (rows <= 3 * 55) if few else (rows == 100_000), "a row for each key and instant"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k, max(v) AS b, count(*) AS n FROM r GROUP BY k",
        "SELECT k, sum(x) AS t FROM f GROUP BY k",
        "SELECT DISTINCT k FROM r",
        "SELECT k FROM r EXCEPT ALL SELECT k FROM s",
    ],
)
def test_what_is_not_a_sum_of_whole_numbers_is_not_added_up(
    spark: Any, snapshots: Snapshots, query: str
) -> None:
    with configured(spark, {PARTIAL_SUMS: "always", EXCLUDED_RULES: FOLDING}):
        frame = snapshots.check(query)
        assert "PeriodSweep" in shown(frame)
        assert "PartialSums" not in shown(frame)


def shown(frame: Any) -> str:
    return str(frame._jdf.queryExecution().toString())


@pytest.mark.parametrize("rows", ["1", "20"])
@pytest.mark.parametrize("query", OF_ALL)
def test_ranges_of_time(spark: Any, snapshots: Snapshots, query: str, rows: str) -> None:
    settings = {RANGE_ROWS: rows, EXCLUDED_RULES: FOLDING, "spark.sql.shuffle.partitions": "7"}
    with configured(spark, settings):
        snapshots.check(query, duck=None if "collect_list" in query else "")
        assert_canonical(snapshots.rows)


def test_time_is_not_cut_where_a_sum_stays_the_same(spark: Any, snapshots: Snapshots) -> None:
    settings = {RANGE_ROWS: "1", EXCLUDED_RULES: FOLDING, "spark.sql.shuffle.partitions": "7"}
    with configured(spark, settings):
        frame = snapshots.check("SELECT sum(v) AS t FROM p")
        assert metric(frame, "replicatedRows", of="PeriodSweep") > 0, "there are several ranges"
        assert_canonical(map(tuple, frame.collect()))


@pytest.mark.parametrize("many", [20_000, pytest.param(200_000, marks=pytest.mark.extended)])
def test_many_rows_of_all_are_swept_in_several_ranges(spark: Any, many: int) -> None:
    spark.range(many).selectExpr(
        "id % 97 AS v", "id * 7 % 100003 AS ts", "id * 7 % 100003 + 1 + id % 50 AS te"
    ).createOrReplaceTempView("many")
    marked = "validtime(TABLE(many), 'ts', 'te')"
    with configured(spark, {RANGE_ROWS: str(many // 10)}):
        frame = spark.sql(
            f"SELECT * FROM sequenced(TABLE(SELECT count(*) AS n, sum(v) AS t FROM {marked}))"
        )
        rows = sorted(frame.collect(), key=lambda row: -1 if row.ts is None else row.ts)
        plan = frame._jdf.queryExecution().executedPlan()
        [node] = [n for n in nodes(plan) if n.nodeName() == "PeriodSweep"]
        metrics = node.metrics()
        assert metrics.apply("replicatedRows").value() > 0
        assert metrics.apply("numOutputRows").value() == len(rows)
    assert rows[0].ts is None
    assert rows[-1].te is None
    for before, after in itertools.pairwise(rows):
        assert before.te == after.ts
        assert (before.n, before.t) != (after.n, after.t)
    changes = spark.sql(
        "SELECT t, sum(c) AS n, sum(s) AS t2 FROM (SELECT ts AS t, 1 AS c, v AS s FROM many "
        "UNION ALL SELECT te, -1, -v FROM many) GROUP BY t ORDER BY t"
    ).collect()
    count = total = 0
    expected = []
    for change in changes:
        count, total = count + change.n, total + change.t2
        if change.n or change.t2:
            expected.append((count, total or None if count == 0 else total, change.t))
    assert [(row.n, row.t, row.ts) for row in rows[1:]] == expected


def nodes(plan: Any) -> list[Any]:
    """All nodes of a physical plan, including those below adaptive execution."""
    if plan.nodeName() == "AdaptiveSparkPlan":
        return nodes(plan.executedPlan())
    below = [plan.children().apply(i) for i in range(plan.children().size())]
    if plan.nodeName() in ("ShuffleQueryStage", "BroadcastQueryStage"):
        below.append(plan.plan())
    return [plan, *(node for child in below for node in nodes(child))]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("temporal_coalesce(TABLE(spells), ts => 'f', te => 'u')", [("a", 1, 7), ("b", 2, 3)]),
        (
            "temporal_split(TABLE(spells), 3, ts => 'f', te => 'u')",
            [("a", 1, 4), ("a", 4, 5), ("a", 5, 7), ("b", 2, 3)],
        ),
        ("temporal_window(TABLE(spells), sliding => 1, ts => 'f', te => 'u')",
         [("a", 1, 2), ("a", 5, 6), ("b", 2, 3)]),
        ("temporal_union_max(TABLE(spells), TABLE(spells), ts => 'f', te => 'u')",
         [("a", 1, 7), ("b", 2, 3)]),
        ("temporal_except_strict(TABLE(spells), TABLE(SELECT 'a' AS x, 6 AS f, 9 AS u), "
         "ts => 'f', te => 'u')", [("a", 1, 6), ("b", 2, 3)]),
    ],
)  # fmt: skip
def test_an_operator_alone(spark: Any, query: str, expected: list[Any]) -> None:
    spark.sql(
        "CREATE OR REPLACE TEMP VIEW spells AS "
        "SELECT * FROM VALUES ('a', 1, 5), ('a', 5, 7), ('b', 2, 3) AS t(x, f, u)"
    )
    frame = spark.sql(f"SELECT * FROM {query}")
    assert frame.columns == ["x", "f", "u"]
    assert sorted(map(tuple, frame.collect())) == expected


def test_an_operator_alone_without_a_start(spark: Any) -> None:
    with pytest.raises(Exception, match=r"INTERVALSWEEP_SEQUENCED\.ARGUMENT.*`ts`"):
        spark.sql("SELECT * FROM temporal_coalesce(TABLE(SELECT 1 AS x, 2 AS u), te => 'u')")
