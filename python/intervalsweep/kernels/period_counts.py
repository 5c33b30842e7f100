# SPDX-License-Identifier: Apache-2.0
"""A compiled loop that counts the copies of each group by time; see `period_events`."""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import types

from .arrays import Int32Array, Int64Array
from .jit import I32_OUT, I64_IN, I64_OUT, I64_TABLE_OUT, INT, kernel
from .period_events import (
    DONE,
    FULL,
    MAX,
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

# Rules: each maps the number of valid copies of a row on the left, a, and on the right, b, to the
# number of copies in the result; see `_how_often`.
COALESCE, DISTINCT, EXCEPT_ALL, EXCEPT, EXCEPT_STRICT = 0, 1, 2, 3, 4
SEMI, INTERSECT_ALL, INTERSECT, UNION_MAX, GAPS = 5, 6, 7, 8, 9

# The columns of the queue.
START, COPIES = 0, 1


class CountBatch(NamedTuple):
    """Periods ``[start[k], end[k])`` of the group of row ``row[k]``, each ``count[k]`` times.

    ``row`` is the number of a row of the last call of `feed`, or -1 for the group that continued
    from the call before.
    """

    row: Int32Array
    start: Int64Array
    end: Int64Array
    count: Int64Array  # type: ignore[assignment]  # hides a method of tuple


class CountState(State):
    """The fields of the state of `sweep_counts`.

    Attributes
    ----------
    left
        The number of valid rows on the left: the sum of their weights.
    right
        The same on the right.
    result
        The number of copies in the result before the instant ``now``.
    first
        The first entry of the queue.
    queued
        The number of entries of the queue.
    """

    left: int
    right: int
    result: int
    first: int
    queued: int


_BATCH = types.NamedTuple((I32_OUT, I64_OUT, I64_OUT, I64_OUT), CountBatch)


@inlined
def _how_often(rule: int, a: int, b: int) -> int:
    """Return the number of copies of a row in the result; numbers are equations of the paper."""
    if rule == EXCEPT_ALL:  # (5)
        return max(a - b, 0)
    if rule == INTERSECT_ALL:  # (13)
        return min(a, b)
    if rule == UNION_MAX:  # (14)
        return max(a, b)
    if rule == EXCEPT_STRICT:  # (15)
        return a if b == 0 else 0
    if rule == SEMI:  # (12), except that matches do not multiply a row
        return a if b > 0 else 0
    if rule == DISTINCT:  # (4)
        return int(a > 0)
    if rule == EXCEPT:
        return int(a > 0 and b == 0)
    if rule == INTERSECT:
        return int(a > 0 and b > 0)
    if rule == GAPS:
        return int(a == 0)
    return a  # COALESCE (16)


@inlined
def _enqueue(copies: int, state: CountState, queue: Any) -> bool:
    """Start results now. Return False, and change nothing, if the queue is full."""
    if state.queued == queue.shape[0]:
        return False
    place = (state.first + state.queued) % queue.shape[0]
    queue[place, START] = state.now
    queue[place, COPIES] = copies
    state.queued += 1
    state.result += copies
    return True


@inlined
def _store(copies: int, state: CountState, queue: Any, out: CountBatch) -> None:
    """End at most ``copies`` results now, from the first entry of the queue."""
    first = state.first
    ended = min(queue[first, COPIES], copies)
    out.row[state.stored] = state.some_row
    out.start[state.stored] = queue[first, START]
    out.end[state.stored] = state.now
    out.count[state.stored] = ended
    state.stored += 1
    state.result -= ended
    queue[first, COPIES] -= ended
    if queue[first, COPIES] == 0:
        state.first = (first + 1) % queue.shape[0]
        state.queued -= 1


@inlined
def _settle(rule: int, state: CountState, queue: Any, out: CountBatch) -> int:
    """Start or end results, so that the result has as many copies from now on as the rule says.

    Returns why it stopped. It can be called again for the rest.
    """
    wanted = 0
    if state.now != MAX:
        wanted = _how_often(rule, state.left, state.right)
    if wanted > state.result and not _enqueue(wanted - state.result, state, queue):
        return NO_ROOM
    while wanted < state.result:
        if state.stored == out.row.size:
            return FULL
        _store(state.result - wanted, state, queue, out)
    return DONE


@inlined
def _add_copies(weight: int, sign: int, state: CountState) -> None:
    """Add the copies of a row to those of its side; with the sign -1, take them off."""
    if weight > 0:
        state.left += sign * weight
    else:
        state.right -= sign * weight


@kernel(ROWS, I64_IN, INT, state_type(CountState), I64_TABLE_OUT, I64_TABLE_OUT, _BATCH)
def sweep_counts(
    rows: Rows, weight: Any, rule: int, state: CountState, heap: Any, queue: Any, out: CountBatch
) -> int:
    """Store the result periods of ``rule`` in canonical form; return why the loop stopped.

    When the number of copies rises, the start is queued. When it falls, queued starts get their
    end, first in, first out (16). The numbers are compared once per instant, after all its starts
    and ends, so two periods do not touch if one period can replace them. O(n log v + results).

        a    [-----)        c = max(a - b, 0) is 1, 2, 1, 0 from 1, 3, 5, 7 on
        a       [------)    starts 1 and 3, ends 5 and 7: periods [1, 5), [3, 7)

    For the other parameters see `period_events`.

    Parameters
    ----------
    weight : int64[n]
        The copies of each row: positive on the left, negative on the right. It is the load of the
        heap.
    rule : int
        One of the rules, such as ``EXCEPT_ALL``.
    queue : int64[places, 2]
        The open results as a ring buffer with the columns ``START`` and ``COPIES``: a start, and
        the number of copies with that start.
    """
    state.stored = 0
    while True:
        event, at = next_event(rows, state, heap)
        if event == NO_EVENT:
            return DONE
        if are_all_applied(event, at, state):
            stopped = _settle(rule, state, queue, out)
            if stopped != DONE:
                return stopped
            move_on(event, at, state)
        if event == ROW_ENDS:
            _add_copies(pop_row(state, heap), -1, state)
        elif event == ROW_STARTS:
            copies = weight[state.row]
            if not push_row(rows, state, heap, copies):
                return NO_ROOM
            _add_copies(copies, 1, state)
