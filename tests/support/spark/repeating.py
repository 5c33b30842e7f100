# SPDX-License-Identifier: Apache-2.0
"""Text that a failed test prints so that it can be repeated: command, settings, queries."""

from __future__ import annotations

import os
import shlex
import sys
from collections import deque
from collections.abc import Callable
from typing import Any

MOST_QUERIES = 3


class Recorder:
    """The last queries of a session, and the settings that a test has changed."""

    def __init__(self, spark: Any) -> None:
        self._spark = spark
        self._usual = dict(spark.conf.getAll)
        self._queries: deque[str] = deque(maxlen=MOST_QUERIES)
        self._sql: Callable[..., Any] = spark.sql
        spark.sql = self._recorded

    def _recorded(self, query: str, *arguments: Any, **named: Any) -> Any:
        self._queries.append(query)
        return self._sql(query, *arguments, **named)

    def forget(self) -> None:
        """Drop the recorded queries when a test ends."""
        self._queries.clear()

    def text(self) -> str:
        """The changed settings and the last queries, as SQL."""
        changed = dict(self._spark.conf.getAll).items() - self._usual.items()
        settings = [f"SET {key}={value};" for key, value in sorted(changed)]
        return "\n".join([*settings, *(f"{query.strip()};" for query in self._queries)])


def command(test: str) -> str:
    """The command that runs only this test, from the project's folder."""
    return f"{os.path.relpath(sys.executable)} -m pytest {shlex.quote(test)}"
