# SPDX-License-Identifier: Apache-2.0
"""Runs the history of a query on streams of files; --write saves that of the tables as golden.

python sql-examples/streams/running_sessions.py
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from arriving import STATE, run
from run import session
from stream_joins import golden, query, result, streams, tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAME = "running_sessions"
GOLDEN = golden(NAME)
# The watermark is an hour behind the latest start.
DELAY = "1 hour"
LAST_WATERMARK = "2026-01-01 14:52:00"


def in_batch(spark: SparkSession) -> DataFrame:
    """The history of the tables, as far as the streams know it: up to their last watermark."""
    tables(spark)
    return query(spark, NAME).where(f"te <= '{LAST_WATERMARK}'")


def on_streams(spark: SparkSession, folder: Path) -> DataFrame:
    """The history of streams, which read a file in each micro-batch."""
    streams(spark, folder, DELAY)
    return query(spark, NAME)


def main() -> None:
    """Runs the query on streams and prints the history."""
    parser = argparse.ArgumentParser(description="Return the history of streams of files.")
    parser.add_argument("--write", action="store_true", help="rewrite the golden result")
    options = parser.parse_args()
    spark = session()
    for key, value in STATE.items():
        spark.conf.set(key, value)
    if options.write:
        GOLDEN.write_text(result(in_batch(spark)), encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        print(result(run(on_streams(spark, Path(folder)), "history")))


if __name__ == "__main__":
    main()
