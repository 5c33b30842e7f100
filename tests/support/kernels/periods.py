# SPDX-License-Identifier: Apache-2.0
"""Feeds rows with periods to the sweeps over periods, in several batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from intervalsweep.kernels import periods
from intervalsweep.kernels.periods import CountSweep


def parts(rows: list[Any], cuts: list[int]) -> list[tuple[list[Any], bool]]:
    """The batches of rows, cut at `cuts`; for each, True if the last group goes on in the next."""
    at = sorted({0, *(cut for cut in cuts if cut < len(rows)), len(rows)})
    return [
        (rows[i:j], j < len(rows) and j > 0 and rows[j][0] == rows[j - 1][0])
        for i, j in zip(at, at[1:] or [0], strict=False)
    ]


def column(rows: list[Any], k: int, dtype: Any = np.int64) -> Any:
    return np.array([row[k] for row in rows], dtype=dtype)


def counted(
    rule: str, rows: list[Any], cuts: list[int], length: int = 0
) -> dict[int, list[tuple[int, int]]]:
    """The periods that the sweep returns, by group."""
    sweep = CountSweep(rule, length)
    found: dict[int, list[tuple[int, int]]] = {}
    last = None
    for some, goes_on in parts(rows, cuts):
        columns = column(some, 0, np.int32), *(column(some, k) for k in (1, 2, 3))
        for batch in sweep.feed(*columns, goes_on=goes_on):
            assert 0 < batch.row.size <= periods._BATCH
            for row, start, end, count in zip(*(c.tolist() for c in batch), strict=True):
                assert start < end
                assert count > 0
                group = last if row < 0 else some[row][0]
                found.setdefault(group, []).extend([(start, end)] * count)
        last = some[-1][0] if some else last
    assert sweep.valid == 0
    for of_group in found.values():
        assert [end for _, end in of_group] == sorted(end for _, end in of_group)
    return {group: sorted(of_group) for group, of_group in found.items()}
