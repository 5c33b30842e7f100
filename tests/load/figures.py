# SPDX-License-Identifier: Apache-2.0
"""Processes, files, threads and memory of an application, which must not grow under load."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from support.spark.processes import children, jvm

# What varies without a leak: idle workers, Spark's pools and caches, threads of the JVM.
ALLOWED = {"processes": 12, "files": 120, "threads": 60, "monitors": 0, "heap MiB": 200}
ALLOWED |= {"workers MiB": 1500, "Arrow MiB": 0}


def figures(spark: Any) -> dict[str, int]:
    """The figures of an idle application, after a garbage collection."""
    runtime = spark._jvm.java.lang.Runtime.getRuntime()
    for _ in range(3):
        spark._jvm.System.gc()
        time.sleep(1)
    process = jvm(spark)
    names = [t.getName() for t in spark._jvm.Thread.getAllStackTraces().keySet().toArray()]
    allocator = spark._jvm.org.apache.spark.sql.util.ArrowUtils.rootAllocator()
    ours = children(process)
    return {
        "processes": len(ours),
        "files": len(list(Path(f"/proc/{process}/fd").iterdir())),
        "threads": len(names),
        "monitors": sum(name.startswith("IntervalSweep monitor") for name in names),
        "heap MiB": (runtime.totalMemory() - runtime.freeMemory()) >> 20,
        "workers MiB": sum(map(_private, ours)) >> 10,
        "Arrow MiB": allocator.getAllocatedMemory() >> 20,
    }


def growth(before: dict[str, int], after: dict[str, int]) -> list[str]:
    """A line for each figure that grew by more than its scatter."""
    return [
        f"{name}: {before[name]} before, {after[name]} after"
        for name in before
        if after[name] > before[name] + ALLOWED[name]
    ]


def _private(pid: int) -> int:
    """The KiB of memory that a process shares with no other; 0 if it has ended."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8")
    except OSError:
        return 0
    lines = [line.split() for line in text.splitlines()]
    return sum(int(line[1]) for line in lines if line[0] in ("Private_Clean:", "Private_Dirty:"))
