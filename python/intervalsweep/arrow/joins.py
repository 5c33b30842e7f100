"""The join of two tables by a relation, and the number of matches of each row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from intervalsweep._naming import HOWS, Ends, Keys, Naming, check_choice, check_columns
from intervalsweep._naming import key_pairs as pairs_of
from intervalsweep.arrow import plan
from intervalsweep.arrow.encoding import Encoding, Mask
from intervalsweep.arrow.plan import Axis, Sweep
from intervalsweep.arrow.tables import (
    RowNumbers,
    Side,
    as_table,
    ends_of,
    groups_of,
    like,
    take,
)
from intervalsweep.kernels import (
    Bounds,
    Boxes,
    Int32Array,
    Int64Array,
    PointIndex,
    RunSweep,
    group_offsets,
)
from intervalsweep.relations import Relation, check_parameters, relation_named


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
    found = _Matches.of(
        left, right, relation, left_on or on, right_on or on, by, delta=delta, epsilon=epsilon
    )
    if how in ("semi", "anti"):
        Naming.of(found.left.column_names, [], [], suffix)
        counts = found.counts()
        return like(left, found.left.filter(pa.array(counts > 0 if how == "semi" else counts == 0)))
    naming = Naming.of(found.left.column_names, found.right.column_names, found.keys, suffix)
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
    found = _Matches.of(
        left, right, relation, left_on or on, right_on or on, by, delta=delta, epsilon=epsilon
    )
    Naming.of([*found.left.column_names, count], [], [], "")
    return like(left, found.left.append_column(count, pa.array(found.counts())))


@dataclass(frozen=True)
class _Runs:
    """Runs of matches: a row of the side `boxes` with rows of the other side, by their numbers."""

    boxes: str
    box_rows: RowNumbers
    first: Int32Array
    count: Int32Array
    point_rows: RowNumbers


@dataclass(frozen=True)
class _Matches:
    """The matches of two tables, found when they are asked for."""

    left: Any
    right: Any
    keys: list[tuple[str, str]]
    relation: Relation
    limits: dict[str, int | float]
    encoding: Encoding
    sides: dict[str, Side]

    @staticmethod
    def of(
        left: Any,
        right: Any,
        name: str,
        left_on: Ends,
        right_on: Ends,
        by: Keys | str,
        **given: Any,
    ) -> _Matches:
        relation = relation_named(name)
        check_parameters(relation, **given)
        left, right, keys = as_table(left), as_table(right), pairs_of(by)
        check_columns("left", left.column_names, *(one for one, _ in keys))
        check_columns("right", right.column_names, *(other for _, other in keys))
        ends = {"r": ends_of(left, "left", left_on), "s": ends_of(right, "right", right_on)}
        encoding = Encoding([column.type for pair in ends.values() for column in pair])
        groups = dict(zip("rs", groups_of(left, right, keys), strict=True))
        read = {end for term in relation.formula for end in (term.left, term.right)}
        sides = {
            side: Side.of(encoding, ends[side], groups[side], _of_side(side, read)) for side in "rs"
        }
        limits = {p: encoding.limit(p, value) for p, value in given.items() if value is not None}
        return _Matches(left, right, keys, relation, limits, encoding, sides)

    def pairs(self) -> tuple[RowNumbers, RowNumbers]:
        """Return the row numbers of all matches, on the left and on the right."""
        found: dict[str, list[RowNumbers]] = {"r": [_NO_ROWS], "s": [_NO_ROWS]}
        for runs in self._runs():
            found[runs.boxes].append(np.repeat(runs.box_rows, runs.count))
            found[_other(runs.boxes)].append(runs.point_rows[_positions(runs.first, runs.count)])
        return np.concatenate(found["r"]), np.concatenate(found["s"])

    def counts(self) -> Int64Array:
        """Return the number of matches of each left row."""
        counts = np.zeros(self.left.num_rows, dtype=np.int64)
        for runs in self._runs():
            if runs.boxes == "r":
                np.add.at(counts, runs.box_rows, runs.count)
                continue
            steps = np.zeros(runs.point_rows.size + 1, dtype=np.int64)
            np.add.at(steps, runs.first, 1)
            np.add.at(steps, runs.first + runs.count, -1)
            np.add.at(counts, runs.point_rows, np.cumsum(steps)[:-1])
        return counts

    def _runs(self) -> Iterator[_Runs]:
        for sweep in plan.sweeps(self.relation, list(self.limits)):
            boxes, points = self.sides[sweep.boxes], self.sides[_other(sweep.boxes)]
            lead, second, some = self._bounds(sweep, boxes)
            boxes = boxes.where(some)
            index, order = _index(points, sweep)
            bounded = Boxes(boxes.rows.size, lead, second, boxes.groups)
            for batch in RunSweep(index, bounded):
                box_rows = boxes.rows[batch.box]
                yield _Runs(sweep.boxes, box_rows, batch.first, batch.count, points.rows[order])

    def _bounds(self, sweep: Sweep, boxes: Side) -> tuple[Bounds, Bounds | None, Mask]:
        """Return the bounds of the boxes that may hold a point, and which boxes these are."""
        some: Mask = np.ones(boxes.rows.size, dtype=np.bool_)
        tight: list[list[Int64Array | None]] = []
        for axis in (sweep.lead, sweep.second):
            lower, upper = (None, None)
            if axis is not None:
                lower = self._tightest(axis, boxes, some, is_upper=False)
                upper = self._tightest(axis, boxes, some, is_upper=True)
            tight.append([lower, upper])
        lead, second = (
            Bounds(*(None if bound is None else bound[some] for bound in pair)) for pair in tight
        )
        return lead, None if sweep.second is None else second, some

    def _tightest(
        self, axis: Axis, boxes: Side, some: Mask, *, is_upper: bool
    ) -> Int64Array | None:
        """Return the tightest bound, inclusive; takes boxes that can hold nothing out of `some`."""
        bounds = []
        for term in axis.upper if is_upper else axis.lower:
            values = boxes.ends[term.endpoint.split(".")[1]]
            if term.parameter is not None:
                move = self.encoding.at_most_later if is_upper else self.encoding.at_most_earlier
                values, possible = move(values, self.limits[term.parameter])
                some &= possible
            if term.strict:
                some &= values != (_LEAST if is_upper else _LARGEST)
                values = values - 1 if is_upper else values + 1
            bounds.append(values)
        if not bounds:
            return None
        tightest = np.minimum.reduce(bounds) if is_upper else np.maximum.reduce(bounds)
        return np.ascontiguousarray(tightest)


_LEAST, _LARGEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
_NO_ROWS: RowNumbers = np.empty(0, dtype=np.int64)


def _index(points: Side, sweep: Sweep) -> tuple[PointIndex, RowNumbers]:
    """Return the points sorted by group and lead axis, and their order."""
    lead = points.ends[sweep.lead.point.split(".")[1]]
    second = None if sweep.second is None else points.ends[sweep.second.point.split(".")[1]]
    order = np.lexsort((lead, points.groups))
    offsets = group_offsets(points.groups[order])
    return PointIndex(lead[order], None if second is None else second[order], offsets), order


def _positions(first: Int32Array, count: Int32Array) -> Int64Array:
    """`first[k] .. first[k] + count[k] - 1` for all k, one after the other."""
    ends = np.cumsum(count, dtype=np.int64)
    total = int(ends[-1]) if ends.size else 0
    return np.asarray(np.arange(total) + np.repeat(first - (ends - count), count))


def _missing(rows: RowNumbers, size: int) -> RowNumbers:
    return np.flatnonzero(np.bincount(rows[rows >= 0], minlength=size) == 0)


def _longer(rows: RowNumbers, more: RowNumbers) -> RowNumbers:
    return np.concatenate([rows, more])


def _of_side(side: str, endpoints: set[str]) -> set[str]:
    return {end.split(".")[1] for end in endpoints if end.startswith(side)}


def _other(side: str) -> str:
    return "s" if side == "r" else "r"
