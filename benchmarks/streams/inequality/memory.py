# SPDX-License-Identifier: Apache-2.0
"""Measures the peak memory of Spark's process and of its Python workers."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import Any

from benchmarks.processes import LOOK, descendants, resident_alone


class Peak:
    """
    `with Peak(pid) as peak`: peak resident bytes of the process, and of its Python descendants.

    Only Python descendants count. Hadoop starts a program for each file that it writes, and a
    process that starts a program exists twice for a moment, with all its memory.
    """

    def __init__(self, pid: int) -> None:
        self.spark = self.workers = 0
        self._pid, self._ended = pid, Event()
        self._thread = Thread(target=self._look, daemon=True)

    def __enter__(self) -> Peak:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while True:
            self.spark = max(self.spark, resident_alone(self._pid))
            workers = [each for each in descendants(self._pid) if _is_python(each)]
            self.workers = max(self.workers, sum(map(resident_alone, workers)))
            if self._ended.wait(LOOK):
                return


def _is_python(pid: int) -> bool:
    with suppress(OSError):  # the process has just ended
        return "python" in Path(f"/proc/{pid}/comm").read_text()
    return False
