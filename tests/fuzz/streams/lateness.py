# SPDX-License-Identifier: Apache-2.0
"""Runs queries over streams with late rows, and tells which rows are late."""

from __future__ import annotations

import datetime as dt
from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

from fuzz.streams.run import Stream
from support.streams.histories import Source, instant, watermark

Row = tuple[Any, ...]


class Arriving(Stream):
    """A case whose rows arrive in the files of sources; some are late."""

    sources: list[Source]

    @property
    def delays(self) -> dict[str, int]:
        return {s.name: s.delay for s in self.sources}

    @abstractmethod
    def run(self) -> Any:
        """Runs the query over the files that are there."""

    @abstractmethod
    def far(self, times: int) -> Row:
        """A row that moves the watermark beyond all others; with greater `times`, further."""

    def arrive(self, *, time: int) -> tuple[dict[str, tuple[Row, ...]], list[Any]]:
        """
        Runs the query, half of the time with a restart; some sources have late rows.

        Returns the rows of each source that are not late, and the progress of all micro-batches.
        `time` is the position of the time in a row.
        """
        for s in self.sources:
            if self.rng.random() < 0.3:
                s.delay = 1  # The watermark follows so closely that rows are late.
        batches = max(len(s.batches) for s in self.sources)
        cut = self.rng.choice([None, self.rng.randrange(1, batches + 1)])
        runs: list[Any] = []
        for first, last in [(0, None)] if cut is None else [(0, cut), (cut, None)]:
            for s in self.sources:
                s.write(first, last)
            runs += self.run().recentProgress
        if cut is not None:
            self.more()
            runs += self.run().recentProgress
        self.totals.restarted += cut is not None
        return in_time(self.sources, runs, time=time), runs

    def end(self) -> None:
        self.more()
        self.run()

    def more(self) -> None:
        """Adds a row to each stream, further ahead."""
        for s in self.sources:
            s.batches.append([self.far(2)])
            s.write(len(s.batches) - 1)


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
