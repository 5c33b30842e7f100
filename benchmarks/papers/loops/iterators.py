# SPDX-License-Identifier: Apache-2.0
"""The Endpoint Index (section 5.1) and endpoint iterators (5.2, 6.2, appendix B).

An endpoint is one integer, `2 * timestamp + kind`. Integers order by timestamp, ends before starts.

numba has no virtual iterators. But any composition of filters, shifts and merges amounts to a few
cursors into the index. A cursor reads one kind of endpoint and adds a constant to the key. So an
iterator is a tuple of cursors, and `sweep` merges the cursors as it goes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from intervalsweep.kernels import Int32Array, Int64Array

END, START, ANY = 0, 1, 2
# The most cursors of a merging iterator: two ends and a start (6.2), or two starts and an end.
CURSORS = 3

# Limit of endpoints: they are doubled, and shifted by distances that may be as large.
_LARGEST = 1 << 60
Rows = npt.NDArray[np.bool_]


class EndpointIndex(NamedTuple):
    """The endpoints of a relation in order, and the tuple number of each."""

    keys: Int64Array
    ids: Int32Array


@dataclass(frozen=True)
class Intervals:
    """A temporal relation: tuple i is valid in [ts[i], te[i]).

    Raises ValueError for endpoints of 2^60 or more, which cannot be shifted.
    """

    ts: Int64Array
    te: Int64Array

    def __post_init__(self) -> None:
        for ends in (self.ts, self.te):
            if ends.size and max(-int(ends.min()), int(ends.max())) >= _LARGEST:
                raise ValueError(f"endpoints: expected values below {_LARGEST}")

    @property
    def size(self) -> int:
        return self.ts.size

    @cached_property
    def is_proper(self) -> Rows:
        """True for tuples that are not empty or reversed. The paper has no others (3.1)."""
        return self.ts < self.te

    @cached_property
    def index(self) -> EndpointIndex:
        """The index of all tuples."""
        return self._index(np.arange(self.size))

    @cached_property
    def proper_index(self) -> EndpointIndex:
        """The index of the proper tuples."""
        return self.index if self.is_proper.all() else self._index(np.flatnonzero(self.is_proper))

    @cached_property
    def improper_index(self) -> EndpointIndex:
        """The index of the empty and reversed tuples."""
        return self._index(np.flatnonzero(~self.is_proper))

    def _index(self, rows: npt.NDArray[np.intp]) -> EndpointIndex:
        keys = np.concatenate((2 * self.ts[rows] + START, 2 * self.te[rows] + END))
        order = np.argsort(keys, kind="stable")
        ids = np.concatenate((rows, rows)).astype(np.int32)
        return EndpointIndex(keys[order], ids[order])


class Cursor(NamedTuple):
    """Reads the endpoints of one kind, or of ANY, and adds `shift` to their keys."""

    kind: int
    shift: int


Iterator = tuple[Cursor, ...]
INDEX: Iterator = (Cursor(ANY, 0),)


def filtering(kind: int) -> Iterator:
    """The endpoints of one kind (5.2)."""
    return (Cursor(kind, 0),)


def shifting(iterator: Iterator, distance: int, kind: int | None = None) -> Iterator:
    """Endpoints moved by a distance and, if given, changed to a kind (6.2)."""
    return tuple(
        Cursor(old, shift + 2 * distance + (0 if kind is None else kind - old))
        for old, shift in iterator
    )


def merging(*iterators: Iterator) -> Iterator:
    """The endpoints of all iterators, in their common order (6.2)."""
    merged = tuple(cursor for iterator in iterators for cursor in iterator)
    assert len(merged) <= CURSORS
    return merged
