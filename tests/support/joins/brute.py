# SPDX-License-Identifier: Apache-2.0
"""Brute-force versions of the helpers for tables. Rows are (ts, te) tuples."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from support.joins import oracle

Interval = tuple[Any, Any]

# Hypothesis takes the same examples in each run, however long they take.
REPEATABLE = settings(
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


def order(value: Any) -> Any:
    """Spark's order: NaN is larger than everything and equals itself, -0.0 equals 0.0."""
    if isinstance(value, float):
        return (1, 0.0) if math.isnan(value) else (0, value)
    return (0, value)


def holds(name: str, r: Interval, s: Interval, **limits: Any) -> bool:
    """True if a relation is true for a pair, by the hand-written formulas of `oracle`."""
    relation = oracle.RELATIONS[name]
    values = {"r.ts": r[0], "r.te": r[1], "s.ts": s[0], "s.te": s[1]}
    for term in relation.formula.split(" AND "):
        left, operator, right = term.split(" ")
        if values[left] is None or values[right] is None:
            return False
        if not _OPERATORS[operator](order(values[left]), order(values[right])):
            return False
    for parameter, limit in limits.items():
        distance = getattr(relation, parameter)
        difference = values[distance.later] - values[distance.earlier]
        if isinstance(difference, float) and not math.isfinite(difference):
            return False
        if difference > limit:
            return False
    return True


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    "=": lambda a, b: a == b,
}


def proper(rows: list[Interval]) -> list[Interval]:
    """The intervals that are not empty, reversed or NULL."""
    return [(a, b) for a, b in rows if a is not None and b is not None and a < b]


def merged(rows: list[Interval], gap: int = 0) -> list[tuple[Any, Any, int]]:
    result: list[tuple[Any, Any, int]] = []
    for ts, te in sorted(proper(rows)):
        if result and ts <= result[-1][1] + gap:
            first, last, count = result[-1]
            result[-1] = (first, max(last, te), count + 1)
        else:
            result.append((ts, te, 1))
    return result


def pieces(rows: list[Interval]) -> list[tuple[Any, Any, int]]:
    ends = sorted({end for row in proper(rows) for end in row})
    counted = [
        (a, b, sum(ts <= a and b <= te for ts, te in proper(rows))) for a, b in pairwise(ends)
    ]
    return [piece for piece in counted if piece[2]]


def gaps(rows: list[Interval], within: Interval | None = None) -> list[Interval]:
    """The gaps between intervals of whole numbers, found by testing each number."""
    rows = proper(rows)
    if not rows:
        return []
    low, high = within or (min(ts for ts, _ in rows), max(te for _, te in rows))
    free = [x for x in range(low, high) if not any(ts <= x < te for ts, te in rows)]
    found: list[Interval] = []
    for x in free:
        if found and found[-1][1] == x:
            found[-1] = (found[-1][0], x + 1)
        else:
            found.append((x, x + 1))
    return found


_FAR = 1000


def unbounded(
    found: Callable[..., list[Any]], rows: list[Interval], *more: Any
) -> list[tuple[Any, ...]]:
    """What a function finds if a NULL start is before all instants, and a NULL end after all."""
    far = [(-_FAR if a is None else a, _FAR if b is None else b) for a, b in rows]
    return [tuple(None if abs(x) == _FAR else x for x in row) for row in found(far, *more)]


def covered(r: Interval, rows: list[Interval]) -> int | None:
    """The covered length of an interval of whole numbers, found by testing each number."""
    if None in r:
        return None
    return sum(any(ts <= x < te for ts, te in proper(rows)) for x in range(*r))


def distance(r: Interval, s: Interval) -> Any:
    """The distance of two intervals; None if one of them is NULL or reversed."""
    if None in r or None in s or r[0] > r[1] or s[0] > s[1]:
        return None
    return max(0, s[0] - r[1], r[0] - s[1])


def least_distance(r: Interval, rows: list[Interval]) -> Any:
    return min((d for s in rows if (d := distance(r, s)) is not None), default=None)


@st.composite
def intervals(draw: Any, most: int = 12) -> list[Interval]:
    """Intervals with few distinct ends and so with ties, or short ones far apart.

    Some are empty or reversed, and some ends are NULL.
    """
    end = st.one_of(st.integers(0, 14), st.none())
    short = st.builds(lambda ts, length: (ts, ts + length), st.integers(0, 60), st.integers(-1, 6))
    one = st.tuples(end, end) if draw(st.booleans()) else short
    return draw(st.lists(one, max_size=most))  # type: ignore[no-any-return]


def table(rows: list[Interval], kind: Any = None) -> Any:
    kind = kind or pa.int64()
    columns = [pa.array([row[i] for row in rows], kind) for i in (0, 1)]
    return pa.table(
        {"id": pa.array(range(len(rows)), pa.int64()), "ts": columns[0], "te": columns[1]}
    )


def ids(joined: Any) -> list[tuple[Any, ...]]:
    """The row numbers of each pair, sorted."""
    names = [name for name in ("id", "id_right") if name in joined.column_names]
    rows = zip(*(joined.column(name).to_pylist() for name in names), strict=True)
    return sorted(rows, key=repr)
