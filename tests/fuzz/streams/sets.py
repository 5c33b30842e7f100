# SPDX-License-Identifier: Apache-2.0
"""Random calls of `interval_merge`, `interval_split`, `interval_complement`; slow answers."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fuzz.temporal.tables import Row

Period = tuple[float, float]
# An interval with the number of rows that it stands for; a gap stands for none.
Counted = tuple[float, float, int | None]


@dataclass(frozen=True)
class Sets:
    """A call over the rows of a stream; rows k, count, NULL, start and end."""

    stream: str
    function: str
    by_key: bool
    gap: int = 0

    def spark(self) -> str:
        options = (", keys => 'k'" if self.by_key else "") + (
            f", gap => INTERVAL {self.gap} SECONDS" if self.gap else ""
        )
        key = "k" if self.by_key else "CAST(NULL AS INT) AS k"
        count = "NULL" if self.function == "complement" else "count"
        return (
            f"SELECT {key}, CAST({count} AS INT) AS v, CAST(NULL AS STRING) AS t, ts, te "
            f"FROM interval_{self.function}(TABLE({self.stream}_rows), 'ts', 'te'{options})"
        )

    def expected(self, rows: Iterable[Row]) -> Counter[Row]:
        """The rows that have ended or will end, of rows (k, v, t, start, end)."""
        groups: dict[int | None, list[Period]] = {}
        for k, _, _, start, end in rows:
            if end is None or start < end:
                periods = groups.setdefault(k if self.by_key else None, [])
                periods.append((start, math.inf if end is None else end))
        return Counter(
            (k, count, None, start, end)
            for k, periods in groups.items()
            for start, end, count in self._of(sorted(periods))
            if end < math.inf
        )

    def _of(self, periods: list[Period]) -> Iterator[Counted]:
        if self.function == "split":
            return sections(periods)
        together = merged(periods, self.gap)
        if self.function == "merge":
            return together
        return ((a[1], b[0], None) for a, b in itertools.pairwise(together))


def sections(periods: list[Period]) -> Iterator[Counted]:
    edges = sorted({edge for period in periods for edge in period})
    for start, end in itertools.pairwise(edges):
        if count := sum(a <= start and end <= b for a, b in periods):
            yield start, end, count


def merged(periods: list[Period], gap: int) -> Iterator[Counted]:
    first, last, count = *periods[0], 1
    for start, end in periods[1:]:
        if start <= last + gap:
            last, count = max(last, end), count + 1
        else:
            yield first, last, count
            first, last, count = start, end, 1
    yield first, last, count


def sets(rng: random.Random, streams: Iterable[str]) -> list[Sets]:
    """A call over each of some streams."""
    found = []
    for stream in streams:
        function = rng.choice(("merge", "merge", "split", "complement"))
        gap = rng.choice((0, 0, 1, 3)) if function == "merge" else 0
        found.append(Sets(stream, function, rng.random() < 0.7, gap))
    return [one for one in found if rng.random() < 0.5]
