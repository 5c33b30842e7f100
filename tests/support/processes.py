# SPDX-License-Identifier: Apache-2.0
"""The sweep workers of a Spark application, found by descent from its own JVM and no other way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

WORKER = "pyspark_intervalsweep.worker"


def _parents() -> dict[int, int]:
    """The parent of each process, from /proc/<pid>/stat; the name in it may hold anything."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            state, parent = stat.rpartition(")")[2].split()[:2]
            if state != "Z":
                found[int(folder.name)] = int(parent)
    return found


def _command(pid: int) -> str:
    try:
        return (Path("/proc") / str(pid) / "cmdline").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def children(pid: int) -> set[int]:
    """All that descend from a process."""
    parents = _parents()
    found: set[int] = set()
    grown = {pid}
    while grown:
        grown = {child for child, parent in parents.items() if parent in grown} - found
        found |= grown
    return found


def workers(spark: Any) -> set[int]:
    """The workers below this application's JVM, without the daemons that fork them."""
    jvm = spark._jvm.java.lang.ProcessHandle.current().pid()
    parents = _parents()
    ours = {pid for pid in children(jvm) if WORKER in _command(pid)}
    return {pid for pid in ours if parents.get(pid) in ours}
