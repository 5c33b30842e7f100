# SPDX-License-Identifier: Apache-2.0
"""The papers' algorithms and their rivals, compared with the formulas for each pair."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import pytest

from benchmarks.papers.algorithms import ALGORITHMS, join_by_s
from benchmarks.papers.loops.active import MASK, SIZE, erase, gapless_map, insert
from benchmarks.papers.loops.iterators import Intervals
from benchmarks.papers.query import CANDIDATES, GETNEXT, PAIRS, SUM, Query, counted, pairs
from support.joins.brute import holds
from support.joins.oracle import Variant, variants

Rows = list[tuple[int, int]]


def intervals(seed: int, size: int, domain: int) -> Rows:
    """Intervals with few distinct endpoints and so with ties; a fifth is empty or reversed."""
    rng = np.random.default_rng(seed)
    starts = rng.integers(0, domain, size)
    lengths = np.where(rng.random(size) < 0.2, -rng.integers(0, 3, size), rng.integers(1, 9, size))
    return list(zip(starts.tolist(), (starts + lengths).tolist(), strict=True))


def columns(rows: Rows) -> Intervals:
    ends = np.array(rows, np.int64).reshape(-1, 2)
    return Intervals(ends[:, 0].copy(), ends[:, 1].copy())


def expected(variant: Variant, r: Rows, s: Rows, **limits: int) -> list[tuple[int, int]]:
    name = variant.relation.name
    return [(i, j) for i, a in enumerate(r) for j, b in enumerate(s) if holds(name, a, b, **limits)]


# Name -> (r, s, parameters): small tables with many ties, and larger ones that fill whole buffers.
DATA = {
    "ties": (intervals(1, 40, 12), intervals(2, 50, 12), {"delta": 2, "epsilon": 1}),
    "zeros": (intervals(3, 30, 20), intervals(4, 30, 20), {"delta": 0, "epsilon": 0}),
    "more": (intervals(5, 150, 60), intervals(6, 90, 60), {"delta": 4, "epsilon": 5}),
}


@pytest.mark.parametrize("variant", variants(), ids=str)
@pytest.mark.parametrize("data", DATA)
def test_all_find_the_pairs_of_the_formula(variant: Variant, data: str) -> None:
    r, s, all_limits = DATA[data]
    limits = {name: all_limits[name] for name in variant.parameters}
    wanted = expected(variant, r, s, **limits)
    assert wanted
    query = Query(variant.relation.name, columns(r), columns(s), **limits)
    total = sum(r[i][0] + s[j][1] for i, j in wanted)
    for name, algorithm in ALGORITHMS.items():
        run = algorithm(query)
        rows, other_rows = pairs(run)
        assert sorted(zip(rows.tolist(), other_rows.tolist(), strict=True)) == wanted, name
        counters = counted(run)
        assert (counters[PAIRS], counters[SUM]) == (len(wanted), total), name


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_sides_without_rows(algorithm: str) -> None:
    some, none = columns(intervals(1, 9, 9)), columns([])
    for r, s in ((some, none), (none, some), (none, none)):
        for variant in variants():
            assert counted(ALGORITHMS[algorithm](Query(variant.relation.name, r, s)))[PAIRS] == 0


def test_worked_example_of_the_paper() -> None:
    """Example 1 of section 3."""
    r, s = columns([(0, 1), (1, 3), (2, 5)]), columns([(1, 3), (3, 4)])
    for delta, found in ((1, {(0, 0), (1, 1)}), (None, {(0, 0), (1, 1), (0, 1)})):
        rows = pairs(join_by_s(Query("ISEQL_BEFORE", r, s, delta=delta)))
        assert set(zip(*(side.tolist() for side in rows), strict=True)) == found


def test_lazy_joining_scans_less_for_the_same_pairs() -> None:
    """Ten rows of s start at each instant, so a buffer of ten saves nine scans in ten."""
    starts = np.repeat(np.arange(0, 1000, 10), 10)
    r = s = Intervals(starts, starts + 95)
    query = Query("ISEQL_START_PRECEDING", r, s)
    eager, lazy = (counted(join_by_s(query, room)) for room in (1, 10))
    assert eager[PAIRS] == lazy[PAIRS] == lazy[CANDIDATES] > 0
    assert eager[GETNEXT] == eager[PAIRS] == 10 * lazy[GETNEXT]


@numba.njit
def insert_key(key: int, start: int, field: int, table: Any) -> None:
    insert(key, start, field, *table)


@numba.njit
def erase_key(key: int, table: Any) -> None:
    erase(key, *table)


def test_map_stays_without_gaps() -> None:
    """Thousands of inserts and erasures, compared with a dict; the table grows from 32 to 2,048."""
    rng = np.random.default_rng(1)
    table = gapless_map(2000)
    state, keys, starts, fields = table[-1], table[1], table[4], table[5]
    wanted: dict[int, tuple[int, int]] = {}
    largest = 0
    for key in rng.integers(0, 3000, 8000).tolist():
        if key in wanted:
            erase_key(key, table)
            del wanted[key]
        elif len(wanted) < 2000:
            insert_key(key, key * 3, -key, table)
            wanted[key] = (key * 3, -key)
        largest = max(largest, len(wanted))
    size = state[SIZE]
    assert largest > 512
    assert state[MASK] == 2047
    held = zip(keys[:size].tolist(), starts[:size].tolist(), fields[:size].tolist(), strict=True)
    assert {key: (start, field) for key, start, field in held} == wanted
    assert size == len(wanted)
    erase_key(5000, table)
    assert state[SIZE] == size


def test_endpoints_that_cannot_be_shifted_are_refused() -> None:
    huge: npt.NDArray[np.int64] = np.array([1 << 60])
    with pytest.raises(ValueError, match="expected values below"):
        Intervals(huge - 2, huge)
