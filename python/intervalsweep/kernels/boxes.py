# SPDX-License-Identifier: Apache-2.0
"""Boxes: bounds on the lead axis of points, and optionally on a second axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import jit
from .arrays import NO_INT64, Int64Array, int64_column
from .join.bounds import are_empty

# The bounds of boxes as arguments of a kernel: lower, its kind, upper, its kind.
Sides = tuple[Int64Array, int, Int64Array, int]


class Bounds:
    """The range of each box on one axis: ``lower < p < upper``, or ``<=`` if not strict.

    ``lower`` and ``upper`` are int64[n], one value per box, in the unit of the points. None means
    unbounded. Boxes with ``lower > upper`` are allowed and empty. Raises ValueError for a wrong
    dtype or shape.
    """

    def __init__(
        self,
        lower: npt.ArrayLike | None = None,
        upper: npt.ArrayLike | None = None,
        *,
        lower_strict: bool = False,
        upper_strict: bool = False,
    ) -> None:
        self.lower = None if lower is None else int64_column("lower", lower)
        self.upper = None if upper is None else int64_column("upper", upper)
        self.lower_strict = lower_strict
        self.upper_strict = upper_strict

    def take(self, order: npt.NDArray[Any] | slice) -> Bounds:
        """Return the bounds of the boxes with these numbers, in this order, or under a mask."""
        return Bounds(
            None if self.lower is None else self.lower[order],
            None if self.upper is None else self.upper[order],
            lower_strict=self.lower_strict,
            upper_strict=self.upper_strict,
        )

    def are_empty(self, boxes: int, clip: tuple[int, int] | None = None) -> bool:
        """Return whether no box contains any value within ``clip``, an inclusive range.

        >>> Bounds(np.array([3, 8]), np.array([3, 5]), upper_strict=True).are_empty(2)
        True
        """
        return are_empty(boxes, *self.sides(boxes), *clip_of(clip))

    def sides(self, boxes: int) -> Sides:
        """Return the bounds as arguments of a kernel: (lower, its kind, upper, its kind)."""
        return (
            *_side("lower", self.lower, self.lower_strict, boxes),
            *_side("upper", self.upper, self.upper_strict, boxes),
        )


def _side(name: str, values: Int64Array | None, strict: bool, boxes: int) -> tuple[Int64Array, int]:
    if values is None:
        return NO_INT64, jit.OPEN
    if values.size != boxes:
        raise ValueError(f"{name}: expected {boxes} values, one per box, got {values.size}")
    return values, jit.STRICT if strict else jit.INCLUSIVE


@dataclass(frozen=True)
class Boxes:
    """``size`` boxes, in any order, bounded on the lead axis and optionally on the second.

    ``group`` is int32[size], the group of points that each box is matched with; None means group 0.
    A box whose group has no points matches nothing. `RunSweep` raises ValueError for a negative
    group.
    """

    size: int
    lead: Bounds
    second: Bounds | None = None
    group: npt.ArrayLike | None = None


def clip_of(clip: tuple[int, int] | None) -> tuple[int, int]:
    """Return an inclusive range, or that of all int64 for None. Raises ValueError beyond int64."""
    limits = np.iinfo(np.int64)
    low, high = clip or (limits.min, limits.max)
    if not (limits.min <= low <= limits.max and limits.min <= high <= limits.max):
        raise ValueError(f"clip: expected 64-bit integers, got {clip}")
    return low, high
