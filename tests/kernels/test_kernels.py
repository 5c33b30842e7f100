# SPDX-License-Identifier: Apache-2.0
"""The kernels, compared with nested loops."""

from __future__ import annotations

import dataclasses
import itertools
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intervalsweep.kernels import (
    Bounds,
    Boxes,
    Measures,
    PointIndex,
    RunSweep,
    group_offsets,
    is_sorted,
    runs,
)
from intervalsweep.kernels.arrays import NO_INT32
from intervalsweep.kernels.expand_runs import Expansion
from intervalsweep.kernels.jit import BIG_BLOCK, FAN_OUT
from intervalsweep.kernels.oracle import matching_pairs
from support.kernels.cases import (
    MAX,
    MIN,
    Case,
    cases,
    check,
    interval_cases,
    pairs,
    random_case,
    sorted_boxes,
)

EXAMPLES = int(os.environ.get("INTERVALSWEEP_EXAMPLES", "300"))
# Plain Python is too slow for the large cases.
JIT = os.environ.get("NUMBA_DISABLE_JIT") != "1"
compiled_only = pytest.mark.skipif(not JIT, reason="too slow without compilation")


def int64(*values: int) -> npt.NDArray[np.int64]:
    return np.array(values, dtype=np.int64)


@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, database=None)
@given(case=cases(), max_runs=st.sampled_from([1, 2, 7, 65_536]), order=st.booleans())
def test_generated_joins(case: Case, max_runs: int, order: bool) -> None:
    with mock.patch.object(runs, "_ORDER_FROM", 0 if order else MAX):
        check(case, max_runs)


@settings(max_examples=3 * EXAMPLES, deadline=None, derandomize=True, database=None)
@given(case=interval_cases(), max_runs=st.sampled_from([2, 65_536]), order=st.booleans())
def test_generated_joins_of_intervals(case: Case, max_runs: int, order: bool) -> None:
    with mock.patch.object(runs, "_ORDER_FROM", 0 if order else MAX):
        check(case, max_runs)


@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, database=None)
@given(case=(cases() | interval_cases()).map(sorted_boxes), max_runs=st.sampled_from([1, 2, 7]))
def test_generated_joins_of_sorted_boxes(case: Case, max_runs: int) -> None:
    with mock.patch.object(runs, "_ORDER_FROM", 0):
        check(case, max_runs)


@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, database=None)
@given(case=cases() | interval_cases(), max_runs=st.sampled_from([1, 2, 65_536]))
def test_first_only_finds_a_match_of_every_box_that_has_one(case: Case, max_runs: int) -> None:
    expected = matching_pairs(case.index, case.boxes, case.clip)
    sweep = RunSweep(case.index, case.boxes, clip=case.clip, max_runs=max_runs, first_only=True)
    found = [
        (box, first + k)
        for batch in sweep
        for box, first, count in zip(*(column.tolist() for column in batch), strict=True)
        for k in range(count)
    ]
    assert set(found) <= set(expected)
    assert len(set(found)) == len(found)
    assert {box for box, _ in found} == {box for box, _ in expected}


@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, database=None)
@given(
    case=cases() | interval_cases(),
    max_runs=st.sampled_from([1, 2, 65_536]),
    measures=st.integers(0, 3),
    order=st.booleans(),
)
def test_sums_are_those_of_the_matches(
    case: Case, max_runs: int, measures: int, order: bool
) -> None:
    with mock.patch.object(runs, "_ORDER_FROM", 0 if order else MAX):
        check_sums(case, max_runs, measures)


@pytest.mark.parametrize("spread", [7, 300, 2**62])
def test_sums_of_runs_that_are_longer_than_a_big_block(spread: int) -> None:
    points, boxes = (5 * BIG_BLOCK, 24) if JIT else (BIG_BLOCK + 100, 2)
    case = random_case(3, points, boxes, groups=1, spread=spread)
    ends = case.boxes.lead.upper
    for second in (Bounds(ends, lower_strict=True), Bounds(None, ends), Bounds(ends, ends + 9)):
        check_sums(Case(case.index, dataclasses.replace(case.boxes, second=second), None), 7, 2)


def check_sums(case: Case, max_runs: int, measures: int) -> None:
    values = np.random.default_rng(1).integers(-(10**6), 10**6, (measures, case.index.size))
    expected: dict[int, list[int]] = {}
    for box, point in matching_pairs(case.index, case.boxes, case.clip):
        expected.setdefault(box, []).append(point)
    found: dict[int, list[int]] = {}
    sweep = RunSweep(case.index, case.boxes, clip=case.clip, max_runs=max_runs)
    for batch in sweep.sums(Measures(values)):
        assert 1 <= batch.box.size <= max_runs
        for k, box in enumerate(batch.box.tolist()):
            assert box not in found
            found[box] = [int(batch.first[k]), int(batch.count[k]), *batch.sums[:, k].tolist()]
    assert found == {
        box: [min(points), len(points), *values[:, points].sum(axis=1).tolist()]
        for box, points in expected.items()
    }
    assert sweep.runs == len(found)


@pytest.mark.parametrize("each", [1, 7, 10**6])
def test_pairs_of_runs(each: int) -> None:
    case = random_case(4, points=300, boxes=40, groups=5, spread=100)
    boxes, points = np.arange(40, dtype=np.int32), np.arange(300, dtype=np.int32)
    expected = matching_pairs(case.index, case.boxes, None)

    def pairs(max_runs: int, box_rows: Any, point_rows: Any) -> list[tuple[int, int]]:
        sweep = RunSweep(case.index, case.boxes, max_runs=max_runs)
        found = Expansion(sweep, box_rows, point_rows)
        parts = [found.pairs(*part) for part in found.parts(each)]
        assert sum(box.size for box, _ in parts) == found.size
        assert all(box.size for box, _ in parts)
        return [pair for part in parts for pair in zip(*(x.tolist() for x in part), strict=True)]

    for max_runs in (1, 9, 1000):
        found = pairs(max_runs, boxes + 100, points[::-1].copy())
        assert sorted((box - 100, 299 - point) for box, point in found) == sorted(expected)
        found = pairs(max_runs, NO_INT32, NO_INT32)
        assert sorted(found) == sorted(expected), "numbers of boxes and points as they are"
    assert len(expected) > 100
    nothing = RunSweep(PointIndex(int64()), Boxes(1, Bounds()))
    assert Expansion(nothing, boxes, points).parts() == []


def test_measures_of_other_points_are_refused() -> None:
    for second in (None, Bounds(int64(1)), Bounds(int64(2))):
        boxes = Boxes(1, Bounds(int64(1), int64(3)), second)
        sweep = RunSweep(PointIndex(int64(1, 2), int64(1, 2)), boxes)
        with pytest.raises(ValueError, match="expected values of 2 points, got 3"):
            next(sweep.sums(Measures(np.zeros((1, 3), np.int64))))
    with pytest.raises(ValueError, match="in two dimensions, got float64, 2"):
        Measures(np.zeros((1, 2)))


@compiled_only
def test_first_only_does_not_grow_with_the_matches() -> None:
    """A thousand boxes have a million candidates each, and no two matches are adjacent."""
    size = 10**6
    lead = np.arange(size)
    second = lead % 2
    ones = np.ones(1000, np.int64)
    boxes = Boxes(1000, Bounds(np.zeros(1000, np.int64), np.full(1000, size)), Bounds(ones))
    sweep = RunSweep(PointIndex(lead, second), boxes, first_only=True)
    assert sum(batch.box.size for batch in sweep) == 1000


@pytest.mark.parametrize("max_runs", [1, 5, 1000])
@pytest.mark.parametrize("spread", [1, 7, 300, 10**6, 2**62])
def test_hot_group_among_small_ones(
    spread: int, max_runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    points, boxes = (1200, 60) if JIT else (400, 8)
    case = random_case(spread, points, boxes, groups=40, spread=spread)
    assert check(case, max_runs) > 0
    monkeypatch.setattr(runs, "_ORDER_FROM", 0)
    monkeypatch.setattr(runs, "_PLACE_BITS", 5)
    assert check(case, max_runs) > 0
    assert check(sorted_boxes(case), max_runs) > 0


@pytest.mark.parametrize("open_side", ["none", "upper"])
@pytest.mark.parametrize("clip", [None, (250, 700)])
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(("points", "boxes"), [(40, 300), (300, 300), (2000, 70)])
def test_stretches_of_sorted_boxes(
    points: int,
    boxes: int,
    strict: bool,
    clip: tuple[int, int] | None,
    open_side: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Boxes in several stretches, some with more points than a merge takes."""
    monkeypatch.setattr(runs, "_ORDER_FROM", 0)
    if not JIT:
        points, boxes = points // 4, boxes // 4
    case = random_case(points, points, boxes, groups=4, spread=1000)
    upper = None if open_side == "upper" else case.boxes.lead.upper
    lead = Bounds(case.boxes.lead.lower, upper, lower_strict=strict, upper_strict=not strict)
    some = dataclasses.replace(case.boxes, lead=lead)
    assert check(sorted_boxes(Case(case.index, some, clip)), max_runs=100) > 0


@compiled_only
def test_a_million_matches_of_boxes_in_random_order() -> None:
    """Enough boxes that the sweep sorts them itself; compared with binary search."""
    rng = np.random.default_rng(2)
    lead = np.sort(rng.integers(0, 50_000, 50_000))
    start = rng.integers(-100, 50_100, 40_000)
    stop = start + rng.integers(-5, 60, 40_000)
    first, last = np.searchsorted(lead, start), np.searchsorted(lead, stop)
    found = np.zeros((40_000, 2), np.int64)
    for batch in RunSweep(PointIndex(lead), Boxes(40_000, Bounds(start, stop, upper_strict=True))):
        found[batch.box] = np.column_stack((batch.first, batch.count))
    expected = np.column_stack((first, last - first)) * (last > first)[:, None]
    np.testing.assert_array_equal(found, expected)


SECOND_BOUNDS = {
    "lower only": (Bounds(int64(300)), 5),
    "lower only, strict": (Bounds(int64(300), lower_strict=True), 5),
    "upper only": (Bounds(None, int64(300)), 5),
    "upper only, strict": (Bounds(None, int64(300), upper_strict=True), 5),
    "both": (Bounds(int64(100), int64(600)), 5),
    "one value": (Bounds(int64(300), int64(300)), 0),
    "everything": (Bounds(), 5),
}


@pytest.mark.parametrize("name", SECOND_BOUNDS)
@pytest.mark.parametrize("shape", ["rising", "falling", "wave", "random", "steps"])
def test_second_axis_in_every_direction(name: str, shape: str) -> None:
    size = 1000
    at = np.arange(size)
    second = {
        "rising": at,
        "falling": at[::-1].copy(),
        "wave": (500 + 400 * np.sin(at / 90)).astype(np.int64),
        "random": np.random.default_rng(1).integers(0, size, size),
        "steps": at // 130 * 130 % 700,
    }[shape]
    bounds, least = SECOND_BOUNDS[name]
    for low, high in [(0, size), (3, 3), (60, 130), (64, 128), (1, size - 1)]:
        case = Case(PointIndex(at, second), Boxes(1, Bounds(int64(low), int64(high)), bounds))
        found = check(case)
        check(case, max_runs=1)
        if (low, high) == (0, size):
            assert found >= least


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("extreme", [MIN, MAX])
def test_bounds_at_the_ends_of_the_type(extreme: int, strict: bool) -> None:
    lead = int64(MIN, MIN, -1, 0, 1, MAX, MAX)
    here = int64(extreme)
    for bounds in (
        Bounds(here, lower_strict=strict),
        Bounds(None, here, upper_strict=strict),
        Bounds(here, here, lower_strict=strict, upper_strict=strict),
        Bounds(int64(MIN), int64(MAX), lower_strict=strict, upper_strict=strict),
    ):
        check(Case(PointIndex(lead, lead), Boxes(1, bounds)))
        check(Case(PointIndex(lead, lead), Boxes(1, Bounds(), bounds)))
        check(Case(PointIndex(lead, lead), Boxes(1, bounds, bounds), clip=(MIN, MAX)))


@pytest.mark.parametrize("low", [MIN, MIN + 5, -(2**62), 0, 2**62])
@pytest.mark.parametrize("high", [MAX, MAX - 5, 2**62])
def test_lookup_table_over_any_range(low: int, high: int) -> None:
    """The range of a group's values may exceed the largest integer."""
    rng = np.random.default_rng(3)
    lead = np.sort(np.append(rng.integers(low, high, 300, endpoint=True), [low, high]))
    edges = rng.choice(lead, 20)
    boxes = Boxes(40, Bounds(np.append(edges, edges - (edges > MIN)), None))
    assert check(Case(PointIndex(lead), boxes)) > 0


def test_many_tiny_groups() -> None:
    groups = 5000 if JIT else 200
    numbers = np.repeat(np.arange(groups, dtype=np.int32), 3)
    lead = np.tile(int64(1, 2, 3), groups)
    index = PointIndex(lead, lead, group_offsets(numbers))
    order = np.random.default_rng(5).permutation(groups).astype(np.int32)
    two = np.full(groups, 2)
    boxes = Boxes(groups, Bounds(two), Bounds(None, two), order)
    (batch,) = RunSweep(index, boxes)
    found = sorted(zip(*(column.tolist() for column in batch), strict=True))
    assert found == [(i, 3 * int(order[i]) + 1, 1) for i in range(groups)]


@pytest.mark.parametrize("second", [False, True])
def test_empty_sides(second: bool) -> None:
    none = np.empty(0, np.int64)
    axis = Bounds(int64(0)) if second else None
    assert pairs(Case(PointIndex(none, none), Boxes(1, Bounds(int64(0)), axis))) == []
    no_axis = Bounds(none) if second else None
    assert pairs(Case(PointIndex(int64(1), int64(1)), Boxes(0, Bounds(none), no_axis))) == []
    no_groups = PointIndex(none, none, int64(0))
    assert pairs(Case(no_groups, Boxes(1, Bounds(int64(0)), axis))) == []


@compiled_only
def test_whole_blocks_are_one_run() -> None:
    size = 3 * BIG_BLOCK + 100
    index = PointIndex(np.arange(size), np.arange(size))
    boxes = Boxes(1, Bounds(int64(5), int64(size - 3)), Bounds(int64(FAN_OUT - 1), int64(size)))
    (batch,) = RunSweep(index, boxes)
    assert [column.tolist() for column in batch] == [[0], [FAN_OUT - 1], [size - 2 - FAN_OUT + 1]]


@compiled_only
def test_sparse_matches_do_not_cost_their_candidates() -> None:
    """10^5 of 10^9 candidates match; to test each candidate would take a second."""
    size = 10**6
    lead = np.arange(size)
    second = np.zeros(size, np.int64)
    second[::10_000] = 1
    ones = np.ones(1000, np.int64)
    boxes = Boxes(1000, Bounds(np.zeros(1000, np.int64), np.full(1000, size)), Bounds(ones))
    sweep = RunSweep(PointIndex(lead, second), boxes)
    assert sum(int(batch.count.sum()) for batch in sweep) == 100_000
    assert sweep.candidates == 10**9
    assert sweep.skipped == 1000 * (size // FAN_OUT - 100), "of blocks that match nothing"


def test_boxes_of_unknown_groups_match_nothing() -> None:
    index = PointIndex(int64(1, 2), None, int64(0, 1, 2))
    boxes = Boxes(3, Bounds(), None, np.array([7, 1, 2], np.int32))
    assert check(Case(index, boxes)) == 1


@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, database=None)
@given(rows=st.lists(st.tuples(st.integers(0, 2), st.sampled_from([MIN, -1, 0, MAX])), max_size=4))
def test_rows_in_order(rows: list[tuple[int, int]]) -> None:
    groups = np.array([group for group, _ in rows], np.int32)
    lead = np.array([value for _, value in rows], np.int64)
    assert is_sorted(groups, lead) == (rows == sorted(rows))
    assert is_sorted(None, lead) == (lead.tolist() == sorted(lead))


@pytest.mark.parametrize("row", [1, 255, 256, 257, 600, 899, 999])
def test_a_row_out_of_order_is_found_in_any_block(row: int) -> None:
    """The row is in a group that begins within a block and spans several, or in the last group."""
    offsets = int64(0, 90, 90, 900, 1000)
    lead = np.concatenate([np.arange(count) for count in np.diff(offsets)])
    groups = np.repeat(np.arange(4, dtype=np.int32), np.diff(offsets))
    assert PointIndex(lead, None, offsets).size == 1000
    assert is_sorted(groups, lead)
    assert group_offsets(groups).tolist() == offsets.tolist()
    lead[row] = -1
    with pytest.raises(ValueError, match=rf"row {row} \(-1\) is smaller"):
        PointIndex(lead, None, offsets)
    assert not is_sorted(groups, lead)
    assert not is_sorted(None, lead)


def test_views_of_any_memory_layout_are_accepted() -> None:
    table = np.arange(20, dtype=np.int64).reshape(10, 2)
    frozen = table[:, 0]
    raw = b"x" + np.arange(10, dtype=np.int64).tobytes()
    unaligned = np.frombuffer(raw, np.int64, 10, 1)
    assert not unaligned.flags.aligned
    case = Case(PointIndex(frozen, unaligned), Boxes(10, Bounds(unaligned), Bounds(table[:, 1])))
    assert check(case) > 0


WRONG = {
    "int32 lead": (lambda: PointIndex(np.zeros(2, np.int32)), "lead: expected dtype int64"),
    "float lead": (lambda: PointIndex(np.zeros(2)), "lead: expected dtype int64, got float64"),
    "two dimensions": (lambda: PointIndex(np.zeros((2, 2), np.int64)), "lead: expected one dim"),
    "unsorted": (lambda: PointIndex(int64(1, 3, 2)), "row 2 .2. is smaller"),
    "unsorted in a group": (
        lambda: PointIndex(int64(5, 1, 3, 2), None, int64(0, 1, 4)),
        "row 3 .2. is smaller",
    ),
    "short second": (lambda: PointIndex(int64(1, 2), int64(1)), "second: expected 2 values, got 1"),
    "offsets end": (lambda: PointIndex(int64(1), None, int64(0, 2)), "end at 1"),
    "offsets start": (lambda: PointIndex(int64(1), None, int64(1, 1)), "start at 0"),
    "no offsets": (lambda: PointIndex(int64(1), None, int64()), "start at 0"),
    "offsets fall": (lambda: PointIndex(int64(1, 2), None, int64(0, 2, 1, 2)), "non-decreasing"),
    "offsets negative": (lambda: PointIndex(int64(1), None, int64(0, -1, 1)), "non-decreasing"),
    "unsorted groups": (
        lambda: group_offsets(np.array([0, 2, 1, 2], np.int32)),
        "row 2 holds group 1",
    ),
    "negative group": (lambda: group_offsets(np.array([-1], np.int32)), "row 0 holds group -1"),
    "large group": (lambda: group_offsets(np.array([0, 3], np.int32), 3), "row 1 holds group 3"),
    "bounds dtype": (lambda: Bounds(np.zeros(1)), "lower: expected dtype int64"),
    "bounds size": (lambda: sweep(Boxes(2, Bounds(None, int64(1)))), "upper: expected 2 values"),
    "bounds size with groups": (
        lambda: sweep(Boxes(20_000, Bounds(int64(1)), None, np.zeros(20_000, np.int32))),
        "lower: expected 20000 values",
    ),
    "second size": (lambda: sweep(Boxes(1, Bounds(), Bounds(int64()))), "lower: expected 1 values"),
    "no second": (
        lambda: RunSweep(PointIndex(int64(1)), Boxes(1, Bounds(), Bounds())),
        "the points have only one",
    ),
    "box group": (
        lambda: sweep(Boxes(1, Bounds(), None, np.array([-1], np.int32))),
        "group: expected no negative",
    ),
    "box group size": (
        lambda: sweep(Boxes(1, Bounds(), None, np.array([0, 0], np.int32))),
        "group: expected 1 values",
    ),
    "box group dtype": (lambda: sweep(Boxes(1, Bounds(), None, int64(0))), "expected dtype int32"),
    "negative size": (lambda: sweep(Boxes(-1, Bounds())), "size: expected"),
    "no runs": (lambda: sweep(Boxes(1, Bounds()), max_runs=0), "max_runs: expected at least 1"),
    "clip": (lambda: sweep(Boxes(1, Bounds()), clip=(0, 2**63)), "clip: expected 64-bit"),
}


def sweep(boxes: Boxes, **options: object) -> RunSweep:
    return RunSweep(PointIndex(int64(1), int64(1)), boxes, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_named(name: str) -> None:
    call, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        call()


def test_memory_is_accounted() -> None:
    index = PointIndex(np.arange(1000), np.arange(1000)[::-1].copy())
    given = index.nbytes
    assert given >= 16_000
    nothing = Boxes(1, Bounds(int64(2), int64(1)), Bounds(int64(500)))
    assert [*RunSweep(index, nothing)] == []
    assert index.nbytes == given, "where no box can match, nothing is prepared"
    assert [*RunSweep(index, Boxes(1, Bounds(int64(2))))] != []
    with_tables = index.nbytes
    assert with_tables >= given + 4 * 1000
    assert [*RunSweep(index, Boxes(1, Bounds(int64(2)), Bounds(int64(500))))] != []
    assert index.nbytes == with_tables + 16 * (-(-1000 // FAN_OUT) + 1)


# Name -> (lead and second of points that are intervals [lead, second), bounds of a box on both
# axes, True if the lead axis implies the second axis).
INTERSECTING = Bounds(int64(3), int64(6), upper_strict=True), Bounds(int64(3), lower_strict=True)
IMPLIED = {
    "not empty": (int64(2, 3, 4, 5), int64(9, 4, 6, 6), INTERSECTING, True),
    "one is empty": (int64(2, 3, 4, 5), int64(9, 3, 6, 6), INTERSECTING, False),
    "one is reversed": (int64(2, 3, 4, 5), int64(9, 4, 2, 6), INTERSECTING, False),
    "one is empty, which an inclusive bound allows": (
        int64(2, 3), int64(9, 3), (INTERSECTING[0], Bounds(int64(3))), True
    ),
    "one is empty, which the lead axis allows": (
        int64(2, 4), int64(9, 4),
        (Bounds(int64(3), int64(6), lower_strict=True), INTERSECTING[1]), True,
    ),
    "none is long": (
        int64(2, 3), int64(4, 5), (Bounds(None, int64(6)), Bounds(None, int64(8))), True
    ),
    "one is long": (
        int64(2, 3), int64(4, 6), (Bounds(None, int64(6)), Bounds(None, int64(8))), False
    ),
    "one is long, strictly": (
        int64(2, 3), int64(4, 5),
        (Bounds(None, int64(6)), Bounds(None, int64(8), upper_strict=True)), False,
    ),
    "the lead axis is open": (int64(2, 3), int64(4, 5), (Bounds(), Bounds(int64(2))), False),
    "the second axis is open": (int64(2, 3), int64(4, 2), (Bounds(), Bounds()), True),
    "a difference leaves 64 bits": (
        int64(3, MAX), int64(4, MIN), (Bounds(int64(3), int64(MAX)), INTERSECTING[1]), False
    ),
    "a difference is as large as can be": (int64(0, 3), int64(MAX, 4), INTERSECTING, True),
    "a difference is as small as can be": (
        int64(0, 3), int64(MIN + 2, 4), (INTERSECTING[0], Bounds(None, int64(7))), True
    ),
    "sums leave 64 bits": (
        int64(0, 3), int64(MAX, 4), (INTERSECTING[0], Bounds(int64(3), int64(MAX))), True
    ),
    "nothing satisfies the second axis": (
        int64(2, 3), int64(4, 5), (INTERSECTING[0], Bounds(int64(MAX), lower_strict=True)), False
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", IMPLIED)
def test_a_second_axis_that_the_lead_axis_implies_is_dropped(name: str) -> None:
    lead, second, axes, is_implied = IMPLIED[name]
    case = Case(PointIndex(lead, second), Boxes(1, *axes))
    check(case)
    check_sums(case, max_runs=1, measures=1)
    assert reads_second_axis(case) is not is_implied


@pytest.mark.parametrize("steps", [(-2, -1), (-1, 0), (-1, 1), (0, 0), (0, 1), (1, 2)])
@pytest.mark.parametrize("side", ["lower", "upper"])
def test_axes_that_one_column_bounds(side: str, steps: tuple[int, int]) -> None:
    """The distance of the points' endpoints decides whether one axis implies the other."""
    start = np.repeat(np.arange(5), 2)
    index = PointIndex(start, start + np.tile(int64(*steps), 5))
    column = np.arange(-1, 6)
    for strict, second_strict in itertools.product([False, True], repeat=2):
        lead = Bounds(**{side: column, f"{side}_strict": strict})  # type: ignore[arg-type]
        second = Bounds(**{side: column, f"{side}_strict": second_strict})  # type: ignore[arg-type]
        assert check(Case(index, Boxes(column.size, lead, second))) > 0


def test_a_clip_may_imply_the_second_axis() -> None:
    boxes = Boxes(1, Bounds(), Bounds(int64(5), int64(8)))
    for clip, is_implied in (((4, 7), True), ((3, 7), False), ((4, 8), False)):
        case = Case(PointIndex(int64(2, 4, 8), int64(3, 5, 9)), boxes, clip)
        check(case)
        assert reads_second_axis(case) is not is_implied


def test_empty_boxes_imply_anything() -> None:
    boxes = Boxes(2, Bounds(int64(5, 3), int64(3, 6)), Bounds(int64(MAX, 3)))
    case = Case(PointIndex(int64(2, 3), int64(3, 4)), boxes)
    assert check(case) == 1
    assert not reads_second_axis(case)


def reads_second_axis(case: Case) -> bool:
    """True if the sweep builds the blocks of the second axis, with an index of its own."""
    index = PointIndex(case.index.lead, case.index.second, case.index.offsets)
    list(RunSweep(index, Boxes(case.boxes.size, case.boxes.lead, None), clip=case.clip))
    without = index.nbytes
    list(RunSweep(index, case.boxes, clip=case.clip))
    return index.nbytes > without


def test_results_do_not_depend_on_the_order_of_boxes() -> None:
    case = random_case(1, 500, 20, groups=3, spread=1000)
    lead, group = case.boxes.lead, np.asarray(case.boxes.group)
    order = np.lexsort((lead.lower, group))
    ordered = pairs(sorted_boxes(case))
    assert sorted((int(order[i]), j) for i, j in ordered) == pairs(case)


@pytest.mark.extended
@pytest.mark.skipif("INTERVALSWEEP_EXAMPLES" in os.environ, reason="is such a run itself")
@pytest.mark.parametrize("variable", ["NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK"])
def test_all_again_without_the_compiler_or_with_bounds_checks(
    variable: str, tmp_path: Path
) -> None:
    environment = {
        **os.environ,
        variable: "1",
        "INTERVALSWEEP_EXAMPLES": "60",
        # numba's cache does not distinguish code with bounds checks from code without them.
        "NUMBA_CACHE_DIR": str(tmp_path),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
