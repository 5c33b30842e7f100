# SPDX-License-Identifier: Apache-2.0
"""Runs plans in separate processes, one after the other; reads their output and memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.processes import LOOK, descendants, resident
from benchmarks.streams import flink, spark_plans
from benchmarks.streams.workloads import Written

GRACE = 90.0  # seconds beyond the cap, for start and end
HEAP = "6g"


def measured(plan: str, written: Written, cap: float, cores: int) -> dict[str, Any]:
    """The result of one run of a plan, with the verdict on its answer."""
    log = written.folder / f"{plan}.log"
    ran = run(command(plan, written, cap, cores), cap + GRACE, log)
    if "error" in ran:
        return {"plan": plan, "complete": False, **ran}
    seconds = ran.pop("seconds")
    return {
        "plan": plan,
        **ran,
        "seconds": seconds,
        "events/s": round(ran["measured"] / seconds) if seconds else None,
        "cpu us/event": round(1e6 * ran["cpu"] / max(1, ran["events"]), 3),
        "answer": answer(plan, ran, written.expected),
    }


def command(plan: str, written: Written, cap: float, cores: int) -> list[str]:
    if plan in (*flink.PLANS, flink.PAIRS):
        return flink.command(plan, written, cap, cores, HEAP)
    program = [sys.executable, "-m", spark_plans.__name__]
    return [*program, plan, str(written.folder), str(cap), str(cores), HEAP]


def run(program: list[str], limit: float, log: Path) -> dict[str, Any]:
    """The JSON on the last line that a program prints, with its peak resident memory."""
    peak = 0
    with log.open("w") as errors:
        process = subprocess.Popen(program, stdout=subprocess.PIPE, stderr=errors, text=True)
        end = time.monotonic() + limit
        while process.poll() is None and time.monotonic() < end:
            peak = max(peak, resident(process.pid))
            time.sleep(LOOK)
        if process.poll() is None:
            kill(process)
            return {"error": f"killed after {limit:g} s", "peak MiB": peak >> 20}
        assert process.stdout is not None
        lines = process.stdout.read().splitlines()
    if process.returncode or not lines:
        return {"error": f"exit code {process.returncode}, see {log.name}", "peak MiB": peak >> 20}
    found: dict[str, Any] = json.loads(lines[-1])
    return {**found, "peak MiB": peak >> 20}


def kill(process: subprocess.Popen[str]) -> None:
    for pid in [*descendants(process.pid), process.pid]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()


def answer(plan: str, ran: dict[str, Any], expected: dict[str, float]) -> str:
    """The verdict on the totals; "not ended" for a run that has not ended."""
    if not ran["complete"]:
        return "not ended"
    if plan == "keyoij":
        return f"inexact: {ran['pairs'] / max(1, expected['pairs']):.2%} of the pairs"
    # An inner join loses unmatched base rows. Spark's own plan has one row for the base rows of a
    # key and time.
    lost = expected.get("empty", 0) if plan == "join" else 0
    near = abs(ran["sum"] - expected["sum"]) <= 1e-6 * abs(expected["sum"])
    wanted = ran["rows"] if plan == "spark" else expected["rows"] - lost
    right = ran["rows"] == wanted and ran["pairs"] == expected["pairs"]
    return "right" if near and right and not ran.get("late") else "wrong"
