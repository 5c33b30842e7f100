# SPDX-License-Identifier: Apache-2.0
"""Random tables with periods, and the relations that queries may read."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

Row = tuple[Any, ...]

# All periods lie within; a row that is valid before or after is valid at an end.
INSTANTS = range(-1, 13)
COLUMNS = "k INT, v INT, t STRING"
# The length of the periods that `temporal_window` makes, by leaf.
WINDOWS = {"sliding": 3, "fixed": 4}


@dataclass(frozen=True)
class Tables:
    """Rows (k, v, t, ts, te). r, s and b are marked, b has both ends, and u is always valid."""

    r: tuple[Row, ...]
    s: tuple[Row, ...]
    b: tuple[Row, ...]
    u: tuple[Row, ...]

    def rows(self, name: str) -> tuple[Row, ...]:
        found: tuple[Row, ...] = getattr(self, name)
        return found


def tables(rng: random.Random) -> Tables:
    sizes = [rng.choice((0, 1, 2, 4, 7, 12)) for _ in "rsbu"]
    bounded = (rng.random() < 0.2, rng.random() < 0.2, True, False)
    return Tables(
        *(
            tuple(_row(rng, has_ends) for _ in range(size))
            for size, has_ends in zip(sizes, bounded, strict=True)
        )
    )


def _row(rng: random.Random, has_ends: bool) -> Row:
    values = (
        rng.choice((1, 1, 2, 2, 3, None)),
        rng.choice((10, 10, 20, 30, None)),
        rng.choice(("a", "a", "b", None)),
    )
    start, end = rng.randrange(12), rng.randrange(12)
    if start > end and rng.random() < 0.9:  # else reversed
        start, end = end, start
    no_start, no_end = (not has_ends and rng.random() < 0.12 for _ in range(2))
    return (*values, None if no_start else start, None if no_end else end)


def literal(value: Any) -> str:
    return "NULL" if value is None else repr(value)


def values(rows: tuple[Row, ...], text: str) -> str:
    """The rows as a SELECT; `text` is the engine's name of the string type."""
    kinds = ("INT", "INT", text, "INT", "INT")
    names = ("k", "v", "t", "ts", "te")
    columns = ", ".join(f"CAST({n} AS {kind}) AS {n}" for n, kind in zip(names, kinds, strict=True))
    some = rows or ((None,) * 5,)
    lines = ", ".join(f"({', '.join(map(literal, row))})" for row in some)
    where = "" if rows else " WHERE false"
    return f"SELECT {columns} FROM (VALUES {lines}) AS q({', '.join(names)}){where}"


def stored(name: str, rows: tuple[Row, ...]) -> tuple[str, str]:
    """The statements that store the rows of a table in files, in the table `{name}_stored`."""
    return (
        f"DROP TABLE IF EXISTS {name}_stored",
        f"CREATE TABLE {name}_stored USING parquet AS {values(rows, 'STRING')}",
    )


def view_of(name: str, rows: tuple[Row, ...], files: bool) -> str:
    """The statement that makes the view that queries read: a history, unless it is u."""
    return f"CREATE OR REPLACE TEMP VIEW {name} AS {_marked(name, rows, files)}"


def _marked(name: str, rows: tuple[Row, ...], files: bool) -> str:
    source = f"SELECT * FROM {name}_stored" if files else values(rows, "STRING")
    if name == "u":
        return f"SELECT k, v, t FROM ({source})"
    return f"SELECT * FROM validtime(TABLE({source}), 'ts', 'te')"


# Leaf -> (relation in Spark, inside `sequenced`; table in DuckDB; end of its rows in DuckDB).
LEAVES = {
    "r": ("r", "r", "te"),
    "s": ("s", "s", "te"),
    "b": ("b", "b", "te"),
    "u": ("u", "u", ""),
    "sliding": (
        f"temporal_window(TABLE(SELECT * FROM b), sliding => {WINDOWS['sliding']})",
        "b",
        f"ts + {WINDOWS['sliding']}",
    ),
    "fixed": (
        f"temporal_window(TABLE(SELECT * FROM b), fixed => {WINDOWS['fixed']})",
        "b",
        f"ts - ts % {WINDOWS['fixed']} + {WINDOWS['fixed']}",
    ),
}


def slice_of(leaf: str, instant: int) -> str:
    """The snapshot of a leaf at an instant: a query over its table with periods."""
    _, table, end = LEAVES[leaf]
    if not end:
        return f"SELECT k, v, t FROM {table}"
    # A row that is valid at no instant is not valid in a window either.
    proper = "(ts IS NULL OR te IS NULL OR ts < te)"
    valid = f"(ts IS NULL OR ts <= {instant}) AND ({end} IS NULL OR {instant} < {end})"
    return f"SELECT k, v, t FROM {table} WHERE {proper} AND {valid}"
