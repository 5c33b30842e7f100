# SPDX-License-Identifier: Apache-2.0
"""Distances and overlaps of pairs, compared with brute force."""

from __future__ import annotations

import random
from datetime import date, timedelta
from typing import Any

import pyarrow as pa
import pytest

from intervalsweep import ArgumentError, ColumnError, EndpointTypeError
from intervalsweep import arrow as isa

NAMES = ("overlap_start", "overlap_end")
CASES: list[dict[str, Any]] = [
    {"within": 0},
    {"within": 3},
    {"min_overlap": 2},
    {"min_fraction": 0.5},
    {"min_fraction": (None, 0.25)},
    {"min_fraction": (0.5, 0.5)},
    {"min_overlap": 2, "min_fraction": (0.3, None)},
]


def rows(seed: int, size: int = 40) -> list[tuple[int, int]]:
    draw = random.Random(seed)
    starts = [draw.randrange(100) for _ in range(size)]
    return [(start, start + draw.randrange(1, 12)) for start in starts]


def table(some: list[tuple[int, int]]) -> Any:
    return pa.table(
        {"id": range(len(some)), "ts": [ts for ts, _ in some], "te": [te for _, te in some]}
    )


def holds(a: tuple[int, int], b: tuple[int, int], **asked: Any) -> bool:
    shared = min(a[1], b[1]) - max(a[0], b[0])
    least = -asked["within"] if "within" in asked else 1
    fractions = asked.get("min_fraction", (None, None))
    fractions = fractions if isinstance(fractions, tuple) else (fractions, None)
    return (
        shared >= least
        and shared >= asked.get("min_overlap", least)
        and all(
            f is None or shared / (x[1] - x[0]) >= f for f, x in zip(fractions, (a, b), strict=True)
        )
    )


@pytest.mark.every_case
@pytest.mark.parametrize("asked", CASES, ids=str)
@pytest.mark.parametrize("kind", ["int", "date", "float"])
def test_pairs_are_those_of_brute_force(asked: dict[str, Any], kind: str) -> None:
    r, s = rows(1), rows(2)
    left, right = table(r), table(s)
    given = dict(asked)
    if kind != "int":
        to = pa.float64() if kind == "float" else pa.date32()
        left, right = (
            pa.table(
                [t["id"], *(t[n].cast(pa.int32()).cast(to) for n in ("ts", "te"))], t.column_names
            )
            for t in (left, right)
        )
    if kind == "date":
        given |= {n: timedelta(days=v) for n, v in given.items() if n != "min_fraction"}
    expected = {(i, j) for i, a in enumerate(r) for j, b in enumerate(s) if holds(a, b, **asked)}
    found = isa.pairs(left, right, **given)
    assert set(zip(*found.to_pydict().values(), strict=True)) == expected
    assert 3 < len(expected) < 800
    counts = isa.count_matches(left, right, **given).column("count").to_pylist()
    assert counts == [sum(i == k for i, _ in expected) for k in range(len(r))]
    for how in ("left", "right", "full", "semi", "anti"):
        joined = isa.join(left, right, how=how, **given)  # type: ignore[arg-type]
        ids = {i for i, _ in expected}
        unmatched = len(r) - len(ids)
        others = len(s) - len({j for _, j in expected})
        sizes = {"left": len(expected) + unmatched, "right": len(expected) + others}
        sizes |= {"full": len(expected) + unmatched + others, "semi": len(ids), "anti": unmatched}
        assert joined.num_rows == sizes[how], how


def test_the_shared_time_as_columns() -> None:
    left, right = table([(1, 5), (8, 9), (20, 30)]), table([(3, 9), (5, 6)])
    joined = isa.join(left, right, how="full", overlap=NAMES)
    assert joined.column_names == ["id", "ts", "te", "id_right", "ts_right", "te_right", *NAMES]
    found = {
        (row["id"], row["id_right"], row[NAMES[0]], row[NAMES[1]]) for row in joined.to_pylist()
    }
    assert found == {(0, 0, 3, 5), (1, 0, 8, 9), (2, None, None, None), (None, 1, None, None)}
    near = isa.join(left, right, within=0, overlap=NAMES, columns=["id", *NAMES]).to_pylist()
    assert {"id": 0, "overlap_start": None, "overlap_end": None} in near
    days = pa.table({"ts": [date(2024, 1, 1)], "te": [date(2024, 1, 5)]})
    assert isa.join(days, days, overlap=("f", "u")).schema.field("f").type == pa.date32()


def test_an_endless_interval_stays_endless() -> None:
    inf = float("inf")
    left = pa.table({"ts": [0.0], "te": [inf]})
    right = pa.table({"ts": [5.0, -9.0], "te": [6.0, -2.0]})
    assert isa.join(left, right, within=2).num_rows == 2
    assert isa.join(left, right, within=1).num_rows == 1
    last = pa.table({"ts": [1], "te": [2**63 - 1]})
    assert isa.join(last, last, within=5).num_rows == 1


def test_a_fraction_is_not_lost_by_rounding() -> None:
    """0.07 * 100 is more than 7, but 7 / 100 is 0.07."""
    left, right = table([(0, 100)]), table([(93, 200)])
    assert isa.join(left, right, min_fraction=0.07).num_rows == 1


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"relation": "allen_before", "within": 1}, ArgumentError, "`within` is for the relation"),
        ({"min_fraction": 0}, ArgumentError, "more than 0 and at most 1"),
        ({"min_fraction": (0.5, 2)}, ArgumentError, "more than 0 and at most 1"),
        ({"min_fraction": True}, ArgumentError, "more than 0 and at most 1"),
        ({"min_fraction": (0.5,)}, ArgumentError, "a pair for both sides"),
        ({"min_overlap": -1}, ArgumentError, "must not be negative"),
        ({"within": timedelta(1)}, EndpointTypeError, "is not a distance between int64"),
        ({"overlap": "both"}, ArgumentError, "`overlap` must be two names"),
        ({"overlap": ("a", "a")}, ColumnError, "would be called a"),
        ({"overlap": ("ts", "te2")}, ColumnError, "would be called ts"),
        ({"overlap": NAMES, "how": "semi"}, ArgumentError, "needs a join that returns pairs"),
    ],
)
def test_says_what_is_wrong(given: Any, error: type[Exception], message: str) -> None:
    frame = table([(1, 2)])
    with pytest.raises(error, match=message):
        isa.join(frame, frame, **given)
