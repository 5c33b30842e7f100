# SPDX-License-Identifier: Apache-2.0
"""Separate Spark applications, for tests of settings, faults and clusters."""

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
    """Options that load the extension in any of Spark's commands."""
    jars = jar or intervalsweep.jar_path()
    return ["--jars", jars, "--conf", f"spark.sql.extensions={EXTENSION}"]


def published_pom() -> Path:
    """The POM of the jar, in the Maven repository that is built together with the jar."""
    (pom,) = REPOSITORY.rglob(f"{Path(intervalsweep.jar_path()).stem}.pom")
    return pom


def clean_environment(**more: str) -> dict[str, str]:
    """The environment without the caller's variables for Spark, so that only the test sets them."""
    removed = ("PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "PYSPARK_PYTHON", "SPARK_REMOTE")
    inherited = {key: value for key, value in os.environ.items() if key not in removed}
    return {**inherited, "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": str(PACKAGES), **more}


def run(
    folder: Path, command: list[str], timeout: int = 240, typed: str = "", **env: str
) -> subprocess.CompletedProcess[str]:
    """Runs a command in its own process group, which is killed after `timeout` seconds.

    `typed` is the text that the command reads from its standard input.
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
    folder: Path, text: str, timeout: int = 600, before: Sequence[str] = (), **env: str
) -> str:
    """Runs a Python program and returns its output; fails unless the program succeeds.

    `before` is a command prefix that runs the rest of the command line.
    """
    file = folder / "program.py"
    file.write_text(PRELUDE + textwrap.dedent(text), encoding="utf-8")
    done = run(folder, [*before, sys.executable, str(file)], timeout, **env)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-6000:]}"
    return done.stdout


def settings(folder: Path) -> list[str]:
    """Options that keep what an application writes in a folder."""
    values = {
        "spark.ui.enabled": "false",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.pyspark.python": sys.executable,
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={folder}",
    }
    return [part for key, value in values.items() for part in ("--conf", f"{key}={value}")]


def typed(folder: Path, shell: str, lines: str, **env: str) -> str:
    """The output of one of Spark's shells when the lines are typed into it."""
    command = ["bash", str(SPARK_HOME / "bin" / shell), "--master", "local[2]"]
    done = run(
        folder,
        [*command, *by_conf(), *settings(folder)],
        timeout=600,
        typed=lines,
        SPARK_HOME=str(SPARK_HOME),
        PYTHONPATH="",
        **env,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout
