# SPDX-License-Identifier: Apache-2.0
"""Events as periods, compared with brute force."""

from __future__ import annotations

import random
from datetime import datetime
from typing import Any

import pyarrow as pa
import pytest

from intervalsweep import ArgumentError, ColumnError
from intervalsweep import arrow as isa


def log(seed: int, size: int = 60) -> list[dict[str, Any]]:
    draw = random.Random(seed)
    return [
        {
            "id": number,
            "k": draw.choice(["a", "b", None]),
            "ts": draw.choice([None, *range(12)]),
            "seq": draw.choice([None, 1, 2, 3]),
            "gone": draw.choice([None, True, False, False]),
        }
        for number in range(size)
    ]


def expected(rows: list[dict[str, Any]], *, ordered: bool, ended: bool) -> list[dict[str, Any]]:
    found = []
    for row in rows:
        same = [r for r in rows if r["k"] == row["k"] and r["ts"] is not None]
        if row["ts"] is None or (ended and row["gone"]):
            continue
        # NULL is ordered last, and the last row of the table decides.
        at_once = [r for r in same if r["ts"] == row["ts"]]
        last = max(at_once, key=lambda r: (r["seq"] is None, r["seq"] or 0, r["id"]))
        if not ordered or last is row:
            later = [r["ts"] for r in same if r["ts"] > row["ts"]]
            found.append({**row, "te": min(later, default=None)})
    return found


@pytest.mark.every_case
@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("ended", [False, True])
def test_until_next(ordered: bool, ended: bool) -> None:
    for seed in range(20):
        rows = log(seed)
        found = isa.until_next(
            pa.Table.from_pylist(rows),
            by="k",
            order="seq" if ordered else (),
            deleted="gone" if ended else None,
        )
        assert found.to_pylist() == expected(rows, ordered=ordered, ended=ended)
        assert found.num_rows > 5


def test_types_names_and_nothing() -> None:
    times = pa.array([datetime(2024, 1, 2), datetime(2024, 1, 1)], pa.timestamp("ns", "UTC"))
    found = isa.until_next(pa.table({"at": times}), on="at", end="until")
    assert found.schema.field("until").type == times.type
    assert found.column("until").null_count == 1
    empty = isa.until_next(pa.table({"ts": pa.array([], pa.int64())}))
    assert empty.to_pydict() == {"ts": [], "te": []}
    polars = pytest.importorskip("polars", reason="polars is not installed")
    assert isa.until_next(polars.DataFrame({"ts": [3, 1]}))["te"].to_list() == [None, 3]


def test_says_what_is_wrong() -> None:
    frame = pa.table({"ts": [1], "v": [2]})
    with pytest.raises(ArgumentError, match="`deleted` must be a column of booleans; v is int64"):
        isa.until_next(frame, deleted="v")
    with pytest.raises(ColumnError, match="would be called v"):
        isa.until_next(frame, end="v")
    with pytest.raises(ColumnError, match="no column key"):
        isa.until_next(frame, by="key")
