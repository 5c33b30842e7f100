# SPDX-License-Identifier: Apache-2.0
"""The largest memory of Spark's process and of its Python workers while something runs."""

from __future__ import annotations

from threading import Event, Thread
from types import TracebackType
from typing import Any

from benchmarks.processes import LOOK, descendants, resident_alone


class Peak:
    """`with Peak(pid) as peak`: resident bytes of the process, and of all below it together."""

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
            self.workers = max(self.workers, sum(map(resident_alone, descendants(self._pid))))
            if self._ended.wait(LOOK):
                return
