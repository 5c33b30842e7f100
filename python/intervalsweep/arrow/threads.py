# SPDX-License-Identifier: Apache-2.0
"""Runs work on several cores: NumPy's sorts and the kernels release Python's lock."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from intervalsweep.kernels import Int64Array

_I = TypeVar("_I")
_O = TypeVar("_O")

# Work on fewer rows ends before a thread has started.
_ROWS_FOR_THREADS = 1 << 16


def in_threads(work: Callable[[_I], _O], parts: Iterable[_I], rows: int) -> list[_O]:
    """Return the results of `work` for each part, in parallel if the parts have many `rows`."""
    parts = list(parts)
    if len(parts) < 2 or rows < _ROWS_FOR_THREADS:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(min(len(parts), os.cpu_count() or 1)) as pool:
        return list(pool.map(work, parts))


def parts_of(rows: int) -> list[slice]:
    """Return the parts of rows that are worth a thread: one for each core, or one for all."""
    count = (os.cpu_count() or 1) if rows >= _ROWS_FOR_THREADS else 1
    cuts = [rows * part // count for part in range(count + 1)]
    return [slice(*cut) for cut in itertools.pairwise(cuts)]


def sort(numbers: Int64Array) -> None:
    """Sort numbers in place: each core sorts a part, then the sorted parts are merged."""
    parts = parts_of(numbers.size)
    in_threads(lambda part: numbers[part].sort(), parts, numbers.size)
    if len(parts) > 1:
        numbers.sort(kind="stable")
