# SPDX-License-Identifier: Apache-2.0
"""Which rows of streams are late."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import Any, Protocol

from support.streams.histories import instant, watermark

Row = tuple[Any, ...]


class Source(Protocol):
    """A stream of files: its name, and the rows of each file, with times as numbers."""

    name: str
    batches: list[list[Row]]


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
