# SPDX-License-Identifier: Apache-2.0
"""Installs Apache Flink from pip, and compiles and starts its plans of the window union."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.streams.workloads import Written

PLANS = ("over", "join", "keyoij")
EXACT = "over"  # the fastest exact plan
PAIRS = "pairs"  # the plan for joins by a relation

HERE = Path(__file__).resolve().parent
VENV = Path("target/benchmarks/flink").resolve()
CLASSES = VENV / "classes"
# Only the jars are used. Flink's Python code is not, so its many dependencies are not installed.
PACKAGES = ("apache-flink==2.3.*", "apache-flink-libraries==2.3.*")
OPENED = ("java.util", "java.lang", "java.time")


def install() -> None:
    """Downloads Flink once, about 380 MB, and compiles the sources if they have changed."""
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
    """The command that runs a plan on a workload and prints one line of JSON."""
    w = written.workload
    numbers = (w.window, w.lateness, written.warm_events, round(cap), cores)
    return program("Benchmark", heap, plan, written.folder, *numbers)


def program(main: str, heap: str, *arguments: object) -> list[str]:
    """The command that runs a class of this folder."""
    return [
        _java("java"),
        f"-Xmx{heap}",
        *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED),
        "-cp",
        f"{CLASSES}:{_jars()}",
        f"benchmarks.streams.flink.{main}",
        *map(str, arguments),
    ]


def _jars() -> str:
    """The class path of all of Flink's jars; empty if Flink is not installed."""
    return ":".join(map(str, sorted(VENV.glob("lib/python3*/site-packages/pyflink/lib/*.jar"))))


def _java(name: str) -> str:
    home = os.environ.get("JAVA_HOME")
    return f"{home}/bin/{name}" if home else name
