# SPDX-License-Identifier: Apache-2.0
"""Sessions for tests: small, quiet, and quick to compile."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import intervalsweep

QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.pyspark.python": sys.executable,
    "spark.sql.session.timeZone": "UTC",
}
# A run has thousands of queries, whose plans must not fill the heap.
MANY_QUERIES = {
    "spark.sql.ui.retainedExecutions": "10",
    "spark.ui.retainedJobs": "50",
    "spark.ui.retainedStages": "50",
    "spark.ui.retainedTasks": "100",
}
# Generated code does not pay off where each query runs once over a few rows.
INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def session(master: str, *settings: Mapping[str, str]) -> Any:
    """A session with the extension; later settings replace earlier ones."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("intervalsweep tests")
    for some in (QUIET, *settings):
        for key, value in some.items():
            builder = builder.config(key, value)
    return intervalsweep.configure(builder).getOrCreate()
