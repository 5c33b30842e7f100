# SPDX-License-Identifier: Apache-2.0
"""Generated joins for the kernel tests, and the comparison with the oracle."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from intervalsweep.kernels import Bounds, Boxes, Int64Array, PointIndex, RunSweep
from intervalsweep.kernels.oracle import matching_pairs

MIN, MAX = np.iinfo(np.int64).min, np.iinfo(np.int64).max

# Few distinct values give ties, and the extremes of the type give overflows.
VALUES = st.one_of(
    st.integers(-3, 12), st.sampled_from([MIN, MIN + 1, MAX - 1, MAX]), st.integers(MIN, MAX)
)
SMALL_VALUES = st.integers(0, 9)


@dataclass
class Case:
    """A join: points in groups, boxes, and a clip."""

    index: PointIndex
    boxes: Boxes
    clip: tuple[int, int] | None = None


def pairs(case: Case, max_runs: int = 65_536) -> list[tuple[int, int]]:
    """The sweep's matches, after checking the invariants of its batches."""
    sweep = RunSweep(case.index, case.boxes, clip=case.clip, max_runs=max_runs)
    runs = []
    for batch in sweep:
        assert 1 <= batch.box.size <= max_runs
        assert {column.dtype for column in batch} == {np.dtype(np.int32)}
        assert batch.count.min() > 0
        runs += list(zip(*(column.tolist() for column in batch), strict=True))
    assert sweep.runs == len(runs)
    for (box, first, count), (next_box, next_first, _) in itertools.pairwise(runs):
        assert box != next_box or first + count < next_first, "runs rise and are maximal"
    in_turn = [box for box, _ in itertools.groupby(run[0] for run in runs)]
    assert len(in_turn) == len(set(in_turn)), "the runs of a box are together"
    found = sorted((box, first + k) for box, first, count in runs for k in range(count))
    lead_only = Boxes(case.boxes.size, case.boxes.lead, None, case.boxes.group)
    assert sweep.candidates == len(matching_pairs(case.index, lead_only, case.clip))
    return found


def check(case: Case, max_runs: int = 65_536) -> int:
    """Compare a sweep with the oracle; return the number of matches."""
    expected = matching_pairs(case.index, case.boxes, case.clip)
    assert pairs(case, max_runs) == expected
    return len(expected)


@st.composite
def bounds(draw: Callable[..., object], size: int, values: st.SearchStrategy[int]) -> Bounds:
    column = st.lists(values, min_size=size, max_size=size).map(lambda v: np.array(v, np.int64))
    return Bounds(
        draw(st.none() | column),
        draw(st.none() | column),
        lower_strict=draw(st.booleans()),
        upper_strict=draw(st.booleans()),
    )


@st.composite
def cases(draw: Callable[..., object]) -> Case:
    """A small join: zero, one or two bounded axes, with groups or without, clipped or not."""
    values = draw(st.sampled_from([VALUES, SMALL_VALUES]))
    sizes = draw(st.lists(st.integers(0, 8), min_size=1, max_size=4) | st.lists(st.just(1)))
    rows = sum(sizes)
    column = st.lists(values, min_size=rows, max_size=rows).map(lambda v: np.array(v, np.int64))
    offsets = np.concatenate(([0], np.cumsum(np.array(sizes, np.int64)))).astype(np.int64)
    lead = draw(column)
    for start, stop in itertools.pairwise(offsets):
        lead[start:stop].sort()
    index = PointIndex(lead, draw(st.none() | column), offsets)
    size = draw(st.integers(0, 6))
    group = None
    if draw(st.booleans()):
        numbers = st.integers(0, len(sizes) + 1)
        group = np.array(draw(st.lists(numbers, min_size=size, max_size=size)), np.int32)
    second = None if index.second is None else draw(st.none() | bounds(size, values))
    clip = draw(st.none() | st.tuples(values, values))
    return Case(index, Boxes(size, draw(bounds(size, values)), second, group), clip)


@st.composite
def interval_cases(draw: Callable[..., object]) -> Case:
    """A small join of intervals. Start and end are near each other, and in any order.

    So one axis often implies the other for all rows, or for all rows but one.
    """
    values = draw(st.sampled_from([VALUES, SMALL_VALUES]))
    sizes = draw(st.lists(st.integers(0, 6), min_size=1, max_size=3))
    lead, second = draw(intervals(sum(sizes), values))
    offsets = np.concatenate(([0], np.cumsum(np.array(sizes, np.int64)))).astype(np.int64)
    for start, stop in itertools.pairwise(offsets):
        order = start + np.argsort(lead[start:stop], kind="stable")
        lead[start:stop], second[start:stop] = lead[order], second[order]
    size = draw(st.integers(0, 6))
    ends = draw(intervals(size, values))
    numbers = st.lists(st.integers(0, len(sizes)), min_size=size, max_size=size)
    group = draw(st.none() | numbers.map(lambda numbers: np.array(numbers, np.int32)))
    axes = [
        Bounds(
            draw(st.sampled_from([None, *ends])),
            draw(st.sampled_from([None, *ends])),
            lower_strict=draw(st.booleans()),
            upper_strict=draw(st.booleans()),
        )
        for _ in range(2)
    ]
    clip = draw(st.none() | st.tuples(values, values))
    return Case(PointIndex(lead, second, offsets), Boxes(size, *axes, group), clip)


@st.composite
def intervals(
    draw: Callable[..., object], size: int, values: st.SearchStrategy[int]
) -> tuple[Int64Array, Int64Array]:
    """Starts and ends: the lengths are arbitrary, or in a narrow range that may be negative."""
    low, high = draw(st.sampled_from([(1, 3), (0, 2), (-1, 1), (-3, -1), (MIN, MAX)]))
    start = draw(st.lists(values, min_size=size, max_size=size))
    steps = draw(st.lists(st.integers(low, high), min_size=size, max_size=size))
    end = [max(MIN, min(MAX, one + step)) for one, step in zip(start, steps, strict=True)]
    return np.array(start, np.int64), np.array(end, np.int64)


def sorted_boxes(case: Case) -> Case:
    """The case with its boxes sorted by group and lower bound."""
    boxes, lower = case.boxes, case.boxes.lead.lower
    group = np.zeros(boxes.size, np.int32) if boxes.group is None else np.asarray(boxes.group)
    order = np.lexsort((group,) if lower is None else (lower, group))
    return Case(
        case.index,
        Boxes(
            boxes.size,
            boxes.lead.take(order),
            boxes.second and boxes.second.take(order),
            None if boxes.group is None else group[order],
        ),
        case.clip,
    )


def random_case(seed: int, points: int, boxes: int, groups: int, spread: int) -> Case:
    """A larger join with one hot group, so that lookup tables and whole blocks are used."""
    rng = np.random.default_rng(seed)
    numbers = np.sort(np.where(rng.random(points) < 0.7, 0, rng.integers(0, groups, points)))
    lead = rng.integers(0, spread, points)
    order = np.lexsort((lead, numbers))
    lead = lead[order]
    second = lead + rng.integers(0, max(spread // 10, 2), points)
    offsets = np.searchsorted(numbers, np.arange(groups + 1))
    index = PointIndex(lead, second, offsets)
    start = rng.integers(0, spread, boxes)
    stop = start + rng.integers(0, max(spread // 5, 2), boxes)
    group = np.where(rng.random(boxes) < 0.7, 0, rng.integers(0, groups, boxes)).astype(np.int32)
    return Case(index, Boxes(boxes, Bounds(start, stop, upper_strict=True), None, group))
