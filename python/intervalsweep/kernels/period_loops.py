# SPDX-License-Identifier: Apache-2.0
"""Compiled loops over periods in the order of their starts. They trust dtypes and shapes.

What is valid is kept by its ends, the least of them on top: the SweepArea of the temporal operator
algebra (4.3.1). A loop stops where it has no room, for a result or for what is valid, and goes on
from there: its state is in arrays.
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

# How often a row is in the result, by how often it is valid on the left, a, and on the right, b.
COALESCE, DISTINCT, EXCEPT_ALL, EXCEPT, EXCEPT_STRICT = 0, 1, 2, 3, 4
SEMI, INTERSECT_ALL, INTERSECT, UNION_MAX, GAPS = 5, 6, 7, 8, 9

# Fields of the state: the next row; whether a group is under way, which one, and a row of it; the
# instant whose changes are not yet done; how many rows are valid, left and right, and in the
# result; how many entries the heap has; of the queue the first entry and how many.
ROW, UNDER_WAY, GROUP, SOME_ROW, NOW, LEFT, RIGHT, RESULT, HEAP, FIRST, QUEUED = range(11)
# Of a sweep of values: whether a period is under way, and since when.
PENDING, SINCE = 6, 7
STATE_SIZE = 11

# Why a loop has stopped.
DONE, FULL, NO_ROOM = 0, 1, 2


@helper
def _how_often(rule: int, a: int, b: int) -> int:
    """Return the number of a row in the result: the definitions of the paper, by equation."""
    if rule == EXCEPT_ALL:  # (5)
        return max(a - b, 0)
    if rule == INTERSECT_ALL:  # (13)
        return min(a, b)
    if rule == UNION_MAX:  # (14)
        return max(a, b)
    if rule == EXCEPT_STRICT:  # (15)
        return a if b == 0 else 0
    if rule == SEMI:  # (12), but that a row is not multiplied by its partners
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
    """Add an entry to a heap of ``size``, the least end on top."""
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
    """Remove the top of a heap of ``size``."""
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
    """Store the periods of the results of ``rule``, in canonical form; return how many.

    Starts wait in a queue and leave it first in, first out (16). What starts and ends at one
    instant is set off first, so that no two periods touch that need not.

        a    [-----)        c = max(a - b, 0)   1, 2, 1, 0 at 1, 3, 5, 7
        a       [------)    starts 1 3, ends 5 7
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
        # The next instant at which something starts or ends; at the end of time all does.
        at = start[row] if of_group else MAX
        if valid > 0:
            at = min(at, heap[0, 0])
        is_over = not of_group and valid == 0
        if at != now or is_over:
            # All that happens now is known.
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


# What a measure is. Sums of integers add and subtract; the others are a tree over the places of
# what is valid, whose root is the value: nothing is taken off a sum of floating-point numbers.
SUM, LEAST, GREATEST = 0, 1, 2

# When a period of values ends: when one of them changes, when anything starts or ends, or when
# nothing is valid any more. In the last case the values are of all rows of the period.
CHANGES, CUTS, ISLANDS = 0, 1, 2

_FLOATS_IN = types.Array(types.float64, 2, "C", readonly=True)
_FLOATS_OUT = types.Array(types.float64, 2, "C")
_FLOATS_NOW = types.Array(types.float64, 1, "C")


@helper
def _set(tree: Any, k: int, kind: int, place: int, value: int) -> None:
    """Put a value into a place of measure ``k``, or what is neutral to take one out."""
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
    """Add a value to a measure of which none is taken out again."""
    if kind == SUM:
        tree[k, 1] += value
    elif kind == LEAST:
        tree[k, 1] = min(tree[k, 1], value)
    else:
        tree[k, 1] = max(tree[k, 1], value)


@helper
def _neutral(kind: int) -> int:
    """Return what changes no value of a measure."""
    if kind == LEAST:
        return MAX
    return MIN if kind == GREATEST else 0


@helper
def _set_float(tree: Any, k: int, place: int, value: float) -> None:
    """Put a number into a place of a sum."""
    node = (tree.shape[1] >> 1) + place
    tree[k, node] = value
    while node > 1:
        node >>= 1
        tree[k, node] = tree[k, 2 * node] + tree[k, 2 * node + 1]


@helper
def _is_same(tree: Any, floats: Any, values: Any, numbers: Any) -> bool:
    """Return whether the values now are those since the last change."""
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
    """Store the periods in which the values of a group stay the same; return how many (6, 7).

    ``ends`` says when a period ends, with ``empty`` there are periods in which nothing is valid.
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
