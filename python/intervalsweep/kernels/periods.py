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

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from . import period_counts, period_events, period_measures, period_values
from .arrays import NO_INT64, int32_column, int64_column, read_only
from .index_build import are_in_order
from .period_counts import CountBatch
from .period_values import ValueBatch

RULES = {
    name: getattr(period_counts, name.upper())
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
ENDS = {
    "changes": period_values.CHANGES,
    "cuts": period_values.CUTS,
    "islands": period_values.ISLANDS,
}
KINDS = {
    "sum": period_measures.SUM,
    "least": period_measures.LEAST,
    "greatest": period_measures.GREATEST,
    "next": period_measures.NEXT,
}

# Periods per batch: 200 kB.
_BATCH = 8_192
# Places for valid rows at first; they are doubled when they are full.
_PLACES = 64

_Batch = TypeVar("_Batch", CountBatch, ValueBatch)


class _Sweep(ABC, Generic[_Batch]):
    """The common part of both sweeps: the state, the heap, and the calls of the loop."""

    def __init__(self, state: np.dtype[Any]) -> None:
        self._state: Any = np.zeros(1, state)[0]
        self._heap = period_events.new_entries(0, _PLACES)

    @property
    def valid(self) -> int:
        """The number of valid periods that are kept for a group that continues."""
        return int(self._state.valid)

    def _rows(
        self, group: npt.ArrayLike, start: npt.ArrayLike, end: npt.ArrayLike, goes_on: bool
    ) -> period_events.Rows:
        """Check new rows, and prepare the state for them."""
        groups = int32_column("group", group)
        starts = int64_column("start", start, groups.size)
        ends = int64_column("end", end, groups.size)
        if not are_in_order(groups, starts):
            raise ValueError("group, start: the rows are not sorted by group, then by start")
        self._state.row = 0
        self._state.some_row = -1
        self._state.goes_on = int(goes_on)
        return period_events.Rows(read_only(groups), read_only(starts), read_only(ends))

    def _batches(self, sweep: Callable[[_Batch], int]) -> Iterator[_Batch]:
        """Yield what the loop stores in new batches, until all rows are read."""
        reason = period_events.FULL
        while reason != period_events.DONE:
            out = self._new_batch()
            reason = sweep(out)
            stored = int(self._state.stored)
            if stored:
                yield type(out)(*(column[..., :stored] for column in out))  # type: ignore[arg-type]
            if reason == period_events.NO_ROOM:
                self._grow()

    @abstractmethod
    def _new_batch(self) -> _Batch:
        """Return empty columns for the next periods."""

    @abstractmethod
    def _grow(self) -> None:
        """Double what is full."""

    def _grow_heap(self) -> None:
        places = len(self._heap)
        new = period_events.new_entries(places, 2 * places)
        self._heap = np.concatenate([self._heap, new])


class CountSweep(_Sweep[CountBatch]):
    """Computes the copies of each value in a result from its copies on the left and the right.

    The results are in canonical form: each value has the fewest periods, and the n-th start belongs
    to the n-th end. They are in the order of group and end.

    >>> group, start, end = np.int32([0, 0]), np.int64([1, 3]), np.int64([5, 7])
    >>> [batch] = CountSweep("distinct").feed(group, start, end, np.int64([1, 1]))
    >>> batch.start.tolist(), batch.end.tolist(), batch.count.tolist()
    ([1], [7], [1])

    With a `length`, ``coalesce`` extends only periods that are shorter: it merges the rows of a
    value one after another until their period has this length, and never cuts a row (Alg. 10).

    Raises ValueError for an unknown rule, or for a length with another rule.
    """

    def __init__(self, rule: str, length: int = 0) -> None:
        super().__init__(period_counts.STATE)
        if rule not in RULES:
            raise ValueError(f"rule: expected one of {', '.join(RULES)}, got {rule!r}")
        if length < 0 or (length > 0 and rule != "coalesce"):
            raise ValueError(f"length: only coalesce has a length of more than 0, got {length}")
        self._rule = RULES[rule]
        self._length = length
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
        rows = self._rows(group, start, end, goes_on)
        weights = int64_column("weight", weight, rows.group.size)
        yield from self._batches(
            lambda out: period_counts.sweep_counts(
                rows, weights, self._rule, self._length, self._state, self._heap, self._queue, out
            )
        )

    def _new_batch(self) -> CountBatch:
        return CountBatch(np.empty(_BATCH, dtype=np.int32), *np.empty((3, _BATCH), np.int64))

    def _grow(self) -> None:
        state = self._state
        if state.valid == len(self._heap):
            self._grow_heap()
        if state.queued == len(self._queue):
            in_turn = np.roll(self._queue, -int(state.first), axis=0)
            self._queue = np.concatenate([in_turn, np.empty_like(in_turn)])
            state.first = 0


class ValueSweep(_Sweep[ValueBatch]):
    """Computes values of each group by time: sums of integers and of floats, least and greatest.

    Results are in the order of group and time.

    Parameters
    ----------
    kinds
        The integer measures: ``sum``, ``least``, ``greatest`` or ``next``. No sum may exceed 64
        bits. ``next`` is the least value above that of the measure before it, which is ``least`` or
        ``next`` and has the same values in all rows.
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
        super().__init__(period_values.STATE)
        unknown = [kind for kind in kinds if kind not in KINDS]
        if unknown:
            raise ValueError(f"kinds: expected one of {', '.join(KINDS)}, got {unknown[0]!r}")
        pairs = zip(("", *kinds), kinds, strict=False)
        if any(kind == "next" and before not in ("least", "next") for before, kind in pairs):
            raise ValueError("kinds: next must follow least or next")
        if ends == "islands" and "next" in kinds:
            raise ValueError("kinds: next is not possible with islands")
        if ends not in ENDS:
            raise ValueError(f"ends: expected one of {', '.join(ENDS)}, got {ends!r}")
        if empty and ends == "islands":
            raise ValueError("empty: not possible with islands, which always have a valid row")
        self._flags = int(empty), ENDS[ends]
        numbers = [KINDS[kind] for kind in kinds]
        self._measures = period_measures.new_measures(numbers, floats, _PLACES)

    def feed(
        self,
        group: npt.ArrayLike,
        start: npt.ArrayLike,
        end: npt.ArrayLike,
        measures: npt.NDArray[np.int64],
        numbers: npt.NDArray[np.float64] | None = None,
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
        rows = self._rows(group, start, end, goes_on)
        size = rows.group.size
        if numbers is None:
            numbers = np.empty((0, size))
        kinds, sums = len(self._measures.tree), len(self._measures.float_tree)
        values = _table("measures", measures, np.int64, (kinds, size))
        floats = _table("numbers", numbers, np.float64, (sums, size))
        yield from self._batches(
            lambda out: period_values.sweep_values(
                rows,
                self._measures._replace(values=values, floats=floats),
                *self._flags,
                self._state,
                self._heap,
                out,
            )
        )

    def _new_batch(self) -> ValueBatch:
        return ValueBatch(
            np.empty(_BATCH, dtype=np.int32),
            np.empty(_BATCH, dtype=np.int64),
            np.empty(_BATCH, dtype=np.int64),
            np.empty((len(self._measures.tree), _BATCH), dtype=np.int64),
            np.empty((len(self._measures.float_tree), _BATCH)),
        )

    def _grow(self) -> None:
        self._grow_heap()
        self._measures = period_measures.doubled(self._measures)


def joined(
    parts: Iterable[Sequence[npt.NDArray[Any]]], columns: int
) -> tuple[npt.NDArray[Any], ...]:
    """Concatenate batches by column; without any batch, return empty columns of integers.

    >>> [x.tolist() for x in joined([(np.int64([1]), np.int64([2])), ([3], [4])], 2)]
    [[1, 3], [2, 4]]
    """
    by_column = [*zip(*parts, strict=True)] or [()] * columns
    return tuple(np.concatenate([NO_INT64, *some]) for some in by_column)


def _table(name: str, values: Any, dtype: Any, shape: tuple[int, int]) -> npt.NDArray[Any]:
    if values.dtype != dtype or values.shape != shape:
        raise ValueError(
            f"{name}: expected {np.dtype(dtype)} in the shape {shape}, got {values.dtype}, "
            f"{values.shape}"
        )
    return read_only(np.require(values, requirements=["C", "A"]))
