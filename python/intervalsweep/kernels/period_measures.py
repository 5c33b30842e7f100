# SPDX-License-Identifier: Apache-2.0
"""Values of the valid rows of a sweep over periods: sums, least and greatest; see `period_values`.

Each valid row has a place. The values of a measure are the leaves of a binary tree over the places,
and the root is the value of all valid rows. So nothing is ever subtracted from a sum of
floating-point numbers. A row that starts or ends updates the path from its leaf to the root:
O(log v) per measure for v valid rows.

Sums of integers have no inner nodes: the root is updated by adding and subtracting. Islands use
only the roots: values are added in O(1), and none is removed before the end of the island.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from .arrays import Int32Array, read_only
from .jit import (
    F64_TABLE_IN,
    F64_TABLE_OUT,
    I32_IN,
    I64_IN,
    I64_TABLE_IN,
    I64_TABLE_OUT,
    helper,
)
from .period_events import MAX, MIN

IntTable = npt.NDArray[np.int64]
FloatTable = npt.NDArray[np.float64]

# The kinds of integer measures, and the value of each without any row. All floats are sums.
# NEXT is the least value that is greater than the current value of the measure before it, whose
# values must be the same: the second least, the third least, and so on.
SUM, LEAST, GREATEST, NEXT = 0, 1, 2, 3
_NEUTRAL = np.array([0, MAX, MIN, MAX])

# The first columns of the trees.
SINCE, NOW = 0, 1


class Measures(NamedTuple):
    """Integer measures of several kinds, and sums of floats.

    A tree has, for each measure, the value of the open period at ``SINCE``, the root, which is the
    current value, at ``NOW``, the children of node i at ``2 * i`` and ``2 * i + 1``, and the leaf
    of place p at ``places + p``. The leaves of free places are neutral. The root of NEXT is not the
    least of its children, so there are at least two places.

    Attributes
    ----------
    kinds : int32[k]
        The kind of each integer measure. Read-only.
    neutral : int64[k]
        The value of each integer measure without any row. Read-only.
    values : int64[k, n]
        The values of the rows for each integer measure. Read-only.
    tree : int64[k, 2 * places]
        The trees of the integer measures.
    floats : float64[f, n]
        The values of the rows for each sum of floats. Read-only.
    float_tree : float64[f, 2 * places]
        The trees of the sums of floats.
    """

    kinds: Int32Array
    neutral: npt.NDArray[np.int64]
    values: IntTable
    tree: IntTable
    floats: FloatTable
    float_tree: FloatTable


MEASURES = types.NamedTuple(
    (I32_IN, I64_IN, I64_TABLE_IN, I64_TABLE_OUT, F64_TABLE_IN, F64_TABLE_OUT), Measures
)


def new_measures(kinds: Sequence[int], floats: int, places: int) -> Measures:
    """Return measures without rows. The caller replaces ``values`` and ``floats``."""
    numbers = np.array(kinds, dtype=np.int32)
    neutral = _NEUTRAL[numbers]
    no_rows = np.empty((numbers.size, 0), np.int64), np.empty((floats, 0))
    return Measures(
        read_only(numbers),
        read_only(neutral),
        no_rows[0],
        _empty_tree(neutral, places),
        no_rows[1],
        _empty_tree(np.zeros(floats), places),
    )


def doubled(measures: Measures) -> Measures:
    """Return measures with twice the places. The old trees are the left halves of the new ones.

    >>> measures = new_measures([LEAST], 0, 2)
    >>> measures.tree[:] = [8, 5, 7, 5]
    >>> doubled(measures).tree.tolist() == [[8, 5, 5, MAX, 7, 5, MAX, MAX]]
    True
    """
    tree = _doubled_tree(measures.tree, measures.neutral)
    for k in np.flatnonzero(measures.kinds == NEXT):
        tree[k, 2] = min(measures.tree[k, 2:4], default=MAX)
    return measures._replace(
        tree=tree,
        float_tree=_doubled_tree(measures.float_tree, np.zeros(len(measures.float_tree))),
    )


def _doubled_tree(old: npt.NDArray[Any], neutral: npt.NDArray[Any]) -> npt.NDArray[Any]:
    size = old.shape[1]
    tree = _empty_tree(neutral, size)
    tree[:, [SINCE, NOW]] = old[:, [SINCE, NOW]]
    level = 1
    while level < size:
        tree[:, 2 * level : 3 * level] = old[:, level : 2 * level]
        level *= 2
    return tree


def _empty_tree(neutral: npt.NDArray[Any], places: int) -> npt.NDArray[Any]:
    return np.repeat(neutral[:, np.newaxis], 2 * places, axis=1)


@helper
def _set(tree: IntTable, k: int, kind: int, place: int, value: int) -> None:
    """Set the leaf of a place in the tree of integer measure ``k``, and update the nodes above."""
    node = (tree.shape[1] >> 1) + place
    if kind == SUM:
        tree[k, NOW] += value - tree[k, node]
        tree[k, node] = value
        return
    tree[k, node] = value
    while node > 1:
        node >>= 1
        if kind == NEXT and node == NOW:
            return
        a = tree[k, 2 * node]
        b = tree[k, 2 * node + 1]
        best = max(a, b) if kind == GREATEST else min(a, b)
        if best == tree[k, node]:
            return
        tree[k, node] = best


@helper
def _least_above(tree: IntTable, k: int, bound: int) -> int:
    """Return the least value of a tree that is greater than a bound.

    A node is the least value below it, so only nodes up to the bound are opened: O(m log v) if m of
    v values are not greater.
    """
    best = MAX
    if bound == MAX:
        return best
    places = tree.shape[1] >> 1
    node = 1
    while node > 0:
        if node < places and (node == 1 or tree[k, node] <= bound):
            node *= 2
            continue
        value = tree[k, node]
        if value > bound:
            best = min(best, value)
        while node & 1:  # back from right children
            node >>= 1
        if node > 0:
            node += 1
    return best


@helper
def _set_next(tree: IntTable, k: int, kind: int) -> None:
    """Set the root of a NEXT measure: the least value above the root of the previous measure."""
    if kind == NEXT:
        tree[k, NOW] = _least_above(tree, k, tree[k - 1, NOW])


@helper
def _set_float(tree: FloatTable, k: int, place: int, value: float) -> None:
    """Set the leaf of a place in the tree of sum ``k`` of floats, and update the nodes above."""
    node = (tree.shape[1] >> 1) + place
    tree[k, node] = value
    while node > 1:
        node >>= 1
        tree[k, node] = tree[k, 2 * node] + tree[k, 2 * node + 1]


@helper
def put_row(row: int, place: int, measures: Measures) -> None:
    """Put the values of a row into a place."""
    for k in range(measures.tree.shape[0]):
        _set(measures.tree, k, measures.kinds[k], place, measures.values[k, row])
        _set_next(measures.tree, k, measures.kinds[k])
    for k in range(measures.float_tree.shape[0]):
        _set_float(measures.float_tree, k, place, measures.floats[k, row])


@helper
def free_place(place: int, measures: Measures) -> None:
    """Remove the values of a row that ends from its place."""
    for k in range(measures.tree.shape[0]):
        _set(measures.tree, k, measures.kinds[k], place, measures.neutral[k])
        _set_next(measures.tree, k, measures.kinds[k])
    for k in range(measures.float_tree.shape[0]):
        _set_float(measures.float_tree, k, place, 0.0)


@helper
def gather_row(row: int, measures: Measures) -> None:
    """Add the values of a row to those of an island."""
    tree = measures.tree
    for k in range(tree.shape[0]):
        value = measures.values[k, row]
        if measures.kinds[k] == SUM:
            tree[k, NOW] += value
        elif measures.kinds[k] == LEAST:
            tree[k, NOW] = min(tree[k, NOW], value)
        else:
            tree[k, NOW] = max(tree[k, NOW], value)
    for k in range(measures.float_tree.shape[0]):
        measures.float_tree[k, NOW] += measures.floats[k, row]


@helper
def forget_rows(measures: Measures) -> None:
    """Remove the values of all rows of an island, which is over."""
    for k in range(measures.tree.shape[0]):
        measures.tree[k, NOW] = measures.neutral[k]
    for k in range(measures.float_tree.shape[0]):
        measures.float_tree[k, NOW] = 0.0


@helper
def keep_values(measures: Measures) -> None:
    """Make the current values those of the open period."""
    for k in range(measures.tree.shape[0]):
        measures.tree[k, SINCE] = measures.tree[k, NOW]
    for k in range(measures.float_tree.shape[0]):
        measures.float_tree[k, SINCE] = measures.float_tree[k, NOW]


@helper
def have_changed(measures: Measures) -> bool:
    """Return whether the current values differ from those of the open period; NaN equals NaN."""
    for k in range(measures.tree.shape[0]):
        if measures.tree[k, NOW] != measures.tree[k, SINCE]:
            return True
    for k in range(measures.float_tree.shape[0]):
        now = measures.float_tree[k, NOW]
        before = measures.float_tree[k, SINCE]
        if now != before and (now == now or before == before):
            return True
    return False
