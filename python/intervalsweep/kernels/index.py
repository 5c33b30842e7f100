# SPDX-License-Identifier: Apache-2.0
"""The index of a join's points, prepared once for any number of boxes."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from . import index_build
from .arrays import NO_INT32, Int32Array, Int64Array, int32_column, int64_column
from .jit import BIG_BLOCK, FAN_OUT

# Smaller groups have no lookup table.
_TABLE_FROM = 256


def group_offsets(groups: npt.ArrayLike, count: int | None = None) -> Int64Array:
    """Return the first row of each group, and the number of rows: int64[count + 1].

    ``groups`` is int32, the group number of each row, 0 .. count-1, in non-decreasing order.
    ``count`` defaults to the largest number plus one. Raises ValueError if a number is out of range
    or out of order.

    >>> group_offsets(np.array([0, 0, 2], dtype=np.int32)).tolist()
    [0, 2, 2, 3]
    """
    numbers = int32_column("groups", groups)
    if count is None:
        count = max(int(numbers.max()) + 1, 0) if numbers.size else 0
    offsets = np.zeros(count + 1, dtype=np.int64)
    bad = index_build.count_groups(numbers, offsets)
    if bad >= 0:
        raise ValueError(
            f"groups: row {bad} holds group {numbers[bad]}; expected numbers from 0 to {count - 1}"
            " in non-decreasing order"
        )
    return offsets


def group_order(groups: npt.ArrayLike) -> Int32Array:
    """Return the rows by group, int32[n]; rows of a group keep their order.

    ``groups`` is int32, not negative; time and memory grow with the largest number, too. Raises
    ValueError for a wrong dtype or shape.

    >>> group_order(np.array([2, 0, 2, 0], dtype=np.int32)).tolist()
    [1, 3, 0, 2]
    """
    numbers = int32_column("groups", groups)
    order = np.empty(numbers.size, dtype=np.int32)
    counts = np.zeros(int(numbers.max(initial=-1)) + 2, dtype=np.int64)
    index_build.order_by_place(numbers, counts, order)
    return order


def is_sorted(groups: npt.ArrayLike | None, lead: npt.ArrayLike) -> bool:
    """Return whether rows are in the order of a :class:`PointIndex`: by group, then by ``lead``.

    With None for ``groups``, all rows have group 0. Stops soon after the first row that is out of
    order. Raises ValueError for a wrong dtype or shape.

    >>> is_sorted(np.array([0, 0, 2], dtype=np.int32), np.array([1, 5, 3]))
    True
    """
    values = int64_column("lead", lead)
    numbers = NO_INT32 if groups is None else int32_column("groups", groups, values.size)
    return bool(index_build.are_in_order(numbers, values))


class PointIndex:
    """Points with one or two coordinates, sorted by group and lead coordinate.

    Parameters
    ----------
    lead
        int64[n], the first coordinate, non-decreasing within each group.
    second
        int64[n], the second coordinate, in any order; None if boxes bound only the lead axis.
    offsets
        int64[G+1]: the points of group g are rows ``offsets[g] .. offsets[g+1]-1``. With None, all
        points have group 0.

    Coordinates may have any unit, if the boxes have the same. Raises ValueError for a wrong dtype
    or shape, offsets that do not cover the points, or points that are not sorted.

    Two things are prepared when they are first needed: a lookup table over the value range of each
    large group, after which a short search finds the exact row (three to four times as fast as a
    binary search alone); and the minima and maxima of the second coordinate in two levels of
    blocks. Both take O(n).

    >>> index = PointIndex(np.array([1, 3, 3]), np.array([4, 9, 5]))
    >>> index.differences
    (2, 6)
    """

    def __init__(
        self,
        lead: npt.ArrayLike,
        second: npt.ArrayLike | None = None,
        offsets: npt.ArrayLike | None = None,
    ) -> None:
        self.lead = int64_column("lead", lead)
        self.size = self.lead.size
        if offsets is None:
            offsets = np.array([0, self.size], dtype=np.int64)
        self.offsets = int64_column("offsets", offsets)
        self._check_offsets()
        unsorted = index_build.first_unsorted(self.lead, self.offsets)
        if unsorted >= 0:
            raise ValueError(
                f"lead: points must be sorted within each group, but row {unsorted}"
                f" ({self.lead[unsorted]}) is smaller than the row before it"
            )
        self.second = None if second is None else int64_column("second", second, self.size)

    @property
    def nbytes(self) -> int:
        """The size in bytes, with the coordinates and everything prepared so far."""
        given = (self.lead, self.offsets, *(() if self.second is None else (self.second,)))
        built = (array for name in ("_tables", "_blocks") for array in vars(self).get(name, ()))
        return sum(array.nbytes for array in (*given, *built))

    @property
    def points(self) -> tuple[Any, ...]:
        """The lead axis as an argument of kernels."""
        return (self.lead, self.offsets, *self._tables)

    @property
    def axis(self) -> tuple[Any, ...]:
        """The second axis as an argument of kernels."""
        return (self.second, *self._blocks)

    @cached_property
    def differences(self) -> tuple[int, int] | None:
        """The smallest and the largest second - lead; None if a difference might exceed 64 bits."""
        extremes = np.empty(2, dtype=np.int64)
        fits = index_build.difference_extremes(self.lead, self.second, extremes)
        return (int(extremes[0]), int(extremes[1])) if fits else None

    def _check_offsets(self) -> None:
        offsets = self.offsets
        if offsets.size == 0 or offsets[0] != 0 or offsets[-1] != self.size:
            raise ValueError(f"offsets: expected to start at 0 and end at {self.size}")
        if np.any(offsets[1:] < offsets[:-1]):
            raise ValueError("offsets: expected non-decreasing values")

    @cached_property
    def _tables(self) -> tuple[Int32Array, Int64Array, Int32Array]:
        sizes = np.diff(self.offsets)
        rank_of = np.empty(sizes.size, dtype=np.int32)
        tables = np.empty((np.count_nonzero(sizes >= _TABLE_FROM), 3), dtype=np.int64)
        slots = index_build.plan_tables(self.lead, self.offsets, _TABLE_FROM, rank_of, tables)
        table = np.zeros(slots, dtype=np.int32)
        index_build.fill_tables(self.lead, self.offsets, rank_of, tables, table)
        return rank_of, tables, table

    @cached_property
    def _blocks(self) -> tuple[Int64Array, Int64Array]:
        return _extremes(self.second, FAN_OUT), _extremes(self.second, BIG_BLOCK)


def _extremes(values: Any, size: int) -> Int64Array:
    blocks = -(-values.size // size)
    extremes = np.empty((blocks, 2), dtype=np.int64)
    index_build.block_extremes(values, size, extremes)
    return extremes
