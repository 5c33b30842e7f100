# SPDX-License-Identifier: Apache-2.0
"""Spark applications of their own, for what one session cannot try: settings, faults, clusters."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

import pyspark

import intervalsweep

PACKAGES = Path(intervalsweep.__file__).resolve().parent.parent
TESTS = Path(__file__).resolve().parents[2]
SPARK_HOME = Path(pyspark.__file__).resolve().parent
REPOSITORY = PACKAGES.parent / "target" / "repository"
EXTENSION = "org.intervalsweep.IntervalSweepExtensions"

PRELUDE = f"""
import os, signal, sys, threading, time
sys.path.insert(0, {str(TESTS)!r})
import intervalsweep
from support.spark.processes import children, workers
from pyspark.sql import SparkSession

def start(master="local[2]", **settings):
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.log.level", "ERROR")
    builder = builder.config("spark.driver.bindAddress", "127.0.0.1")
    builder = builder.config("spark.sql.shuffle.partitions", "4")
    builder = builder.config("spark.sql.intervalsweep.smallGroupPairs", "0")
    for key, value in settings.items():
        builder = builder.config(key.replace("__", "."), value)
    return intervalsweep.configure(builder).getOrCreate()

def swept(frame):
    assert "IntervalSweepJoin" in frame._jdf.queryExecution().executedPlan().toString()
    return frame
"""


def by_conf(jar: str | None = None) -> list[str]:
    """What any of Spark's commands needs to know."""
    jars = jar or intervalsweep.jar_path()
    return ["--jars", jars, "--conf", f"spark.sql.extensions={EXTENSION}"]


def published_pom() -> Path:
    """The POM of the jar, in the Maven repository that is made with it."""
    (pom,) = REPOSITORY.rglob(f"{Path(intervalsweep.jar_path()).stem}.pom")
    return pom


def clean_environment(**more: str) -> dict[str, str]:
    """Without what the caller's shell says about Spark, so that the test alone decides."""
    removed = ("PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "PYSPARK_PYTHON", "SPARK_REMOTE")
    inherited = {key: value for key, value in os.environ.items() if key not in removed}
    return {**inherited, "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": str(PACKAGES), **more}


def run(
    folder: Path, command: list[str], timeout: int = 240, typed: str = "", **env: str
) -> subprocess.CompletedProcess[str]:
    """Runs a command in a process group of its own, which ends with it whatever happens.

    `typed` is what it gets to read as if somebody typed it.
    """
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=clean_environment(**env),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(typed, timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        raise AssertionError(f"not done after {timeout} s\n{out}\n{err[-4000:]}") from None
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def program(
    folder: Path, text: str, timeout: int = 240, before: Sequence[str] = (), **env: str
) -> str:
    """Runs a Python program, and returns what it prints; it has to end well.

    `before` is a command that runs the command that follows it.
    """
    file = folder / "program.py"
    file.write_text(PRELUDE + textwrap.dedent(text), encoding="utf-8")
    done = run(folder, [*before, sys.executable, str(file)], timeout, **env)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-6000:]}"
    return done.stdout
