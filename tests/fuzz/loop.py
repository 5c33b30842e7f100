# SPDX-License-Identifier: Apache-2.0
"""The loop of each fuzzer: cases by their numbers, until enough queries have run."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

MOST_FAILURES = 10  # After so many the run ends.
SAID_EVERY = 60  # seconds

Say = Callable[[str], None]


@dataclass
class Totals:
    """What a run covered; each fuzzer counts more than this, and says it by `str`."""

    queries: int = 0
    # What shows each failure: a program, or a command.
    programs: list[Path | str] = field(default_factory=list)


def run_cases(one: Callable[[int], None], totals: Totals, queries: int, say: Say) -> None:
    """Run cases until `totals` counts so many queries, and say now and then how far the run is."""
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
