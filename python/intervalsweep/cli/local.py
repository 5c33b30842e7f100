# SPDX-License-Identifier: Apache-2.0
"""The Spark session of the command: local, quiet, with the extension."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from intervalsweep.session import configure

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ENABLED = "spark.sql.intervalsweep.enabled"


@contextmanager
def local_session(settings: dict[str, str]) -> Iterator[SparkSession]:
    """Provide a session in a `with` block, on this machine unless `settings` say otherwise."""
    from pyspark.sql import SparkSession

    defaults = {
        "spark.master": "local[*]",
        "spark.app.name": "intervalsweep",
        "spark.log.level": "ERROR",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.config(map={**defaults, **settings})
    spark = configure(builder).getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()
