# SPDX-License-Identifier: Apache-2.0
"""The range of values that a box's bounds allow on one axis, and whether it is empty."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import I64_IN, INCLUSIVE, INT, OPEN, helper, kernel

_MIN = np.iinfo(np.int64).min
_MAX = np.iinfo(np.int64).max

# The types of lower, lower_kind, upper, upper_kind.
BOUNDS = (I64_IN, INT, I64_IN, INT)


@helper
def at_least(values: Any, kind: int, i: int) -> tuple[int, bool]:
    """Return box ``i``'s lower bound made inclusive, and whether any value satisfies it."""
    if kind == OPEN:
        return _MIN, True
    value = values[i]
    if kind == INCLUSIVE:
        return value, True
    if value == _MAX:
        return value, False
    return value + 1, True


@helper
def at_most(values: Any, kind: int, i: int) -> tuple[int, bool]:
    """Return box ``i``'s upper bound made inclusive, and whether any value satisfies it."""
    if kind == OPEN:
        return _MAX, True
    value = values[i]
    if kind == INCLUSIVE:
        return value, True
    if value == _MIN:
        return value, False
    return value - 1, True


@helper
def extent(
    lower: Any, lower_kind: int, upper: Any, upper_kind: int, i: int
) -> tuple[int, int]:  # fmt: skip
    """Return the least and the largest value within box ``i``'s bounds.

    Without any such value, the least is greater than the largest.
    """
    least, some_low = at_least(lower, lower_kind, i)
    most, some_high = at_most(upper, upper_kind, i)
    if some_low and some_high:
        return least, most
    return _MAX, _MIN


@kernel(INT, *BOUNDS, INT, INT)
def are_empty(
    boxes: int, lower: Any, lower_kind: int, upper: Any, upper_kind: int,
    clip_low: int, clip_high: int,
) -> bool:  # fmt: skip
    """Return whether no box contains any value within the clip; stops at the first that does."""
    for i in range(boxes):
        low, high = extent(lower, lower_kind, upper, upper_kind, i)
        if max(low, clip_low) <= min(high, clip_high):
            return False
    return True


@helper
def _sum(value: int, difference: int) -> int:
    """Return the sum, clipped to int64."""
    if difference > 0:
        return _MAX if value > _MAX - difference else value + difference
    return _MIN if value < _MIN - difference else value + difference


@kernel(INT, *BOUNDS, INT, INT, *BOUNDS, INT, INT)
def is_implied(
    boxes: int, lower: Any, lower_kind: int, upper: Any, upper_kind: int,
    clip_low: int, clip_high: int, second_lower: Any, second_lower_kind: int, second_upper: Any,
    second_upper_kind: int, smallest: int, largest: int,
) -> bool:  # fmt: skip
    """Return whether all points that match a box on the lead axis also match on the second.

    Each point has second - lead within [smallest, largest]. For a box with lead in [low, high]:

                 low ========= high                            lead
                    \\             \\
        low + smallest ============= high + largest            second: only in this range
           least =========================== most              so these bounds are implied

    A clipped sum is correct, as no point lies beyond int64. Stops at the first box whose bounds are
    not implied. O(boxes).
    """
    for i in range(boxes):
        low, high = extent(lower, lower_kind, upper, upper_kind, i)
        low = max(low, clip_low)
        high = min(high, clip_high)
        if low > high:
            continue
        least, most = extent(
            second_lower, second_lower_kind, second_upper, second_upper_kind, i
        )  # fmt: skip
        if _sum(low, smallest) < least or _sum(high, largest) > most:
            return False
    return True
