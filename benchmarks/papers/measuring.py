# SPDX-License-Identifier: Apache-2.0
"""The timing of the figures, and their data model."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

Points = list[tuple[float | str, float]]
Lines = dict[str, Points]


@dataclass(frozen=True)
class Settings:
    """The folder of the real data, the iseql-cpp program if any, and whether sizes are small."""

    data: Path
    program: Path | None = None
    is_quick: bool = False


@dataclass(frozen=True)
class Panel:
    """Lines if x is a number, bars if x is a word; `log` names the logarithmic axes."""

    title: str
    x: str
    y: str
    lines: Lines
    log: str = ""


@dataclass(frozen=True)
class Figure:
    title: str
    panels: list[Panel] = field(default_factory=list)


def best(run: Callable[[], object], at_most: int = 5, seconds: float = 0.3) -> float:
    """The shortest of up to `at_most` runs, which stop once they took `seconds` together."""
    shortest, began = float("inf"), time.perf_counter()
    for _ in range(at_most):
        started = time.perf_counter()
        run()
        ended = time.perf_counter()
        shortest = min(shortest, ended - started)
        if ended - began > seconds:
            break
    return shortest
