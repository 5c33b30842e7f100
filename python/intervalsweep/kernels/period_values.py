# SPDX-License-Identifier: Apache-2.0
"""A compiled loop that computes values of each group by time; see `period_events`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from .arrays import Int32Array, Int64Array
from .jit import I32_IN, I32_OUT, I64_OUT, I64_TABLE_IN, I64_TABLE_OUT, INT, kernel
from .period_events import (
    DONE,
    FULL,
    LOAD,
    MAX,
    MIN,
    NO_EVENT,
    NO_ROOM,
    ROW_ENDS,
    ROW_STARTS,
    ROWS,
    Rows,
    State,
    are_all_applied,
    inlined,
    move_on,
    next_event,
    pop_row,
    push_row,
    state_type,
)

# The kinds of measures. Sums of integers are updated by adding and subtracting. All other measures
# are trees over the places of the valid rows, whose root is the value. So nothing is ever
# subtracted from a sum of floating-point numbers.
SUM, LEAST, GREATEST = 0, 1, 2

# The end of a period of values: when a value changes, when any row starts or ends, or when no row
# is valid any more. In the last case the values include all rows of the period.
CHANGES, CUTS, ISLANDS = 0, 1, 2

FloatTable = npt.NDArray[np.float64]


# The first columns of a tree: the value of the open period, and the current value, its root.
SINCE, NOW = 0, 1


class Integers(NamedTuple):
    """The integer measures.

    Attributes
    ----------
    kinds : int32[k]
        ``SUM``, ``LEAST`` or ``GREATEST``.
    given : int64[k, n]
        The values of the rows; read-only.
    tree : int64[k, 2 * places]
        For each measure a binary tree: the value of the open period at ``SINCE``, the root, which
        is the current value, at ``NOW``, and the leaf of place p at ``places + p``. A ``SUM`` has
        no other nodes.
    """

    kinds: Int32Array
    given: Int64Array
    tree: Int64Array


class Floats(NamedTuple):
    """The sums of floats.

    Attributes
    ----------
    given : float64[f, n]
        The values of the rows; read-only.
    tree : float64[f, 2 * places]
        The trees, as those of `Integers`.
    """

    given: FloatTable
    tree: FloatTable


class ValueBatch(NamedTuple):
    """Periods as in `CountBatch`, with their values: one row of `values` per measure."""

    row: Int32Array
    start: Int64Array
    end: Int64Array
    values: Int64Array
    floats: FloatTable


class ValueState(State):
    """The fields of the state of `sweep_values`.

    Attributes
    ----------
    pending
        1 while a result period is open.
    since
        The start of that period.
    """

    pending: int
    since: int


_F64_TABLE_IN = types.Array(types.float64, 2, "C", readonly=True)
_F64_TABLE_OUT = types.Array(types.float64, 2, "C")

_INTEGERS = types.NamedTuple((I32_IN, I64_TABLE_IN, I64_TABLE_OUT), Integers)
_FLOATS = types.NamedTuple((_F64_TABLE_IN, _F64_TABLE_OUT), Floats)
_BATCH = types.NamedTuple((I32_OUT, I64_OUT, I64_OUT, I64_TABLE_OUT, _F64_TABLE_OUT), ValueBatch)


@inlined
def _neutral(kind: int) -> int:
    """Return the neutral value of a measure, which changes no result."""
    if kind == LEAST:
        return MAX
    return MIN if kind == GREATEST else 0


@inlined
def _set(tree: Any, k: int, kind: int, place: int, value: int) -> None:
    """Put a value into a place of measure ``k``; the neutral value empties the place."""
    places = tree.shape[1] >> 1
    node = places + place
    if kind == SUM:
        tree[k, NOW] += value - tree[k, node]
        tree[k, node] = value
        return
    tree[k, node] = value
    while node > 1:
        node >>= 1
        a = tree[k, 2 * node]
        b = tree[k, 2 * node + 1]
        best = min(a, b) if kind == LEAST else max(a, b)
        if best == tree[k, node]:
            return
        tree[k, node] = best


@inlined
def _set_float(tree: Any, k: int, place: int, value: float) -> None:
    """Put a number into a place of sum ``k`` of floats; 0.0 empties the place."""
    node = (tree.shape[1] >> 1) + place
    tree[k, node] = value
    while node > 1:
        node >>= 1
        tree[k, node] = tree[k, 2 * node] + tree[k, 2 * node + 1]


@inlined
def _put_row(row: int, place: int, integers: Integers, floats: Floats) -> None:
    """Put the values of a row into a place of all measures."""
    for k in range(integers.tree.shape[0]):
        _set(integers.tree, k, integers.kinds[k], place, integers.given[k, row])
    for k in range(floats.tree.shape[0]):
        _set_float(floats.tree, k, place, floats.given[k, row])


@inlined
def _take_row(place: int, integers: Integers, floats: Floats) -> None:
    """Empty a place of all measures."""
    for k in range(integers.tree.shape[0]):
        _set(integers.tree, k, integers.kinds[k], place, _neutral(integers.kinds[k]))
    for k in range(floats.tree.shape[0]):
        _set_float(floats.tree, k, place, 0.0)


@inlined
def _gather_row(row: int, integers: Integers, floats: Floats) -> None:
    """Add the values of a row to those of an island, from which no value is removed."""
    tree = integers.tree
    for k in range(tree.shape[0]):
        value = integers.given[k, row]
        if integers.kinds[k] == SUM:
            tree[k, NOW] += value
        elif integers.kinds[k] == LEAST:
            tree[k, NOW] = min(tree[k, NOW], value)
        else:
            tree[k, NOW] = max(tree[k, NOW], value)
    for k in range(floats.tree.shape[0]):
        floats.tree[k, NOW] += floats.given[k, row]


@inlined
def _forget_rows(integers: Integers, floats: Floats) -> None:
    """Remove all rows of an island from the values."""
    for k in range(integers.tree.shape[0]):
        integers.tree[k, NOW] = _neutral(integers.kinds[k])
    for k in range(floats.tree.shape[0]):
        floats.tree[k, NOW] = 0.0


@inlined
def _are_kept(integers: Integers, floats: Floats) -> bool:
    """Return whether the current values equal those of the open period; NaN equals NaN."""
    for k in range(integers.tree.shape[0]):
        if integers.tree[k, NOW] != integers.tree[k, SINCE]:
            return False
    for k in range(floats.tree.shape[0]):
        now = floats.tree[k, NOW]
        before = floats.tree[k, SINCE]
        if now != before and (now == now or before == before):
            return False
    return True


@inlined
def _open_period(integers: Integers, floats: Floats, state: ValueState) -> None:
    """Open a period that starts now, with the current values."""
    state.pending = 1
    state.since = state.now
    for k in range(integers.tree.shape[0]):
        integers.tree[k, SINCE] = integers.tree[k, NOW]
    for k in range(floats.tree.shape[0]):
        floats.tree[k, SINCE] = floats.tree[k, NOW]


@inlined
def _store_period(
    ends: int, integers: Integers, floats: Floats, state: ValueState, out: ValueBatch
) -> None:
    """Store the open period, which ends now. The values of an island are those of its end."""
    column = NOW if ends == ISLANDS else SINCE
    out.row[state.stored] = state.some_row
    out.start[state.stored] = state.since
    out.end[state.stored] = state.now
    for k in range(integers.tree.shape[0]):
        out.values[k, state.stored] = integers.tree[k, column]
    for k in range(floats.tree.shape[0]):
        out.floats[k, state.stored] = floats.tree[k, column]
    state.stored += 1
    state.pending = 0
    if ends == ISLANDS:
        _forget_rows(integers, floats)


@inlined
def _settle(
    empty: int, ends: int, integers: Integers, floats: Floats, state: ValueState, out: ValueBatch
) -> int:
    """Store the open period if it ends now, and open the next one. Return why it stopped."""
    has_values = state.now != MAX and (state.valid > 0 or empty != 0)
    if state.pending != 0:
        if has_values and ends == ISLANDS:
            return DONE
        if has_values and ends == CHANGES and _are_kept(integers, floats):
            return DONE
        if state.stored == out.row.size:
            return FULL
        _store_period(ends, integers, floats, state, out)
    if has_values:
        _open_period(integers, floats, state)
    return DONE


@kernel(
    ROWS, _INTEGERS, _FLOATS, INT, INT, state_type(ValueState), I64_TABLE_OUT, _BATCH
)  # fmt: skip
def sweep_values(
    rows: Rows, integers: Integers, floats: Floats, empty: int, ends: int,
    state: ValueState, heap: Any, out: ValueBatch,
) -> int:  # fmt: skip
    """Store the periods of a group with their values; return why the loop stopped (6, 7).

    Each valid row has a place, which is the load of the heap. A start or an end updates the leaf of
    the place, and the path to the root of each tree: O(log v) per measure. O(n k log v) for n rows
    and k measures. With ``ISLANDS`` values are only added, in O(1) each.

    For the other parameters see `period_events`.

    Parameters
    ----------
    integers, floats : Integers, Floats
        The measures.
    empty : int
        Not 0: also store the periods in which no row is valid.
    ends : int
        The end of a period: ``CHANGES``, ``CUTS`` or ``ISLANDS``.
    """
    state.stored = 0
    while True:
        event, at = next_event(rows, state, heap)
        if event == NO_EVENT:
            return DONE
        if are_all_applied(event, at, state):
            stopped = _settle(empty, ends, integers, floats, state, out)
            if stopped != DONE:
                return stopped
            move_on(event, at, state)
        if event == ROW_ENDS:
            place = pop_row(state, heap)
            if ends != ISLANDS:
                _take_row(place, integers, floats)
        elif event == ROW_STARTS:
            row = state.row
            if state.valid == heap.shape[0]:
                return NO_ROOM
            place = heap[state.valid, LOAD]
            push_row(rows, state, heap, place)
            if ends == ISLANDS:
                _gather_row(row, integers, floats)
            else:
                _put_row(row, place, integers, floats)
