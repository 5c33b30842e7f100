# SPDX-License-Identifier: Apache-2.0
"""`temporal_window` by calendar months: ends equal those of Spark's own `+`."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np
import pytest

from intervalsweep import temporal
from support.spark.comparison import configured

ZONE = "Europe/Berlin"
# Ends of months, leap days, and days and hours of clock changes, before and after 1970.
STARTS = [
    *("2023-01-31 00:00:00", "2024-01-31 12:30:00", "2024-02-29 00:00:00", "2024-03-30 02:30:00"),
    *("2024-02-29 02:30:00", "2024-03-31 01:59:59", "2024-09-27 02:30:00", "2024-10-27 00:30:00"),
    *("1969-12-31 23:30:00", "1970-01-01 00:00:00", "1968-02-29 12:00:00", "2024-12-01 00:00:00"),
]
TYPES = ["DATE", "TIMESTAMP", "TIMESTAMP_NTZ"]
MONTH, LONGER, YEAR = "INTERVAL '1' MONTH", "INTERVAL '1-2' YEAR TO MONTH", "INTERVAL '1' YEAR"


@pytest.fixture(autouse=True)
def _zone(spark: Any) -> Any:
    with configured(spark, {"spark.sql.session.timeZone": ZONE}):
        yield


def starts(spark: Any, kind: str) -> None:
    """Creates the view `t`; some of its rows have no end."""
    values = ", ".join(f"({number}, '{start}')" for number, start in enumerate(STARTS))
    spark.sql(
        f"CREATE OR REPLACE TEMP VIEW t AS SELECT id, CAST(text AS {kind}) AS ts, "
        f"IF(id % 3 = 0, NULL, CAST('2030-01-01' AS {kind})) AS te "
        f"FROM VALUES {values} AS v(id, text)"
    )


def texts(frame: Any) -> list[tuple[Any, ...]]:
    """The rows, with times as strings in the session's time zone."""
    columns = [f"CAST({name} AS STRING) AS {name}" for name in frame.columns]
    return sorted(map(tuple, frame.selectExpr(*columns).collect()))


@pytest.mark.parametrize("length", [MONTH, LONGER])
@pytest.mark.parametrize("kind", TYPES)
def test_sliding_by_months_ends_where_sparks_sum_is(spark: Any, kind: str, length: str) -> None:
    starts(spark, kind)
    expected = texts(spark.sql(f"SELECT id, ts, ts + {length} AS te FROM t"))
    assert len(expected) == len(STARTS)
    alone = f"temporal_window(TABLE(t), sliding => {length}, ts => 'ts', te => 'te')"
    assert texts(spark.sql(f"SELECT * FROM {alone}")) == expected
    spark.sql("CREATE OR REPLACE TEMP VIEW m AS SELECT * FROM validtime(TABLE(t), 'ts', 'te')")
    inside = f"SELECT * FROM temporal_window(TABLE(SELECT * FROM m), sliding => {length})"
    assert texts(spark.sql(f"SELECT * FROM sequenced(TABLE({inside}))")) == expected


@pytest.mark.parametrize(
    ("length", "origin"),
    [(MONTH, None), (MONTH, "2020-01-31 00:00:00"), (LONGER, "2031-05-15 02:30:00"), (YEAR, None)],
)
@pytest.mark.parametrize("kind", TYPES)
def test_fixed_by_months_ends_where_the_next_window_begins(
    spark: Any, kind: str, length: str, origin: str | None
) -> None:
    starts(spark, kind)
    zero = f"CAST('{origin or '1970-01-01'}' AS {kind})"
    expected = texts(
        spark.sql(
            "SELECT id, ts, min(border) AS te FROM t JOIN (SELECT "
            f"{zero} + id * {length} AS border FROM range(-800, 800)) ON border > ts "
            "GROUP BY id, ts"
        )
    )
    assert len(expected) == len(STARTS)
    given = f"{length}{'' if origin is None else f', origin => {zero}'}"
    frame = spark.sql(
        f"SELECT * FROM temporal_window(TABLE(t), fixed => {given}, ts => 'ts', te => 'te')"
    )
    assert texts(frame) == expected


def test_months_beyond_the_last_date_are_no_end(spark: Any) -> None:
    last = "date_add(DATE '1970-01-01', 2147483640)"
    frame = spark.sql(
        f"SELECT te FROM temporal_window(TABLE(SELECT 1 AS id, {last} AS ts), "
        "sliding => INTERVAL '1' MONTH, ts => 'ts')"
    )
    assert frame.collect() == [(None,)]


def test_months_of_periods_that_are_months(spark: Any) -> None:
    frame = spark.sql(
        "SELECT CAST(te AS STRING) FROM temporal_window(TABLE(SELECT INTERVAL '7' MONTH AS ts), "
        "fixed => INTERVAL '4' MONTH, ts => 'ts')"
    )
    assert frame.collect() == [("INTERVAL '8' MONTH",)]


def test_a_window_by_months_of_python(spark: Any) -> None:
    frame = spark.sql("SELECT 1 AS id, DATE '2024-01-31' AS ts, DATE '2024-02-01' AS te")
    marked = temporal.valid(frame, "ts", "te")
    month, start = np.timedelta64(1, "M"), date(2024, 1, 31)
    assert marked.window(month).frame.collect() == [(1, start, date(2024, 2, 29))]
    [fixed] = marked.window(fixed=12 * month).frame.collect()
    assert fixed == (1, start, date(2025, 1, 1))
    assert marked.window(timedelta(days=1)).frame.collect() == [(1, start, date(2024, 2, 1))]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("temporal_split(TABLE(d), 'a month', ts => 'f', te => 'u')",
         "give calendar units such as 'DAY'"),
        ("temporal_window(TABLE(d), sliding => INTERVAL '0' MONTH, ts => 'f', te => 'u')",
         "more than 0"),
        ("temporal_window(TABLE(d), fixed => INTERVAL '-1' YEAR, ts => 'f', te => 'u')",
         "more than 0"),
        ("temporal_window(TABLE(d), sliding => 1.5D, ts => 'f', te => 'u')",
         "an INTERVAL of days or of months"),
    ],
)  # fmt: skip
def test_a_length_that_is_none(spark: Any, call: str, says: str) -> None:
    spark.sql(
        "CREATE OR REPLACE TEMP VIEW d AS "
        "SELECT 1 AS x, DATE '2024-01-31' AS f, DATE '2024-05-01' AS u"
    )
    with pytest.raises(Exception, match=rf"INTERVALSWEEP_SEQUENCED\.LENGTH.*{says}"):
        spark.sql(f"SELECT * FROM {call}")


def test_no_start_has_no_window_of_months(spark: Any) -> None:
    rows = "SELECT 1 AS x, CAST(NULL AS DATE) AS f, DATE '2024-05-01' AS u"
    frame = spark.sql(
        f"SELECT * FROM temporal_window(TABLE({rows}), sliding => INTERVAL '1' MONTH, "
        "ts => 'f', te => 'u')"
    )
    with pytest.raises(Exception, match=r"INTERVALSWEEP_SEQUENCED\.BOUNDED.*first instant"):
        frame.collect()
