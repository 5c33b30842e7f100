# SPDX-License-Identifier: Apache-2.0
"""Descendants of a process, read from /proc, and the sweep workers of a Spark application."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

WORKER = "pyspark_intervalsweep.worker"


def jvm(spark: Any) -> int:
    """The process id of a session's JVM."""
    return int(spark._jvm.java.lang.ProcessHandle.current().pid())


def children(pid: int) -> set[int]:
    """All processes that descend from a process."""
    parents = _parents()
    found: set[int] = set()
    grown = {pid}
    while grown:
        grown = {child for child, parent in parents.items() if parent in grown} - found
        found |= grown
    return found


def workers(spark: Any) -> set[int]:
    """The workers below an application's JVM, busy or idle, without the daemons that fork them."""
    parents = _parents()
    ours = {pid for pid in children(jvm(spark)) if WORKER in _read(pid, "cmdline")}
    return {pid for pid in ours if parents.get(pid) in ours}


def with_modules_of(folder: Path) -> set[int]:
    """Processes of a faulty interpreter whose modules are in this folder."""
    modules = str(folder / "modules")
    return {pid for pid in _all() if modules in _read(pid, "environ")}


def eventually(condition: Callable[[], object], seconds: float = 10) -> bool:
    """True if the condition becomes true within `seconds`."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def _all() -> Iterator[int]:
    return (int(folder.name) for folder in Path("/proc").glob("[0-9]*"))


def _parents() -> dict[int, int]:
    """The parent of each process that is not a zombie."""
    found = {}
    for pid in _all():
        # The fields after the command: state, parent, ... The command itself may contain anything.
        fields = _read(pid, "stat").rpartition(")")[2].split()
        if fields and fields[0] != "Z":
            found[pid] = int(fields[1])
    return found


def _read(pid: int, name: str) -> str:
    """A file of /proc, empty if the process has just ended or belongs to someone else."""
    try:
        return Path("/proc", str(pid), name).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
