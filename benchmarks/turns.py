# SPDX-License-Identifier: Apache-2.0
"""Times several ways to answer a query. The ways take turns, so a disturbance affects all alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

# A call that answers a query with one row of numbers.
Way = Callable[[], Sequence[Any]]


def seconds_of(
    ways: Mapping[str, Way], runs: int, warm_up: int, *, agree: bool = True
) -> dict[str, list[float]]:
    """The seconds of each way's runs, without the first `warm_up` turns, in which Java compiles.

    With `agree`, all ways must give the same answer.
    """
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    answers = {}
    for turn in range(warm_up + runs):
        for name, way in ways.items():
            begin = time.perf_counter()
            row = way()
            took = time.perf_counter() - begin
            if turn >= warm_up:
                seconds[name].append(took)
            answers[name] = tuple(None if value is None else int(value) for value in row)
        if agree and len(set(answers.values())) > 1:
            raise AssertionError(f"the answers differ: {answers}")
    return seconds


def medians_of(
    ways: Mapping[str, Way], runs: int, warm_up: int, *, agree: bool = True
) -> dict[str, float]:
    """The median of the seconds of each way's runs, as of `seconds_of`."""
    seconds = seconds_of(ways, runs, warm_up, agree=agree)
    return {name: statistics.median(each) for name, each in seconds.items()}
