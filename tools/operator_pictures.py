# SPDX-License-Identifier: Apache-2.0
"""Draws a picture for each temporal operator, in docs/images/temporal/.

Run it with `python tools/operator_pictures.py`. The input rows are above the line of a picture. The
rows below the line are the result that `intervalsweep.arrow.temporal` computes from the input rows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from intervalsweep.arrow import temporal

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images" / "temporal"
UNIT, LEFT, ROW, WIDTH, HOURS = 22, 92, 18, 400, 13
A, B, RESULT, INK, FAINT = "#0072B2", "#E69F00", "#009E73", "#222222", "#8a8f98"


def rows(*given: tuple[str, int, int | None]) -> Any:
    names, starts, ends = zip(*given, strict=True)
    return pa.table({"x": names, "ts": starts, "te": pa.array(ends, pa.int64())})


ONE = rows(("x", 1, 6), ("x", 3, 9))
TWO = rows(("x", 5, 8))
KEYS = rows(("x", 1, 9), ("y", 4, 12))
ROWS_OF_X = rows(("x", 1, 7))
OTHERS = rows(("x", 5, 9), ("y", 2, 6))
TOUCH = rows(("x", 1, 4), ("x", 4, 8), ("x", 9, 11))

# The input tables and the operator of each picture.
PICTURES: dict[str, tuple[list[Any], Callable[..., Any]]] = {
    "join": ([KEYS, TWO], lambda a, b: temporal.join(a, b, "x")),
    "left_join": ([KEYS, TWO], lambda a, b: _paired(a, b, "left")),
    "right_join": ([ROWS_OF_X, OTHERS], lambda a, b: _paired(a, b, "right")),
    "full_join": ([ROWS_OF_X, OTHERS], lambda a, b: _paired(a, b, "full")),
    "semi_join": ([KEYS, TWO], lambda a, b: temporal.join(a, b, "x", how="semi")),
    "anti_join": ([KEYS, TWO], lambda a, b: temporal.join(a, b, "x", how="anti")),
    "distinct": ([ONE], temporal.distinct),
    "union_all": ([ONE, TWO], temporal.union_all),
    "union": ([ONE, TWO], temporal.union),
    "union_max": ([ONE, TWO], temporal.union_max),
    "except_all": ([ONE, TWO], temporal.except_all),
    "except": ([ONE, TWO], temporal.except_),
    "except_strict": ([ONE, TWO], temporal.except_strict),
    "intersect_all": ([ONE, TWO], temporal.intersect_all),
    "intersect": ([ONE, TWO], temporal.intersect),
    "aggregate": ([ONE], lambda a: _named(temporal.aggregate(a, "x", n="count"), "n")),
    "aggregate_all": ([ONE], lambda a: _named(temporal.period(
        temporal.aggregate(a, n="count"), 0, 13), "n")),
    "coalesce": ([TOUCH], temporal.coalesce),
    "split": ([ONE], lambda a: temporal.split(a, 2)),
    "window_sliding": ([ONE], lambda a: temporal.window(a, 4)),
    "window_fixed": ([ONE], lambda a: temporal.window(a, fixed=4)),
    "resample": ([ONE], lambda a: _named(temporal.resample(a, 4), "share")),
    "period": ([KEYS], lambda a: temporal.period(a, 3, 8)),
    "at": ([KEYS], lambda a: _for_an_hour(temporal.at(a, 4), 4)),
}  # fmt: skip


def _named(found: Any, name: str) -> Any:
    """Return a table whose bars have the values of a column as labels."""
    texts = [f"{name} = {value}" for value in found.column(name).to_pylist()]
    return pa.table({"x": texts, "ts": found.column("ts"), "te": found.column("te")})


def _paired(a: Any, b: Any, how: str) -> Any:
    """Return a join whose bars have the left row and the right row as labels."""
    sides = [t.append_column(name, t.column("x")) for name, t in (("a", a), ("b", b))]
    found = temporal.join(*sides, "x", how=how)
    pairs = zip(found["a"].to_pylist(), found["b"].to_pylist(), strict=True)
    texts = [f"{x or 'NULL'}, {y or 'NULL'}" for x, y in pairs]
    return pa.table({"x": texts, "ts": found["ts"], "te": found["te"]})


def _for_an_hour(found: Any, instant: int) -> Any:
    """Return rows without a period as bars of one hour that start at an instant."""
    ends = {"ts": [instant] * found.num_rows, "te": [instant + 1] * found.num_rows}
    return pa.table({"x": found["x"], **ends})


def picture(tables: list[Any], operator: Callable[..., Any]) -> str:
    """Return the drawing: the input rows, a line, and the result rows sorted by start."""
    lines: list[tuple[str, str, Any]] = []
    for name, color, table in zip("ab", (A, B), tables, strict=False):
        lines += [(f"{name}  {row['x']}", color, row) for row in table.to_pylist()]
    above = len(lines)
    found = sorted(operator(*tables).to_pylist(), key=lambda row: (row["ts"], row["te"]))
    lines += [(row["x"], RESULT, row) for row in found]
    height = ROW * (len(lines) + 2) + 6
    parts = hours(height)
    line = ROW * above + 17
    parts.append(f'<path d="M4 {line}L{WIDTH - 4} {line}" stroke="{FAINT}"/>')
    for number, (name, color, row) in enumerate(lines):
        y = 8 + ROW * number + (ROW if number >= above else 0)
        x, width = LEFT + UNIT * row["ts"], UNIT * (row["te"] - row["ts"])
        parts.append(f'<text x="8" y="{y + 10}" fill="{INK}">{name}</text>')
        parts.append(
            f'<rect x="{x + 1}" y="{y}" width="{width - 2}" height="11" rx="2" fill="{color}"/>'
        )
    return "\n".join([*parts, "</svg>", ""])


def hours(height: int) -> list[str]:
    """Return the parts of a drawing that has only a line for each hour."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" font-family="sans-serif" font-size="11">',
        f'<rect width="{WIDTH}" height="{height}" rx="6" fill="#ffffff"/>',
    ]
    for hour in range(HOURS + 1):
        x = LEFT + UNIT * hour
        parts.append(f'<path d="M{x} 8L{x} {height - ROW}" stroke="#e4e6ea"/>')
        parts.append(
            f'<text x="{x}" y="{height - 5}" fill="{FAINT}" text-anchor="middle">{hour}</text>'
        )
    return parts


def main(folder: Path = FOLDER) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, (tables, operator) in PICTURES.items():
        (folder / f"{name}.svg").write_text(picture(tables, operator), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
