# SPDX-License-Identifier: Apache-2.0
"""The join of two tables by a relation, and the number of matches of each row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from intervalsweep._naming import HOWS, Ends, Keys, Naming, check_choice
from intervalsweep.arrow.matches import Matches
from intervalsweep.arrow.tables import RowNumbers, like, take


def join(
    left: Any,
    right: Any,
    relation: str,
    *,
    on: Ends = ("ts", "te"),
    left_on: Ends | None = None,
    right_on: Ends | None = None,
    by: Keys | str = (),
    how: str = "inner",
    delta: Any = None,
    epsilon: Any = None,
    suffix: str = "_right",
) -> Any:
    """Join the rows whose intervals are in a relation, such as ``"allen_overlaps"``.

    The operands of the relation are ``r``, the left side, and ``s``, the right one; see
    :mod:`intervalsweep.functions` for the relations.

    Parameters
    ----------
    on
        The columns of start and end, or one struct of the two, on both sides; `left_on` and
        `right_on` say so for one side. They are numbers, dates, timestamps or durations.
    by
        Equality keys: a name that both sides have, or a pair of names. NULL keys match nothing.
    how
        ``inner``, ``left``, ``right``, ``full``, ``semi`` or ``anti``.
    delta, epsilon
        The relation's parameters: a number, of days between dates; a timedelta between timestamps.

    Returns
    -------
    A table of the left one's kind
        All columns of the left side under their names, then those of the right side. A key of one
        name is there once. A column of the right side whose name the left side has too gets the
        `suffix`. Semi and anti joins have the columns of the left side alone.

    Raises
    ------
    IntervalSweepError
        For a column, relation or parameter that there is not (the message names the near ones),
        for two columns of one name, and for types that have no order.

    Examples
    --------
    >>> r = pa.table({"id": ["r1", "r2"], "ts": [1, 7], "te": [4, 9]})
    >>> s = pa.table({"id": ["s1"], "ts": [2], "te": [6]})
    >>> join(r, s, "allen_overlaps").to_pylist()
    [{'id': 'r1', 'ts': 1, 'te': 4, 'id_right': 's1', 'ts_right': 2, 'te_right': 6}]
    >>> join(r, s, "allen_overlaps", how="anti").to_pylist()
    [{'id': 'r2', 'ts': 7, 'te': 9}]
    """
    check_choice("how", how, HOWS)
    found = Matches.of(
        left, right, relation, left_on or on, right_on or on, by, delta=delta, epsilon=epsilon
    )
    if how in ("semi", "anti"):
        Naming.of(found.left.column_names, [], [], suffix)
        counts = found.counts()
        return like(left, found.left.filter(pa.array(counts > 0 if how == "semi" else counts == 0)))
    naming = Naming.of(found.left.column_names, found.right.column_names, found.keys, suffix)
    rows: RowNumbers
    other_rows: RowNumbers
    rows, other_rows = found.pairs()
    if how in ("left", "full"):
        alone = _missing(rows, found.left.num_rows)
        rows, other_rows = _longer(rows, alone), _longer(other_rows, np.full_like(alone, -1))
    if how in ("right", "full"):
        alone = _missing(other_rows, found.right.num_rows)
        rows, other_rows = _longer(rows, np.full_like(alone, -1)), _longer(other_rows, alone)
    ours, theirs = take(found.left, rows), take(found.right, other_rows)
    columns = {name: ours.column(name) for name in naming.left}
    if how in ("right", "full"):
        for key in naming.shared_keys:
            columns[key] = pc.coalesce(columns[key], theirs.column(key).cast(columns[key].type))
    columns |= {new: theirs.column(name) for name, new in naming.right.items()}
    return like(left, pa.table(columns))


def count_matches(
    left: Any,
    right: Any,
    relation: str,
    *,
    on: Ends = ("ts", "te"),
    left_on: Ends | None = None,
    right_on: Ends | None = None,
    by: Keys | str = (),
    delta: Any = None,
    epsilon: Any = None,
    count: str = "count",
) -> Any:
    """Return the left table with the number of matches of each row, in the column `count`.

    The parameters are those of :func:`join`. No pair is made: 10^9 matches need no memory.

    Examples
    --------
    >>> r = pa.table({"ts": [1, 7], "te": [4, 9]})
    >>> s = pa.table({"ts": [2, 3], "te": [6, 5]})
    >>> count_matches(r, s, "interval_intersects").to_pydict()
    {'ts': [1, 7], 'te': [4, 9], 'count': [2, 0]}
    """
    found = Matches.of(
        left, right, relation, left_on or on, right_on or on, by, delta=delta, epsilon=epsilon
    )
    Naming.of([*found.left.column_names, count], [], [], "")
    return like(left, found.left.append_column(count, pa.array(found.counts())))


def _missing(rows: RowNumbers, size: int) -> RowNumbers:
    return np.flatnonzero(np.bincount(rows[rows >= 0], minlength=size) == 0)


def _longer(rows: RowNumbers, more: RowNumbers) -> RowNumbers:
    return np.concatenate([rows, more])
