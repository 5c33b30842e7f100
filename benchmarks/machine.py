# SPDX-License-Identifier: Apache-2.0
"""Describes the machine and the versions in a result; never the host name or a path."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.systems import SYSTEMS
from intervalsweep import __version__

HERE = Path(__file__).resolve().parent


def machine(cores: int) -> dict[str, str | int]:
    """Cores, memory and CPU model."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "cpu": _cpu(),
        "cores": cores,
        "memory_gib": round(pages / 2**30),
        "system": f"{platform.system()} {platform.machine()}",
    }


def heading() -> dict[str, Any]:
    """The first entries of a file of results: date, commit and machine."""
    return {
        "date": datetime.now(timezone.utc).date().isoformat(),
        "commit": commit(),
        "machine": machine(cores=len(os.sched_getaffinity(0))),
    }


def versions(systems: Iterable[str]) -> dict[str, str]:
    """The versions of Python, Java and the packages of the given systems."""
    packages = sorted({package for name in systems for package in SYSTEMS[name].packages})
    return {
        "python": platform.python_version(),
        "java": _java(),
        **{package: _version(package) for package in packages},
    }


def commit() -> str:
    """The commit of this checkout, followed by "-dirty" if there are uncommitted changes."""
    return _output("git", "describe", "--always", "--dirty", "--abbrev=8") or "unknown"


def _version(package: str) -> str:
    if package == "intervalsweep":
        return __version__
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    text = _output(f"{home}/bin/java" if home else "java", "-version")
    return text.split('"')[1] if '"' in text else "unknown"


def _output(*command: str) -> str:
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    return (done.stdout or done.stderr).strip() if done.returncode == 0 else ""
