# SPDX-License-Identifier: Apache-2.0
"""
The algorithms of the SPO-Join paper and its rivals, on one core, row by row: probe, then insert.

All are compiled by numba. They count pairs and do not make rows. In a self join, a row is looked up
as side a and as side b of the condition.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from benchmarks.streams.inequality import slices as archive
from benchmarks.streams.inequality import trees as btree
from benchmarks.streams.inequality.trees import insert, mark_greater, mark_less
from benchmarks.streams.inequality.workloads import Rows, Window

Sides = tuple[Rows, Rows]
AS_A, AS_B, BOTH = range(3)  # AS_A: matches have a greater x and a smaller y; AS_B: the reverse


class Stored(NamedTuple):
    """The window of one stream; each peer uses some of the fields."""

    x: Any
    y: Any
    trees: btree.Trees
    slices: archive.Slices
    full: Any  # the number of full slices, and the number of rows in the last slice
    bits: Any
    others: Any


@njit(cache=True)  # type: ignore[untyped-decorator]
def _append(stored: Stored, x: int, y: int) -> None:
    stored.x[stored.full[1]] = x
    stored.y[stored.full[1]] = y
    stored.full[1] += 1


@njit(cache=True)  # type: ignore[untyped-decorator]
def _index(stored: Stored, x: int, y: int) -> None:
    tree = 0 if len(stored.trees.keys) == 2 else 2 * stored.full[0]
    insert(stored.trees, tree, x, stored.full[1])
    insert(stored.trees, tree + 1, y, stored.full[1])
    stored.full[1] += 1


@njit(cache=True)  # type: ignore[untyped-decorator]
def _compared(stored: Stored, x: int, y: int, way: int) -> int:
    xs, ys = stored.x[: stored.full[1]], stored.y[: stored.full[1]]
    found = 0
    if way == AS_A:
        for j in range(len(xs)):
            found += (xs[j] > x) & (ys[j] < y)
    elif way == AS_B:
        for j in range(len(xs)):
            found += (xs[j] < x) & (ys[j] > y)
    else:
        for j in range(len(xs)):
            found += ((xs[j] > x) & (ys[j] < y)) | ((xs[j] < x) & (ys[j] > y))
    return found


@njit(cache=True)  # type: ignore[untyped-decorator]
def _in_tree(stored: Stored, tree: int, x: int, y: int, way: int) -> Any:
    """The matches in one tree, for AS_A or AS_B: a bit set for each predicate, intersected."""
    if way == AS_A:
        mark_greater(stored.trees, tree, x, stored.bits)
        mark_less(stored.trees, tree + 1, y, stored.others)
    else:
        mark_less(stored.trees, tree, x, stored.bits)
        mark_greater(stored.trees, tree + 1, y, stored.others)
    return archive.count_both(stored.bits, stored.others)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _in_css(stored: Stored, number: int, x: int, y: int, way: int) -> Any:
    some = stored.slices
    rows = some.keys.shape[2]
    by_x, by_y = some.places[number, 0], some.places[number, 1]
    if way == AS_A:
        archive.mark(by_x, archive.css_rank(some, number, 0, x, True), rows, stored.bits)
        archive.mark(by_y, 0, archive.css_rank(some, number, 1, y, False), stored.others)
    else:
        archive.mark(by_x, 0, archive.css_rank(some, number, 0, x, False), stored.bits)
        archive.mark(by_y, archive.css_rank(some, number, 1, y, True), rows, stored.others)
    return archive.count_both(stored.bits, stored.others)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _in_permutation(stored: Stored, number: int, x: int, y: int, way: int) -> Any:
    """Figure 4: the predicate on y sets bits in the order of x; the one on x is a range of them."""
    some = stored.slices
    rows = some.keys.shape[2]
    xs, ys, places = some.keys[number, 0], some.keys[number, 1], some.places[number, 1]
    if way == AS_A:
        archive.mark(places, 0, np.searchsorted(ys, y, "left"), stored.bits)
        return archive.count_range(stored.bits, np.searchsorted(xs, x, "right"), rows)
    archive.mark(places, np.searchsorted(ys, y, "right"), rows, stored.bits)
    return archive.count_range(stored.bits, 0, np.searchsorted(xs, x, "left"))


def _by_slices(in_slice: Any, is_chain: bool) -> Any:
    """Searches all full slices by `in_slice`, and the last slice by its B+tree."""

    @njit  # type: ignore[untyped-decorator]
    def found_in(stored: Stored, x: int, y: int, way: int) -> int:
        found = 0
        for one in range(2):
            if way in (one, BOTH):
                for number in range(stored.full[0]):
                    found += in_slice(stored, 2 * number if is_chain else number, x, y, one)
                last = 2 * stored.full[0] if is_chain else 0
                found += _in_tree(stored, last, x, y, one)
        return found

    return found_in


def _arrival(found_in: Any, put: Any) -> Any:
    """Rows of both streams arrive in turn; each row is looked up, then put into its window."""

    @njit  # type: ignore[untyped-decorator]
    def arrive(a: Stored, b: Stored, alone: bool, ax: Any, ay: Any, bx: Any, by: Any) -> int:
        found = 0
        for i in range(len(ax)):
            found += found_in(b, ax[i], ay[i], BOTH if alone else AS_A)
            put(a, ax[i], ay[i])
            if not alone:
                found += found_in(a, bx[i], by[i], AS_B)
                put(b, bx[i], by[i])
        return found

    return arrive


def _putting(put: Any) -> Any:
    @njit  # type: ignore[untyped-decorator]
    def put_all(stored: Stored, x: Any, y: Any) -> None:
        for i in range(len(x)):
            put(stored, x[i], y[i])

    return put_all


@dataclass(frozen=True)
class Peer:
    """An algorithm. `merge` converts a full slice; without `merge` the slice does not change."""

    title: str
    arrive: Any
    put_all: Any
    merge: Callable[[Any, int], None] | None = None
    is_chain: bool = False

    def empty(self, window: Window) -> Stored:
        rows = window.slide
        is_list = not self.is_chain and self.merge is None
        words = np.zeros((2, rows // 64 + 1), np.uint64)
        columns = np.empty((2, window.length if is_list else 0), np.int64)
        count = 2 * window.slices if self.is_chain else 2
        trees = btree.trees(count, 0 if is_list else rows)
        some = archive.slices(window.slices if self.merge else 0, rows)
        return Stored(
            columns[0], columns[1], trees, some, np.zeros(2, np.int64), words[0], words[1]
        )

    def fill(self, stored: Stored, window: Window, rows: Rows) -> None:
        for first in range(0, rows.count, window.slide):
            part = rows.part(first, first + window.slide)
            self.put_all(stored, part.x, part.y)
            if part.count == window.slide and not len(stored.x):
                self._end_slice(stored)

    def _end_slice(self, stored: Stored) -> None:
        number = int(stored.full[0])
        if self.merge:
            for column in range(2):
                keys, places = stored.slices.keys, stored.slices.places
                btree.in_order(stored.trees, column, keys[number, column], places[number, column])
            self.merge(stored.slices, number)
            btree.clear(stored.trees)
        stored.full[:] = number + 1, 0

    def measure(self, window: Window, stored: Sides, arriving: Sides) -> dict[str, Any]:
        """Fills the window, then lets rows arrive: pairs, probes a second, costs of insertion."""
        alone = stored[0] is stored[1]
        start = time.perf_counter()
        a = self.empty(window)
        self.fill(a, window, stored[0])
        b = a if alone else self.empty(window)
        if not alone:
            self.fill(b, window, stored[1])
        filled = time.perf_counter()
        new_a, new_b = arriving
        found = self.arrive(a, b, alone, new_a.x, new_a.y, new_b.x, new_b.y)
        seconds = time.perf_counter() - filled
        streams = 1 if alone else 2
        return {
            "probes": new_a.count * streams,
            "pairs": int(found),
            "probes/s": round(new_a.count * streams / seconds, 1),
            "pairs/s": round(found / seconds),
            "insertion, us/row": round((filled - start) * 1e6 / stored[0].count / streams, 3),
        }


def _indexed(title: str, in_slice: Any, merge: Any = None) -> Peer:
    is_chain = merge is None
    arrive = _arrival(_by_slices(in_slice, is_chain), _index)
    return Peer(title, arrive, _putting(_index), merge, is_chain)


PEERS = {
    # Section 6.3: what split joins do on each core.
    "nested loop": Peer("nested loop", _arrival(_compared, _append), _putting(_append)),
    # Section 6.2: a B+tree for each slice; only the last takes rows.
    "b+tree chain": _indexed("chain of B+trees", _in_tree),
    # Section 6.1: a B+tree for the slice that fills, CSS trees for the others, bit sets for both.
    "css tree": _indexed("B+tree and CSS trees", _in_css, archive.make_directory),
    # Section 4: the paper's own algorithm.
    "po-join": _indexed("B+tree and PO-Join", _in_permutation, archive.make_permutation),
}


def split(window: Window, rows: Sides, sample: int) -> tuple[Sides, Sides]:
    """The stored rows, which fill all slices and half of the last, and the rows that arrive."""
    first = window.length - window.slide // 2
    end = first + min(sample, window.slide // 2)
    a, b = rows
    stored, arriving = a.part(0, first), a.part(first, end)
    if a is b:
        return (stored, stored), (arriving, arriving)
    return (stored, b.part(0, first)), (arriving, b.part(first, end))


def compile_all() -> None:
    """Compiles all loops on a tiny window, so that measurements do not include compilation."""
    window = Window(8, 4, 4, 1)
    rng = np.random.default_rng(0)
    a = Rows(*rng.integers(0, 9, (2, 8)))
    for peer in PEERS.values():
        peer.measure(window, *split(window, (a, a), 2))
