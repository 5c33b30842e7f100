# SPDX-License-Identifier: Apache-2.0
"""The jar of a minor version of Spark also runs on its first release."""

from __future__ import annotations

from pathlib import Path

import pyspark
import pytest

from intervalsweep.session import series_of
from support.neighbours.checks import PROGRAM
from support.neighbours.packages import packages
from support.spark.applications import PACKAGES, program

pytestmark = pytest.mark.extended


def test_relations_a_history_and_a_stream_on_the_oldest_patch_release(tmp_path: Path) -> None:
    oldest = f"{series_of(pyspark.__version__)}.0"
    if pyspark.__version__ == oldest:
        pytest.skip(f"the other tests run on Spark {oldest}")
    folder = packages(f"pyspark=={oldest}")
    printed = program(
        tmp_path,
        PROGRAM.format(folder=str(tmp_path), printed="spark.version"),
        PYTHONPATH=f"{folder}:{PACKAGES}",
        SPARK_HOME=str(folder / "pyspark"),
    )
    assert printed.split() == [oldest]
