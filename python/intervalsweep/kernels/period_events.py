# SPDX-License-Identifier: Apache-2.0
"""The events of a sweep over periods: starts and ends of rows in the order of time.

A loop sweeps along time, group by group. The valid rows of the group are kept in a min-heap by end:
the SweepArea of the temporal operator algebra (4.3.1). The next event is the smaller of the start
of the next row and the end at the top of the heap. `period_counts` and `period_values` have the
loops. Both have these steps:

    event, at = next_event(rows, state, heap)
    if is_complete(event, at, state):     all events at the instant state.now are applied
        compare the result after this instant with the result before, and store what ends here
        move_on(event, at, state)
    if event == ROW_ENDS:                 remove the row with pop_row
    if event == ROW_STARTS:               add the row with push_row

With n rows, at most v of them valid at once, all heap operations together take O(n log v).

A loop stops when the outputs, the heap or the queue are full. All that it knows is in `state` and
in arrays, so the next call continues at the same place. The loops do not check dtypes and shapes.

Arguments of both loops
-----------------------
rows : Rows
    The periods.
state : State
    Where the loop stopped.
heap : int64[places, 2]
    The valid rows as a binary min-heap, with the columns ``END`` and ``LOAD``. The loops choose the
    load. The first ``state.valid`` entries are used. The others keep the loads of the rows that
    ended: if the loads are places, these are the free places.
out : CountBatch or ValueBatch
    Results: the next periods.

A loop returns ``DONE`` if all rows are read, ``FULL`` if the outputs are full, and ``NO_ROOM`` if
the heap or the queue is full. The caller doubles what is full and calls again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types

from .arrays import Int32Array, Int64Array
from .jit import I32_IN, I64_IN, helper

MIN, MAX = np.iinfo(np.int64).min, np.iinfo(np.int64).max

# The reasons for which a loop stops.
DONE, FULL, NO_ROOM = 0, 1, 2

# The events. ``NO_EVENT``: all rows are read, and the last group continues in the next call.
NO_EVENT, ROW_STARTS, ROW_ENDS, GROUP_ENDS = 0, 1, 2, 3

# The columns of the heap.
END, LOAD = 0, 1


class Rows(NamedTuple):
    """Periods ``[start, end)`` in the order of group and start. All columns are read-only.

    Attributes
    ----------
    group : int32[n]
        The group of each row.
    start, end : int64[n]
        ``MIN`` is no start and ``MAX`` no end. Rows with ``start >= end`` are skipped.
    """

    group: Int32Array
    start: Int64Array
    end: Int64Array


ROWS = types.NamedTuple((I32_IN, I64_IN, I64_IN), Rows)


class State:
    """The fields of the state, a record of int64. All are 0 before the first call.

    Attributes
    ----------
    row
        The next row to read. The caller sets it to 0 before new rows.
    goes_on
        Not 0: the last group continues with the rows of the next call, so it is not completed yet.
        The caller sets it before new rows.
    under_way
        1 while a group is in progress.
    group
        The number of that group.
    some_row
        A row of that group, or -1 if the group began in earlier rows. The caller sets it to -1
        before new rows.
    now
        The instant of the last event. The results that end there are not stored yet.
    valid
        The number of valid rows: the used entries of the heap.
    stored
        Result: the number of periods that the last call stored.
    """

    row: int
    goes_on: int
    under_way: int
    group: int
    some_row: int
    now: int
    valid: int
    stored: int


def state_layout(fields: type[State]) -> np.dtype[Any]:
    """Return the type of records with the fields of a class.

    >>> state = np.zeros(1, state_layout(State))[0]
    >>> state.now = 7
    >>> state.now
    np.int64(7)
    """
    names = [name for part in reversed(fields.__mro__[:-1]) for name in part.__annotations__]
    return np.dtype((np.record, [(name, np.int64) for name in names]))


@helper
def _has_row(rows: Rows, state: State) -> bool:
    """Return whether the next row belongs to the group in progress."""
    return state.row < rows.start.size and bool(rows.group[state.row] == state.group)


@helper
def next_event(rows: Rows, state: State, heap: Int64Array) -> tuple[int, int]:
    """Return the next event and its instant. At ``MAX`` all rows end, and then the group.

    An end comes before a start at the same instant. Each loop leaves its own fields of the state at
    0 when a group ends.
    """
    if state.under_way == 0:
        if state.row == rows.start.size:
            return NO_EVENT, MAX
        state.under_way = 1
        state.group = rows.group[state.row]
        state.some_row = state.row
        state.now = MIN
    while _has_row(rows, state) and rows.start[state.row] >= rows.end[state.row]:
        state.row += 1
    if state.row == rows.start.size and state.goes_on != 0:
        return NO_EVENT, MAX
    event = GROUP_ENDS
    at = MAX
    if _has_row(rows, state):
        event = ROW_STARTS
        at = rows.start[state.row]
    if state.valid > 0 and heap[0, END] <= at:
        event = ROW_ENDS
        at = heap[0, END]
    return event, at


@helper
def is_complete(event: int, at: int, state: State) -> bool:
    """Return whether all events at the instant ``state.now`` are applied; the next is given."""
    return at != state.now or event == GROUP_ENDS


@helper
def move_on(event: int, at: int, state: State) -> None:
    """Go to the instant of the next event. The group ends when its results at MAX are stored."""
    if event == GROUP_ENDS and state.now == MAX:
        state.under_way = 0
    state.now = at


@helper
def has_room(state: State, heap: Int64Array) -> bool:
    """Return whether the heap has room for one more row."""
    return state.valid < len(heap)


@helper
def push_row(rows: Rows, load: int, state: State, heap: Int64Array) -> None:
    """Add the next row to the valid rows, for which the heap has room."""
    end = rows.end[state.row]
    k = state.valid
    while k > 0:
        above = (k - 1) >> 1
        if heap[above, END] <= end:
            break
        heap[k, END] = heap[above, END]
        heap[k, LOAD] = heap[above, LOAD]
        k = above
    heap[k, END] = end
    heap[k, LOAD] = load
    state.valid += 1
    state.row += 1


@helper
def pop_row(state: State, heap: Int64Array) -> int:
    """Remove the row with the smallest end from the valid rows; return its load.

    The entry that becomes unused, the last one, keeps that load.
    """
    load: int = heap[0, LOAD]
    last = state.valid - 1
    last_end = heap[last, END]
    last_load = heap[last, LOAD]
    k = 0
    below = 1
    while below < last:
        if below + 1 < last and heap[below + 1, END] < heap[below, END]:
            below += 1
        if heap[below, END] >= last_end:
            break
        heap[k, END] = heap[below, END]
        heap[k, LOAD] = heap[below, LOAD]
        k = below
        below = 2 * k + 1
    heap[k, END] = last_end
    heap[k, LOAD] = last_load
    heap[last, LOAD] = load
    state.valid = last
    return load


@helper
def store_period(start: int, state: State, out: Any) -> int:
    """Store a period that ends now; return its number, for the other columns of the results."""
    k = state.stored
    out.row[k] = state.some_row
    out.start[k] = start
    out.end[k] = state.now
    state.stored += 1
    return k


def new_entries(first: int, stop: int) -> Int64Array:
    """Return unused entries of a heap; their loads are the places from ``first`` to ``stop - 1``.

    >>> new_entries(2, 4).tolist()
    [[0, 2], [0, 3]]
    """
    entries = np.zeros((stop - first, 2), dtype=np.int64)
    entries[:, LOAD] = np.arange(first, stop)
    return entries
