# SPDX-License-Identifier: Apache-2.0
"""Columns of `pandas.Interval` as the intervals of each function, with each `closed`."""

from __future__ import annotations

from typing import Any

import pytest

from intervalsweep import EndpointValueError
from intervalsweep import arrow as isa

pandas = pytest.importorskip("pandas", reason="pandas is not installed")
CLOSED = ("left", "right", "both", "neither")


def table(closed: str, *ends: tuple[Any, Any] | None, name: str = "iv") -> Any:
    made = [None if pair is None else pandas.Interval(*pair, closed=closed) for pair in ends]
    values = pandas.arrays.IntervalArray(made, closed=closed)
    return pandas.DataFrame({"id": range(len(ends)), name: values})


@pytest.mark.every_case
@pytest.mark.parametrize("left_closed", CLOSED)
@pytest.mark.parametrize("right_closed", CLOSED)
def test_pairs_are_those_that_pandas_finds(left_closed: str, right_closed: str) -> None:
    ends = [(0, 4), (4, 9), (3, 5), (9, 12)]
    left, right = table(left_closed, *ends, None), table(right_closed, *ends[::-1])
    found = isa.join(left, right, on="iv", columns=["id", "id_right"])
    # A missing interval makes the ends floating-point numbers.
    expected = {
        (a.id, b.id)
        for a in left[:-1].itertuples()
        for b in right.itertuples()
        if any(x / 2 in a.iv and x / 2 in b.iv for x in range(30))
    }
    assert {tuple(row) for row in found.itertuples(index=False)} == expected
    assert len(expected) > 4


@pytest.mark.every_case
@pytest.mark.parametrize("closed", CLOSED)
def test_results_are_closed_like_the_input(closed: str) -> None:
    stamps = [pandas.Timestamp(f"2024-01-{day:02}") for day in (1, 3, 5, 9, 12)]
    a, b, c, d, e = stamps
    frame = table(closed, (a, c), (b, d), (d, e))
    merged = isa.merge(frame, on="iv")
    separate = {"neither": 2, "left": 1, "right": 1, "both": 1}[closed]
    assert len(merged) == separate
    assert merged["iv"].dtype == frame["iv"].dtype
    assert merged["iv"].iloc[0] == pandas.Interval(a, e if separate == 1 else d, closed=closed)
    holes = isa.complement(table(closed, (1, 3), (7, 9)), on="iv")
    (hole,) = holes["iv"]
    inside = [x for x in range(12) if x in hole]
    full = [
        x
        for x in range(12)
        if x in pandas.Interval(1, 3, closed) or x in pandas.Interval(7, 9, closed)
    ]
    assert inside == [x for x in range(min(full), max(full)) if x not in full]
    rest = isa.subtract(frame, table(closed, (a, b)), on="iv")
    assert rest["iv"].dtype == frame["iv"].dtype
    near = isa.nearest(frame, table(closed, (d, e)), on="iv")
    assert near["iv_right"].iloc[0] == pandas.Interval(d, e, closed)
    assert len(isa.coverage(frame, frame, on="iv")) == 3


def test_bins_of_pandas_have_floating_point_ends() -> None:
    """`pandas.cut` makes intervals (a, b] of floating-point numbers."""
    values = [0.5, 1.0, 1.5, 2.0, 3.0]
    bins = pandas.DataFrame({"iv": pandas.cut(values, [0, 1, 2, 3]).categories.values})
    points = table("both", *((value, value) for value in values))
    found = isa.join(points, bins, on="iv", columns=["iv_right", "iv"])
    assert [(a.left, b.left) for a, b in sorted(found.itertuples(index=False))] == [
        *[(0, 0.5), (0, 1.0), (1, 1.5), (1, 2.0), (2, 3.0)]
    ]
    assert isa.merge(bins, on="iv")["iv"].tolist() == [pandas.Interval(0, 3)]


def test_a_closed_end_at_the_last_value_of_its_type() -> None:
    last = table("both", (0, 2**63 - 1))
    with pytest.raises(EndpointValueError, match="closed end of iv is the last value"):
        isa.merge(last, on="iv")
    endless = table("both", (0.0, float("inf")), None)
    assert isa.merge(endless, on="iv")["iv"].tolist() == endless["iv"][:1].tolist()
