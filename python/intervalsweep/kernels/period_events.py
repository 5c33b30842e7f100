# SPDX-License-Identifier: Apache-2.0
"""The events of the sweeps over periods: starts and ends of rows in the order of time.

A loop sweeps along time, group by group. The valid rows of the group are kept in a min-heap by end:
the SweepArea of the temporal operator algebra (4.3.1). The next event is the smaller of the start
of the next row and the end at the top of the heap. The loops are in `period_counts` and
`period_values`. Both repeat these steps:

    event, at = next_event(rows, state, heap)
    if are_all_applied(event, at, state):       the instant `state.now` has no more events
        compare the state after that instant with the state before, store the periods that end there
        move_on(event, at, state)
    if event == ROW_ENDS:                       take the row off the result, then `pop_row`
    if event == ROW_STARTS:                     `push_row`, then add the row to the result

With n rows, at most v of them valid at once, all heap operations together take O(n log v).

A loop stops when the outputs, the heap or the queue are full. Its state is in a record and in
arrays, so that a further call goes on at the same place. The loops do not check dtypes and shapes.

Arguments of both loops
-----------------------
rows : Rows
    The periods.
state : State
    Where the loop stopped, as a record of int64.
heap : int64[places, 2]
    The valid rows as a binary min-heap, with the columns ``END`` and ``LOAD``. The load belongs to
    the loop. The first ``state.valid`` entries are used.
out
    Results: the columns of the next periods.

A loop returns ``DONE`` if all rows are read, ``FULL`` if the outputs are full, and ``NO_ROOM`` if
the heap or the queue is full. The caller doubles what is full and calls again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numba import from_dtype, types

from .arrays import Int32Array, Int64Array
from .jit import I32_IN, I64_IN, helper

MIN, MAX = np.iinfo(np.int64).min, np.iinfo(np.int64).max

# The reasons for which a loop stops.
DONE, FULL, NO_ROOM = 0, 1, 2

# The events. With ``NO_EVENT`` all rows are read, and the last group continues in the next call.
NO_EVENT, ROW_STARTS, ROW_ENDS, GROUP_ENDS = 0, 1, 2, 3

# The columns of the heap.
END, LOAD = 0, 1

_F = TypeVar("_F", bound=Callable[..., Any])


def inlined(function: _F) -> _F:
    """Mark a `helper` without entry points for Python, which take as long to compile as the loop.

    Python code must not call it, except with NUMBA_DISABLE_JIT.
    """
    marked: Any = helper(function)
    if marked is not function:  # with NUMBA_DISABLE_JIT a helper is the function itself
        marked.targetoptions.update(no_cpython_wrapper=True, no_cfunc_wrapper=True)
    return cast("_F", marked)


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
    """The fields of the state. All are 0 before the first call; see `new_state`.

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
        The number of valid rows: the entries of the heap.
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


_S = TypeVar("_S", bound=State)


def _fields(state: type[State]) -> np.dtype[Any]:
    names = [name for part in reversed(state.__mro__[:-1]) for name in part.__annotations__]
    return np.dtype([(name, np.int64) for name in names])


def new_state(state: type[_S]) -> _S:
    """Return a record of zeros with the fields of a class.

    >>> type(new_state(State)), new_state(State).now
    (<class 'numpy.record'>, np.int64(0))
    """
    return cast("_S", np.zeros(1, _fields(state)).view(np.recarray)[0])


def state_type(state: type[State]) -> Any:
    """Return the type of such a record in the signature of a kernel."""
    return from_dtype(_fields(state))


@inlined
def _begin_group(rows: Rows, state: State) -> None:
    """Begin the group of the next row. The loops set their own fields to 0 when a group ends."""
    state.under_way = 1
    state.group = rows.group[state.row]
    state.some_row = state.row
    state.now = MIN


@inlined
def _has_row(rows: Rows, state: State) -> bool:
    """Return whether the next row belongs to the group in progress."""
    return state.row < rows.start.size and rows.group[state.row] == state.group


@inlined
def next_event(rows: Rows, state: State, heap: Any) -> tuple[int, int]:
    """Return the next event and its instant. At ``MAX`` all rows end, and then the group.

    Of a start and an end at the same instant, the end comes first.
    """
    if state.under_way == 0:
        if state.row == rows.start.size:
            return NO_EVENT, MAX
        _begin_group(rows, state)
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


@inlined
def are_all_applied(event: int, at: int, state: State) -> bool:
    """Return whether all events at the instant ``state.now`` are applied."""
    return at != state.now or event == GROUP_ENDS


@inlined
def move_on(event: int, at: int, state: State) -> None:
    """Go to the instant of the next event. The group is over when its results at MAX are stored."""
    if event == GROUP_ENDS and state.now == MAX:
        state.under_way = 0
    state.now = at


@inlined
def push_row(rows: Rows, state: State, heap: Any, load: int) -> bool:
    """Add the next row to the valid rows. Return False, and change nothing, if the heap is full."""
    if state.valid == heap.shape[0]:
        return False
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
    return True


@inlined
def pop_row(state: State, heap: Any) -> int:
    """Remove the row with the smallest end from the valid rows; return its load.

    The load also goes to the entry that becomes free, the last one.
    """
    load: int = heap[0, LOAD]
    last = state.valid - 1
    end = heap[last, END]
    last_load = heap[last, LOAD]
    k = 0
    below = 1
    while below < last:
        if below + 1 < last and heap[below + 1, END] < heap[below, END]:
            below += 1
        if heap[below, END] >= end:
            break
        heap[k, END] = heap[below, END]
        heap[k, LOAD] = heap[below, LOAD]
        k = below
        below = 2 * k + 1
    heap[k, END] = end
    heap[k, LOAD] = last_load
    heap[last, LOAD] = load
    state.valid = last
    return load
