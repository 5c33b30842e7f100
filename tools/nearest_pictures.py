# SPDX-License-Identifier: Apache-2.0
"""Draws a picture for each way to find rows by time, in docs/images/nearest/.

Run it with `python tools/nearest_pictures.py`. The rows of the left side are below, those of the
right side above. `intervalsweep.arrow` computes which ones are found.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
from operator_pictures import INK, LEFT, UNIT, A, B, hours

from intervalsweep.arrow import as_of_join, nearest, window_union

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images" / "nearest"
HEIGHT = 118
PRICES, ORDERS = [1, 3, 8, 12], [2, 5, 9]
PRICE_AT, ORDER_AT = 26, 76

# A picture -> the pairs of an order and a price that it shows.
Pairs = list[tuple[int, int]]


def instants(name: str, times: list[int]) -> Any:
    return pa.table({"at": times, name: times})


def as_of(**options: Any) -> Pairs:
    found = as_of_join(instants("a", ORDERS), instants("b", PRICES), on="at", **options)
    rows = found.select(["a", "b"]).to_pylist()
    return [(row["a"], row["b"]) for row in rows if row["b"] is not None]


def last(count: int) -> Pairs:
    orders, prices = instants("a", ORDERS), instants("b", PRICES)
    found = window_union(orders, prices, on="at", pre=None, max_rows=count, b="list(b)")
    return [(row["a"], b) for row in found.to_pylist() for b in row["b"]]


def near(k: int) -> Pairs:
    sides = (pa.table({"ts": times, "te": times}) for times in (ORDERS, PRICES))
    return [(row["ts"], row["ts_right"]) for row in nearest(*sides, k=k).to_pylist()]


PICTURES: dict[str, Callable[[], Pairs]] = {
    "last": as_of,
    "next": lambda: as_of(direction="forward"),
    "tolerance": lambda: as_of(tolerance=1),
    "last_two": lambda: last(2),
    "nearest_two": lambda: near(2),
}


def picture(pairs: Pairs) -> str:
    """Return the drawing, with an arrow from each order to the prices that it finds."""
    parts = hours(HEIGHT)
    parts.append(
        '<defs><marker id="tip" markerWidth="7" markerHeight="7" refX="6" refY="3" orient="auto">'
        f'<path d="M0 0L6 3L0 6z" fill="{INK}"/></marker></defs>'
    )
    for name, y, color, times in (
        ("prices", PRICE_AT, B, PRICES),
        ("orders", ORDER_AT, A, ORDERS),
    ):
        parts.append(f'<text x="8" y="{y + 4}" fill="{INK}">{name}</text>')
        parts += [f'<circle cx="{LEFT + UNIT * t}" cy="{y}" r="5" fill="{color}"/>' for t in times]
    for order, price in sorted(pairs):
        x, to = LEFT + UNIT * order, LEFT + UNIT * price
        parts.append(
            f'<path d="M{x} {ORDER_AT - 7}L{to} {PRICE_AT + 8}" stroke="{INK}" fill="none" '
            'marker-end="url(#tip)"/>'
        )
    return "\n".join([*parts, "</svg>", ""])


def main(folder: Path = FOLDER) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, pairs in PICTURES.items():
        (folder / f"{name}.svg").write_text(picture(pairs()), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
