"""From boxes to runs of points, in bounded batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import jit, sweep
from .arrays import (
    MAX_ROWS,
    NO_INT32,
    NO_INT64,
    Int32Array,
    Int64Array,
    int32_column,
    int64_column,
)
from .index import PointIndex

# What a sweep's buffers hold beyond the runs that were asked for: see `filter_runs`.
_SLACK = 2 + jit.FAN_OUT // 2

# Lead runs that are found ahead of the filter: 200 kB, to stay in the cache.
_LEAD_RUNS = 16_384

_Runs = tuple[Int32Array, Int32Array, Int32Array]


class Bounds:
    """The extent of each box on one axis: ``lower < p < upper``, or ``<=`` where not strict.

    ``lower`` and ``upper`` are int64[n], one value per box in the unit of the points; None leaves
    the side open. Boxes with ``lower > upper`` are legal and empty. Raises ValueError for a wrong
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

    def sides(self, boxes: int) -> tuple[Int64Array, int, Int64Array, int]:
        """Return the arguments of a kernel: (lower, kind, upper, kind)."""
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
    """``size`` boxes, in any order, bounded on the lead axis and perhaps on the second.

    ``group`` is int32[size], the group of points that a box is matched with; None: group 0. A
    number that the points do not have matches nothing; a negative one is a ValueError. Boxes
    sorted by (group, lower) run about twice as fast as random ones, for the sake of the cache.
    """

    size: int
    lead: Bounds
    second: Bounds | None = None
    group: npt.ArrayLike | None = None


class RunBatch(NamedTuple):
    """Runs: box ``box[k]`` matches points ``first[k] .. first[k] + count[k] - 1``. All int32[m]."""

    box: Int32Array
    first: Int32Array
    count: Int32Array  # type: ignore[assignment]  # hides a method of tuple


class RunSweep:
    """All matches of ``boxes`` with the points of ``index``, each exactly once, as runs.

    Iterate over it for batches of 1 to ``max_runs`` runs, ordered by (box, first). Runs are
    maximal: two of one box never touch. **A batch is only valid until the next one is asked for**,
    which reuses its memory. Memory is bounded by ``max_runs``, whatever the number of matches.

    ``clip``, an inclusive range (low, high), further restricts the lead coordinate of all matches.

    After the last batch ``candidates`` is the number of pairs that match on the lead axis (and
    the clip) alone, and ``runs`` the number of runs given out.

    Raises ValueError for wrong shapes, dtypes or sizes, or if boxes bound a second axis that the
    points do not have.

    >>> points = PointIndex(np.array([1, 2, 2, 5]))
    >>> boxes = Boxes(2, Bounds(np.array([0, 2]), np.array([2, 9]), upper_strict=True))
    >>> [(b.box.tolist(), b.first.tolist(), b.count.tolist()) for b in RunSweep(points, boxes)]
    [([0, 1], [0, 1], [1, 3])]
    """

    def __init__(
        self,
        index: PointIndex,
        boxes: Boxes,
        *,
        clip: tuple[int, int] | None = None,
        max_runs: int = 65_536,
    ) -> None:
        if max_runs < 1:
            raise ValueError(f"max_runs: expected at least 1, got {max_runs}")
        if not 0 <= boxes.size <= MAX_ROWS:
            raise ValueError(f"size: expected 0 to {MAX_ROWS} boxes, got {boxes.size}")
        group = NO_INT32 if boxes.group is None else int32_column("group", boxes.group, boxes.size)
        if group.size and group.min() < 0:
            raise ValueError(f"group: expected no negative number, got {group.min()}")
        if boxes.second is not None and index.second is None:
            raise ValueError("second: boxes bound a second axis, but the points have only one")
        size = boxes.size if index.offsets.size > 1 else 0
        bounds = (*boxes.lead.sides(boxes.size), *_clip(clip))
        self._lead = (size, index.points, group, *bounds)
        self._second: tuple[Any, ...] | None = None
        if boxes.second is not None:
            self._second = (index.axis, *boxes.second.sides(boxes.size))
        self._max_runs = max_runs
        self._state = np.zeros(2, dtype=np.int64)
        self.runs = 0

    @property
    def candidates(self) -> int:
        """Pairs met so far that match on the lead axis."""
        return int(self._state[jit.CANDIDATES])

    def __iter__(self) -> Iterator[RunBatch]:
        """Go on with the sweep; see the class for how long a batch is valid."""
        if self._second is None:
            batches = self._lead_runs(self._max_runs)
        else:
            batches = self._filtered_runs(self._second)
        for box, first, stop in batches:
            self.runs += box.size
            yield RunBatch(box, first, np.subtract(stop, first, out=stop))

    def _lead_runs(self, wanted: int) -> Iterator[_Runs]:
        buffers = _buffers(wanted + 1)
        filled = wanted
        while filled == wanted:
            filled = sweep.lead_runs(*self._lead, self._state, 0, wanted, *buffers)
            if filled:
                yield _part(buffers, 0, filled)

    def _filtered_runs(self, second: tuple[Any, ...]) -> Iterator[_Runs]:
        """Find lead runs a batch at a time, then filter them.

        Apart, because the look-ups of many boxes in a row overlap their cache misses, and those
        of a box between two filters do not: for boxes in random order that is twice as fast.
        """
        wanted = self._max_runs
        buffers = _buffers(wanted + _SLACK)
        filled = 0
        for given in self._lead_runs(_LEAD_RUNS):
            state = np.zeros(2, dtype=np.int64)
            while state[jit.RUN] < given[0].size:
                filled = sweep.filter_runs(*given, *second, state, filled, wanted, *buffers)
                while filled > wanted:
                    yield _part(buffers, 0, wanted)
                    filled = _drop(buffers, wanted, filled)
        if filled:
            yield _part(buffers, 0, filled)


def _buffers(size: int) -> _Runs:
    box, first, stop = (np.empty(size, dtype=np.int32) for _ in range(3))
    return box, first, stop


def _part(runs: _Runs, start: int, stop: int) -> _Runs:
    return runs[0][start:stop], runs[1][start:stop], runs[2][start:stop]


def _drop(buffers: _Runs, given: int, filled: int) -> int:
    """Move the runs that were not given out to the front; return how many they are."""
    for column in buffers:
        column[: filled - given] = column[given:filled]
    return filled - given


def _clip(clip: tuple[int, int] | None) -> tuple[int, int]:
    limits = np.iinfo(np.int64)
    low, high = clip or (limits.min, limits.max)
    if not (limits.min <= low <= limits.max and limits.min <= high <= limits.max):
        raise ValueError(f"clip: expected 64-bit integers, got {clip}")
    return low, high
