# SPDX-License-Identifier: Apache-2.0
"""Rows of every type come through a join unchanged, whichever side they are on."""

from __future__ import annotations

from typing import Any

import pytest

from support.joins.oracle import call, formula
from support.spark.comparison import BROADCAST, Both

# Columns with NULLs, empty values and variable lengths; `n` is the row's number.
WIDE = """
CREATE OR REPLACE TEMPORARY VIEW {0} AS SELECT
  CAST(id AS INT) AS n, CAST(id % 3 AS INT) AS k,
  CAST(id AS INT) AS ts, CAST(id + 1 + id % 4 AS INT) AS te,
  id % 2 = 0 AS a_boolean, CAST(id AS TINYINT) AS a_byte, CAST(id AS SMALLINT) AS a_short,
  if(id % 5 = 0, NULL, id * 10000000000) AS a_long,
  CASE id % 4 WHEN 0 THEN float('NaN') WHEN 1 THEN float('-0.0') ELSE float(id / 3) END AS f,
  CASE id % 4 WHEN 0 THEN -0.0D WHEN 1 THEN double('-Infinity') ELSE id / 7.0D END AS g,
  CAST(id / 3 AS DECIMAL(10, 2)) AS small_decimal,
  CAST(if(id % 4 = 1, NULL, id * 123456789012345678) AS DECIMAL(38, 5)) AS large_decimal,
  if(id % 3 = 0, NULL, repeat('é', CAST(id AS INT))) AS a_string,
  if(id % 4 = 0, NULL, CAST(repeat('x', CAST(id % 7 AS INT)) AS BINARY)) AS a_binary,
  date_add(DATE'2024-01-01', CAST(id AS INT)) AS a_date,
  timestamp_seconds(id * 1000) AS a_timestamp,
  TIMESTAMP_NTZ'2024-01-01' + make_dt_interval(0, CAST(id AS INT)) AS a_ntz,
  make_dt_interval(CAST(id AS INT)) AS a_dt, make_ym_interval(0, CAST(id AS INT)) AS a_ym,
  make_interval(0, CAST(id AS INT), 0, 1) AS an_interval,
  if(id % 4 = 2, NULL, struct(id AS i, CAST(id AS STRING) AS s, struct(id AS x) AS t))
    AS a_struct,
  if(id % 4 = 3, NULL, array(id, NULL, id + 1)) AS an_array,
  array(array('a', CAST(id AS STRING)), NULL, array()) AS nested,
  if(id % 5 = 1, NULL, map(CAST(id AS STRING), array(id), 'x', NULL)) AS a_map,
  NULL AS a_null
FROM range({1})
"""


@pytest.fixture(scope="module")
def views(spark: Any) -> None:
    spark.sql(WIDE.format("r", 23))
    spark.sql(WIDE.format("s", 19))


@pytest.mark.parametrize("keys", ["", "r.k = s.k AND "], ids=["keyless", "keyed"])
@pytest.mark.parametrize("threshold", ["10MB", "-1"])
@pytest.mark.parametrize("compiled", ["true", "false"])
@pytest.mark.usefixtures("views")
def test_wide_rows(conf: Any, both: Both, keys: str, threshold: str, compiled: str) -> None:
    conf({BROADCAST: threshold, "spark.sql.codegen.wholeStage": compiled})
    # PySpark has no values for these two types, so they are cast to strings above the join.
    columns = [
        f"{side}.* EXCEPT (a_ym, an_interval), struct({side}.a_ym, {side}.an_interval)::STRING"
        for side in "rs"
    ]
    query = f"SELECT {', '.join(columns)} FROM r JOIN s ON {keys}{{0}}"
    name = "INTERVAL_INTERSECTS"
    assert both(query.format(call(name)), query.format(formula(name))) > 19


@pytest.mark.parametrize("threshold", ["10MB", "-1"])
@pytest.mark.usefixtures("views")
def test_residual_over_payload(conf: Any, both: Both, threshold: str) -> None:
    conf({BROADCAST: threshold})
    query = """
        SELECT r.n, s.a_map, r.a_struct.t.x, s.nested[0][1] FROM r JOIN s ON {0}
          AND (r.a_string < s.a_string OR r.a_struct.i <> s.an_array[0] OR r.g <=> s.g)
    """
    name = "ALLEN_OVERLAPS"
    assert both(query.format(call(name)), query.format(formula(name))) > 5


@pytest.mark.parametrize(
    "key",
    [
        "r.a_string = s.a_string",
        "r.f = s.f",
        "r.g <=> s.g",
        "r.a_binary = s.a_binary",
        "r.small_decimal = s.small_decimal",
        "r.large_decimal <=> s.large_decimal",
        "r.a_struct = s.a_struct",
        "r.an_array <=> s.an_array",
        "r.a_date = s.a_date AND r.a_boolean = s.a_boolean AND r.a_long <=> s.a_long",
        "upper(r.a_string) = s.a_string AND r.n % 2 = s.n % 2",
        "r.a_dt = s.a_dt",
    ],
)
@pytest.mark.usefixtures("views")
def test_keys_of_every_type(conf: Any, both: Both, key: str) -> None:
    name, query = "INTERVAL_INTERSECTS", f"SELECT r.n, s.n FROM r JOIN s ON {key} AND {{0}}"
    rows = 0
    for threshold in ("10MB", "-1"):
        conf({BROADCAST: threshold})
        rows += both(query.format(call(name)), query.format(formula(name)))
    assert rows > 0 or "upper" in key


# New and rare types. No type may fail a join.
RARE = {
    "void": "NULL",
    "void in a struct": "struct(id, NULL AS x)",
    "void in an array": "if(id % 2 = 0, array(NULL, NULL), array())",
    "void in a map": "map(id, NULL)",
    "variant": "CAST(parse_json(if(id % 3 = 0, NULL, concat('[', id, ', \"x\"]'))) AS VARIANT)",
    "time": "make_time(CAST(id AS INT), 30, 1.5)",
    "collated string": "concat('A', id) COLLATE UTF8_LCASE",
    "calendar interval": "struct(make_interval(0, CAST(id AS INT), 0, 1) AS x)",
    "empty struct": "struct(struct(id AS y) AS x, map(id, struct(id AS z)) AS m)",
    "long string": "repeat('abc', 20000)",
    "large decimal in an array": "array(CAST(id AS DECIMAL(38, 10)), NULL)",
}


@pytest.mark.parametrize("name", list(RARE))
def test_rare_types(spark: Any, conf: Any, both: Both, name: str) -> None:
    conf({"spark.sql.timeType.enabled": "true"})
    for view, rows in (("t", 9), ("u", 7)):
        query = (
            f"SELECT id, id % 2 AS k, id AS ts, id + 2 AS te, {RARE[name]} AS v FROM range({rows})"
        )
        spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW {view} AS {query}")
    ends = [tuple(f"{view}.{end}" for end in ("ts", "te")) for view in "tu"]
    called, written = (f("INTERVAL_INTERSECTS", *ends) for f in (call, formula))
    for threshold in ("10MB", "-1"):
        conf({BROADCAST: threshold})
        for keys in ("", "t.k = u.k AND "):
            query = f"SELECT CAST(t.v AS STRING) AS x, u.v FROM t JOIN u ON {keys}{{0}}"
            if name == "variant":
                query = query.replace("u.v FROM", "to_json(u.v) FROM")
            if name in ("calendar interval", "time"):
                query = query.replace("u.v FROM", "CAST(u.v AS STRING) FROM")
            assert both(query.format(called), query.format(written)) >= 7


def test_time_endpoints_with_a_distance(spark: Any, conf: Any, both: Both) -> None:
    conf({"spark.sql.timeType.enabled": "true"})
    for view, rows in (("t", 40), ("u", 60)):
        spark.sql(
            f"CREATE OR REPLACE TEMPORARY VIEW {view} AS SELECT id, "
            f"if(id % 9 = 8, NULL, make_time(23, CAST(id * 7 % {rows} AS INT), 0)) AS ts, "
            f"make_time(23, CAST(id * 7 % {rows} AS INT), id % 3) AS te FROM range({rows})"
        )
    query = "SELECT t.id, u.id FROM t JOIN u ON {0}"
    for limit, rows in (("'5' MINUTE", 100), ("'1.5' SECOND", 10), ("'1' DAY", 400)):
        called = f"ISEQL_BEFORE(t.ts, t.te, u.ts, u.te, delta => INTERVAL {limit})"
        written = f"t.te <= u.ts AND u.ts - t.te <= INTERVAL {limit}"
        assert both(query.format(called), query.format(written)) > rows


PERIODS = """
CREATE OR REPLACE TEMPORARY VIEW {0} AS SELECT id, id % 2 AS k,
  struct(TIMESTAMP'2024-03-31' + make_dt_interval(0, CAST(id AS INT)) AS valid_from,
         TIMESTAMP'2024-03-31' + make_dt_interval(0, CAST(id + 2 AS INT)) AS valid_to) AS period
FROM range({1})
"""


def test_periods_as_struct_columns(spark: Any, both: Both) -> None:
    """Fields of a struct can be endpoints, as columns can."""
    for name, rows in (("p", 20), ("q", 30)):
        spark.sql(PERIODS.format(name, rows))
    ends = [tuple(f"{side}.period.{end}" for end in ("valid_from", "valid_to")) for side in "pq"]
    for keys in ("", "p.k = q.k AND "):
        query = f"SELECT p.*, q.* FROM p JOIN q ON {keys}{{0}}"
        called = query.format("ALLEN_OVERLAPS(p.period, q.period)")
        assert both(called, query.format(formula("ALLEN_OVERLAPS", *ends))) > 0 or keys
