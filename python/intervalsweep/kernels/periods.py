# SPDX-License-Identifier: Apache-2.0
"""Sweeps over periods that are sorted by group and start: numbers of copies, or values, by time.

    sweep = CountSweep("except_all")                    a group is a value
    for row, start, end, count in sweep.feed(group, start, end, weight): ...

    sweep = ValueSweep(["sum", "least"], 1)             a group is a group of GROUP BY
    for row, start, end, values, floats in sweep.feed(group, start, end, measures, numbers): ...

A period is `[start, end)`. The least int64 means no start, the largest no end. Empty and reversed
periods are left out. A group may continue in the rows of the next call of `feed`: a sweep keeps
only the rows that are still valid.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import period_loops as loops
from .arrays import NO_INT64, Int32Array, Int64Array, int32_column, int64_column
from .index_build import are_in_order

RULES = {
    name: getattr(loops, name.upper())
    for name in (
        "coalesce",
        "distinct",
        "except_all",
        "except",
        "except_strict",
        "semi",
        "intersect_all",
        "intersect",
        "union_max",
        "gaps",
    )
}
ENDS = {"changes": loops.CHANGES, "cuts": loops.CUTS, "islands": loops.ISLANDS}
KINDS = {"sum": loops.SUM, "least": loops.LEAST, "greatest": loops.GREATEST}

# Periods per batch: 200 kB.
_BATCH = 8_192
# Places for valid rows at first; they are doubled when they are full.
_PLACES = 64

FloatTable = npt.NDArray[np.float64]


class CountBatch(NamedTuple):
    """Periods ``[start[k], end[k])`` of the group of row ``row[k]``, each ``count[k]`` times.

    ``row`` is the number of a row of the last call of `feed`, or -1 for the group that continued
    from the call before.
    """

    row: Int32Array
    start: Int64Array
    end: Int64Array
    count: Int64Array  # type: ignore[assignment]  # hides a method of tuple


class ValueBatch(NamedTuple):
    """Periods as in `CountBatch`, with their values: one row of `values` per measure."""

    row: Int32Array
    start: Int64Array
    end: Int64Array
    values: npt.NDArray[np.int64]
    floats: FloatTable


class _Rows:
    """The common part of both sweeps: the state of the loop and the checks of input rows."""

    def __init__(self) -> None:
        self._state = np.zeros(loops.STATE_SIZE, dtype=np.int64)
        self._stopped = np.zeros(1, dtype=np.int64)

    def _next(
        self, group: npt.ArrayLike, start: npt.ArrayLike, end: npt.ArrayLike
    ) -> tuple[Int32Array, Int64Array, Int64Array]:
        """Check new rows, and reset the row numbers in the state."""
        groups = int32_column("group", group)
        starts = int64_column("start", start, groups.size)
        ends = int64_column("end", end, groups.size)
        if not are_in_order(groups, starts):
            raise ValueError("group, start: the rows are not sorted by group, then by start")
        self._state[loops.ROW] = 0
        self._state[loops.SOME_ROW] = -1
        return groups, starts, ends

    @property
    def valid(self) -> int:
        """The number of valid periods that are kept for a group that continues."""
        return int(self._state[loops.HEAP])


class CountSweep(_Rows):
    """Computes the copies of each value in a result from its copies on the left and the right.

    The results are in canonical form: each value has the fewest periods, and the n-th start belongs
    to the n-th end. They are in the order of group and end.

    >>> group, start, end = np.int32([0, 0]), np.int64([1, 3]), np.int64([5, 7])
    >>> [batch] = CountSweep("distinct").feed(group, start, end, np.int64([1, 1]))
    >>> batch.start.tolist(), batch.end.tolist(), batch.count.tolist()
    ([1], [7], [1])

    Raises ValueError for an unknown rule.
    """

    def __init__(self, rule: str) -> None:
        super().__init__()
        if rule not in RULES:
            raise ValueError(f"rule: expected one of {', '.join(RULES)}, got {rule!r}")
        self._rule = RULES[rule]
        self._heap = np.empty((_PLACES, 2), dtype=np.int64)
        self._queue = np.empty((_PLACES, 2), dtype=np.int64)

    def feed(
        self,
        group: npt.ArrayLike,
        start: npt.ArrayLike,
        end: npt.ArrayLike,
        weight: npt.ArrayLike,
        *,
        goes_on: bool = False,
    ) -> Iterator[CountBatch]:
        """Yield the results of these rows; with ``goes_on`` the last group is not completed yet.

        The iterator must be read to its end before the next call.

        Parameters
        ----------
        group, start, end
            int32[n], int64[n], int64[n]: the rows, sorted by group and start.
        weight
            int64[n]: the copies of each row, positive on the left, negative on the right.
        goes_on
            True if the last group continues with the rows of the next call.

        Raises
        ------
        ValueError
            For a wrong dtype, size or order.
        """
        rows = self._next(group, start, end)
        weights = int64_column("weight", weight, rows[0].size)
        stopped = loops.FULL
        while stopped != loops.DONE:
            out = CountBatch(np.empty(_BATCH, dtype=np.int32), *np.empty((3, _BATCH), np.int64))
            found = loops.sweep_counts(
                *rows, weights, self._rule, int(goes_on),
                self._state, self._heap, self._queue, *out, self._stopped,
            )  # fmt: skip
            if found:
                yield CountBatch(*(column[:found] for column in out))  # type: ignore[arg-type]
            stopped = int(self._stopped[0])
            if stopped == loops.NO_ROOM:
                self._grow()

    def _grow(self) -> None:
        state = self._state
        if state[loops.HEAP] == len(self._heap):
            self._heap = np.concatenate([self._heap, np.empty_like(self._heap)])
        if state[loops.QUEUED] == len(self._queue):
            in_turn = np.roll(self._queue, -int(state[loops.FIRST]), axis=0)
            self._queue = np.concatenate([in_turn, np.empty_like(in_turn)])
            state[loops.FIRST] = 0


class ValueSweep(_Rows):
    """Computes values of each group by time: sums of integers and of floats, least and greatest.

    Results are in the order of group and time.

    Parameters
    ----------
    kinds
        The integer measures: ``sum``, ``least`` or ``greatest``. No sum may exceed 64 bits.
    floats
        The number of sums of floats.
    empty
        If true, also return the periods in which no row is valid. Their sums are 0, their least is
        the largest int64, and their greatest the least int64.
    ends
        The end of a period: ``changes``, when a value changes; ``cuts``, when any row starts or
        ends; ``islands``, when no row is valid any more. The values of an island include all its
        rows.

    Raises
    ------
    ValueError
        For an unknown kind or end, or for `empty` with islands.

    Examples
    --------
    >>> sweep = ValueSweep(["sum", "greatest"])
    >>> group, start, end = np.int32([0, 0]), np.int64([1, 3]), np.int64([5, 7])
    >>> [batch] = sweep.feed(group, start, end, np.int64([[1, 1], [20, 10]]))
    >>> [column.tolist() for column in batch[1:4]]
    [[1, 3, 5], [3, 5, 7], [[1, 2, 1], [20, 20, 10]]]
    """

    def __init__(
        self,
        kinds: Sequence[str],
        floats: int = 0,
        *,
        empty: bool = False,
        ends: str = "changes",
    ) -> None:
        super().__init__()
        unknown = [kind for kind in kinds if kind not in KINDS]
        if unknown:
            raise ValueError(f"kinds: expected one of {', '.join(KINDS)}, got {unknown[0]!r}")
        if ends not in ENDS:
            raise ValueError(f"ends: expected one of {', '.join(ENDS)}, got {ends!r}")
        if empty and ends == "islands":
            raise ValueError("empty: not possible with islands, which always have a valid row")
        self._kinds = np.array([KINDS[kind] for kind in kinds], dtype=np.int32)
        self._flags = int(empty), ENDS[ends]
        self._heap = np.empty((_PLACES, 2), dtype=np.int64)
        self._free = np.arange(_PLACES, dtype=np.int64)
        neutral = {loops.SUM: 0, loops.LEAST: loops.MAX, loops.GREATEST: loops.MIN}
        self._neutral = np.array([neutral[int(k)] for k in self._kinds], dtype=np.int64)
        self._tree = self._no_values(_PLACES)
        self._floats = np.zeros((floats, 2 * _PLACES))
        self._since = np.zeros(len(kinds), dtype=np.int64), np.zeros(floats)

    def _no_values(self, places: int) -> npt.NDArray[np.int64]:
        return np.repeat(self._neutral[:, np.newaxis], 2 * places, axis=1)

    def feed(
        self,
        group: npt.ArrayLike,
        start: npt.ArrayLike,
        end: npt.ArrayLike,
        measures: npt.NDArray[np.int64],
        numbers: FloatTable | None = None,
        *,
        goes_on: bool = False,
    ) -> Iterator[ValueBatch]:
        """Yield the results of these rows; with ``goes_on`` the last group is not completed yet.

        The iterator must be read to its end before the next call.

        Parameters
        ----------
        group, start, end
            int32[n], int64[n], int64[n]: the rows, sorted by group and start.
        measures
            int64[k, n]: the values of the rows for each kind.
        numbers
            float64[f, n]: the values of the rows for each sum of floats.
        goes_on
            True if the last group continues with the rows of the next call.

        Raises
        ------
        ValueError
            For a wrong dtype, shape or order.
        """
        rows = self._next(group, start, end)
        size = rows[0].size
        given = self._since[1].size
        table = _table("measures", measures, np.int64, (self._kinds.size, size))
        if numbers is None:
            numbers = np.empty((0, size))
        floats = _table("numbers", numbers, np.float64, (given, size))
        stopped = loops.FULL
        while stopped != loops.DONE:
            out = ValueBatch(
                np.empty(_BATCH, dtype=np.int32),
                np.empty(_BATCH, dtype=np.int64),
                np.empty(_BATCH, dtype=np.int64),
                np.empty((self._kinds.size, _BATCH), dtype=np.int64),
                np.empty((given, _BATCH)),
            )
            found = loops.sweep_values(
                *rows, self._kinds, table, floats, *self._flags, int(goes_on),
                self._state, self._heap, self._free, self._tree, self._floats, *self._since,
                *out, self._stopped,
            )  # fmt: skip
            if found:
                yield ValueBatch(*(c[..., :found] for c in out))  # type: ignore[arg-type]
            stopped = int(self._stopped[0])
            if stopped == loops.NO_ROOM:
                self._grow()

    def _grow(self) -> None:
        """Double the places; each value stays in its place."""
        places = len(self._heap)
        self._heap = np.concatenate([self._heap, np.empty_like(self._heap)])
        self._free = np.concatenate([self._free, np.arange(places, 2 * places)])
        tree, floats = self._no_values(2 * places), np.zeros((len(self._floats), 4 * places))
        tree[:, 2 * places : 3 * places] = self._tree[:, places:]
        floats[:, 2 * places : 3 * places] = self._floats[:, places:]
        joined = {loops.SUM: np.add, loops.LEAST: np.minimum, loops.GREATEST: np.maximum}
        for k, kind in enumerate(self._kinds):
            _build(tree[k], joined[int(kind)])
        for row in floats:
            _build(row, np.add)
        # The values of an island include rows that are no longer valid, so they are copied.
        tree[:, 1], floats[:, 1] = self._tree[:, 1], self._floats[:, 1]
        self._tree, self._floats = tree, floats


def joined(
    parts: Iterable[Sequence[npt.NDArray[Any]]], columns: int
) -> tuple[npt.NDArray[Any], ...]:
    """Concatenate batches by column; without any batch, return empty columns of integers.

    >>> [x.tolist() for x in joined([(np.int64([1]), np.int64([2])), ([3], [4])], 2)]
    [[1, 3], [2, 4]]
    """
    by_column = [*zip(*parts, strict=True)] or [()] * columns
    return tuple(np.concatenate([NO_INT64, *some]) for some in by_column)


def _build(tree: npt.NDArray[Any], join: np.ufunc) -> None:
    """Compute the inner nodes of a tree from its leaves, which are its second half."""
    level = tree.size // 2
    while level > 1:
        tree[level // 2 : level] = join(
            tree[level : 2 * level : 2], tree[level + 1 : 2 * level : 2]
        )
        level //= 2


def _table(name: str, values: Any, dtype: Any, shape: tuple[int, int]) -> npt.NDArray[Any]:
    if values.dtype != dtype or values.shape != shape:
        raise ValueError(
            f"{name}: expected {np.dtype(dtype)} in the shape {shape}, got {values.dtype}, "
            f"{values.shape}"
        )
    return np.require(values, requirements=["C", "A"])
