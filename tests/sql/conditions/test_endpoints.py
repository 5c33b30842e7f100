# SPDX-License-Identifier: Apache-2.0
"""Endpoints of rare and mixed types, and parameters that are columns, in joins."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.errors import AnalysisException

from support.joins import oracle
from support.joins.oracle import Limit
from support.spark.comparison import ANSI, BROADCAST, TIME_ZONE, Both, batches

# Type -> (endpoint for a small number {0}, True if the join is swept).
TYPES = {
    "TINYINT": ("CAST({0} AS TINYINT)", True),
    "DECIMAL(18,3)": ("CAST({0} AS DECIMAL(18, 3))", True),
    "DECIMAL(38,2)": ("CAST({0} AS DECIMAL(38, 2))", True),
    "STRING": ("lpad(CAST({0} AS STRING), 12, '0')", True),
    "collated STRING": ("concat(if({0} % 2 = 0, 'A', 'a'), {0}) COLLATE UTF8_LCASE", False),
    "BINARY": ("CAST(lpad(CAST({0} AS STRING), 3, '0') AS BINARY)", True),
    "BOOLEAN": ("{0} % 3 = 0", None),
    "INTERVAL DAY": ("make_dt_interval(CAST({0} AS INT))", None),
    "INTERVAL MONTH": ("make_ym_interval(0, CAST({0} AS INT))", None),
    "STRUCT": ("struct({0} AS a, {0} % 2 AS b)", True),
    "ARRAY": ("array({0}, {0} % 2)", False),
    "an expression": ("abs({0} - 4) * 2", True),
    "NULL": ("if({0} < 100, NULL, {0})", None),
}
TABLE = """
CREATE OR REPLACE TEMPORARY VIEW {name} AS SELECT id, id % 3 AS k,
  if(id % 7 = 0, NULL, id % 4) AS x, {start} AS ts, {end} AS te FROM
  (SELECT id, (id * 7) % 23 AS a, (id * 7) % 23 + (id % 5) - 1 AS b FROM range({rows}))
"""
RELATIONS = ("INTERVAL_INTERSECTS", "ALLEN_OVERLAPS", "ALLEN_AFTER", "ALLEN_STARTED_BY")


def make(spark: Any, template: str, other: str | None = None) -> None:
    for name, rows, of in (("r", 25, template), ("s", 21, other or template)):
        start, end = of.format("a"), of.format("b")
        spark.sql(TABLE.format(name=name, rows=rows, start=start, end=end))


@pytest.mark.parametrize("name", list(TYPES))
def test_type(spark: Any, both: Both, name: str) -> None:
    template, swept = TYPES[name]
    make(spark, template)
    rows = 0
    for number, relation in enumerate(RELATIONS):
        keys = "r.k = s.k AND " if number % 2 else ""
        query = f"SELECT r.id, s.id FROM r JOIN s ON {keys}{{0}}"
        called, written = (query.format(f(relation)) for f in (oracle.call, oracle.formula))
        rows += both(called, written, swept if swept is None else int(swept))
    assert rows > 0 or name in ("NULL", "BOOLEAN")


MIXED = {
    "INT with BIGINT": ("CAST({0} AS INT)", "{0}"),
    "INT with DOUBLE": ("CAST({0} AS INT)", "{0} + 0.5D"),
    "INT with FLOAT": ("CAST({0} + 16777210 AS INT)", "CAST({0} + 16777210 AS FLOAT)"),
    "BIGINT with FLOAT": ("{0} + 9007199254740990", "CAST({0} + 9007199254740990 AS FLOAT)"),
    "DECIMAL of two scales": ("CAST({0} AS DECIMAL(10, 2))", "CAST({0} AS DECIMAL(12, 5))"),
    "DECIMAL with BIGINT": ("CAST({0} AS DECIMAL(10, 2))", "{0}"),
    "DECIMAL with DOUBLE": ("CAST({0} AS DECIMAL(10, 2))", "{0} + 0.5D"),
    "DATE with TIMESTAMP": (
        "date_add(DATE'2024-03-20', CAST({0} AS INT))",
        "TIMESTAMP'2024-03-20 01:30:00' + make_dt_interval(CAST({0} AS INT))",
    ),
    "TIMESTAMP with TIMESTAMP_NTZ": (
        "TIMESTAMP'2024-03-30 20:00:00' + make_dt_interval(0, CAST({0} AS INT))",
        "TIMESTAMP_NTZ'2024-03-30 20:00:00' + make_dt_interval(0, CAST({0} AS INT))",
    ),
}


@pytest.mark.parametrize("name", list(MIXED))
@pytest.mark.parametrize("ansi", ["true", "false"])
def test_mixed_types(spark: Any, conf: Any, both: Both, name: str, ansi: str) -> None:
    """Endpoints are cast to a common type as in Spark's own comparison."""
    conf({ANSI: ansi, TIME_ZONE: "Europe/Berlin"})
    make(spark, *MIXED[name])
    rows = 0
    for relation in ("INTERVAL_INTERSECTS", "ALLEN_BEFORE", "ALLEN_MEETS"):
        query = "SELECT r.id, s.id FROM r JOIN s ON {0}"
        called, written = (query.format(f(relation)) for f in (oracle.call, oracle.formula))
        rows += both(called, written, None)
    assert rows > 0


WRITTEN = "CAST({later} AS DECIMAL(38, 0)) - CAST({earlier} AS DECIMAL(38, 0)) <= "


@pytest.mark.parametrize("threshold", ["10MB", "-1"])
@pytest.mark.parametrize("limit", ["r.x", "s.x", "r.x + s.x", "r.x - 2", "r.id % 3", "2 - 1", "1L"])
def test_parameter_is_an_expression(
    spark: Any, conf: Any, both: Both, drawn: Any, limit: str, threshold: str
) -> None:
    """A parameter may be a column of either side, and NULL or negative in some rows."""
    conf({BROADCAST: threshold})
    make(spark, "{0}")
    variants = [v for v in oracle.variants() if v.parameters]
    for some in drawn(batches(list(enumerate(variants))), 1):
        called, written = [], []
        for number, variant in some:
            name = variant.relation.name
            chosen = dict.fromkeys(variant.parameters, Limit(limit, WRITTEN + f"({limit})"))
            keys = "r.k = s.k AND " if number % 2 else ""
            query = f"SELECT '{variant}', r.id, s.id FROM r JOIN s ON {keys}{{0}}"
            called.append(query.format(oracle.call(name, **chosen)))
            written.append(query.format(oracle.formula(name, **chosen)))
        assert both(" UNION ALL ".join(called), " UNION ALL ".join(written), len(called)) > 0


def test_null_by_position_stands_for_a_parameter_without_a_limit(spark: Any, both: Both) -> None:
    """At the end it is an error, since a parameter marker without a value would return all rows."""
    make(spark, "{0}")
    query = "SELECT r.id, s.id FROM r JOIN s ON {0}"
    called = query.format("ISEQL_DURING(r.ts, r.te, s.ts, s.te, NULL, 1)")
    assert (
        both(
            called, query.format(oracle.formula("ISEQL_DURING", epsilon=Limit("1", WRITTEN + "1")))
        )
        > 0
    )
    with pytest.raises(AnalysisException, match="UNEXPECTED_NULL"):
        spark.sql(query.format("ISEQL_DURING(r.ts, r.te, s.ts, s.te, NULL)"))


MONTHS = """
CREATE OR REPLACE TEMPORARY VIEW {0} AS SELECT id, k, date_from_unix_date(a) AS ts,
  date_from_unix_date(a + 1) AS te, timestamp_seconds(b) AS t1
FROM VALUES (1, 1, 10, 20), (2, 1, 40, 40), (3, 1, 41, 99), (4, 2, 70, 90),
  (5, {1}, 2147483646, 9223372036854), (6, {1}, -2147483648, -9223372036854) AS v(id, k, a, b)
"""


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize("threshold", ["10MB", "-1"])
def test_months_at_the_end_of_the_calendar(
    spark: Any, conf: Any, both: Both, ansi: str, threshold: str
) -> None:
    """Adding a month may overflow. A row without candidate pairs must not fail the query."""
    conf({ANSI: ansi, BROADCAST: threshold})
    for name, key in (("r", 8), ("s", 9)):
        spark.sql(MONTHS.format(name, key))
    month = "INTERVAL '1' MONTH"
    limit = Limit(month, f"{{later}} <= {{earlier}} + {month}")
    query = "SELECT r.id, s.id FROM r JOIN s ON r.k = s.k AND {0}"
    rows = 0
    for ends in (("ts", "te"), ("t1", "t1")):
        r, s = (tuple(f"{side}.{end}" for end in ends) for side in "rs")
        for name in ("ISEQL_BEFORE", "ISEQL_AFTER", "ISEQL_REVERSE_START_PRECEDING"):
            called = query.format(oracle.call(name, r, s, delta=limit))
            rows += both(called, query.format(oracle.formula(name, r, s, delta=limit)))
    assert rows > 0
