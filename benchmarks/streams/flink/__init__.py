# SPDX-License-Identifier: Apache-2.0
"""The window union in Apache Flink: fetched from pip, compiled and started from here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.streams.workloads import Written

PLANS = ("over", "join", "keyoij")
EXACT = "over"  # the fastest of those that are exact
PAIRS = "pairs"  # of joins by a relation

HERE = Path(__file__).resolve().parent
VENV = Path("target/benchmarks/flink").resolve()
CLASSES = VENV / "classes"
# Python's part of Flink wants many packages, and is not used: only the jars are.
PACKAGES = ("apache-flink==2.3.*", "apache-flink-libraries==2.3.*")
OPENED = ("java.util", "java.lang", "java.time")


def install() -> None:
    """Fetches Flink once, some 380 MB, and compiles what is newer than its classes."""
    if not _jars():
        shutil.rmtree(VENV, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
        pip = [str(VENV / "bin/python"), "-m", "pip", "install", "--quiet", "--no-deps"]
        subprocess.run([*pip, *PACKAGES], check=True)
    sources = sorted(HERE.glob("*.java"))
    main = CLASSES / "benchmarks/streams/flink/Benchmark.class"
    if not main.exists() or main.stat().st_mtime < max(s.stat().st_mtime for s in sources):
        shutil.rmtree(CLASSES, ignore_errors=True)
        compiler = [_java("javac"), "-nowarn", "-cp", _jars(), "-d", str(CLASSES)]
        subprocess.run([*compiler, *map(str, sources)], check=True)


def command(plan: str, written: Written, cap: float, cores: int, heap: str) -> list[str]:
    """What runs a plan over a workload, and prints one line of JSON."""
    w = written.workload
    numbers = (w.window, w.lateness, written.warm_events, round(cap), cores)
    return [
        _java("java"),
        f"-Xmx{heap}",
        *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED),
        "-cp",
        f"{CLASSES}:{_jars()}",
        "benchmarks.streams.flink.Benchmark",
        plan,
        str(written.folder),
        *map(str, numbers),
    ]


def _jars() -> str:
    """All of Flink's, as a class path; empty if it has not been fetched."""
    return ":".join(map(str, sorted(VENV.glob("lib/python3*/site-packages/pyflink/lib/*.jar"))))


def _java(name: str) -> str:
    home = os.environ.get("JAVA_HOME")
    return f"{home}/bin/{name}" if home else name
