# SPDX-License-Identifier: Apache-2.0
"""Set operations on histories. Each computes the number of copies of a row at each instant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from intervalsweep._arguments import has_signature_of
from intervalsweep._errors import ColumnError
from intervalsweep._signatures import Frame
from intervalsweep.arrow.dictionaries import alike
from intervalsweep.arrow.tables import groups_in, groups_of, like
from intervalsweep.arrow.temporal.fragments import length_of
from intervalsweep.arrow.temporal.rows import Histories, Names, Rows, stacked, swept


def distinct(data: Frame, *, on: Names = ("ts", "te")) -> Frame:
    """Return each row once at each instant (4), in the fewest periods.

    Examples
    --------
    >>> w = pa.table({"skill": ["SP", "SP"], "ts": [1, 3], "te": [5, 7]})
    >>> distinct(w).to_pylist()
    [{'skill': 'SP', 'ts': 1, 'te': 7}]
    """
    return _of_one("distinct", data, on)


def coalesce(data: Frame, max_length: Any = None, *, on: Names = ("ts", "te")) -> Frame:
    """Return the same rows in the fewest periods (16).

    With `max_length`, rows that touch become one until its period has this length, in the order of
    time (Alg. 10). No row is cut, so a period can be longer.

    Parameters
    ----------
    data
        A table with a period.
    max_length
        The length from which on a period is not extended: a number in the unit of the period, or a
        timedelta. None means no limit.
    on
        The columns of start and end.

    Raises
    ------
    ArgumentError
        If `max_length` is not positive.

    Examples
    --------
    >>> w = pa.table({"skill": ["SP", "SP"], "ts": [1, 3], "te": [3, 7]})
    >>> coalesce(w).to_pylist()
    [{'skill': 'SP', 'ts': 1, 'te': 7}]
    >>> w = pa.table({"skill": ["SP"] * 3, "ts": [0, 4, 9], "te": [4, 9, 12]})
    >>> coalesce(w, 6).column("te").to_pylist()
    [9, 12]
    """
    return _of_one("coalesce", data, on, max_length)


def union_all(
    left: Frame, right: Any, *, on: Names = ("ts", "te"), right_on: Names | None = None
) -> Frame:
    """Return the rows of both sides (8). Columns are matched by position, as in SQL.

    Raises
    ------
    ColumnError
        If the sides have different numbers of columns. The other set operations raise it, too.

    Examples
    --------
    >>> w = pa.table({"skill": ["SP"], "ts": [1], "te": [3]})
    >>> union_all(w, w).num_rows
    2
    """
    both = _TwoHistories(left, right, on, right_on)
    rows = stacked(both.rows)
    return like(left, both.table(np.arange(rows.start.size), rows.start, rows.end))


@has_signature_of(union_all)
def union(left: Frame, **others: Any) -> Frame:
    """Return the rows of either side, each once at each instant.

    Examples
    --------
    >>> w = pa.table({"skill": ["SP"], "ts": [1], "te": [3]})
    >>> union(w, w).to_pylist()
    [{'skill': 'SP', 'ts': 1, 'te': 3}]
    """
    return like(left, _TwoHistories(left, **others).swept("distinct", right=1))


@has_signature_of(union_all)
def union_max(left: Frame, **others: Any) -> Frame:
    """Return each row as often as on the side that has it more often (14).

    Examples
    --------
    >>> w = pa.table({"skill": ["SP"], "ts": [1], "te": [5]})
    >>> a = pa.table({"skill": ["SP"], "ts": [3], "te": [7]})
    >>> union_max(a, w).to_pylist()
    [{'skill': 'SP', 'ts': 1, 'te': 7}]
    """
    return like(left, _TwoHistories(left, **others).swept("union_max"))


@has_signature_of(union_all)
def except_all(left: Frame, **others: Any) -> Frame:
    """Remove one copy of a row for each equal row of the right side (5).

    Examples
    --------
    >>> a = pa.table({"skill": ["SP", "SP"], "ts": [1, 3], "te": [5, 7]})
    >>> w = pa.table({"skill": ["SP"], "ts": [4], "te": [6]})
    >>> except_all(a, w).to_pydict()
    {'skill': ['SP', 'SP', 'SP'], 'ts': [1, 3, 6], 'te': [4, 5, 7]}
    """
    return like(left, _TwoHistories(left, **others).swept("except_all"))


@has_signature_of(union_all)
def except_(left: Frame, **others: Any) -> Frame:
    """Return the rows that the right side does not have, each once at each instant.

    Examples
    --------
    >>> a = pa.table({"skill": ["SP", "SP"], "ts": [1, 3], "te": [5, 7]})
    >>> w = pa.table({"skill": ["SP"], "ts": [4], "te": [6]})
    >>> except_(a, w).to_pydict()
    {'skill': ['SP', 'SP'], 'ts': [1, 6], 'te': [4, 7]}
    """
    return like(left, _TwoHistories(left, **others).swept("except"))


@has_signature_of(union_all)
def except_strict(left: Frame, **others: Any) -> Frame:
    """Return the left rows, all copies, while the right side has no equal row (15).

    Examples
    --------
    >>> a = pa.table({"skill": ["SP", "SP"], "ts": [1, 3], "te": [5, 7]})
    >>> w = pa.table({"skill": ["SP"], "ts": [4], "te": [6]})
    >>> except_strict(a, w).to_pydict()
    {'skill': ['SP', 'SP', 'SP'], 'ts': [1, 3, 6], 'te': [4, 4, 7]}
    """
    return like(left, _TwoHistories(left, **others).swept("except_strict"))


@has_signature_of(union_all)
def intersect_all(left: Frame, **others: Any) -> Frame:
    """Return each row as often as on the side that has it less often (13).

    Examples
    --------
    >>> a = pa.table({"skill": ["SP", "SP"], "ts": [1, 3], "te": [5, 7]})
    >>> w = pa.table({"skill": ["SP"], "ts": [4], "te": [6]})
    >>> intersect_all(a, w).to_pylist()
    [{'skill': 'SP', 'ts': 4, 'te': 6}]
    """
    return like(left, _TwoHistories(left, **others).swept("intersect_all"))


@has_signature_of(union_all)
def intersect(left: Frame, **others: Any) -> Frame:
    """Return the rows that both sides have, each once at each instant.

    Examples
    --------
    >>> w = pa.table({"skill": ["SP", "SP"], "ts": [1, 3], "te": [5, 7]})
    >>> intersect(w, w).to_pylist()
    [{'skill': 'SP', 'ts': 1, 'te': 7}]
    """
    return like(left, _TwoHistories(left, **others).swept("intersect"))


def _of_one(rule: str, data: Frame, on: Names, max_length: Any = None) -> Frame:
    one = Histories((data, on))
    rows, values = one.rows(), one.values[0]
    groups = groups_in(values, values.column_names)
    length = 0 if max_length is None else length_of(one, "max_length", max_length)
    row, start, end = swept(rule, groups[rows.numbers], rows, length=length)
    found = Rows(rows.numbers[row], start, end)
    return like(data, one.table(values.take(pa.array(found.numbers)), found.start, found.end))


class _TwoHistories:
    """Two histories whose columns are matched by position."""

    def __init__(self, left: Any, right: Any, on: Names, right_on: Names | None) -> None:
        self._both = Histories((left, on), (right, right_on or on))
        ours, theirs = self._both.values
        if len(ours.column_names) != len(theirs.column_names):
            raise ColumnError(
                f"The left side has the columns {', '.join(ours.column_names) or '(none)'} besides "
                f"its period, the right side {', '.join(theirs.column_names) or '(none)'}: select "
                "equally many."
            )
        self._theirs = theirs.rename_columns(ours.column_names)
        self.rows = [self._both.rows(0), self._both.rows(1)]

    def table(self, places: Any, start: Any, end: Any) -> Any:
        """Return the rows at these places; the places of right rows follow those of left rows."""
        ours = self._both.values[0]
        pairs = [alike(*pair) for pair in zip(ours.columns, self._theirs.columns, strict=True)]
        sides = [pa.table(list(side), ours.column_names) for side in zip(*pairs, strict=True)]
        sides = sides or [ours, self._theirs]  # without columns
        all_rows = pa.concat_tables(sides, promote_options="permissive")
        numbers = np.concatenate([self.rows[0].numbers, self.rows[1].numbers + ours.num_rows])
        return self._both.table(all_rows.take(pa.array(numbers[places])), start, end)

    def swept(self, rule: str, right: int = -1) -> Any:
        """Return the rows by a rule of `CountSweep`; `right` is the weight of the right rows."""
        ours = self._both.values[0]
        keys = [(name, name) for name in ours.column_names]
        groups = groups_of(ours, self._theirs, keys, null_equals_null=True)
        of_rows = [of[rows.numbers] for of, rows in zip(groups, self.rows, strict=True)]
        weights = np.repeat(np.array([1, right], dtype=np.int64), [len(of) for of in of_rows])
        return self.table(*swept(rule, np.concatenate(of_rows), stacked(self.rows), weights))
