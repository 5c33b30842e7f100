# SPDX-License-Identifier: Apache-2.0
"""Joins of histories by keys: pairs valid at the same time, and unmatched rows."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pyarrow as pa

from intervalsweep._signatures import Frame, How, JoinWord
from intervalsweep.arrow import joins
from intervalsweep.arrow.dictionaries import either
from intervalsweep.arrow.tables import groups_of, like, with_group_of_nulls
from intervalsweep.arrow.temporal.rows import (
    NO_END,
    NO_START,
    Histories,
    Names,
    Rows,
    stacked,
    swept,
)
from intervalsweep.columns import Keys, Naming, join_type, known_keys
from intervalsweep.kernels import Int32Array, Int64Array


def join(
    left: Frame,
    right: Any,
    by: Keys | str = (),
    *,
    how: JoinWord = "inner",
    on: Names = ("ts", "te"),
    right_on: Names | None = None,
    suffix: str = "_right",
) -> Frame:
    """Join the rows with equal keys for the time in which both are valid.

    Parameters
    ----------
    left, right
        Tables with a period.
    by
        Equality keys: names that both sides have, or pairs of names. NULL matches nothing.
    how
        ``inner``; ``left``, ``right`` and ``full`` keep unmatched rows for the time in which they
        have no match; ``semi`` returns the left rows while they have a match, ``anti`` while they
        have none.
    on, right_on
        The columns of start and end. `right_on` replaces `on` for the right side.
    suffix
        Appended to the name of a right column if the left side has a column with that name.

    Returns
    -------
    A table of the same kind as `left`
        The columns of the left side, those of the right side (not for ``semi`` and ``anti``), and
        the period.

    Raises
    ------
    ArgumentError
        If `how` is unknown.
    ColumnError
        If a column does not exist, or two columns of the result would have the same name.
    EndpointTypeError
        If keys or endpoints have no common type.

    Examples
    --------
    >>> a = pa.table({"mach": ["M3"], "skill": ["NS"], "ts": [3], "te": [16]})
    >>> w = pa.table({"name": ["Joe"], "skill": ["NS"], "ts": [8], "te": [18]})
    >>> join(a, w, "skill", how="left").select(["name", "ts", "te"]).to_pylist()
    [{'name': 'Joe', 'ts': 8, 'te': 16}, {'name': None, 'ts': 3, 'te': 8}]
    """
    how = join_type(how, get_args(How))
    both = _KeyedHistories(left, right, by, on, right_on or on)
    naming = both.naming(suffix, only_left=how in ("semi", "anti"))
    if how in ("semi", "anti"):
        return like(left, both.kept("distinct" if how == "semi" else "except"))
    parts = [both.pairs()]
    if how in ("left", "full"):
        parts.append(both.unmatched(0))
    if how in ("right", "full"):
        parts.append(both.unmatched(1))
    rows, others, start, end = (np.concatenate([part[k] for part in parts]) for k in range(4))
    return like(left, both.table(naming, rows, others, start, end))


# The numbers of left rows and right rows (-1: no row), and the starts and ends of periods.
_Part = tuple[Int64Array, Int64Array, Int64Array, Int64Array]


class _KeyedHistories:
    """The rows of two histories, in groups of equal keys."""

    def __init__(self, left: Any, right: Any, by: Keys | str, on: Names, right_on: Names) -> None:
        self._both = Histories((left, on), (right, right_on))
        ours, theirs = self._both.values
        self._keys = known_keys(ours.column_names, theirs.column_names, by)
        groups = groups_of(ours, theirs, self._keys)
        self._rows = [self._both.rows(k) for k in range(2)]
        self._groups = [of[rows.numbers] for of, rows in zip(groups, self._rows, strict=True)]

    def naming(self, suffix: str, *, only_left: bool) -> Naming:
        """Return the names of the result's columns."""
        ours, theirs = (values.column_names for values in self._both.values)
        return Naming.of(ours, [] if only_left else theirs, self._keys, suffix)

    def pairs(self) -> _Part:
        """Return the pairs of rows with equal keys, with the time in which both are valid."""
        return _meet(self._groups[0], self._rows[0], self._groups[1], self._rows[1])

    def unmatched(self, side: int) -> _Part:
        """Return the rows of a side for the time in which they have no match."""
        row, _, start, end = self._while("except", side)
        none = np.full(row.size, -1, dtype=np.int64)
        return (row, none, start, end) if side == 0 else (none, row, start, end)

    def kept(self, rule: str) -> Any:
        """Return the left rows while they have a match (rule distinct) or none (rule except)."""
        row, _, start, end = self._while(rule, 0)
        return self._both.table(self._both.values[0].take(pa.array(row)), start, end)

    def _while(self, rule: str, side: int) -> _Part:
        """Intersect the rows of a side with the time in which the other side has their key.

        With rule `except`, intersect them with the time in which the other side does not have it:
        the whole time axis for each key, except the periods of the other side.
        """
        groups, rows = self._groups[side], self._rows[side]
        theirs, others = self._groups[1 - side], self._rows[1 - side]
        known = theirs >= 0
        theirs, others = theirs[known], others.take(known)
        if rule == "except":
            groups = with_group_of_nulls(groups, theirs)
            keys = np.unique(groups)
            axis = Rows(keys, np.full(keys.size, NO_START), np.full(keys.size, NO_END))
            weights = np.repeat(np.array([1, -1]), [keys.size, theirs.size])
            theirs, others = np.concatenate([keys, theirs]), stacked([axis, others])
        else:
            weights = np.ones(theirs.size, dtype=np.int64)
        place, start, end = swept(rule, theirs, others, weights)
        return _meet(groups, rows, theirs[place], Rows(place, start, end))

    def table(
        self, naming: Naming, rows: Int64Array, others: Int64Array, start: Any, end: Any
    ) -> Any:
        """Return a table of left rows and right rows, with NULLs for -1."""
        ours, theirs = (
            values.take(pa.array(numbers, mask=numbers < 0))
            for values, numbers in zip(self._both.values, (rows, others), strict=True)
        )
        columns = {}
        for name in naming.left:
            columns[name] = ours.column(name)
            if name in naming.shared_keys and np.any(rows < 0):
                columns[name] = either(rows < 0, theirs.column(name), columns[name])
        for name, new in naming.right.items():
            columns[new] = theirs.column(name)
        return self._both.table(pa.table(columns), start, end)


def _meet(groups: Int32Array, rows: Rows, theirs: Int32Array, others: Rows) -> _Part:
    """Return the pairs of rows of one group whose periods intersect, and the intersections."""
    left, right = (
        pa.table(
            {"g": pa.array(of, mask=of < 0), "n": some.numbers, "ts": some.start, "te": some.end}
        )
        for of, some in ((groups, rows), (theirs, others))
    )
    found = joins.join(left, right, by="g", suffix="_s")
    columns = {name: found.column(name).to_numpy() for name in found.column_names if name != "g"}
    start = np.maximum(columns["ts"], columns["ts_s"])
    return columns["n"], columns["n_s"], start, np.minimum(columns["te"], columns["te_s"])
