# SPDX-License-Identifier: Apache-2.0
"""Compares histories with snapshots: in DuckDB at all instants, in Spark at some.

At each instant, a history must have the rows of Spark's own plain query over the snapshot. DuckDB
computes these for all instants in a fraction of the time. If DuckDB's rows differ from the history,
Spark decides.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import duckdb
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from fuzz.settings import SETTINGS, SHUFFLED
from fuzz.temporal.queries import Query, view
from fuzz.temporal.tables import (
    INSTANTS,
    LEAVES,
    Row,
    Tables,
    slice_of,
    stored,
    values,
    view_of,
)
from support.spark.comparison import ENABLED, EXCLUDED_RULES, FOLDING, TEMPORAL_RULES, configured
from support.temporal.snapshots import assert_canonical, bag, is_valid

ERRORS = (PySparkException, Py4JJavaError)
# Options of `sequenced`.
OPTIONS = ("", "", "", ", coalesce => true", ", period => array(2, 9)", ", at => {}")
# Settings of a third of all cases: several tasks, and ranges of time for queries without keys.
DISTRIBUTED: dict[str, tuple[str, ...]] = SHUFFLED | {
    EXCLUDED_RULES: (FOLDING,),
    "spark.sql.intervalsweep.rangeRows": ("1", "2", "5"),
}
IN_FILES = 0.3  # The probability that the tables of a case are Parquet files.
RULE_IS_OFF = 0.15  # The probability that a case turns off a rule of the algebra.


@dataclass(frozen=True)
class Asked:
    """A query, and the options for its history."""

    query: Query
    options: str = ""

    def sequenced(self) -> str:
        return f"SELECT * FROM sequenced(TABLE({self.query.spark()}){self.options})"

    @property
    def at(self) -> int | None:
        return int(self.options.split()[-1]) if "at =>" in self.options else None

    @property
    def instants(self) -> Sequence[int]:
        if self.at is not None:
            return [self.at]
        return range(2, 9) if "period" in self.options else INSTANTS

    @property
    def is_canonical(self) -> bool:
        return self.query.swept or "coalesce" in self.options


@dataclass(frozen=True)
class Case:
    tables: Tables
    settings: Mapping[str, str]
    asked: tuple[Asked, ...]
    distributed: bool = False
    files: bool = False

    @property
    def rules_off(self) -> list[str]:
        """The short names of the rules of the algebra that are turned off."""
        excluded = self.settings.get(EXCLUDED_RULES, "").split(",")
        return [rule.rpartition(".")[2] for rule in TEMPORAL_RULES if rule in excluded]


def case(seed: str, size: int, depth: int = 3) -> Case:
    """The case of a seed: `size` queries over the same tables, with the same settings."""
    from fuzz.temporal.queries import query
    from fuzz.temporal.tables import tables

    rng = random.Random(seed)
    distributed = rng.random() < 1 / 3
    choices = SETTINGS | (DISTRIBUTED if distributed else {})
    settings = {key: rng.choice(some) for key, some in choices.items()}
    off = [rule for rule in TEMPORAL_RULES if rng.random() < RULE_IS_OFF]
    settings[EXCLUDED_RULES] = ",".join(filter(None, [settings[EXCLUDED_RULES], *off]))
    found = tables(rng)
    asked = []
    for _ in range(size):
        options = rng.choice(OPTIONS).format(rng.choice((0, 3, 5, 8)))
        asked.append(Asked(query(rng, rng.choice((1, 2, 2, depth))), options))
    files = rng.random() < IN_FILES
    if files:  # without generated code Spark reads rows, not batches
        settings["spark.sql.codegen.wholeStage"] = "true"
    return Case(found, settings, tuple(asked), distributed, files)


@dataclass
class Report:
    """The outcome of the queries of a case, by number."""

    different: dict[int, str] = field(default_factory=dict)
    rows: dict[int, int] = field(default_factory=dict)
    in_spark: int = 0  # the number of snapshots that Spark computed
    as_spark: dict[int, str] = field(default_factory=dict)  # equal to Spark, unlike DuckDB


def compare(spark: Any, some: Case, *, spark_slices: float = 0.0, seed: str = "") -> Report:
    """Run all queries as one, or each by itself if the one raises an error."""
    report = Report()
    histories = answers(spark, some)
    rng = random.Random(seed)
    with in_duckdb(some.tables) as connection:
        for number, asked in enumerate(some.asked):
            history = histories[number]
            if isinstance(history, str):
                in_spark = slice_in_spark(spark, some.tables, asked.query, asked.instants[0])
                alike = isinstance(in_spark, str) and what_failed(in_spark) == what_failed(history)
                (report.as_spark if alike else report.different)[number] = history
                continue
            expected = {i: sliced(connection, asked.query, i) for i in asked.instants}
            report.rows[number] = sum(map(len, expected.values()))
            wrong = difference(asked, history, expected)
            if wrong:
                doubted = [i for i in expected if difference(asked, history, {i: expected[i]})]
            else:
                doubted = [rng.choice(asked.instants)] if rng.random() < spark_slices else []
            report.in_spark += len(doubted)
            for instant in doubted:
                rows = slice_in_spark(spark, some.tables, asked.query, instant)
                if not isinstance(rows, str):
                    expected[instant] = rows
            still = difference(asked, history, expected, "Spark") if doubted else ""
            if still:
                report.different[number] = wrong or still
            elif wrong:
                report.as_spark[number] = wrong
    return report


def answers(spark: Any, some: Case) -> Mapping[int, list[Row] | str]:
    """The histories of the queries of a case, or their errors."""
    with stored_tables(spark, some.tables) if some.files else nullcontext():
        name_tables(spark, some.tables, some.files)
        with configured(spark, dict(some.settings)):
            try:
                return together(spark, some.asked)
            except ERRORS:
                return {n: alone(spark, asked) for n, asked in enumerate(some.asked)}


@contextmanager
def stored_tables(spark: Any, tables: Tables) -> Iterator[None]:
    """Tables in files, until the end of the block."""
    try:
        for name in "rsbu":
            for statement in stored(name, tables.rows(name)):
                spark.sql(statement)
        yield
    finally:
        for name in "rsbu":
            spark.sql(f"DROP TABLE IF EXISTS {name}_stored")


def name_tables(spark: Any, tables: Tables, files: bool = False) -> None:
    for name in "rsbu":
        spark.sql(view_of(name, tables.rows(name), files))


def together(spark: Any, asked: Sequence[Asked]) -> dict[int, list[Row]]:
    """The histories of all queries, in one job."""
    parts = []
    for number, one in enumerate(asked):
        period = "CAST(NULL AS INT), CAST(NULL AS INT)" if one.at is not None else "ts, te"
        parts.append(f"SELECT {number} AS q, k, v, t, {period} FROM ({one.sequenced()})")
    found: dict[int, list[Row]] = {number: [] for number in range(len(asked))}
    for number, *row in spark.sql(" UNION ALL ".join(parts)).collect():
        found[number].append(tuple(row))
    return found


def alone(spark: Any, asked: Asked) -> list[Row] | str:
    """The history of a query, or its error."""
    try:
        return together(spark, [asked])[0]
    except ERRORS as error:
        return raised(error)


ERROR = "  an error: "


def raised(error: Exception) -> str:
    return f"{ERROR}{str(error)[:1500]}"


def what_failed(wrong: str) -> str:
    """The kind of a failure: the last error that a message names, or '' for wrong rows."""
    if not wrong.startswith(ERROR):
        return ""
    named = re.findall(r"\[[A-Z_.]+\][^\n]{0,50}|\w+(?:Exception|Error): [^\n]{0,50}", wrong)
    return re.sub(r"\d+|`[^`]*`|\"[^\"]*\"", "#", named[-1] if named else wrong[:90])


def in_duckdb(tables: Tables) -> duckdb.DuckDBPyConnection:
    """A database with the tables, and a view of each leaf's snapshot at each instant."""
    connection = duckdb.connect(config={"threads": 1})
    for name in "rsbu":
        connection.execute(f"CREATE TABLE {name} AS {values(tables.rows(name), 'TEXT')}")
    for leaf in LEAVES:
        for instant in INSTANTS:
            text = slice_of(leaf, instant)
            connection.execute(f"CREATE VIEW {view(leaf, instant)} AS {text}")
    return connection


def sliced(connection: duckdb.DuckDBPyConnection, query: Query, instant: int) -> list[Row]:
    """The rows of the plain query on the snapshot at an instant, by DuckDB."""
    return connection.execute(query.duckdb(instant)).fetchall()


def slice_in_spark(spark: Any, tables: Tables, query: Query, instant: int) -> list[Row] | str:
    """The rows or the error of DuckDB's query on a snapshot, by Spark without the extension."""
    with configured(spark, {ENABLED: "false"}):
        for name in "rsbu":
            spark.sql(
                f"CREATE OR REPLACE TEMP VIEW {name} AS {values(tables.rows(name), 'STRING')}"
            )
        for leaf in LEAVES:
            name = view(leaf, instant)
            spark.sql(f"CREATE OR REPLACE TEMP VIEW {name} AS {slice_of(leaf, instant)}")
        try:
            return [tuple(row) for row in spark.sql(query.duckdb(instant)).collect()]
        except ERRORS as error:
            return raised(error)
        finally:
            name_tables(spark, tables)


def difference(
    asked: Asked,
    history: Iterable[Row],
    expected: Mapping[int, list[Row]],
    engine: str = "DuckDB",
) -> str:
    """A message about a wrong history; empty if the history is right."""
    rows = list(history)
    for row in rows:
        start, end = row[-2:]
        if start is not None and end is not None and start >= end:
            return f"  a row without an instant: {row}"
        if "period" in asked.options and not (start is not None and end is not None
                                              and 2 <= start < end <= 9):  # fmt: skip
            return f"  a row outside of the period: {row}"
    for instant, found in expected.items():
        got = bag(row[:-2] for row in rows if asked.at is not None or is_valid(row, instant))
        want: Counter[tuple[str, ...]] = bag(found)
        if got != want:
            return (
                f"  {engine} at {instant}: missing {dict(want - got)}, too many {dict(got - want)}"
                f"\n  history {sorted(rows, key=repr)}"
            )
    if asked.is_canonical and asked.at is None:
        try:
            assert_canonical(rows)
        except AssertionError as error:
            return f"  {error}\n  history {sorted(rows, key=repr)}"
    return ""
