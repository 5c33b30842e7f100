# SPDX-License-Identifier: Apache-2.0
"""
Full slices: CSS trees and PO-Join's arrays, built from the sorted leaves of B+trees.

CSS trees (Section 6.1, as in the PIM tree) have sorted keys in nodes of one or two cache lines, and
find a child by arithmetic. PO-Join (Sections 4.2 and 4.3) has sorted columns and a permutation from
one to the other. One predicate sets bits; the other selects a range of these bits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

NODE = 16
LEVELS = 8


class Slices(NamedTuple):
    """Arrays by slice and column, x before y. In PO-Join, `places` of y are positions by x."""

    keys: Any
    places: Any
    directory: Any
    starts: Any  # where the directory's levels begin, lowest level first, then -1


def slices(count: int, rows: int) -> Slices:
    starts, size, at = np.full(LEVELS, -1, np.int64), rows, 0
    for level in range(LEVELS):
        if size <= NODE:
            break
        size = -(-size // NODE)
        starts[level] = at
        at += size
    starts[-1] = at
    return Slices(
        np.empty((count, 2, rows), np.int64),
        np.empty((count, 2, rows), np.int32),
        np.empty((count, 2, at), np.int64),
        starts,
    )


@njit(cache=True)  # type: ignore[untyped-decorator]
def make_directory(some: Slices, number: int) -> None:
    """Builds the directory: each level has the first keys of the nodes one level below."""
    for column in range(2):
        below, directory = some.keys[number, column], some.directory[number, column]
        for level in range(LEVELS - 1):
            start = some.starts[level]
            if start < 0:
                break
            size = -(-len(below) // NODE)
            for k in range(size):
                directory[start + k] = below[k * NODE]
            below = directory[start : start + size]


@njit(cache=True)  # type: ignore[untyped-decorator]
def make_permutation(some: Slices, number: int) -> None:
    """Algorithm 2: the positions by x of the rows, in the order of y."""
    by_row = np.empty(some.keys.shape[2], np.int32)
    for k in range(len(by_row)):
        by_row[some.places[number, 0, k]] = k
    for k in range(len(by_row)):
        some.places[number, 1, k] = by_row[some.places[number, 1, k]]


@njit(cache=True)  # type: ignore[untyped-decorator]
def css_rank(some: Slices, number: int, column: int, key: int, with_equal: bool) -> int:
    """The number of keys less than `key`, or at most `key` with `with_equal`."""
    keys, directory = some.keys[number, column], some.directory[number, column]
    top = 0
    while some.starts[top] >= 0 and top < LEVELS - 1:
        top += 1
    child = 0
    for level in range(top - 1, -1, -1):
        start = some.starts[level]
        end = some.starts[level + 1] if level < top - 1 else some.starts[LEVELS - 1]
        first = start + child * NODE
        found = first
        while found < min(first + NODE, end) and (
            directory[found] < key or (with_equal and directory[found] == key)
        ):
            found += 1
        child = max(first, found - 1) - start
    found = child * NODE
    end = min(found + NODE, len(keys))
    while found < end and (keys[found] < key or (with_equal and keys[found] == key)):
        found += 1
    return found


@njit(cache=True)  # type: ignore[untyped-decorator]
def mark(places: Any, first: int, end: int, bits: Any) -> None:
    for k in range(first, end):
        bits[places[k] >> 6] |= np.uint64(1) << np.uint64(places[k] & 63)


@njit(cache=True)  # type: ignore[untyped-decorator]
def ones(word: Any) -> Any:
    """The number of set bits in a 64-bit word."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    pairs = np.uint64(0x3333333333333333)
    word = (word & pairs) + ((word >> np.uint64(2)) & pairs)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True)  # type: ignore[untyped-decorator]
def count_both(bits: Any, others: Any) -> int:
    """The number of bits set in both; clears both for the next slice."""
    found = 0
    for k in range(len(bits)):
        found += ones(bits[k] & others[k])
        bits[k] = others[k] = 0
    return found


@njit(cache=True)  # type: ignore[untyped-decorator]
def count_range(bits: Any, first: int, end: int) -> int:
    """The number of set bits in `[first, end)`; clears all bits."""
    found = 0
    for k in range(first >> 6, (end + 63) >> 6):
        word = bits[k]
        if k == first >> 6:
            word &= ~np.uint64(0) << np.uint64(first & 63)
        if k == end >> 6:
            word &= (np.uint64(1) << np.uint64(end & 63)) - np.uint64(1)
        found += ones(word)
    bits[:] = 0
    return found
