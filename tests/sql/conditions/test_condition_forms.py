# SPDX-License-Identifier: Apache-2.0
"""Equivalent forms of interval conditions, with wrappers and OR, in every join type and plan."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import ArithmeticException

import intervalsweep
from support.spark.comparison import ANSI, BROADCAST, ENABLED, EXCLUDED_RULES, FOLDING, Both

RANGES = {BROADCAST: "-1"}
COLUMNS = ("id", "k", "ts", "te", "x")


def table(seed: int, rows: int) -> pa.Table:
    """Short intervals; some are empty or reversed, and some endpoints are NULL or extreme."""
    rng = random.Random(seed)
    made: dict[str, list[int | None]] = {name: [] for name in COLUMNS}
    for number in range(rows):
        start = rng.randrange(40)
        values = (number, rng.randrange(3), start, start + rng.randrange(-1, 5), rng.randrange(40))
        for name, value in zip(COLUMNS, values, strict=True):
            missing = name != "id" and rng.random() < 0.06
            made[name].append(None if missing else value)
        if rng.random() < 0.06:
            made[rng.choice(("ts", "te"))][-1] = rng.choice((-(2**63), 2**63 - 1))
    return pa.table({name: pa.array(values, pa.int64()) for name, values in made.items()})


@pytest.fixture(scope="module", autouse=True)
def views(spark: Any) -> None:
    for name, seed, rows in (("a", 1, 70), ("b", 2, 60)):
        frame = spark.createDataFrame(table(seed, rows))
        frame.createOrReplaceTempView(name)
        frame.limit(0).createOrReplaceTempView(f"no_{name}")


def queries(condition: str, a: str = "a", b: str = "b") -> dict[str, str]:
    """The condition in every type of join."""
    columns = "a.id AS i, b.id AS j, b.x"
    shapes = {
        kind: f"SELECT {columns} FROM {a} AS a {kind} JOIN {b} AS b ON {condition}"
        for kind in ("INNER", "LEFT", "RIGHT", "FULL")
    }
    for kind in ("SEMI", "ANTI"):
        shapes[kind] = f"SELECT a.id, a.x FROM {a} AS a LEFT {kind} JOIN {b} AS b ON {condition}"
    exists = f"EXISTS (SELECT 1 FROM {b} AS b WHERE {condition})"
    shapes["EXISTENCE"] = f"SELECT a.id FROM {a} AS a WHERE {exists} OR a.x = 7"
    shapes["COUNT"] = (
        f"SELECT a.k, count(*), sum(b.x) FROM {a} AS a JOIN {b} AS b ON {condition} GROUP BY a.k"
    )
    return shapes


TRUE = {
    "coalesce": "coalesce(a.ts < b.te AND b.ts < a.te, false)",
    "case": "CASE WHEN a.ts < b.te THEN b.ts < a.te ELSE false END",
    "case keys": "CASE WHEN a.k = b.k AND a.ts <= b.ts THEN b.ts < a.te END",
    "null-safe": "(a.ts < b.te AND coalesce(b.ts < a.te, false)) <=> true",
}


@pytest.mark.parametrize("threshold", ["-1", "10MB"])
@pytest.mark.parametrize("name", list(TRUE))
def test_what_is_true_for_the_same_pairs(conf: Any, both: Both, name: str, threshold: str) -> None:
    conf({BROADCAST: threshold})
    for query in queries(TRUE[name]).values():
        assert both(query) > 0


OVERLAP = "(b.ts BETWEEN a.ts AND a.te) OR (a.ts BETWEEN b.ts AND b.te)"
EITHER = {
    "overlap in two": OVERLAP,
    "relations": "ALLEN_MEETS(a.ts, a.te, b.ts, b.te) OR ALLEN_OVERLAPS(a.ts, a.te, b.ts, b.te)"
    " OR ALLEN_STARTS(a.ts, a.te, b.ts, b.te)",
    "the same twice": "INTERVAL_INTERSECTS(a.ts, a.te, b.ts, b.te) OR a.ts < b.te AND b.ts < a.te",
    "parameters": "ISEQL_BEFORE(a.ts, a.te, b.ts, b.te, delta => 2)"
    " OR ISEQL_LEFT_OVERLAP(a.ts, a.te, b.ts, b.te)",
    "keys in all": f"a.k = b.k AND ({OVERLAP})",
    "keys in each": "(a.k = b.k AND b.x BETWEEN a.ts AND a.te)"
    " OR (a.k = b.k AND a.x BETWEEN b.ts AND b.te)",
    "a key in one": "(a.k = b.k AND b.x BETWEEN a.ts AND a.te) OR (a.x BETWEEN b.ts AND b.te)",
    "and more": f"a.x <> b.x AND ({OVERLAP})",
    "not both": "NOT ((b.ts < a.ts OR b.ts > a.te) AND (a.ts < b.ts OR a.ts > b.te))",
    "three": "a.k > 0 AND (b.ts BETWEEN a.ts AND a.te OR b.ts BETWEEN a.x AND a.x + 2"
    " OR b.ts = a.k)",
    "coalesced": f"coalesce({OVERLAP}, false)",
}


ALL_KINDS = ("overlap in two", "keys in all")


@pytest.mark.parametrize("threshold", ["-1", "10MB"])
@pytest.mark.parametrize("name", list(EITHER))
def test_alternatives(conf: Any, both: Both, drawn: Any, name: str, threshold: str) -> None:
    """No pair is returned twice, and a NULL in one alternative does not reject a true other one."""
    conf({BROADCAST: threshold})
    shapes = queries(EITHER[name])
    for kind in drawn(shapes if name in ALL_KINDS else ("FULL", "ANTI"), 4):
        assert both(shapes[kind]) > 0


@pytest.mark.parametrize("name", ALL_KINDS)
def test_alternatives_without_generated_code(conf: Any, both: Both, drawn: Any, name: str) -> None:
    conf({BROADCAST: "-1", "spark.sql.codegen.wholeStage": "false"})
    for query in drawn(queries(EITHER[name]).values(), 4):
        assert both(query) > 0


@pytest.mark.parametrize("enabled", ["true", "false"])
def test_an_alternative_that_overflows_fails_as_in_spark(
    spark: Any, conf: Any, enabled: str
) -> None:
    conf({BROADCAST: "-1", ENABLED: enabled, ANSI: "true", EXCLUDED_RULES: FOLDING})
    condition = "b.ts BETWEEN a.ts AND a.te OR b.ts BETWEEN a.x AND a.x + a.te"
    query = f"""
        SELECT * FROM (SELECT id + 5 AS ts, {2**63 - 1} - id AS te, id + 1 AS x FROM range(1)) a
        JOIN (SELECT id AS ts FROM range({{}}, 9)) b ON {condition}"""
    # The second alternative is evaluated only for pairs for which the first is not true.
    assert spark.sql(query.format(5)).count() == 4
    with pytest.raises(ArithmeticException, match="ARITHMETIC_OVERFLOW"):
        spark.sql(query.format(2)).collect()


def test_an_alternative_that_wraps(conf: Any, both: Both, drawn: Any) -> None:
    conf({BROADCAST: "-1", ANSI: "false"})
    condition = "b.ts BETWEEN a.ts AND a.te OR b.ts BETWEEN a.x AND a.x + a.te"
    for query in drawn(queries(condition).values(), 4):
        assert both(query) > 0


LEFT_TO_SPARK = {
    "no range": f"({OVERLAP}) OR a.k = 1",
    "many alternatives": " OR ".join(
        f"b.{start} BETWEEN a.{start} AND a.{end}"
        for start, end in zip(COLUMNS, (*COLUMNS[1:], "id"), strict=True)
    ),
}


@pytest.mark.parametrize("name", list(LEFT_TO_SPARK))
def test_alternatives_left_to_spark(spark: Any, name: str) -> None:
    query = queries(LEFT_TO_SPARK[name])["INNER"].replace("'", "''")
    row = spark.sql(f"SELECT reason FROM interval_join_report('{query}')").first()
    assert row.reason == "Disjunction"


def test_not_coalesced_is_no_interval_condition(both: Both) -> None:
    """Below NOT, NULL and false differ: pairs with a NULL endpoint match."""
    assert both(queries("NOT coalesce(a.ts < b.te AND b.ts < a.te, false)")["INNER"], swept=0) > 0


CONSTANT = {
    "length": "b.ts >= a.ts AND b.ts < a.ts + (SELECT max(k) + 2 FROM a WHERE k < 3)",
    "difference": "a.k = b.k AND b.ts - a.ts BETWEEN 0 AND (SELECT CAST(avg(k) AS BIGINT) FROM b)",
    "parameter": "ISEQL_BEFORE(a.ts, a.te, b.ts, b.te, delta => (SELECT max(k) FROM a))",
    "no value": "b.ts >= a.ts AND b.ts < a.ts + (SELECT max(k) FROM a WHERE k > 5)",
}


@pytest.mark.parametrize("threshold", ["-1", "10MB"])
@pytest.mark.parametrize("name", list(CONSTANT))
def test_a_scalar_subquery_is_a_constant(
    spark: Any, conf: Any, both: Both, name: str, threshold: str
) -> None:
    conf({BROADCAST: threshold})
    found = 0
    for query in queries(CONSTANT[name]).values():
        found += both(query)
    assert found > 0
    report = intervalsweep.why_not(spark.sql(queries(CONSTANT[name])["INNER"]))[0]
    assert "inf" not in str(report.how), report.how


# Alternatives that need different orders of a side: a join for each.
SPLIT = {
    "different ends": "(b.ts BETWEEN a.ts AND a.te) OR (b.te BETWEEN a.x AND a.te)",
    "keys": "a.k = b.k AND a.id <> b.id AND ((b.ts BETWEEN a.ts AND a.te) "
    "OR (b.te BETWEEN a.x AND a.ts))",
    # As the macro join_snapshots of dbt writes it.
    "snapshots": "a.k = b.k AND ((a.ts >= b.ts AND a.ts < b.te) OR (a.te >= b.ts AND a.te < b.te) "
    "OR (b.ts >= a.ts AND b.te < a.te))",
    "many orders": "b.ts BETWEEN a.ts AND a.te OR b.te BETWEEN a.x AND a.k"
    " OR b.x BETWEEN a.id AND a.id",
    "one bound each": "(b.ts < a.ts AND b.te > a.te) OR (b.x BETWEEN a.x - 1 AND a.x + 1) "
    "OR (a.k BETWEEN b.ts AND b.ts + 1)",
}


@pytest.mark.parametrize("threshold", ["-1", "10MB"])
@pytest.mark.parametrize("name", list(SPLIT))
def test_alternatives_with_different_orders(
    spark: Any, conf: Any, both: Both, name: str, threshold: str
) -> None:
    conf({BROADCAST: threshold})
    shapes = queries(SPLIT[name])
    del shapes["EXISTENCE"]
    for query in shapes.values():
        assert both(query, swept=None) > 0
        reports = intervalsweep.why_not(spark.sql(query))
        assert len(reports) > 1
        assert all(report.swept for report in reports), reports


def test_inputs_that_differ_from_run_to_run_are_read_once(spark: Any) -> None:
    limited = "(SELECT id, id % 3 k, id ts, id + 3 te, id x FROM range(60) LIMIT 50) AS b"
    query = f"SELECT a.id FROM a JOIN {limited} ON {SPLIT['different ends']}"
    assert len(intervalsweep.why_not(spark.sql(query))) == 1
