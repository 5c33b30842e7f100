# SPDX-License-Identifier: Apache-2.0
"""A line of progress on a terminal for work that takes long. Without a terminal it is silent.

    with Progress("joining") as progress:
        progress.tell("12,000,000 of 199,000,000 pairs")

The line goes to stderr. It appears after a second and is erased at the end.
"""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType

_PATIENCE = 1.0  # seconds before the first line
_PAUSE = 0.2  # seconds between two lines


class Progress:
    """Shows a line of progress while its `with` block runs."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._begun = self._written = 0.0
        self._width = 0
        self._timer: threading.Timer | None = None

    def __enter__(self) -> Progress:
        if sys.stderr is not None and sys.stderr.isatty():
            self._begun = time.monotonic()
            self._timer = threading.Timer(_PATIENCE, self.tell)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()
        if self._width:
            self._write("")
            sys.stderr.write("\r")
            sys.stderr.flush()

    def tell(self, how_far: str = "") -> None:
        """Show how far the work is; does nothing in the first second and right after a call."""
        now = time.monotonic()
        if self._timer is None or now - self._begun < _PATIENCE or now - self._written < _PAUSE:
            return
        self._written = now
        self._write(f"intervalsweep: {self._what} {how_far}".rstrip() + " ...")

    def _write(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)
