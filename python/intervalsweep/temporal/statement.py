# SPDX-License-Identifier: Apache-2.0
"""Builds the SQL of a history: a plain query over relations that are given as DataFrames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as st

from intervalsweep._errors import ArgumentError
from intervalsweep._instants import is_naive
from intervalsweep._sql.frames import sql_over
from intervalsweep._sql.literals import for_column, literal, options, quoted


@dataclass(frozen=True)
class Leaf:
    """A DataFrame and its mark: arguments of `validtime`, or None if rows are always valid.

    The DataFrame itself may be a query over marked ones: `is_query`.
    """

    frame: DataFrame
    marks: str | None
    is_query: bool = False

    def cte(self, name: str) -> str:
        """Return the DataFrame as a common table expression for `spark.sql`, under this name."""
        table = f"{{{name}}}"
        source = table if self.marks is None else f"validtime(TABLE({table}){self.marks})"
        return f"{quoted(name)} AS (SELECT * FROM {source})"


@dataclass(frozen=True)
class Settings:
    """Arguments of `sequenced`: the wanted part of a history, and the form of its period."""

    period: tuple[Any, Any] | None = None
    at: Any = None
    coalesce: bool | None = None
    names: tuple[str, str] | None = None
    closed: str | None = None
    unbounded: Any = None
    step: Any = None
    emit: str | None = None

    def __post_init__(self) -> None:
        if self.period is not None and self.at is not None:
            raise ArgumentError(
                f"at={self.at!r} is an instant and period={self.period!r} an interval: give only "
                "one of them."
            )
        for what in ("period", "names"):
            pair = getattr(self, what)
            if pair is not None and (not isinstance(pair, tuple) or len(pair) != 2):
                raise ArgumentError(f"`{what}` must be a tuple of two values; got {pair!r}.")


WHOLE = Settings()


def plain(query: str, leaves: Mapping[str, Leaf]) -> str:
    """Return a query with a WITH clause that defines the names of the leaves."""
    if not leaves:
        return f"{query}\n"
    ctes = ", ".join(leaf.cte(name) for name, leaf in leaves.items())
    text = query.replace("{", "{{").replace("}", "}}")
    # In brackets, because the query may begin with its own WITH. The newline ends a comment.
    return f"WITH {ctes} ({text}\n)"


# Names for the period that no other column has.
HIDDEN = Settings(names=("intervalsweep_from", "intervalsweep_to"))


def has_naive(*instants: Any) -> bool:
    """Return whether a datetime without a time zone is among instants, or in pairs of them."""
    flat = [one for given in instants for one in (given if isinstance(given, tuple) else (given,))]
    return any(map(is_naive, flat))


def period_type(spark: SparkSession, query: str, leaves: Mapping[str, Leaf]) -> st.DataType:
    """Return the type of the period of a query's history."""
    return run(spark, statement(query, leaves, HIDDEN), leaves).schema[-2].dataType


def localized(
    settings: Settings, spark: SparkSession, query: str, leaves: Mapping[str, Leaf]
) -> Settings:
    """Return the settings with instants for the type of the query's period."""
    if not has_naive(settings.at, settings.period):
        return settings
    kind = period_type(spark, query, leaves)
    return replace(
        settings, at=for_column(settings.at, kind), period=for_column(settings.period, kind)
    )


def statement(query: str, leaves: Mapping[str, Leaf], settings: Settings) -> str:
    """Return the statement that computes the history of a query over the leaves."""
    table = plain(query, leaves)
    return f"SELECT * FROM sequenced(TABLE({table}){options(_given(settings))})"


def _given(settings: Settings) -> dict[str, Any]:
    return {field.name: getattr(settings, field.name) for field in fields(settings)}


def run(spark: SparkSession, text: str, leaves: Mapping[str, Leaf]) -> DataFrame:
    """Return the rows of a statement or of a plain query over the leaves."""
    frames: dict[str, Any] = {name: leaf.frame for name, leaf in leaves.items()}
    return sql_over(spark, text, frames)


def marks(start: str, end: str | None, given: Mapping[str, Any]) -> str:
    """Return the arguments of `validtime` that follow the table."""
    names = "".join(f", {literal('name', name)}" for name in (start, end) if name is not None)
    return names + options(given)
