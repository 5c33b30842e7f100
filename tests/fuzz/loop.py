# SPDX-License-Identifier: Apache-2.0
"""The loop of each fuzzer: runs case 0, 1, 2, ... until enough queries have run."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

MOST_FAILURES = 10  # The run ends after this number of failures.
SAID_EVERY = 60  # seconds

Say = Callable[[str], None]


@dataclass
class Totals:
    """Counts of what a run covered. Each fuzzer has more counts, and `str` reports all."""

    queries: int = 0
    # A program or a command that reproduces each failure.
    programs: list[Path | str] = field(default_factory=list)


def run_cases(one: Callable[[int], None], totals: Totals, queries: int, say: Say) -> None:
    """Run cases until `totals` counts `queries` queries; report progress now and then."""
    start = said = time.monotonic()
    for number in itertools.count():
        if totals.queries >= queries or len(totals.programs) >= MOST_FAILURES:
            return
        one(number)
        now = time.monotonic()
        if now - said > SAID_EVERY:
            said = now
            rate = 60 * totals.queries / (now - start)
            say(f"{number + 1} cases, {rate:.0f} queries a minute: {totals}")


def listed(counts: Counter[str]) -> str:
    """Counts as a text, the largest first."""
    return ", ".join(f"{name} {count}" for name, count in counts.most_common())
