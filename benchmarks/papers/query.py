# SPDX-License-Identifier: Apache-2.0
"""The query that all algorithms answer, and the form of the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import types

from benchmarks.papers.loops.iterators import Intervals
from intervalsweep.kernels import Int32Array, Int64Array
from intervalsweep.kernels.jit import I32_OUT
from intervalsweep.relations import Relation, relation_named

# Indexes of the counters: pairs that the consumer took, and their sum; pairs before the selection;
# steps along active sets (`getnext`); the largest active set; the sum of its sizes over changes;
# the number of changes.
PAIRS, SUM, CANDIDATES, GETNEXT, LARGEST, SIZES, CHANGES = range(7)
COUNTERS = 7

# Larger than every distance of endpoints.
FAR = 1 << 62

# Arrays for the pairs, rows of r and rows of s. If they are empty, pairs are only counted.
Out = tuple[Int32Array, Int32Array]
OUT = types.UniTuple(I32_OUT, 2)

# Runs a prepared join, and returns its counters.
Run = Callable[[Out], Int64Array]
# Runs a part of a join, and adds to the counters.
Part = Callable[[Out, Int64Array], None]


def in_turn(parts: Sequence[Part]) -> Run:
    """A run of disjoint parts, one after the other."""

    def run(out: Out) -> Int64Array:
        counters = np.zeros(COUNTERS, np.int64)
        for part in parts:
            part(out, counters)
        return counters

    return run


@dataclass(frozen=True)
class Query:
    """The join of r and s by a relation."""

    name: str
    r: Intervals
    s: Intervals
    delta: int | None = None
    epsilon: int | None = None

    @cached_property
    def relation(self) -> Relation:
        return relation_named(self.name)

    @cached_property
    def limits(self) -> dict[str, int]:
        """The parameters that have a value."""
        given = {"delta": self.delta, "epsilon": self.epsilon}
        return {name: limit for name, limit in given.items() if limit is not None}

    @property
    def r_ends(self) -> tuple[Int64Array, Int64Array]:
        return self.r.ts, self.r.te

    @property
    def s_ends(self) -> tuple[Int64Array, Int64Array]:
        return self.s.ts, self.s.te

    def value(self, endpoint: str) -> Int64Array:
        """The column of an endpoint, such as `r.ts`."""
        side, _, name = endpoint.partition(".")
        ends: Int64Array = getattr(self.r if side == "r" else self.s, name)
        return ends

    @cached_property
    def box(self) -> tuple[Int64Array, Int64Array, Int64Array, Int64Array]:
        """Inclusive bounds of s.ts and s.te for each r: (least, most, least, most)."""
        bounds = {
            (point, is_upper): np.full(self.r.size, FAR if is_upper else -FAR)
            for point in ("s.ts", "s.te")
            for is_upper in (False, True)
        }

        def bound(lesser: str, greater: str, distance: int) -> None:
            """Tighten the bounds so that `greater - lesser >= distance`."""
            if greater.startswith("s"):
                least = bounds[greater, False]
                np.maximum(least, self.value(lesser) + distance, out=least)
            else:
                most = bounds[lesser, True]
                np.minimum(most, self.value(greater) - distance, out=most)

        for left, operator, right in ((c.left, c.operator, c.right) for c in self.relation.formula):
            bound(left, right, int(operator == "<"))
            if operator == "=":
                bound(right, left, 0)
        for name, limit in self.limits.items():
            distance = self.relation.parameters[name]
            bound(distance.later, distance.earlier, -limit)
        return tuple(bounds.values())  # type: ignore[return-value]  # four of them


def counted(run: Run) -> Int64Array:
    """Run a join without keeping its pairs."""
    return run((np.empty(0, np.int32), np.empty(0, np.int32)))


def pairs(run: Run) -> Out:
    """Run a join twice: to count the pairs, and to collect them."""
    size = int(counted(run)[PAIRS])
    out = (np.empty(size, np.int32), np.empty(size, np.int32))
    run(out)
    return out
