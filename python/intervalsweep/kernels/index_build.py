# SPDX-License-Identifier: Apache-2.0
"""Compiled loops that check and prepare points and boxes. They do not check dtypes and shapes.

`join` describes the arrays of the prepared points: lead, offsets, rank_of, tables, table. Each loop
goes through its rows once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .jit import (
    BASE,
    I32_IN,
    I32_OUT,
    I64_IN,
    I64_OUT,
    I64_TABLE_IN,
    I64_TABLE_OUT,
    INT,
    POINTS,
    SHIFT,
    TABLE,
    helper,
    kernel,
)

_MIN = np.iinfo(np.int64).min
_MAX = np.iinfo(np.int64).max

# Rows that are checked together.
_BLOCK = 256


@helper
def _rises(values: Any, start: int, stop: int) -> bool:
    """Return whether none of the rows [start, stop) is smaller than the row before it.

    There is no branch, and unsigned indices cannot count from the end. So the compiler compares
    several rows per instruction.
    """
    falls = 0
    for j in range(start, stop):
        falls |= int(values[np.uint64(j)] < values[np.uint64(j - 1)])
    return falls == 0


@kernel(I64_IN, I64_IN)
def first_unsorted(values: Any, offsets: Any) -> int:
    """Return the first row that is smaller than the row before it in its group, or -1."""
    g = 0
    for start in range(1, values.size, _BLOCK):
        end = min(start + _BLOCK, values.size)
        if _rises(values, start, end):
            continue
        while g < offsets.size - 1 and offsets[g] < end:
            for j in range(max(start, offsets[g] + 1), min(end, offsets[g + 1])):
                if values[j] < values[j - 1]:
                    return int(j)
            if offsets[g + 1] > end:
                break  # the group continues in the next block
            g += 1
    return -1


@kernel(I32_IN, I64_IN)
def are_in_order(groups: Any, values: Any) -> bool:
    """Return whether rows are in the order of group and value; empty ``groups`` mean one group."""
    for start in range(1, values.size, _BLOCK):
        end = min(start + _BLOCK, values.size)
        if groups.size == 0:
            if not _rises(values, start, end):
                return False
            continue
        falls = 0
        for j in range(start, end):
            group = groups[np.uint64(j)]
            last = groups[np.uint64(j - 1)]
            is_less = int(values[np.uint64(j)] < values[np.uint64(j - 1)])
            falls |= int(group < last) | (int(group == last) & is_less)
        if falls != 0:
            return False
    return True


@helper
def _are_all(groups: Any, start: int, stop: int, group: int) -> bool:
    """Return whether all rows [start, stop) have this group."""
    others = 0
    for j in range(start, stop):
        others |= groups[np.uint64(j)] ^ group
    return others == 0


@kernel(I32_IN, I64_OUT)
def count_groups(groups: Any, offsets: Any) -> int:
    """Fill ``offsets``, int64[G+1], from sorted group numbers; return the first bad row, or -1.

    A row is bad if its number is smaller than that of the row before it, negative, or not below G.
    """
    last = 0
    offsets[0] = 0
    for start in range(0, groups.size, _BLOCK):
        end = min(start + _BLOCK, groups.size)
        if groups[end - 1] == last < offsets.size - 1 and _are_all(groups, start, end, last):
            continue
        for j in range(start, end):
            g = groups[j]
            if g < last or g >= offsets.size - 1:
                return int(j)
            while last < g:
                last += 1
                offsets[last] = j
    for g in range(last + 1, offsets.size):
        offsets[g] = groups.size
    return -1


@kernel(I64_IN, INT, I64_TABLE_OUT)
def block_extremes(values: Any, size: int, extremes: Any) -> None:
    """Store the minimum and maximum of each block of ``size`` values in int64[., 2]."""
    for b in range(extremes.shape[0]):
        start = b * size
        least = most = values[start]
        for j in range(start + 1, min(start + size, values.size)):
            least = min(least, values[j])
            most = max(most, values[j])
        extremes[b, 0] = least
        extremes[b, 1] = most


@kernel(I64_IN, I64_IN, I64_OUT)
def difference_extremes(lead: Any, second: Any, extremes: Any) -> bool:
    """Store the smallest and the largest ``second - lead``; return False if one might overflow.

    The test uses half differences, which cannot overflow and determine the difference to within 2.
    Without points, the smallest is the largest int64 and the largest is the smallest int64.
    """
    smallest = _MAX
    largest = _MIN
    for start in range(0, lead.size, _BLOCK):
        end = min(start + _BLOCK, lead.size)
        farthest = 0
        for j in range(start, end):
            half = (second[np.uint64(j)] >> 1) - (lead[np.uint64(j)] >> 1)
            farthest = max(farthest, abs(half))
        if farthest > _MAX >> 1:
            return False
        for j in range(start, end):
            difference = second[np.uint64(j)] - lead[np.uint64(j)]
            smallest = min(smallest, difference)
            largest = max(largest, difference)
    extremes[0] = smallest
    extremes[1] = largest
    return True


@kernel(I64_IN, I64_IN, INT, I32_OUT, I64_TABLE_OUT)
def plan_tables(lead: Any, offsets: Any, smallest: int, rank_of: Any, tables: Any) -> int:
    """Plan a lookup table for each group of at least ``smallest`` points.

    Fills ``rank_of`` and ``tables``, and returns the total number of entries of all lookup tables.
    Values are shifted right until the range of the group has at most as many entries as the group
    has points.
    """
    rank = 0
    slots = 0
    for g in range(rank_of.size):
        rank_of[g] = -1
        size = offsets[g + 1] - offsets[g]
        if size < smallest:
            continue
        low = lead[offsets[g]]
        high = lead[offsets[g + 1] - 1]
        shift = 0 if (high >> 1) - (low >> 1) < size else 1  # high - low itself might overflow
        while (high >> shift) - (low >> shift) >= size:
            shift += 1
        rank_of[g] = rank
        tables[rank, TABLE] = slots
        tables[rank, SHIFT] = shift
        tables[rank, BASE] = low >> shift
        slots += (high >> shift) - (low >> shift) + 2
        rank += 1
    return slots


@kernel(I64_IN, I64_IN, I32_IN, I64_TABLE_IN, I32_OUT)
def fill_tables(lead: Any, offsets: Any, rank_of: Any, tables: Any, table: Any) -> None:
    """Fill the planned lookup tables: an entry is the first row with its or a larger entry number.

    One more entry per group is the end of the group, so that the rows of an entry are
    ``table[slot] .. table[slot + 1] - 1``. All entries must be 0 before.
    """
    for g in range(rank_of.size):
        rank = rank_of[g]
        if rank < 0:
            continue
        first = tables[rank, TABLE]
        shift = tables[rank, SHIFT]
        base = tables[rank, BASE]
        slot = first
        table[first] = offsets[g]
        for j in range(offsets[g], offsets[g + 1]):
            slot = (lead[np.uint64(j)] >> shift) - base + first + 1
            table[np.uint64(slot)] = j + 1  # the last write stays, so no branch is needed
        for k in range(first + 1, slot + 1):
            table[k] = max(table[k], table[k - 1])


@kernel(POINTS, I32_IN, I64_IN, INT, I32_OUT)
def place_boxes(points: Any, box_group: Any, bound: Any, shift: int, place: Any) -> bool:
    """Store roughly where each box's bound lies among the points, in units of ``2**shift`` rows.

    The place is exact if the values of a group are spread evenly over its range: a look-up would
    cost more. Returns whether the places are in non-decreasing order.

    Parameters
    ----------
    points, box_group
        See `join`.
    bound : int64[b]
        The bound of each box.
    shift : int
        The rows are divided by ``2**shift``.
    place : int32[b]
        Output: the place of each box.
    """
    lead, offsets, rank_of, tables, _ = points
    rising = True
    last = 0
    for i in range(place.size):
        group = box_group[i] if box_group.size > 0 else 0
        row = 0
        if group < offsets.size - 1 and offsets[group] < offsets[group + 1]:
            row = offsets[group]
            rank = rank_of[group]
            if bound[i] > lead[offsets[group + 1] - 1]:
                row = offsets[group + 1] - 1
            elif rank >= 0 and bound[i] > lead[row]:
                row += (bound[i] >> tables[rank, SHIFT]) - tables[rank, BASE]
        now = row >> shift
        rising = rising and now >= last
        last = now
        place[i] = now
    return rising


@kernel(I32_IN, I64_OUT, I32_OUT)
def order_by_place(place: Any, counts: Any, order: Any) -> None:
    """Store the stable order of the places: a counting sort.

    ``counts`` is int64[largest place + 2] and must be all 0. ``order`` is int32[b], the output.
    """
    for i in range(place.size):
        counts[place[i] + 1] += 1
    for k in range(1, counts.size):
        counts[k] += counts[k - 1]
    for i in range(place.size):
        order[counts[place[i]]] = i
        counts[place[i]] += 1
