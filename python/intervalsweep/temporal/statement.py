# SPDX-License-Identifier: Apache-2.0
"""The SQL of a history: a plain query over relations that are given as DataFrames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from intervalsweep._errors import ArgumentError
from intervalsweep._sql.literals import literal, options, quoted


@dataclass(frozen=True)
class Leaf:
    """A DataFrame, and how its rows are marked; None: they are always valid."""

    frame: DataFrame
    marks: str | None

    def cte(self, name: str) -> str:
        """Return it as a part of a WITH, for `spark.sql` with the frame under its name."""
        table = f"{{{name}}}"
        source = table if self.marks is None else f"validtime(TABLE({table}){self.marks})"
        return f"{quoted(name)} AS (SELECT * FROM {source})"


@dataclass(frozen=True)
class Settings:
    """What of a history is wanted, and what its period is called: arguments of `sequenced`."""

    period: tuple[Any, Any] | None = None
    at: Any = None
    coalesce: bool | None = None
    names: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        if self.period is not None and self.at is not None:
            raise ArgumentError(
                f"at={self.at!r} is an instant and period={self.period!r} an interval: give one of "
                "them."
            )
        for what in ("period", "names"):
            pair = getattr(self, what)
            if pair is not None and (not isinstance(pair, tuple) or len(pair) != 2):
                raise ArgumentError(f"{what}={pair!r} is no tuple of two values.")


WHOLE = Settings()


def plain(query: str, leaves: Mapping[str, Leaf]) -> str:
    """Return a query over the names of the leaves as one that says what these are."""
    if not leaves:
        return f"{query}\n"
    ctes = ", ".join(leaf.cte(name) for name, leaf in leaves.items())
    text = query.replace("{", "{{").replace("}", "}}")
    # In brackets, so that it may begin with a WITH of its own; a comment may be its end.
    return f"WITH {ctes} ({text}\n)"


def statement(query: str, leaves: Mapping[str, Leaf], settings: Settings) -> str:
    """Return the statement whose rows are the history of a query over the leaves."""
    table = plain(query, leaves)
    return f"SELECT * FROM sequenced(TABLE({table}){options(asdict(settings))})"


def run(spark: SparkSession, text: str, leaves: Mapping[str, Leaf]) -> DataFrame:
    """Return the rows of a statement or of a plain query over the leaves."""
    frames: dict[str, Any] = {name: leaf.frame for name, leaf in leaves.items()}
    return spark.sql(text, **frames)


def marks(start: str, end: str | None, given: Mapping[str, Any]) -> str:
    """Return the arguments of `validtime` behind the table."""
    names = "".join(f", {literal('name', name)}" for name in (start, end) if name is not None)
    return names + options(given)
