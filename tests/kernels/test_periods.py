# SPDX-License-Identifier: Apache-2.0
"""The sweeps over periods, compared with a computation for each elementary period."""

from __future__ import annotations

import os
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intervalsweep.kernels import periods
from intervalsweep.kernels.oracle import HOW_OFTEN, counted_periods, merged_periods, values_by_time
from intervalsweep.kernels.periods import RULES, CountSweep, ValueSweep
from support.kernels.cases import MAX, MIN
from support.kernels.periods import column, counted, parts

EXAMPLES = int(os.environ.get("INTERVALSWEEP_EXAMPLES", "300"))
ENDS = st.integers(0, 9) | st.sampled_from([MIN, MIN + 1, MAX - 1, MAX])
ROWS = st.lists(
    st.tuples(st.integers(0, 3), ENDS, ENDS, st.sampled_from([-2, -1, -1, 1, 1, 1, 2, 0])),
    max_size=24,
).map(lambda rows: sorted(rows, key=lambda row: row[:2]))
# Rows are fed in few or many batches, cut within groups or between them.
CUTS = st.lists(st.integers(0, 24), max_size=4)
PLACES = st.sampled_from([1, 2, 64])


@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, database=None)
@given(
    rule=st.sampled_from([*RULES]),
    rows=ROWS,
    cuts=CUTS,
    batch=st.sampled_from([1, 3, 64]),
    places=PLACES,
)
def test_counts(rule: str, rows: list[Any], cuts: list[int], batch: int, places: int) -> None:
    by_group: dict[int, list[Any]] = {}
    for group, *row in rows:
        by_group.setdefault(group, []).append(tuple(row))
    expected = {group: counted_periods(rule, some) for group, some in by_group.items()}
    with mock.patch.multiple(periods, _BATCH=batch, _PLACES=places):
        got = counted(rule, rows, cuts)
    assert got == {group: some for group, some in expected.items() if some}


@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, database=None)
@given(
    rows=ROWS,
    cuts=CUTS,
    length=st.sampled_from([1, 2, 3, 5, MAX]),
    batch=st.sampled_from([1, 3]),
    places=st.sampled_from([1, 2]),
)
def test_coalesce_up_to_a_length(
    rows: list[Any], cuts: list[int], length: int, batch: int, places: int
) -> None:
    rows = [(*row[:3], abs(row[3])) for row in rows]
    by_group: dict[int, list[Any]] = {}
    for group, *row in rows:
        by_group.setdefault(group, []).append(tuple(row))
    expected = {group: merged_periods(some, length) for group, some in by_group.items()}
    with mock.patch.multiple(periods, _BATCH=batch, _PLACES=places):
        got = counted("coalesce", rows, cuts, length)
    assert got == {group: some for group, some in expected.items() if some}


def test_the_example_of_algorithm_10() -> None:
    rows = [(0, 0, 4, 1), (0, 4, 9, 1), (0, 9, 12, 1)]
    assert counted("coalesce", rows, [], 6) == {0: [(0, 9), (9, 12)]}
    assert counted("coalesce", rows, [], 10) == {0: [(0, 12)]}


def test_all_rules_have_an_oracle() -> None:
    assert HOW_OFTEN.keys() == RULES.keys()


VALUES = st.lists(
    st.tuples(
        st.integers(0, 2),
        ENDS,
        ENDS,
        st.integers(-3, 3),
        st.sampled_from([0.5, 0.25, -3.0, float("inf"), 1e300, -1e300]),
    ),
    max_size=24,
).map(lambda rows: sorted(rows, key=lambda row: row[:2]))


@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, database=None)
@given(
    rows=VALUES,
    split=CUTS,
    batch=st.sampled_from([1, 3, 64]),
    places=PLACES,
    empty=st.booleans(),
    ends=st.sampled_from([*periods.ENDS]),
)
def test_values(
    rows: list[Any], split: list[int], batch: int, places: int, empty: bool, ends: Any
) -> None:
    empty = empty and ends != "islands"
    got: dict[int, list[Any]] = {}
    last = None
    with mock.patch.multiple(periods, _BATCH=batch, _PLACES=places):
        # The only place of a tree is its root, which NEXT needs.
        nexts = [] if ends == "islands" or places == 1 else ["least", "next", "next"]
        kinds = ["sum", "sum", "least", "greatest", *nexts]
        sweep = ValueSweep(kinds, empty=empty, ends=ends)
        for some, goes_on in parts(rows, split):
            columns = column(some, 0, np.int32), column(some, 1), column(some, 2)
            value = column(some, 3)
            measures = np.stack([np.ones_like(value), *[value] * (len(kinds) - 1)])
            for found in sweep.feed(*columns, measures, goes_on=goes_on):
                for k, row in enumerate(found.row.tolist()):
                    group = last if row < 0 else some[row][0]
                    period = int(found.start[k]), int(found.end[k])
                    got.setdefault(group, []).append((*period, found.values[:, k].tolist()))
            last = some[-1][0] if some else last
    for group in {row[0] for row in rows}:
        some = [row for row in rows if row[0] == group]

        def value_of(held: list[int], some: list[Any] = some) -> object:
            of = [some[k][3] for k in held]
            in_order = [*sorted({*of}), MAX, MAX, MAX][: len(nexts)]
            return [len(of), sum(of), min(of, default=MAX), max(of, default=MIN), *in_order]

        expected = values_by_time([row[1:3] for row in some], value_of, empty=empty, ends=ends)
        assert got.pop(group, []) == expected
    assert not got


@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, database=None)
@given(rows=VALUES, split=CUTS, places=PLACES)
def test_sums_of_floats_take_nothing_off(rows: list[Any], split: list[int], places: int) -> None:
    rows = [(0, *row[1:]) for row in rows]
    rows.sort(key=lambda row: row[1])
    got = []
    with mock.patch.object(periods, "_PLACES", places):
        sweep = ValueSweep(["sum"], 1, ends="cuts")
        for some, goes_on in parts(rows, split):
            ends = column(some, 0, np.int32), column(some, 1), column(some, 2)
            ones = np.ones((1, len(some)), dtype=np.int64)
            numbers = column(some, 4, np.float64)[np.newaxis]
            for found in sweep.feed(*ends, ones, numbers, goes_on=goes_on):
                got += found.floats[0].tolist()
    expected = values_by_time([row[1:3] for row in rows], lambda held: held, ends="cuts")
    for value, (_, _, held) in zip(got, expected, strict=True):
        numbers_now = [rows[k][4] for k in held]  # type: ignore[attr-defined]
        finite = [x for x in numbers_now if abs(x) < 1e299]
        if len(finite) == len(numbers_now):
            assert value == sum(finite)  # few bits, so sums are exact in any order
        elif np.isfinite(value):
            assert not np.isinf(numbers_now).any()


def test_a_result_that_is_larger_than_its_input() -> None:
    """Each gap of the right side cuts all rows of the left side: as many fragments as pairs."""
    left = [(0, 0, 10_000 + k, 1) for k in range(300)]
    right = [(0, 2 * k + 1, 2 * k + 2, -1) for k in range(300)]
    rows = sorted(left + right, key=lambda row: row[:2])
    got = counted("except_strict", rows, [])
    assert got[0] == counted_periods("except_strict", [row[1:] for row in rows])  # type: ignore[comparison-overlap]
    assert len(got[0]) == 300 * 301


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: CountSweep("distinct", 3), "only coalesce has a length"),
        (lambda: CountSweep("minus"), "expected one of coalesce, .*, got 'minus'"),
        (lambda: ValueSweep(["avg"]), "expected one of sum, least, greatest, next, got 'avg'"),
        (lambda: ValueSweep(["next"]), "next must follow least or next"),
        (lambda: ValueSweep(["least", "next"], ends="islands"), "not possible with islands"),
        (lambda: feed([0, 0], [2, 1], [3, 3]), "not sorted"),
        (lambda: feed([1, 0], [1, 1], [3, 3]), "not sorted"),
        (lambda: feed([0], [1, 2], [3]), "expected 1 values, got 2"),
        (
            lambda: list(ValueSweep(["sum"]).feed(*rows_of([0], [1], [2]), np.ones((1, 1)))),
            "measures: expected int64",
        ),
    ],
)
def test_what_the_loops_trust_is_checked(call: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()


def rows_of(group: list[int], start: list[int], end: list[int]) -> Any:
    return np.array(group, np.int32), np.array(start, np.int64), np.array(end, np.int64)


def feed(group: list[int], start: list[int], end: list[int]) -> Any:
    columns = rows_of(group, start, end)
    return list(CountSweep("coalesce").feed(*columns, np.ones(len(group), np.int64)))
