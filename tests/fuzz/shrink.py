# SPDX-License-Identifier: Apache-2.0
"""Shrinks a failing case greedily: each smaller case that still fails is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Case = TypeVar("Case")
Item = TypeVar("Item")


def shrink(
    case: Case,
    fails: Callable[[Case], bool],
    steps: Sequence[Callable[[Case], Iterator[Case]]],
    attempts: int = 400,
) -> Case:
    """The smallest failing case found within `attempts`; `fails(case)` must be true.

    Each of `steps` yields slightly smaller cases.
    """
    tried = iter(range(attempts))
    before = None
    while before is not case:
        before = case
        for smaller_ones in steps:
            while smaller := next(
                (c for c in smaller_ones(case) if _next(tried) and fails(c)), None
            ):
                case = smaller
    return case


def _next(tried: Iterator[int]) -> bool:
    return next(tried, None) is not None


def shorter(items: tuple[Item, ...]) -> Iterator[tuple[Item, ...]]:
    """The items without each half, without each quarter, ..., without each single item."""
    size = (len(items) + 1) // 2
    while size:
        for start in range(0, len(items), size):
            yield (*items[:start], *items[start + size :])
        size //= 2
