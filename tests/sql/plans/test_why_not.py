# SPDX-License-Identifier: Apache-2.0
"""Reports on joins: how each uses IntervalSweepJoin, or the reason why it does not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import functions as f

import intervalsweep
from support.spark.comparison import BROADCAST, ENABLED, Both, physical, sweeps

ROOT = Path(__file__).resolve().parents[3]
WHY_NOT = (
    "scala-plugin/src/main/scala/org/apache/spark/sql/intervalsweep/condition/model/WhyNot.scala"
)
MEET = "INTERVAL_INTERSECTS(r.ts, r.te, s.ts, s.te)"


@pytest.fixture(scope="module", autouse=True)
def views(spark: Any) -> None:
    for name in ("r", "s"):
        spark.sql(
            f"CREATE OR REPLACE TEMPORARY VIEW {name} AS SELECT id, id % 3 AS k, id AS ts, "
            "id + 4 AS te, string(id) AS name, string(id) COLLATE UTF8_LCASE AS c FROM range(20)"
        )


def joined(condition: str, hint: str = "") -> str:
    return f"SELECT {hint} r.id, s.id FROM r JOIN s ON {condition}"


def only(reports: intervalsweep.JoinReports) -> intervalsweep.JoinReport:
    assert len(reports) == 1, reports
    return reports[0]


def by_sql(spark: Any, query: str) -> list[Any]:
    frame = spark.sql("SELECT * FROM interval_join_report(:query)", args={"query": query})
    return list(frame.collect())


# Name -> (reason, query with this reason, the conjunct it names, words of its advice).
REASONS = {
    "no condition": ("NoCondition", "SELECT r.id, s.id FROM r, s", None, "add a condition"),
    "or": ("Disjunction", joined(f"{MEET} OR r.name LIKE s.name"), " OR ", "UNION ALL"),
    "not": ("NoRange", joined(f"r.k = s.k AND NOT {MEET}"), "(NOT interval_int", "with AND"),
    "equi-join": ("OnlyEqualities", joined("r.k = s.k"), "(r.k = s.k)", "nothing to change"),
    "meets, keys": (
        "OnlyEqualities",
        joined("r.k = s.k AND ALLEN_MEETS(r.ts, r.te, s.ts, s.te)"),
        "((r.k = s.k) AND (r.te = s.ts))",
        "nothing to change",
    ),
    "weak": ("WeakRange", joined("r.k = s.k AND r.ts < s.ts"), "(r.ts < s.ts)", "other end"),
    "collated strings": (
        "UnsupportedEndpoint",
        joined("r.k = s.k AND ALLEN_BEFORE(r.c, r.c, s.c, s.c)"),
        "allen_before(r.c, r.c, s.c, s.c)",
        "cast it",
    ),
    "random": (
        "NonDeterministic",
        "SELECT r.id, s.id FROM r, s WHERE r.ts < s.te + rand() AND r.id > 1",
        "rand()",
        "in a subquery below",
    ),
    "product": ("CrossSide", joined("r.ts * s.ts < 5"), "((r.ts * s.ts) < 5", "move"),
    "fallible": (
        "MayFail",
        joined("CAST(r.name AS TIMESTAMP) <= CAST(s.name AS TIMESTAMP) AND r.k > 0"),
        "CAST(r.name AS TIMESTAMP) <=",
        "try_cast",
    ),
    "merge": (
        "HintForbids",
        joined(f"r.k = s.k AND {MEET}", "/*+ MERGE(s) */"),
        None,
        "remove the hint",
    ),
    "collation": (
        "UnorderableKeys",
        joined("lower(r.c) = lower(s.c) AND r.ts < s.te AND s.ts < r.te"),
        "(lower(r.c) = lower(s.c))",
        "its text",
    ),
    "scalar subquery": (
        "JoinTypeNotSupported",
        f"SELECT r.id, (SELECT s.id FROM s WHERE {MEET}) AS x FROM r",
        None,
        "LEFT OUTER join",
    ),
}


@pytest.mark.parametrize("case", list(REASONS))
def test_reason(spark: Any, case: str) -> None:
    reason, query, conjunct, advice = REASONS[case]
    frame = spark.sql(query)
    assert sweeps(physical(frame)) == 0
    report = only(intervalsweep.why_not(frame))
    assert (report.swept, report.how, report.reason) == (False, None, reason)
    if conjunct is None:
        assert report.conjunct is None
    else:
        assert conjunct in (report.conjunct or "")
    assert report.explanation
    assert advice in (report.advice or "")
    printed = str(intervalsweep.why_not(frame))
    assert all(part in printed for part in (reason, report.explanation, report.advice))
    assert [tuple(row) for row in by_sql(spark, query)] == [tuple(vars(report).values())]


def test_reason_is_that_it_is_switched_off(spark: Any, conf: Any) -> None:
    frame = spark.sql(joined(MEET))
    assert only(intervalsweep.why_not(frame)).swept
    conf({ENABLED: "false"})
    report = only(intervalsweep.why_not(frame))
    assert (report.swept, report.reason) == (False, "Disabled")
    assert f"SET {ENABLED}=true" in (report.advice or "")


def test_reason_is_a_stream(spark: Any) -> None:
    stream = spark.readStream.format("rate").load()
    r, s = (stream.select(f.col("value").alias(x), f.col("timestamp")).alias(x) for x in "rs")
    frame = r.join(s, f.expr("r.r = s.s AND s.timestamp < r.timestamp"))
    report = only(intervalsweep.why_not(frame))
    assert (report.swept, report.reason) == (False, "Streaming")
    assert "equality keys" in (report.explanation or "")
    assert "a relation such as ALLEN_OVERLAPS" in (report.advice or "")


def test_reason_is_the_broadcast_of_another_join(spark: Any) -> None:
    """The reason occurs only while a query runs, when adaptive execution plans a join again."""
    frame = spark.sql(joined("r.k = s.k AND r.ts < s.ts", "/*+ BROADCAST(s) */"))
    plan = frame._jdf.queryExecution().executedPlan()
    assert frame.collect()
    node = plan.executedPlan().plan()  # below the result stage
    while "BroadcastHashJoin" not in node.nodeName():
        node = node.children().head()
    sql = spark._jvm.org.apache.spark.sql
    join = node.logicalLink().get()
    broadcast = node.right().child()  # below the input of the generated code
    done = sql.execution.adaptive.LogicalQueryStage(join.right(), broadcast)
    again = join.copy(join.left(), done, join.joinType(), join.condition(), join.hint())
    no_side = spark._jvm.scala.Option.empty()
    decision = sql.intervalsweep.planner.joins.IntervalSweepStrategy.decide(again, no_side)
    reason = decision.swap().toOption().get()
    assert reason.name() == "BroadcastStageOfOther"
    assert reason.advice() == "nothing to change"


def test_every_reason_is_tested() -> None:
    listed = re.findall(r"case (?:class|object) (\w+)", (ROOT / WHY_NOT).read_text("utf-8"))
    tested = {reason for reason, *_ in REASONS.values()}
    # Reasons of streams are tested in tests/streams: test_stream_table.py and test_real_time.py;
    # FurtherCondition in tests/sql/joins/test_nearest_matches.py.
    elsewhere = {"Disabled", "Streaming", "StreamByRanges", "RealTime", "BroadcastStageOfOther"}
    elsewhere.add("FurtherCondition")
    assert tested | elsewhere == set(listed)


SWEPT = {
    "broadcast": ({BROADCAST: "10MB"}, MEET, ("boxes left", "boxes right", "broadcast left")),
    "hinted": ({BROADCAST: "-1"}, MEET, ("broadcast right",)),
    "by ranges": (
        {BROADCAST: "-1"},
        "ALLEN_BEFORE(r.ts, r.te, s.ts, s.te)",
        ("boxes left, axes [s.ts in (r.te, inf)]", "by ranges"),
    ),
    "by keys": (
        {BROADCAST: "-1"},
        f"r.k = s.k AND {MEET} AND r.name <> s.name",
        ("keys [r.k = s.k]", "s.ts in [r.ts, r.te)", "residual (NOT (r.name = s.name))", "by keys"),
    ),
}


@pytest.mark.parametrize("case", list(SWEPT))
def test_swept(spark: Any, conf: Any, case: str) -> None:
    settings, condition, parts = SWEPT[case]
    conf(settings)
    query = joined(condition, "/*+ BROADCAST(s) */" if case == "hinted" else "")
    frame = spark.sql(query)
    assert sweeps(physical(frame)) == 1
    report = only(intervalsweep.why_not(frame))
    assert report.swept
    assert (report.reason, report.conjunct, report.explanation, report.advice) == (None,) * 4
    assert all(part in (report.how or "") for part in parts), report
    assert report.how in physical(frame), "the report says what EXPLAIN says"
    assert f"swept: {report.how}" in str(report)
    assert [tuple(row) for row in by_sql(spark, query)] == [tuple(vars(report).values())]


@pytest.mark.parametrize(
    ("query", "join_type"),
    [
        (f"SELECT r.id, s.id FROM r LEFT JOIN s ON {MEET}", "LEFT OUTER"),
        (f"SELECT r.id FROM r LEFT ANTI JOIN s ON {MEET}", "LEFT ANTI"),
        (f"SELECT id FROM r WHERE k = 1 OR EXISTS (SELECT 1 FROM s WHERE {MEET})", "EXISTENCE"),
    ],
)
def test_join_type(spark: Any, query: str, join_type: str) -> None:
    frame = spark.sql(query)
    assert sweeps(physical(frame)) == 1
    report = only(intervalsweep.why_not(frame))
    assert (report.swept, report.join_type) == (True, join_type)
    assert report.how in physical(frame)


def test_every_join_of_a_query(spark: Any) -> None:
    query = (
        f"SELECT a.id FROM (SELECT r.id, s.k FROM r JOIN s ON {MEET}) a JOIN r b ON a.id = b.id "
        "WHERE a.k > (SELECT min(r.k) FROM r JOIN s ON r.ts BETWEEN s.ts AND s.te)"
    )
    reports = intervalsweep.why_not(spark.sql(query))
    assert [report.number for report in reports] == [1, 2, 3]
    assert sorted(report.reason or "" for report in reports) == ["", "", "OnlyEqualities"]
    assert len(by_sql(spark, query)) == 3
    assert str(reports).count("INNER JOIN ON") == 3


def test_no_join(spark: Any) -> None:
    reports = intervalsweep.why_not(spark.range(1))
    assert reports == ()
    assert repr(reports) == "There is no join in the optimized plan."


def test_estimated_pairs(spark: Any, conf: Any) -> None:
    conf({"spark.sql.cbo.enabled": "true"})
    try:
        for name in ("why_r", "why_s"):
            spark.sql(
                f"CREATE TABLE {name} USING parquet AS SELECT id % 3 AS k, id AS ts FROM range(12)"
            )
            spark.sql(f"ANALYZE TABLE {name} COMPUTE STATISTICS FOR ALL COLUMNS")
        near = "a.ts - b.ts BETWEEN 0 AND 3"
        query = "SELECT * FROM why_r a JOIN why_s b ON "
        assert only(intervalsweep.why_not(spark.sql(query + near))).estimated_pairs == 144
        report = only(intervalsweep.why_not(spark.sql(f"{query} a.k = b.k AND {near}")))
        assert report.swept
        assert report.estimated_pairs == 48
        assert "estimated pairs: 48" in str(report)
    finally:
        for name in ("why_r", "why_s"):
            spark.sql(f"DROP TABLE IF EXISTS {name}")


def test_nothing_is_executed(spark: Any) -> None:
    rows = by_sql(spark, "SELECT raise_error('executed') FROM r JOIN s ON r.ts < s.ts")
    assert [row.swept for row in rows] == [True]
    assert by_sql(spark, "CREATE TABLE why_not_made AS SELECT 1 AS x") == []
    assert not spark.catalog.tableExists("why_not_made")


@pytest.mark.parametrize(
    ("arguments", "condition"),
    [
        ("'SELEC 1'", "PARSE_SYNTAX_ERROR"),
        ("'SELECT * FROM r JOIN s ON nowhere'", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ("", "REQUIRED_PARAMETER_NOT_FOUND"),
        ("'SELECT 1', 'SELECT 2'", "WRONG_NUM_ARGS.WITHOUT_SUGGESTION"),
        ("1", "NON_FOLDABLE_ARGUMENT"),
        ("uuid()", "NON_FOLDABLE_ARGUMENT"),
        ("string(NULL)", "DATATYPE_MISMATCH.UNEXPECTED_NULL"),
    ],
)
def test_wrong_argument(spark: Any, arguments: str, condition: str) -> None:
    with pytest.raises((AnalysisException, ParseException)) as error:
        spark.sql(f"SELECT * FROM interval_join_report({arguments})")
    assert error.value.getCondition() == condition


def test_constant_expressions_and_names_are_arguments(spark: Any) -> None:
    call = "interval_join_report(query => 'SELECT * FROM r JOIN s ' || 'ON r.ts < s.ts')"
    assert [row.swept for row in spark.sql(f"SELECT swept FROM {call}").collect()] == [True]


def test_exists_below_or(both: Both) -> None:
    """Spark plans an existence join, which has no name in SQL."""
    assert both("SELECT id FROM r WHERE id > 17 OR k IN (SELECT id FROM s)", swept=None) == 20
    assert both(
        f"SELECT id FROM r WHERE id > 17 OR EXISTS (SELECT 1 FROM s WHERE s.id = 5 AND {MEET})",
        written="SELECT id FROM r WHERE id > 17 OR (ts < 9 AND 5 < te)",
    )


def test_example_of_the_readme(spark: Any) -> None:
    blocks = re.findall(r"```sql\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    (example,) = (block for block in blocks if "interval_join_report" in block)
    views = next(block for block in blocks if "CREATE TEMPORARY VIEW r" in block)
    session = spark.newSession()
    for statement in views.split(";")[:2]:
        session.sql(statement)
    statement, _, results = example.partition(";")
    expected = [line.removeprefix("-- ").split("  ") for line in results.split("\n") if line]
    rows = [
        [str(value).lower() if value in (True, False) else value for value in row]
        for row in session.sql(statement).collect()
    ]
    assert rows == expected


def test_advice_on_alternatives_finds_the_same_pairs(both: Both) -> None:
    first, second = "r.ts <= s.ts AND s.ts < r.te", "s.te < r.ts AND r.id < s.id"
    query = joined(f"({first}) OR ({second})")
    advised = f"{joined(first)} UNION ALL {joined(f'{second} AND NOT coalesce({first}, false)')}"
    assert both(query, swept=2) > 0
    assert both(advised, query, swept=2) > 0


STATEMENTS = {
    "insert": "INSERT INTO target {0}",
    "create": "CREATE TABLE other USING parquet AS {0}",
    "cache": "CACHE TABLE cached AS {0}",
    "directory": "INSERT OVERWRITE DIRECTORY '/no/such/folder' USING parquet {0}",
    "view": "CREATE VIEW viewed AS {0}",
    "explain": "EXPLAIN {0}",
}


@pytest.mark.parametrize("name", list(STATEMENTS))
def test_joins_within_a_statement(spark: Any, name: str) -> None:
    spark.sql("CREATE TABLE IF NOT EXISTS target (a BIGINT, b BIGINT) USING parquet")
    query = joined(MEET).replace("r.id, s.id", "r.id AS a, s.id AS b")
    try:
        if name == "view":  # A view of the catalog must not read views of the session.
            for view in "rs":
                query = query.replace(
                    f" {view} ", f" (SELECT id, id ts, id te FROM range(9)) {view} ", 1
                )
        found = by_sql(spark, STATEMENTS[name].format(query))
        assert [row.swept for row in found] == [True]
        assert not spark.catalog.tableExists("other")
        if name == "insert":
            assert only(intervalsweep.why_not(spark.sql(STATEMENTS[name].format(query)))).swept
    finally:
        spark.sql("DROP TABLE target")


def test_a_sweep_over_texts_advises_a_cast(spark: Any) -> None:
    text = only(intervalsweep.why_not(spark.sql(joined("r.name <= s.name AND r.id > 3"))))
    assert text.swept
    assert "cast it to DATE, TIMESTAMP" in str(text.advice)
    assert "what to change: " in str(text)
    assert only(intervalsweep.why_not(spark.sql(joined(MEET)))).advice is None
