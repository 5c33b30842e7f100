# SPDX-License-Identifier: Apache-2.0
"""Written-out inequalities in many spellings, with the results and errors of Spark's arithmetic."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from support.joins.conditions import FREE, OVERFLOW, SWEPT
from support.spark.comparison import (
    ANSI,
    BROADCAST,
    EXCLUDED_RULES,
    FOLDING,
    OWN_PLAN,
    TIME_ZONE,
    Both,
    bag,
    batches,
    configured,
    difference,
    physical,
    sweeps,
)

BASE = 1_711_846_800_000_000  # 2024-03-31 01:00 UTC: in Berlin, 2:00 becomes 3:00.
BACK = 1_729_990_800_000_000  # 2024-10-27 01:00 UTC: in Berlin, 3:00 becomes 2:00.
HALF_HOUR = 1_800_000_000
TYPES = {
    "i": (pa.int32(), int),
    "b": (pa.int64(), int),
    "h": (pa.int16(), int),
    "d": (pa.int32(), lambda n: 19_781 + 3 * n),
    "t": (pa.int64(), lambda n: (BASE, BACK)[n % 2] + (n - 6) * HALF_HOUR),
    "n": (pa.int64(), lambda n: BASE + (n - 4) * HALF_HOUR),
    "f": (pa.float32(), lambda n: (n - 3) * 0.3 or -0.0),
    "g": (pa.float64(), lambda n: float("nan") if n == 11 else (n - 3) * 0.3 or -0.0),
    "m": (pa.int64(), int),
    "v": (pa.string(), str),
}
VIEW = """
CREATE OR REPLACE TEMPORARY VIEW {0} AS SELECT id, k, i1, i2, b1, b2, h1, h2, f1, f2, g1, g2,
  v1, v2,  date_from_unix_date(d1) AS d1, date_from_unix_date(d2) AS d2,
  timestamp_micros(t1) AS t1, timestamp_micros(t2) AS t2,
  TIMESTAMP_NTZ '1970-01-01' + make_dt_interval(0, 0, 0, n1 / 1000000) AS n1,
  TIMESTAMP_NTZ '1970-01-01' + make_dt_interval(0, 0, 0, n2 / 1000000) AS n2,
  CAST(m1 * 0.25 AS DECIMAL(10, 2)) AS m1, CAST(m2 * 0.25 AS DECIMAL(10, 2)) AS m2,
  CAST(m1 * 0.2501 AS DECIMAL(12, 4)) AS p1, CAST(m2 * 0.2501 AS DECIMAL(12, 4)) AS p2 FROM {0}_raw
"""


SETTINGS = [*itertools.product(["Europe/Berlin", "UTC"], ["true", "false"], ["10MB", "-1"])]


def table(seed: int, rows: int) -> pa.Table:
    """Short intervals; some are empty or reversed, and some endpoints are NULL."""
    rng = random.Random(seed)
    columns: dict[str, Any] = {"id": pa.array(range(rows), pa.int32())}
    columns["k"] = pa.array([rng.choice((0, 1, 1, 2, None)) for _ in range(rows)], pa.int32())
    for name, (arrow, make) in TYPES.items():
        starts = [rng.randrange(10) for _ in range(rows)]
        ends = [max(0, start + rng.choice((0, 1, 1, 2, 2, 3, 5, -1))) for start in starts]
        for suffix, values in (("1", starts), ("2", ends)):
            made = [None if rng.random() < 0.06 else make(value) for value in values]
            columns[name + suffix] = pa.array(made, arrow)
    return pa.table(columns)


@pytest.fixture(scope="module")
def views(spark: Any) -> None:
    for name, seed, rows in (("r", 1, 30), ("s", 2, 25)):
        spark.createDataFrame(table(seed, rows)).createOrReplaceTempView(f"{name}_raw")
        spark.sql(VIEW.format(name))
        # Without the checkpoint, each of a hundred queries would convert the rows again.
        spark.table(name).localCheckpoint().createOrReplaceTempView(name)


def one(name: str, condition: str) -> str:
    return f"SELECT '{name}' AS c, r.id AS rid, s.id AS sid FROM r JOIN s ON {condition}"


def unions(conditions: dict[str, str]) -> Iterator[tuple[str, int]]:
    """Queries that combine several conditions, each with its number of conditions."""
    for some in batches(list(conditions.items())):
        yield " UNION ALL ".join(itertools.starmap(one, some)), len(some)


@pytest.mark.parametrize(("zone", "ansi", "threshold"), SETTINGS)
@pytest.mark.usefixtures("views")
def test_swept(
    spark: Any, conf: Any, both: Both, drawn: Any, zone: str, ansi: str, threshold: str
) -> None:
    conf({ANSI: ansi, TIME_ZONE: zone, BROADCAST: threshold})
    rows = every = 0
    for query, joins in drawn(unions(SWEPT), 3):
        every += joins
        try:
            rows += both(query, swept=joins)
        except AssertionError:
            assert left_to_spark(spark) == []
            raise
        assert len({row.c for row in both.rows}) == joins, "each has rows"
    assert rows > 50 * every


def left_to_spark(spark: Any) -> list[str]:
    """The conditions of SWEPT that are not swept."""
    plans = {name: physical(spark.sql(one(name, on))) for name, on in SWEPT.items()}
    return [name for name, plan in plans.items() if sweeps(plan) != 1]


@pytest.mark.parametrize(("zone", "ansi", "threshold"), SETTINGS)
@pytest.mark.usefixtures("views")
def test_free(conf: Any, both: Both, drawn: Any, zone: str, ansi: str, threshold: str) -> None:
    conf({ANSI: ansi, TIME_ZONE: zone, BROADCAST: threshold})
    some = drawn(unions(FREE), 2)
    assert sum(both(query, swept=None) for query, _ in some) > 50 * sum(n for _, n in some)


EXTREME = {pa.int32(): (-(2**31), 2**31 - 1), pa.int64(): (-(2**63), 2**63 - 1)}
EXTREME_VIEW = """
CREATE OR REPLACE TEMPORARY VIEW {0} AS SELECT id, k, i1, i2, b1, b2,
  date_from_unix_date(i1) AS d1, date_from_unix_date(i2) AS d2,
  timestamp_micros(b1) AS t1, timestamp_micros(b2) AS t2,
  CASE WHEN i1 > 100 THEN double('Infinity') WHEN i1 < -100 THEN double('NaN')
       ELSE i1 * 1e308D END AS g1,
  CASE WHEN i1 > 100 THEN 99999999.99BD WHEN i1 < -100 THEN -99999999.99BD
       ELSE CAST(i1 * 0.01BD AS DECIMAL(10, 2)) END AS m1 FROM {0}_extremes
"""


def extremes(seed: int, rows: int, keys: tuple[int, ...]) -> pa.Table:
    """Rows; half of them have extreme endpoints, and a key that the other rows do not have."""
    rng = random.Random(seed)
    columns: dict[str, Any] = {"id": pa.array(range(rows), pa.int32())}
    far = [rng.random() < 0.5 for _ in range(rows)]
    columns["k"] = pa.array([keys[is_far] for is_far in far], pa.int32())
    for name, arrow in (("i", pa.int32()), ("b", pa.int64())):
        ends = EXTREME[arrow]
        for suffix in "12":
            values = [rng.choice(ends) if is_far else rng.randrange(8) for is_far in far]
            columns[name + suffix] = pa.array(values, arrow)
    return pa.table(columns)


@pytest.fixture(scope="module")
def extreme_views(spark: Any) -> None:
    for name, seed, keys in (("r", 3, (1, 2)), ("s", 4, (1, 3))):
        frame = spark.createDataFrame(extremes(seed, 24, keys))
        frame.createOrReplaceTempView(f"{name}_extremes")
        spark.sql(EXTREME_VIEW.format(name).replace(f"VIEW {name} AS", f"VIEW x{name} AS"))


def on_extremes(condition: str) -> str:
    return f"SELECT r.id AS rid, s.id AS sid FROM xr r JOIN xs s ON {condition}"


def outcome(spark: Any, query: str) -> Any:
    """The rows as a bag, or the error: Spark's condition, or the message of Java's calendar."""
    try:
        return bag(spark.sql(query).collect())
    except PySparkException as error:
        return str(error.getCondition())
    except Py4JJavaError as error:
        message = str(error.java_exception.getMessage())
        return next(iter(re.findall(r"java\.\w+\.\w+Exception: .*", message)), message)


# A condition, and a value for which the bound of its row exceeds the type.
FAILING = {
    "INT": ("s.x BETWEEN r.x AND r.y + 5", 2**31 - 1),
    "BIGINT": ("s.x BETWEEN r.x AND r.y + 5", 2**63 - 1),
    "BIGINT point": ("r.x - 1 <= s.x AND s.x < r.y + 1", 2**63 - 1),
    "BIGINT difference": ("r.y - s.x >= 1", 2**63 - 1),
    "TIMESTAMP": ("s.x BETWEEN r.x AND r.y + INTERVAL '5' DAY", 2**63 - 1),
    "TIMESTAMP_NTZ": ("s.x BETWEEN r.x AND r.y + INTERVAL '5' HOUR", 2**63 - 1),
    "DATE": ("s.x BETWEEN r.x AND r.y + INTERVAL '1' MONTH", 2**31 - 1),
}
FAILING_VIEW = """CREATE OR REPLACE TEMPORARY VIEW {} AS
SELECT id, CAST({} AS {type}) AS x, CAST({} AS {type}) AS y FROM {}"""
TO = {
    "DATE": "date_from_unix_date(CAST({} AS INT))",
    "TIMESTAMP": "timestamp_micros({})",
    "TIMESTAMP_NTZ": "CAST(timestamp_micros({}) AS TIMESTAMP_NTZ)",
}
JOINS = {
    "inner": "SELECT count(*) FROM r_ends r JOIN s_ends s ON {}",
    "left": "SELECT r.id, s.id FROM r_ends r LEFT JOIN s_ends s ON {}",
    "semi": "SELECT r.id FROM r_ends r LEFT SEMI JOIN s_ends s ON {}",
    "residual": "SELECT r.id FROM r_ends r JOIN s_ends s ON {} AND r.id + s.id > 0",
    "left, residual": "SELECT r.id FROM r_ends r LEFT JOIN s_ends s ON {} AND r.id + s.id > 0",
}


def view_of_ends(spark: Any, name: str, kind: str, value: int, rows: str) -> None:
    sql_type = kind.partition(" ")[0]
    to = TO.get(sql_type, "{}")
    low = "-id - 2L" if kind == "BIGINT difference" and name == "s_ends" else "id"
    view = FAILING_VIEW.format(
        name,
        to.format(low),
        to.format(f"if(id = 7, {value}L, id)"),
        f"range({rows})",
        type=sql_type,
    )
    spark.sql(view)


@pytest.mark.extended
@pytest.mark.parametrize(("threshold", "codegen"), [("10MB", "true"), ("-1", "false")])
def test_a_pair_whose_formula_overflows_raises_its_error(
    spark: Any, conf: Any, threshold: str, codegen: str
) -> None:
    """The bound exceeds its type. In exact arithmetic the pair matches; Spark raises an error."""
    conf(
        {
            BROADCAST: threshold,
            "spark.sql.codegen.wholeStage": codegen,
            EXCLUDED_RULES: FOLDING,
            TIME_ZONE: "UTC",
        }
    )
    for kind, (condition, value) in FAILING.items():
        view_of_ends(spark, "r_ends", kind, value, "8")
        view_of_ends(spark, "s_ends", kind, 9, "12")
        for name, query in JOINS.items():
            frame = spark.sql(query.format(condition))
            assert sweeps(physical(frame)) == 1, (kind, name)
            with configured(spark, OWN_PLAN):
                expected = outcome(spark, query.format(condition))
            assert isinstance(expected, str), (kind, name, expected)
            assert outcome(spark, query.format(condition)) == expected, (kind, name)
        if kind != "BIGINT difference":  # A row without candidate pairs raises no error.
            view_of_ends(spark, "s_ends", kind, 9, "-100, -90")
            rows = outcome(spark, JOINS["left"].format(condition))
            assert rows == outcome(spark, "SELECT r.id, CAST(NULL AS BIGINT) AS id FROM r_ends r")


def test_a_difference_overflows_at_the_end_that_nothing_bounds(
    spark: Any, conf: Any, both: Both
) -> None:
    """In exact arithmetic the pair matches. Spark raises an error for it, and so must a sweep."""
    conf({BROADCAST: "-1", ANSI: "true", EXCLUDED_RULES: FOLDING})
    for name, x, rows in (("low", f"if(id = 7, {1 - 2**63}L, id)", 8), ("few", "id", 12)):
        frame = spark.sql(f"SELECT id, {x} AS x FROM range({rows})")
        frame.createOrReplaceTempView(name)
    query = "SELECT l.id AS a, s.id AS b FROM {} l JOIN few s ON l.x - s.x <= 1"
    assert both(query.format("(SELECT * FROM low WHERE id < 7)")) > 0
    overflowing = query.format("low")
    assert sweeps(physical(spark.sql(overflowing))) == 1
    with configured(spark, OWN_PLAN):
        expected = outcome(spark, overflowing)
    assert "OVERFLOW" in str(expected)
    assert outcome(spark, overflowing) == expected


@pytest.mark.parametrize("keyed", [False, True], ids=["keyless", "keyed"])
@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize("threshold", ["10MB", "-1"])
@pytest.mark.usefixtures("extreme_views")
def test_overflow(
    spark: Any, conf: Any, drawn: Any, keyed: bool, ansi: str, threshold: str
) -> None:
    """A bound that overflows for a row neither fails the query nor loses the row.

    If Spark's own plan raises an error, the sweep may raise it or not, as it visits fewer pairs.
    With a key, rows with extreme endpoints have no candidate pairs, and no error may be raised.
    """
    conf({ANSI: ansi, BROADCAST: threshold, EXCLUDED_RULES: FOLDING})
    key = "r.k = s.k AND " if keyed else ""
    wrong, rows = [], 0
    for name, condition in drawn(OVERFLOW.items(), 6):
        query = on_extremes(key + condition)
        with configured(spark, OWN_PLAN):
            expected = outcome(spark, query)
        if isinstance(expected, str):
            assert not keyed, f"a pair of ordinary rows overflows: {name}"
            continue
        got = outcome(spark, query)
        rows += expected.total()
        if isinstance(got, str):
            wrong.append(f"{name}: {got} of {query}")
        elif different := difference(expected, got):
            wrong.append(f"{name}: {query}\n{different}")
    assert not wrong, "\n".join(wrong)
    assert rows > 0
