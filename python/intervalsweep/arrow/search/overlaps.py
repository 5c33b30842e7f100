# SPDX-License-Identifier: Apache-2.0
"""The distance and the overlap of the two intervals of a pair, as arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from intervalsweep._overlaps import Overlap
from intervalsweep.arrow.encoding import Encoding, Mask
from intervalsweep.arrow.sides import Side, TwoTables
from intervalsweep.kernels import Int32Array, Int64Array
from intervalsweep.relations import Comparison, Relation

# The condition on intervals whose ends were moved by the largest distance.
WITHIN = Relation(
    "INTERVAL_INTERSECTS",
    "INTERVAL_INTERSECTS",
    "The distance of the two intervals is at most a limit.",
    (Comparison("r.ts", "<=", "s.te"), Comparison("s.ts", "<=", "r.te")),
    {},
    {},
)


def moved_ends(encoding: Encoding, sides: dict[str, Side], within: Any) -> dict[str, Side]:
    """Return both sides with ends that are later by a distance. Infinite ends stay."""
    limit = encoding.limit("within", within)
    found = {}
    for name, side in sides.items():
        later, is_finite = encoding.at_most_later(side.ends["te"], limit)
        ends = {"ts": side.ends["ts"], "te": np.where(is_finite, later, side.ends["te"])}
        found[name] = Side(side.numbers, side.groups, ends)
    return found


class Overlaps:
    """The time that the two intervals of a pair share; pairs are given by row numbers."""

    def __init__(self, both: TwoTables) -> None:
        self._both = both
        self.encoding = both.encoding

    @cached_property
    def _known(self) -> list[Mask]:
        """Whether a left row and whether a right row has both ends."""
        encoded = [[self.encoding.encode(one)[1] for one in pair] for pair in self._both.ends]
        return [start & end for start, end in encoded]

    @cached_property
    def _values(self) -> list[Int64Array]:
        """The starts and ends of the left rows, and those of the right rows, as integers."""
        return [self.encoding.encode(one)[0] for pair in self._both.ends for one in pair]

    def shared(self, rows: Int32Array, others: Int32Array) -> tuple[Int64Array, Int64Array]:
        """Return the later starts and the earlier ends of pairs."""
        ts, te, s_ts, s_te = self._values
        return np.maximum(ts[rows], s_ts[others]), np.minimum(te[rows], s_te[others])

    def decoded(self, values: Int64Array, valid: Mask) -> Any:
        """Return instants as a column: in the type of the endpoints, if all have one type."""
        kinds = {column.type for pair in self._both.ends for column in pair}
        found = self.encoding.decode(values, valid)
        return found.cast(next(iter(kinds))) if len(kinds) == 1 else found

    def filter(self, asked: Overlap) -> Callable[[Int32Array, Int32Array], Mask] | None:
        """Return the function that keeps the pairs with enough overlap; None if all have it."""
        if not asked.has_least:
            return None
        least = None if asked.least is None else self.encoding.least("min_overlap", asked.least)

        def keep(rows: Int32Array, others: Int32Array) -> Mask:
            start, end = self.shared(rows, others)
            size = self.encoding.minus(end, start)
            kept = self._known[0][rows] & self._known[1][others]
            if least is not None:
                kept &= size >= least
            for side, numbers, fraction in zip(
                (0, 2), (rows, others), asked.fractions, strict=True
            ):
                if fraction is not None:
                    whole = self.encoding.minus(
                        self._values[side + 1][numbers], self._values[side][numbers]
                    )
                    with np.errstate(divide="ignore", invalid="ignore"):
                        kept &= (whole == 0) | (size / whole >= fraction)
            return kept

        return keep
