# SPDX-License-Identifier: Apache-2.0
"""Runs joins of streams on files; --write saves the results on tables as golden.

python sql-examples/streams/stream_joins.py
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from arriving import STATE, arrive, run, stream  # noqa: E402
from run import Example, as_text, session  # noqa: E402

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAMES = ("sessions_outages", "cheaper_trips", "deploy_pattern")
VIEWS = ("sessions", "outages", "deploys", "calls", "trips")


def golden(name: str) -> Path:
    """The file with the result of a query."""
    return HERE / "golden" / f"{name}.txt"


def query(spark: SparkSession, name: str) -> DataFrame:
    """The query on the views, of tables or of streams."""
    (statement,) = Example(HERE / f"{name}.sql").statements()
    return spark.sql(statement.sql.removesuffix(";"))


def tables(spark: SparkSession) -> None:
    """Creates the views of tables."""
    Example(HERE / "stream_views.sql").make_views(spark)


def streams(spark: SparkSession, folder: Path, delay: str = "6 hours") -> None:
    """Creates the views of streams, which read a file in each micro-batch."""
    arrive(folder, VIEWS)
    tables(spark)
    for name in VIEWS:
        rows = stream(spark, name, folder)
        if "ts" in rows.columns:  # trips have a number instead of a time
            rows = rows.withWatermark("ts", delay)
        rows.createOrReplaceTempView(name)


def result(frame: DataFrame) -> str:
    """The rows in the format of the golden file."""
    return as_text(frame.orderBy(*frame.columns))


def main() -> None:
    """Runs the queries on streams and prints the results."""
    parser = argparse.ArgumentParser(description="Join streams of files.")
    parser.add_argument("--write", action="store_true", help="rewrite the golden results")
    options = parser.parse_args()
    spark = session()
    for key, value in STATE.items():
        spark.conf.set(key, value)
    if options.write:
        tables(spark)
        for name in NAMES:
            golden(name).write_text(result(query(spark, name)), encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        streams(spark, Path(folder))
        for name in NAMES:
            print(f"-- {name}\n{result(run(query(spark, name), name))}")


if __name__ == "__main__":
    main()
