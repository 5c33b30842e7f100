"""Spark applications in a process of their own: what one shared session cannot show."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import intervalsweep

ROOT = Path(__file__).resolve().parent.parent
EXTENSION = "org.intervalsweep.IntervalSweepExtensions"
BY_CONF = ["--jars", intervalsweep.jar_path(), "--conf", f"spark.sql.extensions={EXTENSION}"]
UNSET = ("PYSPARK_SUBMIT_ARGS", "PYTHONPATH", "SPARK_CONF_DIR", "SPARK_HOME")

SESSION = """
import intervalsweep
from pyspark.sql import SparkSession

builder = SparkSession.builder.config(map={settings!r})
spark = intervalsweep.configure(builder).getOrCreate()
"""


def run(folder: Path, command: list[str], **environment: str) -> str:
    """Runs a command in a folder and returns what it prints; one that fails fails the test."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={key: value for key, value in os.environ.items() if key not in UNSET}
        | {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
        | environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-8000:]}"
    return done.stdout


def run_program(folder: Path, program: str, settings: dict[str, str]) -> str:
    """Runs Python code that finds a session with these settings in `spark`."""
    quiet = {"spark.ui.enabled": "false", "spark.log.level": "OFF"}
    local = {"spark.sql.warehouse.dir": str(folder / "warehouse")}
    text = SESSION.format(settings=quiet | local | settings) + textwrap.dedent(program)
    return run(folder, [sys.executable, "-c", text], PYTHONPATH=str(ROOT / "python"))
