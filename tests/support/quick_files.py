# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of many small files, without the process that Hadoop starts for each of them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from applications import SPARK_HOME

SOURCE = Path(__file__).with_name("QuickFiles.java")


def settings(folder: Path) -> dict[str, str]:
    """What a session needs; nothing where there is no Java compiler."""
    compiler = shutil.which("javac")
    if compiler is None:
        return {}
    classes = str(SPARK_HOME / "jars" / "*")
    subprocess.run([compiler, "-cp", classes, "-d", str(folder), str(SOURCE)], check=True)
    return {"spark.driver.extraClassPath": str(folder), "spark.hadoop.fs.file.impl": "QuickFiles"}
