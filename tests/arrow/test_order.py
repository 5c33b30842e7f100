# SPDX-License-Identifier: Apache-2.0
"""The order of rows by group and value, compared with numpy's sort by several columns."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from intervalsweep.arrow import threads
from intervalsweep.arrow.sides import order_of

LEAST, LARGEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


@pytest.mark.parametrize("span", [1, 5, 1 << 20, 1 << 62])
@pytest.mark.parametrize("last_first", [False, True])
@pytest.mark.parametrize("in_threads", [False, True])
@pytest.mark.parametrize("rise", [False, True])
def test_order_of(
    span: int, last_first: bool, in_threads: bool, rise: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "_ROWS_FOR_THREADS", 0 if in_threads else LARGEST)
    draw = np.random.default_rng(span)
    for size, keys in itertools.product((0, 1, 2, 300), (1, 7, 1 << 20)):
        groups = draw.integers(0, keys, size).astype(np.int32)
        values = draw.integers(-span, span, size)
        if size > 2 and span > 1 << 60:
            values[:2] = LEAST, LARGEST
        if rise:
            values.sort()
        rows = -np.arange(size) if last_first else np.arange(size)
        found = order_of(groups, values, last_first=last_first)
        assert found.tolist() == np.lexsort((rows, values, groups)).tolist()
