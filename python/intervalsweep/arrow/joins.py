# SPDX-License-Identifier: Apache-2.0
"""The join of two tables by a relation, its pairs of row numbers, and its match counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np
import pyarrow as pa

from intervalsweep._overlaps import overlap_names
from intervalsweep._signatures import ArrowFunctions, Frame, How, JoinWord, implements
from intervalsweep.arrow.dictionaries import alike
from intervalsweep.arrow.encoding import Mask
from intervalsweep.arrow.search.matches import Matches
from intervalsweep.arrow.tables import like
from intervalsweep.columns import Naming, check_unique, chosen, join_type
from intervalsweep.kernels import Int32Array


@implements(ArrowFunctions.join)
def join(
    left: Frame,
    right: Any,
    *,
    how: JoinWord,
    overlap: tuple[str, str] | None,
    columns: Sequence[str] | None,
    suffix: str,
    **matching: Any,
) -> Frame:
    """
    Notes
    -----
    The result is built a million pairs at a time. Naming the `columns` saves memory and time.

    Examples
    --------
    >>> r = pa.table({"id": ["r1", "r2"], "ts": [1, 7], "te": [4, 9]})
    >>> s = pa.table({"id": ["s1"], "ts": [2], "te": [6]})
    >>> join(r, s, "allen_overlaps").to_pylist()
    [{'id': 'r1', 'ts': 1, 'te': 4, 'id_right': 's1', 'ts_right': 2, 'te_right': 6}]
    >>> join(r, s, columns=["id", "id_right"]).to_pylist()
    [{'id': 'r1', 'id_right': 's1'}]
    >>> join(r, s, "allen_overlaps", how="anti").to_pylist()
    [{'id': 'r2', 'ts': 7, 'te': 9}]
    """
    how = join_type(how, get_args(How))
    found = Matches.of(left, right, **matching)
    if how in ("semi", "anti"):
        overlap_names(overlap, how, [])
        check_unique(found.left.column_names)
        ours = found.left.select(chosen(columns, found.left.column_names))
        counts = found.counts()
        return like(left, ours.filter(pa.array(counts > 0 if how == "semi" else counts == 0)))
    return like(left, _Joined(found, how, overlap, columns, suffix).table())


@implements(ArrowFunctions.pairs)
def pairs(left: Frame, right: Any, **matching: Any) -> Frame:
    """
    Notes
    -----
    The columns are 32-bit integers, in chunks of about a million.

    Examples
    --------
    >>> r = pa.table({"ts": [1, 7], "te": [4, 9]})
    >>> s = pa.table({"ts": [2, 3], "te": [6, 5]})
    >>> pairs(r, s).to_pydict()
    {'left': [0, 0], 'right': [0, 1]}
    """
    found = Matches.of(left, right, **matching)
    schema = pa.schema([("left", pa.int32()), ("right", pa.int32())])
    batches = found.pairs(
        lambda rows, others: pa.record_batch([pa.array(rows), pa.array(others)], schema=schema)
    )
    return like(left, pa.Table.from_batches(batches, schema))


@implements(ArrowFunctions.count_matches)
def count_matches(left: Frame, right: Any, *, count: str, **matching: Any) -> Frame:
    """
    Notes
    -----
    The memory does not depend on the number of matches.

    Examples
    --------
    >>> r = pa.table({"ts": [1, 7], "te": [4, 9]})
    >>> s = pa.table({"ts": [2, 3], "te": [6, 5]})
    >>> count_matches(r, s).to_pydict()
    {'ts': [1, 7], 'te': [4, 9], 'count': [2, 0]}
    """
    found = Matches.of(left, right, **matching)
    check_unique([*found.left.column_names, count])
    return like(left, found.left.append_column(count, pa.array(found.counts())))


class _Joined:
    """The result of a join, built part by part: first the pairs, then the unmatched rows."""

    def __init__(
        self,
        found: Matches,
        how: str,
        overlap: tuple[str, str] | None,
        columns: Sequence[str] | None,
        suffix: str,
    ) -> None:
        naming = Naming.of(found.left.column_names, found.right.column_names, found.keys, suffix)
        self._found = found
        self._overlap = overlap_names(overlap, how, naming.names)
        self._names = chosen(columns, [*naming.names, *self._overlap])
        of_right = {new: name for name, new in naming.right.items()}
        # A key with the same name on both sides comes from the left row, or from the right row of a
        # pair without a left row.
        self._shared = [name for name in naming.shared_keys if name in self._names]
        # Each as a single chunk: taking rows from many chunks is slow.
        self._left = _in_one_piece(
            found.left.select([name for name in self._names if name in naming.left])
        )
        theirs = [of_right[name] for name in self._names if name in of_right]
        self._right = _in_one_piece(
            found.right.select(theirs + (self._shared if how in ("right", "full") else []))
        )
        for name in self._shared if how in ("right", "full") else ():
            ours, theirs = alike(self._left.column(name), self._right.column(name))
            self._left = _with(self._left, name, ours)
            self._right = _with(self._right, name, theirs)
        self._source = {name: of_right.get(name) for name in self._names}
        self._keeps_left, self._keeps_right = how in ("left", "full"), how in ("right", "full")
        self._met_left = _none_of(found.left.num_rows if self._keeps_left else 0)
        self._met_right = _none_of(found.right.num_rows if self._keeps_right else 0)

    def table(self) -> Any:
        parts = self._found.pairs(self._part)
        if self._keeps_left:
            parts.append(self._rows(np.flatnonzero(~self._met_left), None))
        if self._keeps_right:
            parts.append(self._rows(None, np.flatnonzero(~self._met_right)))
        return pa.concat_tables(parts) if parts else self._rows(_NO_ROWS, _NO_ROWS)

    def _part(self, rows: Int32Array, others: Int32Array) -> Any:
        if self._keeps_left:
            self._met_left[rows] = True
        if self._keeps_right:
            self._met_right[others] = True
        return self._rows(rows, others)

    def _rows(self, rows: Any, others: Any) -> Any:
        """Return the columns of these rows of both sides; a side that is None has NULLs."""
        size = len(others if rows is None else rows)
        ours = None if rows is None else self._left.take(pa.array(rows))
        theirs = None if others is None else self._right.take(pa.array(others))

        shared = self._shared_time(size, rows, others)

        def column(name: str) -> Any:
            if name in shared:
                return shared[name]
            of_right = self._source[name]
            if of_right is not None:
                return of_side(theirs, self._right, of_right)
            if ours is None and name in self._shared:
                kind = self._left.schema.field(name).type
                return of_side(theirs, self._right, name).cast(kind)
            return of_side(ours, self._left, name)

        def of_side(found: Any, side: Any, name: str) -> Any:
            if found is not None:
                return found.column(name)
            return side.column(name).take(pa.nulls(size, pa.int32()))

        return pa.table({name: column(name) for name in self._names})

    def _shared_time(self, size: int, rows: Any, others: Any) -> dict[str, Any]:
        """Return the columns of the time that both rows share, if they are wanted."""
        if not self._overlap:
            return {}
        overlaps = self._found.overlaps
        start, end = np.zeros((2, size), dtype=np.int64)
        if rows is not None and others is not None:
            start, end = overlaps.shared(rows, others)
        pair = (overlaps.decoded(values, start < end) for values in (start, end))
        return dict(zip(self._overlap, pair, strict=True))


_NO_ROWS = np.empty(0, dtype=np.int32)


def _with(table: Any, name: str, column: Any) -> Any:
    return table.set_column(table.schema.get_field_index(name), name, column)


def _none_of(size: int) -> Mask:
    return np.zeros(size, dtype=np.bool_)


def _in_one_piece(table: Any) -> Any:
    return table.combine_chunks() if any(c.num_chunks > 1 for c in table.columns) else table
