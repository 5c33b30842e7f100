# SPDX-License-Identifier: Apache-2.0
"""Conditions, columns and aggregates of histories, as SQL texts and as Columns; types of joins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as sf

from intervalsweep._errors import ArgumentError
from intervalsweep._sql.literals import quoted
from intervalsweep.columns import Naming


class JoinType(Enum):
    """The types of joins, as SQL writes them."""

    INNER = "JOIN"
    LEFT = "LEFT JOIN"
    RIGHT = "RIGHT JOIN"
    FULL = "FULL JOIN"
    SEMI = "LEFT SEMI JOIN"
    ANTI = "LEFT ANTI JOIN"

    @property
    def has_right_columns(self) -> bool:
        """Whether the result has the columns of the right side."""
        return self not in (JoinType.SEMI, JoinType.ANTI)

    @property
    def keeps_right_rows(self) -> bool:
        """Whether the result has unmatched rows of the right side."""
        return self in (JoinType.RIGHT, JoinType.FULL)


def joined_columns(naming: Naming, kind: JoinType) -> list[str]:
    """Return the columns of a join's result in SQL, where `r` and `s` are the sides."""
    from_either = naming.shared_keys if kind.keeps_right_rows else ()
    columns = []
    for name in naming.left:
        ours = f"r.{quoted(name)}"
        value = f"coalesce({ours}, s.{quoted(name)})" if name in from_either else ours
        columns.append(f"{value} AS {quoted(name)}")
    return columns + [f"s.{quoted(one)} AS {quoted(new)}" for one, new in naming.right.items()]


def has_column(some: Sequence[object], named: Mapping[str, object]) -> bool:
    """Return whether one of the columns is a Column of Spark."""
    return any(isinstance(one, Column) for one in (*some, *named.values()))


def as_columns(some: Sequence[Any], named: Mapping[str, Any]) -> list[Column]:
    """Return SQL texts and Columns as Columns."""

    def of(one: Any) -> Column:
        return one if isinstance(one, Column) else sf.expr(sql_text("columns", one))

    return [*map(of, some), *(of(one).alias(name) for name, one in named.items())]


def aliased(named: Mapping[str, Any]) -> list[str]:
    """Return SQL texts with the names of their columns."""
    return [f"{sql_text(name, one)} AS {quoted(name)}" for name, one in named.items()]


def sql_text(what: str, given: object) -> str:
    """Return an SQL text. Raises ArgumentError for anything else."""
    if not isinstance(given, str):
        raise ArgumentError(
            f"`{what}` must be SQL text, such as \"skill = 'SP'\"; got a {type(given).__name__}."
        )
    return given


def sql_list(what: str, given: Sequence[object]) -> str:
    """Return SQL texts with commas. Raises ArgumentError if there is none."""
    if not given:
        raise ArgumentError(f"`{what}` must not be empty: give at least one.")
    return ", ".join(sql_text(what, one) for one in given)
