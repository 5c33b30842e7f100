# SPDX-License-Identifier: Apache-2.0
"""Joins assembled from JoinByS and iterators (section 6), and their preparation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from benchmarks.papers.loops import sweep
from benchmarks.papers.loops.active import gapless_map
from benchmarks.papers.loops.iterators import (
    CURSORS,
    END,
    INDEX,
    START,
    EndpointIndex,
    Intervals,
    Iterator,
    filtering,
    merging,
    shifting,
)
from benchmarks.papers.query import FAR, Out, Part, Run, in_turn
from intervalsweep.kernels import Int64Array

# "Smaller than the size of the L1d CPU cache" (7.2); the paper's program has 32 as well.
LAZY = 32

ALL: Callable[[Intervals], EndpointIndex] = lambda rows: rows.index  # noqa: E731
PROPER: Callable[[Intervals], EndpointIndex] = lambda rows: rows.proper_index  # noqa: E731
IMPROPER: Callable[[Intervals], EndpointIndex] = lambda rows: rows.improper_index  # noqa: E731


class Selection(NamedTuple):
    """The condition of a filteringConsumer: `low <= probing - active endpoint <= high`."""

    active: str
    probing: str
    low: int = -FAR
    high: int = FAR


@dataclass(frozen=True)
class Join:
    """A call of JoinByS. The active side is r, or s if `is_swapped` (6.1, During)."""

    active: Iterator
    probing: int
    is_active_ahead: bool
    starts: int = 1
    active_rows: Callable[[Intervals], EndpointIndex] = PROPER
    probing_rows: Callable[[Intervals], EndpointIndex] = ALL
    selection: Selection | None = None
    is_swapped: bool = False

    def where(self, active: str, probing: str, low: int = -FAR, high: int = FAR) -> Join:
        """The same join with a selection."""
        return replace(self, selection=Selection(active, probing, low, high))

    def swapped(self) -> Join:
        """The join of the inverse relation."""
        return replace(self, is_swapped=not self.is_swapped)


def start_preceding(active: Iterator = INDEX, is_strict: bool = False) -> Join:
    """`r.ts <= s.ts < r.te`, or `<` both times (algorithm 2)."""
    return Join(active, START, not is_strict)


def end_following(active: Iterator = INDEX, is_strict: bool = False) -> Join:
    """`r.ts < s.te <= r.te`, or `<` both times (algorithm 3)."""
    return Join(active, END, is_strict)


def general_before(beta: int, delta: int | None) -> Join:
    """`beta <= s.ts - r.te <= delta` (algorithm 6): r's ends become starts, with later ends."""
    starts = shifting(filtering(END), beta, START)
    if delta is None:
        return replace(start_preceding(starts), active_rows=ALL)
    ends = shifting(filtering(END), delta + 1)
    return replace(start_preceding(merging(starts, ends)), active_rows=ALL)


def equal_starts() -> Join:
    """`r.ts = s.ts` (algorithm 7): each tuple is active for one point in time."""
    starts = filtering(START)
    active = merging(starts, shifting(starts, 1, END))
    return replace(start_preceding(active), active_rows=ALL)


def equal_ends() -> Join:
    """`r.te = s.te` (algorithm 8)."""
    ends = filtering(END)
    active = merging(shifting(ends, -1, START), ends)
    return replace(end_following(active), active_rows=ALL)


def parameterized_start_preceding(delta: int | None, is_strict: bool = False) -> Join:
    """Also `s.ts - r.ts <= delta` (algorithm 9): a second end; the first of the two counts."""
    if delta is None:
        return start_preceding(is_strict=is_strict)
    return start_preceding(merging(INDEX, shifting(filtering(START), delta + 1, END)), is_strict)


def parameterized_end_following(epsilon: int | None, is_strict: bool = False) -> Join:
    """Also `r.te - s.te <= epsilon` (algorithm 10): a second start; the second one counts."""
    if epsilon is None:
        return end_following(is_strict=is_strict)
    active = merging(INDEX, shifting(filtering(END), -epsilon - 1, START))
    return replace(end_following(active, is_strict), starts=2)


def starting_before(delta: int | None, is_strict: bool) -> Join:
    """`r.ts <= s.ts` or `<`, and `s.ts - r.ts <= delta`, with tuples that never end by themselves.

    This join is not in the paper. It finds the pairs of empty and reversed s, which the other
    joins may miss.
    """
    active = filtering(START)
    if delta is not None:
        active = merging(active, shifting(active, delta + 1, END))
    join = start_preceding(active, is_strict)
    return replace(join, active_rows=ALL, probing_rows=IMPROPER)


def prepare(joins: list[Join], r: Intervals, s: Intervals, room: int = LAZY) -> Run:
    """Prepares a run of disjoint joins, one after the other; builds the indexes now.

    `room` is the capacity of LazyJoinByS' buffer; with 1 it is JoinByS.
    """
    return in_turn([_call(join, *((s, r) if join.is_swapped else (r, s)), room) for join in joins])


def _call(join: Join, active: Intervals, probing: Intervals, room: int) -> Part:
    index, probed = join.active_rows(active), join.probing_rows(probing)
    unused = CURSORS - len(join.active)
    kinds = np.array([cursor.kind for cursor in join.active] + unused * [-1], np.int64)
    shifts = np.array([cursor.shift for cursor in join.active] + unused * [0], np.int64)
    selection = join.selection or Selection("ts", "ts")
    added = ("te", "ts") if join.is_swapped else ("ts", "te")  # the consumer adds r.ts and s.te
    active_columns, probing_columns = (
        tuple(getattr(side, name) for name in names)
        for side, names in (
            (active, (added[0], selection.active)),
            (probing, (added[1], selection.probing)),
        )
    )
    buffer = (np.empty(room, np.int32), np.empty(room, np.int64), np.empty(room, np.int64))

    def call(out: Out, counters: Int64Array) -> None:
        sweep.join_by_s(
            tuple(index), kinds, shifts, join.starts,
            np.zeros(active.size if join.starts == 2 else 0, np.uint8), active_columns,
            tuple(probed), join.probing, int(join.is_active_ahead), probing_columns,
            int(join.selection is not None), selection.low, selection.high,
            gapless_map(active.size), buffer, (out[1], out[0]) if join.is_swapped else out,
            counters,
        )  # fmt: skip

    return call
