# SPDX-License-Identifier: Apache-2.0
"""Generated tables: endpoint types with their extremes and parameters, and strategies."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

from support.joins.brute import REPEATABLE
from support.joins.oracle import Limit

Rows = list[tuple[Any, ...]]

DAY, HOUR = 86_400_000_000, 3_600_000_000
INT_RANGE = (-(2**31), 2**31 - 1)
LONG_RANGE = (-(2**63), 2**63 - 1)


@dataclass(frozen=True)
class Endpoint:
    """An endpoint type: its values for small integers, its extremes, and its parameters."""

    sql: str
    arrow: pa.DataType
    make: Callable[[int], Any]
    extremes: tuple[Any, ...]
    limits: tuple[Limit, ...]
    # Parameters that are added on the calendar. The calendar ends before the type does.
    calendar: tuple[Limit, ...] = ()

    @property
    def id(self) -> str:
        return self.sql.split("(")[0].lower()


def _difference(wide: str, *limits: str) -> tuple[Limit, ...]:
    """`later - earlier <= limit` in a type where nothing overflows."""
    written = f"CAST({{later}} AS {wide}) - CAST({{earlier}} AS {wide}) <= "
    return tuple(Limit(limit, written + limit) for limit in limits)


def _finite(*limits: str) -> tuple[Limit, ...]:
    """`later - earlier <= limit` for floating point: NaN and infinity exceed any limit."""
    wide = "(CAST({later} AS DOUBLE) - CAST({earlier} AS DOUBLE))"
    written = f"({wide} < double('Infinity') AND {wide} <= "
    return tuple(Limit(limit, f"{written}{limit})") for limit in limits)


def _elapsed(of: str, *limits: tuple[str, int]) -> tuple[Limit, ...]:
    """`later - earlier <= limit` in the integers that represent a DATE or a timestamp."""
    later, earlier = (of.format(f"{{{name}}}") for name in ("later", "earlier"))
    written = f"CAST({later} AS DECIMAL(38, 0)) - CAST({earlier} AS DECIMAL(38, 0)) <= "
    return tuple(Limit(argument, f"{written}{number}") for argument, number in limits)


def _months(months: int) -> Limit:
    interval = f"INTERVAL '{months}' MONTH"
    return Limit(interval, f"{{later}} <= {{earlier}} + {interval}")


def _integers(sql: str, arrow: pa.DataType, bits: int) -> Endpoint:
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return Endpoint(
        sql, arrow, int, (low, low + 1, high - 1, high), _difference("DECIMAL(38, 0)", "3", "0")
    )


def _floats(sql: str, arrow: pa.DataType, largest: float) -> Endpoint:
    special = (math.nan, -0.0, 0.0, math.inf, -math.inf, largest, -largest)
    return Endpoint(sql, arrow, lambda n: n / 4, special, _finite("0.75D", "0", "2.5"))


def _timestamps(sql: str, arrow: pa.DataType, micros: str) -> Endpoint:
    low, high = LONG_RANGE
    hours = _elapsed(
        micros, ("INTERVAL '20' HOUR", 20 * HOUR), ("INTERVAL '1 12' DAY TO HOUR", 36 * HOUR)
    )
    extremes = (low, low + 1, high - 1, high, -1, 1)
    return Endpoint(sql, arrow, lambda n: n * DAY // 2, extremes, hours, (_months(1),))


DAYS = _elapsed("unix_date({})", ("INTERVAL '3' DAY", 3), ("2", 2))
TYPES = [
    _integers("SMALLINT", pa.int16(), 16),
    _integers("INT", pa.int32(), 32),
    _integers("BIGINT", pa.int64(), 64),
    Endpoint("DATE", pa.date32(), int, (*INT_RANGE, INT_RANGE[1] - 1), DAYS, (_months(1),)),
    _timestamps("TIMESTAMP", pa.timestamp("us", "UTC"), "unix_micros({})"),
    _timestamps("TIMESTAMP_NTZ", pa.timestamp("us"), "unix_micros(CAST({} AS TIMESTAMP))"),
    _floats("FLOAT", pa.float32(), 3.4028234663852886e38),
    _floats("DOUBLE", pa.float64(), 1.7976931348623157e308),
    Endpoint(
        "DECIMAL(10,2)",
        pa.decimal128(10, 2),
        lambda n: Decimal(n * 25).scaleb(-2),
        (Decimal("-99999999.99"), Decimal("99999999.99")),
        _difference("DECIMAL(20, 2)", "0.75", "2"),
    ),
]

COLUMNS = ("id", "k1", "k2", "x", "ts", "te")
SCHEMA = "id INT, k1 INT, k2 STRING, x INT, ts {0}, te {0}"


@st.composite
def intervals(draw: Any, endpoint: Endpoint, extremes: bool) -> tuple[Any, Any]:
    """Intervals, mostly short, so that there are matches and ties; some are empty or reversed."""
    start = draw(st.integers(0, 12))
    length = draw(st.sampled_from((1, 2, 3, 1, 2, 5, 9, 0, -1, -4)))
    ends = [endpoint.make(start), endpoint.make(start + length)]
    odd = draw(st.integers(0, 23))
    if odd < 2:
        ends[odd] = None
    elif extremes and odd < 10:
        ends[odd % 2] = draw(st.sampled_from(endpoint.extremes))
        if odd > 7:
            ends[0] = draw(st.sampled_from(endpoint.extremes))
    return tuple(ends)


@st.composite
def tables(draw: Any, endpoint: Endpoint, size: int, extremes: bool) -> Rows:
    """`size` rows: an interval, two nullable keys, and a number for residual conditions."""
    rows: Rows = []
    for number in range(size):
        if rows and draw(st.integers(0, 9)) == 0:
            rows.append((number, *draw(st.sampled_from(rows))[1:]))
            continue
        k1 = draw(st.sampled_from((0, 1, 1, 2, None)))
        k2 = draw(st.sampled_from(("a", "a", "b", "", None)))
        x = draw(st.sampled_from((0, 1, 2, 3, None)))
        rows.append((number, k1, k2, x, *draw(intervals(endpoint, extremes))))
    return rows


def draw_tables(endpoint: Endpoint, left: int, right: int, extremes: bool) -> tuple[Rows, Rows]:
    """Two tables of these sizes; the same arguments give the same tables."""
    found: list[tuple[Rows, Rows]] = []

    @settings(REPEATABLE, max_examples=1, phases=[Phase.generate])
    @given(r=tables(endpoint, left, extremes), s=tables(endpoint, right, extremes))
    def draw(r: Rows, s: Rows) -> None:
        # Reject Hypothesis's first and simplest table, which repeats one row many times.
        assume(all(len({row[1:] for row in rows}) * 2 >= len(rows) for rows in (r, s)))
        found.append((r, s))

    draw()
    return found[0]


def column(values: list[Any], arrow: pa.DataType) -> pa.Array:
    """An Arrow column. Dates and timestamps are given as integers, as Python's end at year 9999."""
    if pa.types.is_timestamp(arrow):
        return pa.array(values, pa.int64()).cast(arrow)
    if pa.types.is_date32(arrow):
        return pa.array(values, pa.int32()).cast(arrow)
    return pa.array(values, arrow)


def register(spark: Any, name: str, endpoint: Endpoint, rows: Rows) -> None:
    """Creates a temporary view of rows, through Arrow because Python's datetime ends at 9999."""
    types = [pa.int32(), pa.int32(), pa.string(), pa.int32(), endpoint.arrow, endpoint.arrow]
    columns = [column([row[i] for row in rows], t) for i, t in enumerate(types)]
    table = pa.Table.from_arrays(columns, names=list(COLUMNS))
    frame = spark.createDataFrame(table, schema=SCHEMA.format(endpoint.sql))
    frame.createOrReplaceTempView(name)
