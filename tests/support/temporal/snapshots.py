# SPDX-License-Identifier: Apache-2.0
"""The oracle of `sequenced`: at each instant, the plain query over the rows that are valid then.

The oracle uses periods only to select the rows that are valid at an instant, the snapshot. The
plain query runs on each snapshot in Spark, with the extension off, and in DuckDB if DuckDB supports
it. The rows of a snapshot query, as a bag, must equal the history's rows at that instant.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from support.spark.comparison import EXCLUDED_RULES, OWN_PLAN, configured, rows_of_each

# All periods of the tests lie within; a row that is valid before or after is valid at an end.
INSTANTS = range(-1, 13)
# Instants at which Spark, which is slow, runs as well as DuckDB. Spark runs at all instants for
# queries that DuckDB does not support.
SOME_INSTANTS = (-1, 3, 5, 8, 12)
# Spark merges equal subqueries of several snapshots, and fails to merge aggregates in Python.
SLICES = {
    **OWN_PLAN,
    EXCLUDED_RULES: "org.apache.spark.sql.execution.planmerging.MergeSubplans",
}
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Table:
    """Rows whose last two columns are a half-open period; None means unbounded."""

    columns: str
    rows: Sequence[Row]
    # Rows of a table that is not marked are always valid.
    marked: bool = True

    @property
    def ddl(self) -> str:
        return f"{self.columns}, ts INT, te INT" if self.marked else self.columns

    def at(self, instant: int) -> list[Row]:
        if not self.marked:
            return list(self.rows)
        return [row[:-2] for row in self.rows if is_valid(row, instant)]


def is_valid(row: Row, instant: int) -> bool:
    start, end = row[-2:]
    return (start is None or start <= instant) and (end is None or instant < end)


def _value(value: Any) -> str:
    if isinstance(value, float):
        # As in Spark's GROUP BY, -0.0 equals 0.0, and NaN equals itself.
        return "NaN" if math.isnan(value) else repr(value + 0.0)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    return str(value) if isinstance(value, int) else repr(value)


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    return f"CAST('{value}' AS DOUBLE)" if isinstance(value, float) else repr(value)


def bag(rows: Iterable[Sequence[Any]]) -> Counter[tuple[str, ...]]:
    return Counter(tuple(map(_value, row)) for row in rows)


class Snapshots:
    """Runs queries over tables, as a history and on snapshots."""

    def __init__(self, spark: Any, tables: Mapping[str, Table]) -> None:
        self.spark = spark
        self.tables = tables
        # The rows of the history that was checked last.
        self.rows: list[Row] = []
        # The last query and its snapshots, which do not depend on the settings of a history.
        self._asked, self._found = "", dict[int, list[Row]]()
        self._marked = {name: self._mark(name, table) for name, table in tables.items()}
        # Spark's frames of the rows valid at each instant. DuckDB has a schema for each instant.
        self._slices: dict[int, dict[str, Any]] = {}
        self._duckdb = duckdb.connect(config={"threads": 1})
        for instant in INSTANTS:
            self._fill_schema(instant)
        self.use()

    def use(self) -> None:
        """Creates the views of these tables again, in case another test has replaced them."""
        self._name(self._marked)

    def _mark(self, name: str, table: Table) -> Any:
        frame = self._frame(table.ddl, table.rows)
        frame.createOrReplaceTempView(f"all_{name}")
        if not table.marked:
            return frame
        return self.spark.sql(f"SELECT * FROM validtime(TABLE(all_{name}), 'ts', 'te')")

    def _frame(self, ddl: str, rows: Sequence[Row]) -> Any:
        kinds = dict(column.split() for column in ddl.split(", "))
        columns = ", ".join(f"CAST({c} AS {kind}) AS {c}" for c, kind in kinds.items())
        values = ", ".join(f"({', '.join(map(_literal, row))})" for row in rows)
        source = (
            f"VALUES {values} AS v({', '.join(kinds)})"
            if rows
            else f"(SELECT {', '.join(f'NULL AS {c}' for c in kinds)}) WHERE false"
        )
        return self.spark.sql(f"SELECT {columns} FROM {source}")

    def _fill_schema(self, instant: int) -> None:
        schema = _schema(instant)
        self._duckdb.execute(f"CREATE SCHEMA {schema}")
        for name, table in self.tables.items():
            columns, rows = table.columns.replace("STRING", "TEXT"), table.at(instant)
            self._duckdb.execute(f"CREATE TABLE {schema}.{name} ({columns})")
            if rows:
                marks = f"({', '.join('?' * len(rows[0]))})"
                self._duckdb.execute(
                    f"INSERT INTO {schema}.{name} VALUES {', '.join([marks] * len(rows))}",
                    [value for row in rows for value in row],
                )

    @staticmethod
    def _name(frames: Mapping[str, Any]) -> None:
        for name, frame in frames.items():
            frame.createOrReplaceTempView(name)

    def history(self, query: str, options: str = "") -> Any:
        return self.spark.sql(f"SELECT * FROM sequenced(TABLE({query}){options})")

    def check(self, query: str, duck: str | None = "", options: str = "") -> Any:
        """Compare a history with its snapshots, and return it; `duck=None` leaves out DuckDB."""
        frame = self.history(query, options)
        self.rows = rows = [tuple(row) for row in frame.collect()]
        for row in rows:
            assert row[-2] is None or row[-1] is None or row[-2] < row[-1], f"no instant: {row}"
        some = False
        by_spark = self.slices(query, INSTANTS if duck is None else SOME_INSTANTS)
        for instant in INSTANTS:
            got = bag(row[:-2] for row in rows if is_valid(row, instant))
            slices = {}
            if duck is not None:
                slices["DuckDB"] = bag(self.slice_in_duckdb(duck or query, instant))
            if instant in by_spark:
                slices["Spark"] = bag(by_spark[instant])
            for engine, expected in slices.items():
                assert got == expected, (
                    f"{engine} at {instant} of\n{query}\n missing {expected - got}\n"
                    f" too many {got - expected}\n history {sorted(rows, key=repr)}"
                )
            some = some or bool(got)
        assert some, f"no rows at any instant of\n{query}"
        return frame

    def slice(self, query: str, instant: int) -> list[Row]:
        """The plain query, run by Spark over the rows that are valid at an instant."""
        return self.slices(query, [instant])[instant]

    def slices(self, query: str, instants: Sequence[int]) -> dict[int, list[Row]]:
        """The plain query at several instants; one Spark query runs a few instants."""
        if self._asked != query:
            self._asked, self._found = query, {}
        missing = [instant for instant in instants if instant not in self._found]
        with configured(self.spark, SLICES):
            self._found |= rows_of_each(missing, lambda instant: self._slice(query, instant))
        return {instant: self._found[instant] for instant in instants}

    def _slice(self, query: str, instant: int) -> Any:
        frames = self._slices.setdefault(instant, {})
        named = [name for name in self.tables if re.search(rf"\b{name}\b", query)]
        for name in named:
            if name not in frames:
                table = self.tables[name]
                frames[name] = self._frame(table.columns, table.at(instant))
        self._name({name: frames[name] for name in named})
        try:
            return self.spark.sql(query)
        finally:
            self._name({name: self._marked[name] for name in named})

    def slice_in_duckdb(self, query: str, instant: int) -> list[Row]:
        self._duckdb.execute(f"SET schema = '{_schema(instant)}'")
        return self._duckdb.execute(query).fetchall()


def _schema(instant: int) -> str:
    return f"at_{instant - INSTANTS.start}"


def assert_canonical(rows: Iterable[Row]) -> None:
    """Asserts the fewest rows: per value, the n-th start has the n-th end, and no periods touch."""
    by_value: dict[tuple[str, ...], list[tuple[float, float]]] = {}
    for row in rows:
        start = -math.inf if row[-2] is None else row[-2]
        end = math.inf if row[-1] is None else row[-1]
        by_value.setdefault(tuple(map(_value, row[:-2])), []).append((start, end))
    for value, periods in by_value.items():
        starts = sorted(start for start, _ in periods)
        ends = sorted(end for _, end in periods)
        assert not set(starts) & set(ends), f"{value} ends and starts at once: {periods}"
        pairs = list(zip(starts, ends, strict=True))
        assert sorted(periods) == pairs, f"{value} is not in canonical form: {periods}"
