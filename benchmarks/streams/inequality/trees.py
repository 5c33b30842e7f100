# SPDX-License-Identifier: Apache-2.0
"""
B+trees in arrays, after Section 2.2 of the SPO-Join paper: insertion with splits, linked leaves.

A tree maps the values of one column to the row numbers in the slice. The rows that satisfy a
predicate are marked in a bit set (Section 4.1): from the leaf where a search ends to the last leaf,
or from the first leaf to the key.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

FANOUT = 64
ROOT, HEIGHT, USED = range(3)


class Trees(NamedTuple):
    """Several trees: arrays by tree and node. An inner node has the smallest key of each child."""

    keys: Any
    items: Any
    counts: Any
    following: Any  # the next leaf, or -1
    shape: Any  # by tree: root, height, nodes in use


def trees(count: int, rows: int) -> Trees:
    """Empty trees for `rows` rows each. Node 0 is the first leaf of each tree."""
    nodes = 4 + 3 * rows // FANOUT
    some = Trees(
        np.empty((count, nodes, FANOUT), np.int64),
        np.empty((count, nodes, FANOUT), np.int32),
        np.empty((count, nodes), np.int32),
        np.empty((count, nodes), np.int32),
        np.empty((count, 3), np.int64),
    )
    clear(some)
    return some


def clear(some: Trees) -> None:
    some.counts[:] = 0
    some.following[:] = -1
    some.shape[:] = [0, 1, 1]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _at_most(keys: Any, first: int, count: int, key: int) -> int:
    """The first position, from `first` on, with a greater key."""
    low, high = first, count
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] <= key:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True)  # type: ignore[untyped-decorator]
def _put(keys: Any, items: Any, counts: Any, node: int, at: int, key: int, item: int) -> None:
    for k in range(counts[node], at, -1):
        keys[node, k] = keys[node, k - 1]
        items[node, k] = items[node, k - 1]
    keys[node, at] = key
    items[node, at] = item
    counts[node] += 1


@njit(cache=True)  # type: ignore[untyped-decorator]
def _split(keys: Any, items: Any, counts: Any, node: int, new: int) -> None:
    """Moves the upper half of a full node to a new node."""
    half = FANOUT // 2
    keys[new, : FANOUT - half] = keys[node, half:]
    items[new, : FANOUT - half] = items[node, half:]
    counts[new] = FANOUT - half
    counts[node] = half


@njit(cache=True)  # type: ignore[untyped-decorator]
def insert(some: Trees, tree: int, key: int, item: int) -> None:
    keys, items, counts = some.keys[tree], some.items[tree], some.counts[tree]
    shape = some.shape[tree]
    path, places = np.empty(16, np.int64), np.empty(16, np.int64)
    node, level = shape[ROOT], 0
    while level < shape[HEIGHT] - 1:
        child = _at_most(keys[node], 1, counts[node], key) - 1
        path[level], places[level] = node, child
        node = items[node, child]
        level += 1
    at = _at_most(keys[node], 0, counts[node], key)
    while counts[node] == FANOUT:
        new = shape[USED]
        shape[USED] += 1
        _split(keys, items, counts, node, new)
        if level == shape[HEIGHT] - 1:
            some.following[tree, new] = some.following[tree, node]
            some.following[tree, node] = new
        if at > counts[node]:
            _put(keys, items, counts, new, at - counts[node], key, item)
        else:
            _put(keys, items, counts, node, at, key, item)
        key, item = keys[new, 0], new
        if level == 0:
            root = shape[USED]
            shape[USED] += 1
            keys[root, 0], items[root, 0] = keys[node, 0], node
            keys[root, 1], items[root, 1] = key, new
            counts[root] = 2
            shape[ROOT] = root
            shape[HEIGHT] += 1
            return
        level -= 1
        node, at = path[level], places[level] + 1
    _put(keys, items, counts, node, at, key, item)


@njit(cache=True)  # type: ignore[untyped-decorator]
def mark_greater(some: Trees, tree: int, key: int, bits: Any) -> None:
    keys, items, counts = some.keys[tree], some.items[tree], some.counts[tree]
    node = some.shape[tree, ROOT]
    for _ in range(some.shape[tree, HEIGHT] - 1):
        node = items[node, _at_most(keys[node], 1, counts[node], key) - 1]
    at = _at_most(keys[node], 0, counts[node], key)
    while node >= 0:
        for k in range(at, counts[node]):
            item = items[node, k]
            bits[item >> 6] |= np.uint64(1) << np.uint64(item & 63)
        node = some.following[tree, node]
        at = 0


@njit(cache=True)  # type: ignore[untyped-decorator]
def mark_less(some: Trees, tree: int, key: int, bits: Any) -> None:
    keys, items, counts = some.keys[tree], some.items[tree], some.counts[tree]
    node = 0
    while node >= 0:
        for k in range(counts[node]):
            if keys[node, k] >= key:
                return
            item = items[node, k]
            bits[item >> 6] |= np.uint64(1) << np.uint64(item & 63)
        node = some.following[tree, node]


@njit(cache=True)  # type: ignore[untyped-decorator]
def in_order(some: Trees, tree: int, keys: Any, items: Any) -> None:
    """Copies the leaves, which are sorted: the input for converting a full slice."""
    node = at = 0
    while node >= 0:
        count = some.counts[tree, node]
        keys[at : at + count] = some.keys[tree, node, :count]
        items[at : at + count] = some.items[tree, node, :count]
        at += count
        node = some.following[tree, node]
