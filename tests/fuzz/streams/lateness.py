# SPDX-License-Identifier: Apache-2.0
"""Runs queries over streams with late rows, and tells which rows are late."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterable
from typing import Any, Protocol

from support.streams.histories import Source, instant, watermark

Row = tuple[Any, ...]


class Arriving(Protocol):
    """A case whose rows arrive in the files of sources."""

    rng: random.Random
    sources: list[Source]
    totals: Any

    def run(self) -> Any:
        """Runs the query over the files that are there."""

    def more(self) -> None:
        """Adds a row to each source, further ahead."""


def arrive(case: Arriving, *, time: int) -> tuple[dict[str, tuple[Row, ...]], list[Any]]:
    """
    Run a query, half of the time with a restart; some sources have late rows.

    Returns the rows of each source that are not late, and the progress of all micro-batches. `time`
    is the position of the time in a row.
    """
    for s in case.sources:
        if case.rng.random() < 0.3:
            s.delay = 1  # The watermark follows so closely that rows are late.
    batches = max(len(s.batches) for s in case.sources)
    cut = case.rng.choice([None, case.rng.randrange(1, batches + 1)])
    runs: list[Any] = []
    for first, last in [(0, None)] if cut is None else [(0, cut), (cut, None)]:
        for s in case.sources:
            s.write(first, last)
        runs += case.run().recentProgress
    if cut is not None:
        case.more()
        runs += case.run().recentProgress
    case.totals.restarted += cut is not None
    return in_time(case.sources, runs, time=time), runs


def in_time(
    sources: Iterable[Source], runs: Iterable[Any], *, time: int
) -> dict[str, tuple[Row, ...]]:
    """
    The rows of each stream that are not late, by the watermarks of the micro-batches.

    `time` is the position of the time in a row. A row without a time is not late.
    """
    found: dict[str, list[Row]] = {s.name: [] for s in sources}
    files = {s.name: iter(s.batches) for s in sources}
    before = instant(dt.datetime(1970, 1, 1))
    for progress in runs:
        for s in sources:
            own = [p for p in progress.sources if p.description.endswith(f"/{s.name}]")]
            # A micro-batch reads one file of each stream.
            if own and own[0].numInputRows:
                found[s.name] += [
                    row for row in next(files[s.name]) if row[time] is None or row[time] > before
                ]
        now = watermark(progress)
        before = before if now is None else now
    return {name: tuple(some) for name, some in found.items()}
