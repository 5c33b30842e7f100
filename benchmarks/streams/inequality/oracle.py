# SPDX-License-Identifier: Apache-2.0
"""
Counts pairs exactly, by sorting and a Fenwick tree, without a moving window.

The window is `rows(length, slide=slide)`: slices of `slide` rows are numbered from row 0, and the
slice numbers of a pair differ by less than `length / slide`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from benchmarks.streams.inequality.workloads import Rows, Window


def pairs(a: Rows, b: Rows) -> int:
    """The number of pairs with `a.x < b.x AND a.y > b.y`."""
    order, other = np.argsort(a.x, kind="stable"), np.argsort(b.x, kind="stable")
    ranks = np.searchsorted(np.sort(a.y), b.y[other], "right")
    own = np.empty(a.count, np.int64)
    own[np.argsort(a.y, kind="stable")] = np.arange(a.count)
    return int(_swept(a.x[order], own[order], b.x[other], ranks))


@njit(cache=True)  # type: ignore[untyped-decorator]
def _swept(ax: Any, own: Any, bx: Any, ranks: Any) -> int:
    """Goes through both by x: inserts each a at the rank of its y; each b counts greater ranks."""
    tree = np.zeros(len(ax) + 1, np.int64)
    found = put = 0
    for j in range(len(bx)):
        while put < len(ax) and ax[put] < bx[j]:
            k = own[put] + 1
            while k <= len(ax):
                tree[k] += 1
                k += k & -k
            put += 1
        below, k = 0, ranks[j]
        while k > 0:
            below += tree[k]
            k -= k & -k
        found += put - below
    return found


def arriving(a: tuple[Rows, Rows], b: tuple[Rows, Rows]) -> int:
    """Pairs with at least one arriving row; both sides are (stored, arriving)."""
    return pairs(a[1], b[0]) + pairs(a[0], b[1]) + pairs(a[1], b[1])


def by_slice(window: Window, a: Rows, b: Rows) -> list[int]:
    """For each slice, the pairs with the later row, or both rows, in the slice."""
    found = []
    for first in range(0, a.count, window.slide):
        stored = max(0, first + window.slide - window.length)
        end = first + window.slide
        split = [(side.part(stored, first), side.part(first, end)) for side in (a, b)]
        found.append(arriving(split[0], split[1]))
    return found


def earliest(window: Window, a: Rows, b: Rows, count: int) -> int:
    """The pairs of the first `count` rows of a, with rows of b before and after them."""
    others = window.length - window.slide
    found = 0
    for first in range(0, count, window.slide):
        near = b.part(max(0, first - others), first + window.slide + others)
        found += pairs(a.part(first, min(first + window.slide, count)), near)
    return found
