# SPDX-License-Identifier: Apache-2.0
"""A compiled loop that computes the number of copies of each group by time; see `period_events`."""

from __future__ import annotations

from typing import NamedTuple

from numba import from_dtype, types

from .arrays import Int32Array, Int64Array
from .jit import I32_OUT, I64_IN, I64_OUT, I64_TABLE_OUT, INT, helper, kernel
from .period_events import (
    DONE,
    FULL,
    MAX,
    MIN,
    NO_EVENT,
    NO_ROOM,
    ROW_ENDS,
    ROW_STARTS,
    ROWS,
    Rows,
    State,
    has_room,
    is_complete,
    move_on,
    next_event,
    pop_row,
    push_row,
    state_layout,
    store_period,
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
    started, ended
        The copies that have started and ended at the instant ``now``.
    """

    left: int
    right: int
    result: int
    first: int
    queued: int
    started: int
    ended: int


STATE = state_layout(CountState)
_BATCH = types.NamedTuple((I32_OUT, I64_OUT, I64_OUT, I64_OUT), CountBatch)


@helper
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


@helper
def _start_copies(copies: int, state: CountState, queue: Int64Array) -> None:
    """Queue copies of the result that start now. The queue has room for one more entry."""
    place = (state.first + state.queued) % queue.shape[0]
    queue[place, START] = state.now
    queue[place, COPIES] = copies
    state.queued += 1
    state.result += copies


@helper
def _end_copies(copies: int, state: CountState, queue: Int64Array, out: CountBatch) -> None:
    """End at most this number of copies now: those of the first entry of the queue."""
    first = state.first
    ended = min(queue[first, COPIES], copies)
    out.count[store_period(queue[first, START], state, out)] = ended
    state.result -= ended
    queue[first, COPIES] -= ended
    if queue[first, COPIES] == 0:
        state.first = (first + 1) % queue.shape[0]
        state.queued -= 1


@helper
def _is_long(length: int, state: CountState, queue: Int64Array) -> bool:
    """Return whether the first entry of the queue has at least this length now."""
    if state.queued == 0:
        return False
    start = queue[state.first, START]
    # The sum does not overflow: `now` is after the start, and `length` is positive.
    return bool(
        start == MIN or (state.now != MAX and start <= MAX - length and start + length <= state.now)
    )


@helper
def _replace_long(length: int, state: CountState, queue: Int64Array, out: CountBatch) -> int:
    """End copies of at least this length where a row ends and another one starts (Alg. 10).

    Each is replaced by a copy that starts now. Returns ``DONE``, or why it stopped before.
    """
    while state.started > 0 and state.ended > 0 and _is_long(length, state, queue):
        if state.queued == queue.shape[0]:
            return NO_ROOM
        if state.stored == out.row.size:
            return FULL
        before = state.result
        _end_copies(min(state.started, state.ended), state, queue, out)
        ended = before - state.result
        _start_copies(ended, state, queue)
        state.started -= ended
        state.ended -= ended
    return DONE


@helper
def _update_result(rule: int, state: CountState, queue: Int64Array, out: CountBatch) -> int:
    """Start or end copies now, until the result has as many as the rule says.

    Returns ``DONE``, or why it stopped before. A further call does the rest.
    """
    wanted = 0
    if state.now != MAX:
        wanted = _how_often(rule, state.left, state.right)
    if wanted > state.result:
        if state.queued == queue.shape[0]:
            return NO_ROOM
        _start_copies(wanted - state.result, state, queue)
    while wanted < state.result:
        if state.stored == out.row.size:
            return FULL
        _end_copies(state.result - wanted, state, queue, out)
    return DONE


@helper
def _add_weight(weight: int, sign: int, state: CountState) -> None:
    """Add the copies of a row to those of its side; with the sign -1, subtract them."""
    if weight > 0:
        state.left += sign * weight
    else:
        state.right -= sign * weight


@kernel(ROWS, I64_IN, INT, INT, from_dtype(STATE), I64_TABLE_OUT, I64_TABLE_OUT, _BATCH)
def sweep_counts(
    rows: Rows, weight: Int64Array, rule: int, length: int,
    state: CountState, heap: Int64Array, queue: Int64Array, out: CountBatch,
) -> int:  # fmt: skip
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
        The copies of each row: positive on the left, negative on the right. The weight is the load
        of the heap.
    rule : int
        One of the rules, such as ``EXCEPT_ALL``.
    length : int
        0; or, for ``COALESCE``, the length from which on a period is not extended any more: it ends
        where the next row starts.
    queue : int64[places, 2]
        The open results as a ring buffer with the columns ``START`` and ``COPIES``: a start, and
        the number of copies with that start.
    """
    state.stored = 0
    while True:
        event, at = next_event(rows, state, heap)
        if event == NO_EVENT:
            return DONE
        if is_complete(event, at, state):
            if length > 0:
                reason = _replace_long(length, state, queue, out)
                if reason != DONE:
                    return reason
            reason = _update_result(rule, state, queue, out)
            if reason != DONE:
                return reason
            state.started = 0
            state.ended = 0
            move_on(event, at, state)
        if event == ROW_ENDS:
            load = pop_row(state, heap)
            state.ended += load
            _add_weight(load, -1, state)
        elif event == ROW_STARTS:
            if not has_room(state, heap):
                return NO_ROOM
            load = weight[state.row]
            push_row(rows, load, state, heap)
            state.started += load
            _add_weight(load, 1, state)
