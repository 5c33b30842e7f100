# SPDX-License-Identifier: Apache-2.0
"""The interface between the suite and the systems.

An adapter lives in a separate process. `prepare` returns the call that is timed: it reads the
Parquet files, joins, aggregates, and returns the answer, which is one row.
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
    """The system cannot express the query; the message says what is missing."""


@dataclass(frozen=True)
class Case:
    """A workload on the tables in a folder; `width` is for the system with bins."""

    workload: Workload
    folder: Path
    width: int = 0

    def file(self, side: str) -> str:
        """The path of one of the two tables."""
        return str(self.folder / f"{side}.parquet")


@dataclass(frozen=True)
class Limits:
    """The resources of each system, and its scratch folder.

    `partitions` is the number of Spark's shuffle partitions; None means two for each core.
    `executors` is the number of executor processes, each with one core; 0 means that tasks run in
    the driver's process.
    """

    cores: int
    heap: str
    scratch: Path
    partitions: int | None = None
    executors: int = 0


class System(Protocol):
    """A system that has been started."""

    def prepare(self, case: Case) -> Run:
        """The call that answers the query; raises UnsupportedError if the system cannot."""


def integers(values: Any) -> Answer:
    """The values of a row, as Python integers."""
    return tuple(int(value) for value in values)
