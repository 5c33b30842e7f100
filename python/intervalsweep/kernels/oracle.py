# SPDX-License-Identifier: Apache-2.0
"""The results that the kernels must find, computed in a slow and obvious way. For tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise

import numpy as np

from .boxes import Bounds, Boxes
from .index import PointIndex


def matching_pairs(
    index: PointIndex, boxes: Boxes, clip: tuple[int, int] | None = None
) -> list[tuple[int, int]]:
    """Return all matches (box, point), sorted; tests every pair."""
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


Period = tuple[int, int]

# The copies of a row in a result, from its copies on the left, a, and on the right, b.
HOW_OFTEN: dict[str, Callable[[int, int], int]] = {
    "coalesce": lambda a, b: a,
    "distinct": lambda a, b: 1 if a else 0,
    "except_all": lambda a, b: a - b if a > b else 0,
    "except": lambda a, b: 1 if a and not b else 0,
    "except_strict": lambda a, b: 0 if b else a,
    "semi": lambda a, b: a if b else 0,
    "intersect_all": lambda a, b: a if a < b else b,
    "intersect": lambda a, b: 1 if a and b else 0,
    "union_max": lambda a, b: a if a > b else b,
    "gaps": lambda a, b: 0 if a else 1,
}


def _pieces(rows: Iterable[Period]) -> list[Period]:
    """Return all time, cut at the starts and ends of the rows."""
    info = np.iinfo(np.int64)
    return [*pairwise(sorted({info.min, info.max, *(end for row in rows for end in row)}))]


def counted_periods(rule: str, rows: list[tuple[int, int, int]]) -> list[Period]:
    """Return the canonical result of a rule for the rows (start, end, weight) of one value.

    Goes through all fragments of time, and in each through all rows.
    """
    proper = [row for row in rows if row[0] < row[1]]
    starts: list[int] = []
    ends: list[int] = []
    before = 0
    for piece, _ in _pieces(row[:2] for row in proper):
        held = [weight for start, end, weight in proper if start <= piece < end]
        a = sum(weight for weight in held if weight > 0)
        b = -sum(weight for weight in held if weight < 0)
        often = HOW_OFTEN[rule](a, b)
        (starts if often > before else ends).extend([piece] * abs(often - before))
        before = often
    ends.extend([np.iinfo(np.int64).max] * before)
    return sorted(zip(starts, ends, strict=True))


def merged_periods(rows: list[tuple[int, int, int]], length: int) -> list[Period]:
    """Return the rows (start, end, copies) of one value, merged up to a length (Alg. 10)."""
    info = np.iinfo(np.int64)
    proper = [row for row in rows if row[0] < row[1] and row[2] > 0]
    valid: list[int] = []
    found: list[Period] = []

    def end(copies: int, now: int) -> None:
        found.extend((start, now) for start in valid[:copies])
        del valid[:copies]

    for now in sorted({end for row in proper for end in row[:2]}):
        started = sum(copies for start, _, copies in proper if start == now)
        ended = sum(copies for _, end, copies in proper if end == now)
        old = sum(1 for start in valid if start == info.min or now - start >= length)
        replaced = min(started, ended, old)
        end(replaced, now)
        valid.extend([now] * replaced)
        kept = min(started, ended) - replaced
        end(ended - replaced - kept, now)
        valid.extend([now] * (started - replaced - kept))
    return sorted(found)


def values_by_time(
    rows: list[Period],
    value: Callable[[list[int]], object],
    *,
    empty: bool = False,
    ends: str = "changes",
) -> list[tuple[int, int, object]]:
    """Return periods with the ``value`` of the numbers of the rows that are valid then.

    With ``islands``, the value is that of all rows of an island, between two instants at which no
    row is valid.
    """
    proper = [k for k, (start, end) in enumerate(rows) if start < end]
    found: list[tuple[int, int, object]] = []
    of_island: set[int] = set()
    for piece, stop in _pieces(rows[k] for k in proper):
        held = [k for k in proper if rows[k][0] <= piece < rows[k][1]]
        if not held and not empty:
            continue
        goes_on = bool(found) and found[-1][1] == piece
        if ends == "islands":
            of_island = of_island.union(held) if goes_on else set(held)
            held = sorted(of_island)
        now = value(held)
        if goes_on and (ends == "islands" or (ends == "changes" and found[-1][2] == now)):
            found[-1] = found[-1][0], stop, now
        else:
            found.append((piece, stop, now))
    return found
