# SPDX-License-Identifier: Apache-2.0
"""What the kernels must find, the slow and obvious way. For tests."""

from __future__ import annotations

import numpy as np

from .boxes import Bounds, Boxes
from .index import PointIndex


def matching_pairs(
    index: PointIndex, boxes: Boxes, clip: tuple[int, int] | None = None
) -> list[tuple[int, int]]:
    """Return all matches (box, point), sorted, by testing every pair."""
    pairs = []
    for i in range(boxes.size):
        group = 0 if boxes.group is None else int(np.asarray(boxes.group)[i])
        for j in range(index.size):
            inside = _group_of(index, j) == group and _within(boxes.lead, i, int(index.lead[j]))
            if clip is not None:
                inside = inside and clip[0] <= index.lead[j] <= clip[1]
            if boxes.second is not None and index.second is not None:
                inside = inside and _within(boxes.second, i, int(index.second[j]))
            if inside:
                pairs.append((i, j))
    return pairs


def _group_of(index: PointIndex, j: int) -> int:
    groups = range(index.offsets.size - 1)
    return next(g for g in groups if index.offsets[g] <= j < index.offsets[g + 1])


def _within(bounds: Bounds, i: int, value: int) -> bool:
    if bounds.lower is not None:
        lower = int(bounds.lower[i])
        if value < lower or (bounds.lower_strict and value == lower):
            return False
    if bounds.upper is not None:
        upper = int(bounds.upper[i])
        if value > upper or (bounds.upper_strict and value == upper):
            return False
    return True
