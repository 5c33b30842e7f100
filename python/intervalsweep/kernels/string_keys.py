# SPDX-License-Identifier: Apache-2.0
"""Compares texts in Arrow buffers, without Python objects. Workers do not load this module."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from .arrays import Int32Array
from .jit import I32_IN, I32_OUT, I64_IN, helper, kernel

# The least average number of equal consecutive texts for which the comparison pays.
_ROWS_PER_TEXT = 16

# Rows that are compared together while the text stays the same.
_BLOCK = 64

_BYTES_IN = types.Array(types.uint8, 1, "C", readonly=True)


def first_rows(offsets: npt.NDArray[Any], data: npt.NDArray[np.uint8]) -> Int32Array | None:
    """Return the rows whose text differs from that of the row before; None if there are many.

    Text ``i`` is bytes ``offsets[i] .. offsets[i+1]-1`` of ``data``. The first row is included.

    >>> offsets, data = np.arange(0, 66, 2), np.frombuffer(b"ab" * 20 + b"cd" * 12, np.uint8)
    >>> first_rows(offsets, data).tolist()
    [0, 20]
    """
    most = (offsets.size - 1) // _ROWS_PER_TEXT
    if most == 0:  # too few rows to compile the comparison for them
        return None
    firsts = np.empty(most, dtype=np.int32)
    find = find_changes if offsets.dtype == np.int32 else find_changes_of_large
    found = find(offsets, data, firsts)
    return None if found < 0 else firsts[:found]


@helper
def _is_repeated(offsets: Any, data: Any, i: int, size: int) -> bool:
    """Return whether all texts of the block at row ``i`` equal the text before it.

    ``size`` is the number of bytes of that text. If the texts are equal, each byte equals the byte
    ``size`` bytes before it, which takes one instruction for several bytes.
    """
    difference = 0
    for k in range(i, i + _BLOCK):
        difference |= (offsets[np.uint64(k + 1)] - offsets[np.uint64(k)]) ^ size
    if difference != 0:
        return False
    bits = np.uint8(0)
    for k in range(int(offsets[i]), int(offsets[i + _BLOCK])):
        bits = np.uint8(bits | (data[np.uint64(k)] ^ data[np.uint64(k - size)]))
    return int(bits) == 0


def _find_changes(offsets: Any, data: Any, firsts: Any) -> int:
    """Store the rows whose text differs from that of the row before; return their number.

    Returns -1 if they do not fit into ``firsts``. Each text is compared with that of the last
    stored row, all its bytes: a branch at the first difference would cost more than the few bytes
    after it.
    """
    rows = offsets.size - 1
    found = 0
    begin = 0
    size = -1
    i = 0
    while i < rows:
        if size >= 0 and i + _BLOCK <= rows and _is_repeated(offsets, data, i, size):
            i += _BLOCK
            continue
        for j in range(i, min(i + _BLOCK, rows)):
            start = int(offsets[j])
            difference = 1
            if offsets[j + 1] - start == size:
                difference = 0
                for k in range(size):
                    difference |= data[np.uint64(begin + k)] ^ data[np.uint64(start + k)]
            if difference != 0:
                if found == firsts.size:
                    return -1
                firsts[found] = j
                found += 1
                begin = start
                size = offsets[j + 1] - start
        i += _BLOCK
    return found


find_changes = kernel(I32_IN, _BYTES_IN, I32_OUT)(_find_changes)
find_changes_of_large = kernel(I64_IN, _BYTES_IN, I32_OUT)(_find_changes)
