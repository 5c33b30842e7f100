# SPDX-License-Identifier: Apache-2.0
"""The order of rows by group and value, compared with numpy's sort by several columns."""

from __future__ import annotations

import numpy as np
import pytest

from intervalsweep.arrow.sides import order_of

LEAST, LARGEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


@pytest.mark.parametrize("span", [1, 5, 1 << 20, 1 << 62])
@pytest.mark.parametrize("last_first", [False, True])
def test_order_of(span: int, last_first: bool) -> None:
    draw = np.random.default_rng(span)
    for size in (0, 1, 2, 300):
        groups = draw.integers(0, 7, size).astype(np.int32)
        values = draw.integers(-span, span, size)
        if size > 2 and span > 1 << 60:
            values[:2] = LEAST, LARGEST
        rows = -np.arange(size) if last_first else np.arange(size)
        found = order_of(groups, values, last_first=last_first)
        assert found.tolist() == np.lexsort((rows, values, groups)).tolist()
