# SPDX-License-Identifier: Apache-2.0
"""The arguments of joins about the length of an overlap, and the largest distance without one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from intervalsweep._errors import ArgumentError
from intervalsweep.columns import check_unique


@dataclass(frozen=True)
class Overlap:
    """How near two intervals must be, and how much of each the other one must overlap."""

    within: Any = None
    least: Any = None
    fractions: tuple[float | None, float | None] = (None, None)

    @staticmethod
    def of(relation: str, within: Any, min_overlap: Any, min_fraction: Any) -> Overlap:
        """Read the arguments of a join. Raises ArgumentError if they are invalid."""
        if within is not None and relation != "INTERVAL_INTERSECTS":
            raise ArgumentError(
                f"`within` is for the relation interval_intersects, not for {relation.lower()}: "
                "the ISEQL relations have distances of their own, delta and epsilon."
            )
        given = min_fraction if isinstance(min_fraction, tuple) else (min_fraction, None)
        if len(given) != 2:
            raise ArgumentError(
                f"`min_fraction` must be a number, or a pair for both sides; got {min_fraction!r}."
            )
        for one in given:
            is_number = isinstance(one, int | float) and not isinstance(one, bool)
            if one is not None and not (is_number and 0 < one <= 1):
                raise ArgumentError(
                    f"`min_fraction` must be more than 0 and at most 1; got {min_fraction!r}."
                )
        return Overlap(within, min_overlap, (given[0], given[1]))

    @property
    def has_least(self) -> bool:
        """Whether a pair needs an overlap of some length."""
        return self.least is not None or self.fractions != (None, None)


def overlap_names(overlap: Any, how: str, known: Sequence[str]) -> list[str]:
    """Return the names of the columns of the overlap; none if they are not wanted.

    Raises ArgumentError if they are not two names or the join returns no pairs, and ColumnError if
    the result has such a column already.
    """
    if overlap is None:
        return []
    if isinstance(overlap, str) or len(overlap) != 2:
        raise ArgumentError(
            "`overlap` must be two names, such as ('overlap_start', 'overlap_end'); got "
            f"{overlap!r}."
        )
    if how in ("semi", "anti"):
        raise ArgumentError(f"`overlap` needs a join that returns pairs, not how={how!r}.")
    check_unique([*known, *overlap])
    return list(overlap)
