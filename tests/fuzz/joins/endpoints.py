# SPDX-License-Identifier: Apache-2.0
"""Endpoint types with the arithmetic that conditions use, and random tables of them."""

from __future__ import annotations

import dataclasses
import random
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa

from support.joins.generated import HOUR, TYPES, Endpoint, column
from support.joins.oracle import Limit

# 2024-03-31 01:00 UTC, when daylight saving time begins in Berlin: 2:00 becomes 3:00.
CLOCK_CHANGE = 1_711_846_800_000_000


@dataclass(frozen=True)
class Arithmetic:
    """Offsets of an endpoint and bounds on a difference, as format strings.

    `fails` tells when the arithmetic may raise an error for extreme endpoints.
    """

    offsets: tuple[str, ...]
    differences: tuple[str, ...]
    fails: str  # "never", "ansi" or "always"

    def usable(self, extremes: bool, ansi: bool) -> bool:
        """True if the arithmetic raises no error for any row of the tables."""
        return not extremes or self.fails == "never" or (self.fails == "ansi" and not ansi)


INTEGERS = Arithmetic(
    ("{} + 1", "{} - 2", "{} + 3", "2 + {}", "{} * 2", "-{}", "abs({})", "CAST({} AS BIGINT) - 1"),
    ("{later} - {earlier} <= 3", "4 > {later} - {earlier}", "{earlier} - {later} >= -2"),
    "ansi",
)
FLOATS = Arithmetic(
    ("{} + 0.25D", "{} - 1", "{} + 0.5F", "{} * 2", "-{}", "{} + 1e300D", "round({}, 1)"),
    ("{later} - {earlier} <= 0.75D", "1 > {later} - {earlier}"),
    "never",
)
DECIMALS = Arithmetic(
    ("{} + 0.25BD", "{} - 1", "{} + 0.5D", "{} * 2", "-{}", "CAST({} AS DECIMAL(20, 1))"),
    ("{later} - {earlier} <= 0.75BD", "1 > {later} - {earlier}"),
    "never",
)
WIDE_DECIMALS = Arithmetic(
    ("{} + 0.25BD", "{} - 1", "-{}", "abs({})", "CAST({} AS DOUBLE)"),
    ("{later} - {earlier} <= 0.75BD", "1 > {later} - {earlier}"),
    "ansi",
)
TEXTS = Arithmetic(
    ("lower({})", "concat({}, 'b')", "substring({}, 2)", "trim({})", "lpad({}, 9, 'a')"),
    ("{later} <= concat({earlier}, 'z')", "length({later}) - length({earlier}) <= 1"),
    "never",
)
BYTES = Arithmetic(
    ("concat({}, X'00')", "substring({}, 1, 9)"),
    ("{later} <= concat({earlier}, X'7F')", "length({later}) - length({earlier}) <= 1"),
    "never",
)
DATES = Arithmetic(
    (
        *("date_add({}, 2)", "date_sub({}, 1)", "{} + INTERVAL '2' DAY", "{} - INTERVAL '1' DAY"),
        *("{} + INTERVAL '1' MONTH", "add_months({}, -1)", "CAST({} AS TIMESTAMP)"),
    ),
    (
        *("datediff({later}, {earlier}) <= 3", "{later} - {earlier} < INTERVAL '3' DAY"),
        *("timestampdiff(DAY, {earlier}, {later}) = 1", "date_diff({later}, {earlier}) > -2"),
    ),
    "always",
)
TIMESTAMPS = Arithmetic(
    (
        *("{} + INTERVAL '8' HOUR", "{} - INTERVAL '30' MINUTE", "{} + INTERVAL '1' DAY"),
        *("{} + INTERVAL '1' MONTH", "date_trunc('HOUR', {})", "CAST({} AS DATE)"),
    ),
    (
        "{later} - {earlier} <= INTERVAL '12' HOUR",
        "timestampdiff(HOUR, {earlier}, {later}) < 9",
        "timestampdiff(HOUR, {earlier}, {later}) BETWEEN -5 AND 0",
        "timestampdiff(DAY, {earlier}, {later}) = 0",
        "timestampdiff(SECOND, {earlier}, {later}) >= -14400",
        "90 > date_diff(MINUTE, {earlier}, {later})",
        "NOT date_diff(MILLISECOND, {earlier}, {later}) <= 28799999",
        "timestampdiff(WEEK, {earlier}, {later}) < 1",
        "timestampdiff(MONTH, {earlier}, {later}) <= 0",
    ),
    "always",
)


@dataclass(frozen=True)
class Kind:
    """An endpoint type with its arithmetic."""

    endpoint: Endpoint
    arithmetic: Arithmetic

    @property
    def sql(self) -> str:
        return self.endpoint.sql


# Sorted by their UTF-8 bytes, which differs from the order by UTF-16 units. Many have the same
# first eight bytes.
SAME = "the same"
TEXT_VALUES = (
    *(
        "",
        "\x00",
        "\x00\x00",
        " a",
        "A",
        "Z",
        "a",
        "aa",
        SAME[:-1],
        SAME,
        SAME + "\x00",
        SAME + " ",
    ),
    *(SAME + "A", SAME + "a", SAME + "aa", SAME + "ab", SAME + "\u00e4", SAME + "\U0001f600"),
    *("the samf", "z", "zz" * 9, "\u00e4", "\u00e4a", "\u0416", "\ud7ff", "\ue000", "\uffff"),
    *("\U00010000", "\U0001f600"),
)


def _wide_decimal(n: int) -> Decimal:
    """Decimals beyond 2^62, in groups of four. Only those of a group share a prefix."""
    return Decimal(f"{10**34 + n // 4 * 2**60 + n % 4 * 2501}e-4")


def _by_prefix() -> list[Endpoint]:
    """Types whose values are swept by a 64-bit prefix."""

    def text(n: int) -> str:
        return TEXT_VALUES[n + 1]

    largest = 10**38 - 10**8
    extremes = (-5, 0, 2**62 - 1, 2**62, -(2**62), 10**18, 10**19, largest, largest + 1)
    written = "CAST({later} AS DECIMAL(38, 4)) - CAST({earlier} AS DECIMAL(38, 4)) <= "
    return [
        Endpoint("STRING", pa.string(), text, ("", "\U0010ffff", SAME * 9), ()),
        Endpoint(
            "BINARY",
            pa.binary(),
            lambda n: text(n).encode(),
            (b"", b"\x7f" * 9, "\U0010ffff".encode() * 3),
            (),
        ),
        Endpoint(
            "DECIMAL(38,4)",
            pa.decimal128(38, 4),
            _wide_decimal,
            tuple(Decimal(f"{n}e-4") for n in extremes),
            tuple(Limit(limit, written + limit) for limit in ("0.75", "2", "1e15BD")),
        ),
    ]


def _extended() -> list[Endpoint]:
    """The types of the generated tests, with timestamps around a clock change, and more types."""
    found = [
        dataclasses.replace(e, make=lambda n: CLOCK_CHANGE + (n - 8) * 4 * HOUR)
        if e.sql.startswith("TIMESTAMP")
        else e
        for e in TYPES
    ]
    by_name = {e.sql: e for e in found}
    tiny = dataclasses.replace(
        by_name["SMALLINT"], sql="TINYINT", arrow=pa.int8(), extremes=(-128, -127, 126, 127)
    )
    largest = Decimal(10**18 - 1).scaleb(-4)
    decimal = dataclasses.replace(
        by_name["DECIMAL(10,2)"],
        sql="DECIMAL(18,4)",
        arrow=pa.decimal128(18, 4),
        make=lambda n: Decimal(n * 2501).scaleb(-4),
        extremes=(largest, -largest),
        limits=tuple(
            Limit(
                limit,
                f"CAST({{later}} AS DECIMAL(24, 4)) - CAST({{earlier}} AS "
                f"DECIMAL(24, 4)) <= {limit}",
            )
            for limit in ("0.75", "2")
        ),
    )
    return [*found, tiny, decimal, *_by_prefix()]


FAMILIES = {
    "INT": INTEGERS,
    "BIGINT": INTEGERS,
    "SMALLINT": INTEGERS,
    "TINYINT": INTEGERS,
    "FLOAT": FLOATS,
    "DOUBLE": FLOATS,
    "DATE": DATES,
    "TIMESTAMP": TIMESTAMPS,
    "TIMESTAMP_NTZ": TIMESTAMPS,
    "DECIMAL(10,2)": DECIMALS,
    "DECIMAL(18,4)": DECIMALS,
    "DECIMAL(38,4)": WIDE_DECIMALS,
    "STRING": TEXTS,
    "BINARY": BYTES,
}
KINDS = {e.sql: Kind(e, FAMILIES[e.sql]) for e in _extended()}
# Different types on the two sides, which Spark compares after a cast.
MIXED = (
    *(("INT", "BIGINT"), ("TINYINT", "SMALLINT"), ("SMALLINT", "BIGINT"), ("INT", "DOUBLE")),
    *(("FLOAT", "DOUBLE"), ("BIGINT", "FLOAT"), ("INT", "FLOAT"), ("DECIMAL(10,2)", "BIGINT")),
    *(("DECIMAL(10,2)", "DECIMAL(18,4)"), ("DECIMAL(10,2)", "DOUBLE"), ("DATE", "TIMESTAMP")),
    *(("TIMESTAMP", "TIMESTAMP_NTZ"), ("DATE", "TIMESTAMP_NTZ")),
    *(("DECIMAL(38,4)", "DECIMAL(18,4)"), ("DECIMAL(38,4)", "BIGINT")),
)

# Types of the first key, for which Spark's equality differs.
KEYS: dict[str, tuple[pa.DataType, tuple[Any, ...]]] = {
    "INT": (pa.int32(), (0, 1, 1, 2, None)),
    "BIGINT": (pa.int64(), (0, 1, 1, 2, None)),
    "DOUBLE": (pa.float64(), (0.0, -0.0, 1.0, float("nan"), None)),
    "STRING": (pa.string(), ("", "0", "1", "1", None)),
    "DATE": (pa.date32(), (0, 1, 1, 2, None)),
}


@dataclass(frozen=True)
class Table:
    """Columns of values as in Arrow: days for a DATE, microseconds for a TIMESTAMP."""

    columns: tuple[tuple[str, pa.DataType], ...]
    rows: tuple[tuple[Any, ...], ...]

    def arrow(self) -> pa.Table:
        return pa.table(
            {
                name: column([row[i] for row in self.rows], of)
                for i, (name, of) in enumerate(self.columns)
            }
        )

    def without(self, name: str) -> Table:
        at = [column for column, _ in self.columns].index(name)
        rows = tuple((*row[:at], *row[at + 1 :]) for row in self.rows)
        return Table((*self.columns[:at], *self.columns[at + 1 :]), rows)


def interval(
    rng: random.Random, endpoint: Endpoint, extremes: bool, lengths: tuple[int, ...]
) -> tuple[Any, Any]:
    """An interval, mostly short, so that there are matches and ties; some are empty or reversed."""
    start = rng.randrange(13)
    ends = [endpoint.make(start), endpoint.make(start + rng.choice(lengths))]
    odd = rng.randrange(24)
    if odd < 2:
        ends[odd] = None
    elif extremes and odd < 10:
        ends[odd % 2] = rng.choice(endpoint.extremes)
        if odd > 7:
            ends[0] = rng.choice(endpoint.extremes)
    return ends[0], ends[1]


SIZES = (0, 1, 1, 2, 5, 8, 12, 16, 20, 30, 40)
LENGTHS = (1, 2, 3, 1, 2, 5, 9, 0, -1)
# Few rows with many matches each, against many rows. These find plans that wrongly assume that a
# result has at most one row.
FEW, MANY = (1, 1, 2, 3, 3), (20, 30, 40, 60)
LONG = (3, 9, 12, 13)


def tables(
    rng: random.Random, kinds: list[Kind], keys: list[str], extremes: bool, few: bool
) -> dict[str, Table]:
    """The tables `r` and `s`. If `few`, one has few long intervals, the other many short ones."""
    shapes = [(SIZES, LENGTHS)] * 2
    if few:
        shapes = [(FEW, LONG), (MANY, LENGTHS)]
        rng.shuffle(shapes)
    return {
        name: _table(rng, kind, key, extremes, rng.choice(sizes), lengths)
        for name, kind, key, (sizes, lengths) in zip("rs", kinds, keys, shapes, strict=True)
    }


def _table(
    rng: random.Random, kind: Kind, key: str, extremes: bool, size: int, lengths: tuple[int, ...]
) -> Table:
    """`size` rows: an id, two nullable keys, payload, and an interval."""
    key_type, keys = KEYS[key]
    rows: list[tuple[Any, ...]] = []
    for number in range(size):
        if rows and rng.random() < 0.1:
            rows.append((number, *rng.choice(rows)[1:]))
            continue
        payload = (
            rng.choice(keys),
            rng.choice(("a", "a", "b", "", None)),
            rng.choice((0, 1, 2, 3, None)),
            rng.choice((0.5, -0.0, 0.0, float("nan"), None)),
            rng.choice(("long text " * 9, "ä€", None)),
        )
        rows.append((number, *payload, *interval(rng, kind.endpoint, extremes, lengths)))
    types = {
        "id": pa.int32(),
        "k1": key_type,
        "k2": pa.string(),
        "x": pa.int32(),
        "y": pa.float64(),
        "v": pa.string(),
        "ts": kind.endpoint.arrow,
        "te": kind.endpoint.arrow,
    }
    return Table(tuple(types.items()), tuple(rows))
