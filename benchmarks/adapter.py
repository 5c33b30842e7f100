# SPDX-License-Identifier: Apache-2.0
"""What the suite and the systems agree on.

An adapter lives in a process of its own. `prepare` returns what is timed: a call that reads the
Parquet files, joins, aggregates, and returns the one row of the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from benchmarks.workloads import Workload

Answer = tuple[int, ...]
Run = Callable[[], Answer]


class UnsupportedError(Exception):
    """The system has no way to say this; the message says what is missing."""


@dataclass(frozen=True)
class Case:
    """A workload on the tables in a folder; the width is for the system with bins."""

    workload: Workload
    folder: Path
    width: int = 0

    def file(self, side: str) -> str:
        """The path of one of the two tables."""
        return str(self.folder / f"{side}.parquet")


@dataclass(frozen=True)
class Limits:
    """What each system may use, and where it may leave its files.

    `partitions` is how many Spark shuffles into; None: two for each core. With `executors`, Spark
    runs tasks in so many processes of one core each, and otherwise in that of the driver.
    """

    cores: int
    heap: str
    scratch: Path
    partitions: int | None = None
    executors: int = 0


class System(Protocol):
    """A system that has been started."""

    def prepare(self, case: Case) -> Run:
        """What answers the query; raises UnsupportedError where the system cannot."""


def integers(values: Any) -> Answer:
    """The values of one row, whatever integers a system has."""
    return tuple(int(value) for value in values)
