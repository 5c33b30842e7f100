# SPDX-License-Identifier: Apache-2.0
"""Texts in Arrow's buffers, without a Python object for each. Workers do not load it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from .arrays import Int32Array
from .jit import I32_IN, I32_OUT, I64_IN, helper, kernel

# Where more rows than one of so many begin another text, it is not worth while.
_ROWS_PER_TEXT = 16

# Rows that are looked at together where no text ends.
_BLOCK = 64

_BYTES_IN = types.Array(types.uint8, 1, "C", readonly=True)


def first_rows(offsets: npt.NDArray[Any], data: npt.NDArray[np.uint8]) -> Int32Array | None:
    """Return the rows whose text is not that of the row before; None if they are many.

    Text ``i`` is bytes ``offsets[i] .. offsets[i+1]-1`` of ``data``.

    >>> offsets, data = np.arange(0, 66, 2), np.frombuffer(b"ab" * 20 + b"cd" * 12, np.uint8)
    >>> first_rows(offsets, data).tolist()
    [0, 20]
    """
    most = (offsets.size - 1) // _ROWS_PER_TEXT
    if most == 0:  # not worth compiling the comparison either
        return None
    firsts = np.empty(most, dtype=np.int32)
    find = find_changes if offsets.dtype == np.int32 else find_changes_of_large
    found = find(offsets, data, firsts)
    return None if found < 0 else firsts[:found]


@helper
def _is_repeated(offsets: Any, data: Any, i: int, size: int) -> bool:
    """Return whether the text before row ``i``, of ``size`` bytes, is that of the next block, too.

    Then each byte is the one so many before it, which is found out for several in an instruction.
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
    """Store the rows whose text is not that of the row before; return how many, -1 if too many.

    Each text is compared with that of the last such row, all bytes of it: a branch at the first
    difference would cost more than the few bytes behind it.
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
