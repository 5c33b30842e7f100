# SPDX-License-Identifier: Apache-2.0
"""Random tables (id, k, t, v) whose column `t` has one of many types."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TypeAlias

# t is a number, from which SQL makes a value of the type; id is unique.
Row: TypeAlias = tuple[int, int | None, float | None, str | None]


@dataclass(frozen=True)
class Kind:
    """A type of `t`: its name, and the SQL that makes it from a number."""

    name: str
    sql: str
    is_fraction: bool = False
    step: str = "{}"  # the SQL of a length
    unit: int = 1  # the length in which `t` counts

    @property
    def has_length(self) -> bool:
        """Whether a number of units can be added to a value."""
        return self.step != ""


KINDS = (
    Kind("INT", "{}"),
    Kind("BIGINT", "{}L"),
    Kind("SMALLINT", "{}S"),
    Kind("DOUBLE", "{}", is_fraction=True, step=""),
    Kind("DECIMAL(9, 2)", "CAST({} AS DECIMAL(9, 2))"),
    Kind("DATE", "date_add(DATE'2024-03-29', {})", step="INTERVAL '{}' DAY"),
    Kind(
        "TIMESTAMP",
        "timestamp_seconds(1711846800 + 900 * {})",
        step="INTERVAL '{}' MINUTE",
        unit=15,
    ),
    Kind("TIMESTAMP_NTZ", "TIMESTAMP_NTZ'2024-03-31 01:00:00' + make_dt_interval(0, {})", step=""),
)
SPECIAL = (math.nan, math.inf, -math.inf, -0.0)


@dataclass(frozen=True)
class Tables:
    """Two tables, `l` and `r`, with the same columns."""

    kind: Kind
    left: tuple[Row, ...]
    right: tuple[Row, ...]

    def sql(self, name: str) -> str:
        """The text of a table."""
        rows = self.left if name == "l" else self.right
        texts = (f"({i}, {_text(k)}, {self._t(t)}, {_text(v)})" for i, k, t, v in rows)
        listed = ", ".join([*texts, "(NULL, NULL, NULL, NULL)"])
        return (
            f"SELECT CAST(id AS INT) id, CAST(k AS INT) k, CAST(t AS {self.kind.name}) t, "
            f"CAST(v AS STRING) v FROM VALUES {listed} {name}(id, k, t, v) WHERE id IS NOT NULL"
        )

    def _t(self, value: float | None) -> str:
        if value is None:
            return "NULL"
        if self.kind.is_fraction:
            return f"DOUBLE('{value}')"
        return self.kind.sql.format(int(value))


def _text(value: int | str | None) -> str:
    return "NULL" if value is None else repr(value)


def tables(rng: random.Random, kinds: tuple[Kind, ...] = KINDS) -> Tables:
    """Tables with ties, NULLs, hot keys and special values; some are empty or have one row."""
    kind = rng.choice(kinds)
    span = rng.choice((1, 4, 12, 40))
    keys = rng.choice((1, 2, 5, 30))
    sizes = (0, 1, 3, 12, 40)
    weights = (1, 1, 4, 8, 6)

    def row(number: int) -> Row:
        t: float | None = rng.randrange(span)
        if kind.is_fraction:
            t = rng.choice(SPECIAL) if rng.random() < 0.15 else rng.randrange(2 * span) / 2
        return (
            number,
            None if rng.random() < 0.1 else rng.randrange(keys),
            None if rng.random() < 0.1 else t,
            None if rng.random() < 0.1 else rng.choice("abc"),
        )

    def rows() -> tuple[Row, ...]:
        return tuple(row(n) for n in range(rng.choices(sizes, weights)[0]))

    return Tables(kind, rows(), rows())
