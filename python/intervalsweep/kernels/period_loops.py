# SPDX-License-Identifier: Apache-2.0
"""Compiled loops over periods in the order of their starts. They do not check dtypes and shapes.

A loop sweeps along time, group by group. The valid rows of the group are kept in a min-heap by end:
the SweepArea of the temporal operator algebra (4.3.1). The next event is the smaller of the start
of the next row and the end at the top of the heap. When all events of an instant are applied, the
loop compares the state after the instant with the state before, and stores the periods that end
there. With n rows, at most v of them valid at once, all heap operations together take O(n log v).

A loop stops when the outputs, the heap or the queue are full. Its state is in arrays, so that a
further call goes on at the same place. `stopped` says why the loop returned.

Arguments of both loops
-----------------------
group : int32[n]
    The group of each row, in non-decreasing order.
start, end : int64[n]
    The periods ``[start, end)``; starts are non-decreasing within a group. ``MIN`` is no start and
    ``MAX`` no end. Rows with ``start >= end`` are skipped.
goes_on : int
    Not 0: the last group continues with the rows of the next call, so it is not completed yet.
state : int64[STATE_SIZE]
    Where the loop stopped; the fields are listed below. All are 0 before the first call. The caller
    sets ``ROW`` to 0 and ``SOME_ROW`` to -1 before new rows.
heap : int64[places, 2]
    The valid rows as a binary min-heap: the end of each row, and its load. The first
    ``state[HEAP]`` entries are used.
out_row : int32[size]
    Results: a row of the group, by its number in `group`, or -1 if the group began in earlier rows.
out_start, out_end : int64[size]
    Results: the periods.
stopped : int64[1]
    Result: ``DONE`` if all rows are read, ``FULL`` if the outputs are full, ``NO_ROOM`` if the heap
    or the queue is full. The caller doubles what is full and calls again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from .jit import (
    I32_IN,
    I32_OUT,
    I64_IN,
    I64_OUT,
    I64_TABLE_IN,
    I64_TABLE_OUT,
    INT,
    helper,
    kernel,
)

MIN, MAX = np.iinfo(np.int64).min, np.iinfo(np.int64).max

# Rules: each maps the number of valid copies of a row on the left, a, and on the right, b, to the
# number of copies in the result; see `_how_often`.
COALESCE, DISTINCT, EXCEPT_ALL, EXCEPT, EXCEPT_STRICT = 0, 1, 2, 3, 4
SEMI, INTERSECT_ALL, INTERSECT, UNION_MAX, GAPS = 5, 6, 7, 8, 9

# Fields of the state.
#   ROW        the next row to read
#   UNDER_WAY  1 while a group is in progress
#   GROUP      the number of that group
#   SOME_ROW   a row of that group, or -1 if the group began in earlier rows
#   NOW        the instant of the last event; the results that end there are not stored yet
#   LEFT       the number of valid rows on the left: the sum of their weights
#   RIGHT      the same on the right
#   RESULT     the number of copies in the result before the instant NOW
#   HEAP       the number of entries of the heap
#   FIRST      the first entry of the queue
#   QUEUED     the number of entries of the queue
ROW, UNDER_WAY, GROUP, SOME_ROW, NOW, LEFT, RIGHT, RESULT, HEAP, FIRST, QUEUED = range(11)
# Fields that only `sweep_values` has, in place of RIGHT and RESULT.
#   PENDING    1 while a result period is open
#   SINCE      the start of that period
PENDING, SINCE = 6, 7
STATE_SIZE = 11

# The reasons for which a loop stops.
DONE, FULL, NO_ROOM = 0, 1, 2


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
def _push(heap: Any, size: int, end: int, load: int) -> None:
    """Add an entry to a heap of ``size`` entries; the smallest end is on top."""
    k = size
    while k > 0:
        above = (k - 1) >> 1
        if heap[above, 0] <= end:
            break
        heap[k, 0] = heap[above, 0]
        heap[k, 1] = heap[above, 1]
        k = above
    heap[k, 0] = end
    heap[k, 1] = load


@helper
def _pop(heap: Any, size: int) -> None:
    """Remove the top entry of a heap of ``size`` entries."""
    last = size - 1
    end = heap[last, 0]
    load = heap[last, 1]
    k = 0
    below = 1
    while below < last:
        if below + 1 < last and heap[below + 1, 0] < heap[below, 0]:
            below += 1
        if heap[below, 0] >= end:
            break
        heap[k, 0] = heap[below, 0]
        heap[k, 1] = heap[below, 1]
        k = below
        below = 2 * k + 1
    heap[k, 0] = end
    heap[k, 1] = load


@kernel(
    I32_IN, I64_IN, I64_IN, I64_IN, INT, INT,
    I64_OUT, I64_TABLE_OUT, I64_TABLE_OUT, I32_OUT, I64_OUT, I64_OUT, I64_OUT, I64_OUT,
)  # fmt: skip
def sweep_counts(
    group: Any, start: Any, end: Any, weight: Any, rule: int, goes_on: int,
    state: Any, heap: Any, queue: Any,
    out_row: Any, out_start: Any, out_end: Any, out_count: Any, stopped: Any,
) -> int:  # fmt: skip
    """Store the result periods of ``rule`` in canonical form; return how many are stored.

    When the number of copies rises, the start is queued. When it falls, queued starts get their
    end, first in, first out (16). The numbers are compared once per instant, after all its starts
    and ends, so two periods do not touch if one period can replace them. O(n log v + results).

        a    [-----)        c = max(a - b, 0) is 1, 2, 1, 0 from 1, 3, 5, 7 on
        a       [------)    starts 1 and 3, ends 5 and 7: periods [1, 5), [3, 7)

    For the other parameters see the module.

    Parameters
    ----------
    weight : int64[n]
        The copies of each row: positive on the left, negative on the right. It is the load of the
        heap.
    rule : int
        One of the rules, such as ``EXCEPT_ALL``.
    queue : int64[places, 2]
        The open results as a ring buffer: a start, and the number of copies with that start.
    out_count : int64[size]
        Results: the number of copies of each period.
    """
    n = start.size
    count = 0
    stopped[0] = DONE
    while True:
        row = state[ROW]
        if state[UNDER_WAY] == 0:
            if row == n:
                return count
            state[UNDER_WAY] = 1
            state[GROUP] = group[row]
            state[SOME_ROW] = row
            state[NOW] = MIN
            state[LEFT] = state[RIGHT] = state[RESULT] = 0
        of_group = row < n and group[row] == state[GROUP]
        if of_group and start[row] >= end[row]:
            state[ROW] = row + 1
            continue
        if row == n and goes_on != 0:
            return count
        valid = state[HEAP]
        now = state[NOW]
        # The next instant at which a row starts or ends. At MAX everything ends.
        at = start[row] if of_group else MAX
        if valid > 0:
            at = min(at, heap[0, 0])
        is_over = not of_group and valid == 0
        if at != now or is_over:
            # All starts and ends at the instant `now` are applied.
            wanted = 0
            if now != MAX:
                wanted = _how_often(rule, state[LEFT], state[RIGHT])
            if wanted > state[RESULT]:
                if state[QUEUED] == queue.shape[0]:
                    stopped[0] = NO_ROOM
                    return count
                place = (state[FIRST] + state[QUEUED]) % queue.shape[0]
                queue[place, 0] = now
                queue[place, 1] = wanted - state[RESULT]
                state[QUEUED] += 1
                state[RESULT] = wanted
            while wanted < state[RESULT]:
                if count == out_row.size:
                    stopped[0] = FULL
                    return count
                first = state[FIRST]
                some = min(queue[first, 1], state[RESULT] - wanted)
                out_row[count] = state[SOME_ROW]
                out_start[count] = queue[first, 0]
                out_end[count] = now
                out_count[count] = some
                count += 1
                state[RESULT] -= some
                queue[first, 1] -= some
                if queue[first, 1] == 0:
                    state[FIRST] = (first + 1) % queue.shape[0]
                    state[QUEUED] -= 1
            if is_over and now == MAX:
                state[UNDER_WAY] = 0
                continue
            state[NOW] = at
            if is_over:
                continue
        if valid > 0 and heap[0, 0] == at:
            load = heap[0, 1]
            if load > 0:
                state[LEFT] -= load
            else:
                state[RIGHT] += load
            _pop(heap, valid)
            state[HEAP] = valid - 1
        else:
            if valid == heap.shape[0]:
                stopped[0] = NO_ROOM
                return count
            load = weight[row]
            if load > 0:
                state[LEFT] += load
            else:
                state[RIGHT] -= load
            _push(heap, valid, end[row], load)
            state[HEAP] = valid + 1
            state[ROW] = row + 1


# The kinds of measures. Sums of integers are updated by adding and subtracting. All other measures
# are trees over the places of the valid rows, whose root is the value. So nothing is ever
# subtracted from a sum of floating-point numbers.
SUM, LEAST, GREATEST = 0, 1, 2

# The end of a period of values: when a value changes, when any row starts or ends, or when no row
# is valid any more. In the last case the values include all rows of the period.
CHANGES, CUTS, ISLANDS = 0, 1, 2

_FLOATS_IN = types.Array(types.float64, 2, "C", readonly=True)
_FLOATS_OUT = types.Array(types.float64, 2, "C")
_FLOATS_NOW = types.Array(types.float64, 1, "C")


@helper
def _set(tree: Any, k: int, kind: int, place: int, value: int) -> None:
    """Put a value into a place of measure ``k``; the neutral value empties the place."""
    places = tree.shape[1] >> 1
    node = places + place
    if kind == SUM:
        tree[k, 1] += value - tree[k, node]
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


@helper
def _gather(tree: Any, k: int, kind: int, value: int) -> None:
    """Add a value to a measure from which no value is removed: those of islands."""
    if kind == SUM:
        tree[k, 1] += value
    elif kind == LEAST:
        tree[k, 1] = min(tree[k, 1], value)
    else:
        tree[k, 1] = max(tree[k, 1], value)


@helper
def _neutral(kind: int) -> int:
    """Return the neutral value of a measure, which changes no result."""
    if kind == LEAST:
        return MAX
    return MIN if kind == GREATEST else 0


@helper
def _set_float(tree: Any, k: int, place: int, value: float) -> None:
    """Put a number into a place of sum ``k`` of floats; 0.0 empties the place."""
    node = (tree.shape[1] >> 1) + place
    tree[k, node] = value
    while node > 1:
        node >>= 1
        tree[k, node] = tree[k, 2 * node] + tree[k, 2 * node + 1]


@helper
def _is_same(tree: Any, floats: Any, values: Any, numbers: Any) -> bool:
    """Return whether the current values equal those of the open period; NaN equals NaN."""
    for k in range(values.size):
        if tree[k, 1] != values[k]:
            return False
    for k in range(numbers.size):
        now = floats[k, 1]
        if now != numbers[k] and (now == now or numbers[k] == numbers[k]):
            return False
    return True


@kernel(
    I32_IN, I64_IN, I64_IN, I32_IN, I64_TABLE_IN, _FLOATS_IN, INT, INT, INT,
    I64_OUT, I64_TABLE_OUT, I64_OUT, I64_TABLE_OUT, _FLOATS_OUT, I64_OUT, _FLOATS_NOW,
    I32_OUT, I64_OUT, I64_OUT, I64_TABLE_OUT, _FLOATS_OUT, I64_OUT,
)  # fmt: skip
def sweep_values(
    group: Any, start: Any, end: Any, kinds: Any, measures: Any, numbers: Any,
    empty: int, ends: int, goes_on: int,
    state: Any, heap: Any, free: Any, tree: Any, floats: Any, since: Any, since_floats: Any,
    out_row: Any, out_start: Any, out_end: Any, out_values: Any, out_floats: Any, stopped: Any,
) -> int:  # fmt: skip
    """Store the periods of a group with their values; return how many are stored (6, 7).

    Each valid row has a place, which is the load of the heap. A start or an end updates the leaf of
    the place, and the path to the root of each tree: O(log v) per measure. O(n k log v) for n rows
    and k measures. With ``ISLANDS`` values are only added, in O(1) each.

    For the other parameters see the module.

    Parameters
    ----------
    kinds : int32[k]
        The kinds of the integer measures: ``SUM``, ``LEAST`` or ``GREATEST``.
    measures : int64[k, n]
        The values of the rows, for each integer measure.
    numbers : float64[f, n]
        The values of the rows, for each sum of floats.
    empty : int
        Not 0: also store the periods in which no row is valid.
    ends : int
        The end of a period: ``CHANGES``, ``CUTS`` or ``ISLANDS``.
    free : int64[places]
        The places as a stack. Those from ``state[HEAP]`` on are free.
    tree : int64[k, 2 * places]
        For each integer measure a binary tree: the root, which is the value, at 1, and the leaf of
        place p at ``places + p``. A ``SUM`` uses only the root and the leaves.
    floats : float64[f, 2 * places]
        The same for each sum of floats, with all inner nodes.
    since, since_floats : int64[k], float64[f]
        The values of the open period.
    out_values, out_floats : int64[k, size], float64[f, size]
        Results: the values of each period.
    """
    n = start.size
    count = 0
    stopped[0] = DONE
    while True:
        row = state[ROW]
        if state[UNDER_WAY] == 0:
            if row == n:
                return count
            state[UNDER_WAY] = 1
            state[GROUP] = group[row]
            state[SOME_ROW] = row
            state[NOW] = MIN
            state[PENDING] = 0
        of_group = row < n and group[row] == state[GROUP]
        if of_group and start[row] >= end[row]:
            state[ROW] = row + 1
            continue
        if row == n and goes_on != 0:
            return count
        valid = state[HEAP]
        now = state[NOW]
        at = start[row] if of_group else MAX
        if valid > 0:
            at = min(at, heap[0, 0])
        is_over = not of_group and valid == 0
        if at != now or is_over:
            some = now != MAX and (valid > 0 or empty != 0)
            stays = some and state[PENDING] != 0
            if stays and ends != ISLANDS:
                stays = ends == CHANGES and _is_same(tree, floats, since, since_floats)
            if not stays:
                if state[PENDING] != 0:
                    if count == out_row.size:
                        stopped[0] = FULL
                        return count
                    out_row[count] = state[SOME_ROW]
                    out_start[count] = state[SINCE]
                    out_end[count] = now
                    if ends == ISLANDS:
                        for k in range(since.size):
                            since[k] = tree[k, 1]
                            tree[k, 1] = _neutral(kinds[k])
                        for k in range(since_floats.size):
                            since_floats[k] = floats[k, 1]
                            floats[k, 1] = 0.0
                    for k in range(since.size):
                        out_values[k, count] = since[k]
                    for k in range(since_floats.size):
                        out_floats[k, count] = since_floats[k]
                    count += 1
                    state[PENDING] = 0
                if some:
                    state[PENDING] = 1
                    state[SINCE] = now
                    for k in range(since.size):
                        since[k] = tree[k, 1]
                    for k in range(since_floats.size):
                        since_floats[k] = floats[k, 1]
            if is_over and now == MAX:
                state[UNDER_WAY] = 0
                continue
            state[NOW] = at
            if is_over:
                continue
        if valid > 0 and heap[0, 0] == at:
            place = heap[0, 1]
            if ends != ISLANDS:
                for k in range(since.size):
                    _set(tree, k, kinds[k], place, _neutral(kinds[k]))
                for k in range(since_floats.size):
                    _set_float(floats, k, place, 0.0)
            _pop(heap, valid)
            free[valid - 1] = place
            state[HEAP] = valid - 1
        else:
            if valid == heap.shape[0]:
                stopped[0] = NO_ROOM
                return count
            place = free[valid]
            if ends == ISLANDS:
                for k in range(since.size):
                    _gather(tree, k, kinds[k], measures[k, row])
                for k in range(since_floats.size):
                    floats[k, 1] += numbers[k, row]
            else:
                for k in range(since.size):
                    _set(tree, k, kinds[k], place, measures[k, row])
                for k in range(since_floats.size):
                    _set_float(floats, k, place, numbers[k, row])
            _push(heap, valid, end[row], place)
            state[HEAP] = valid + 1
            state[ROW] = row + 1
