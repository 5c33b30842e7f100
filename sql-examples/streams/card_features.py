# SPDX-License-Identifier: Apache-2.0
"""Computes features of card payments on tables and on streams; --write saves them as golden.

python sql-examples/streams/card_features.py
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from arriving import STATE, add, arrive, run, stream  # noqa: E402
from run import Example, as_text, session  # noqa: E402

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

VIEWS = ("payments", "requests")
# A row without a card, which moves the watermark so that all earlier windows are final.
HEARTBEAT = '{"at": "2026-01-02T00:00:00Z"}'
GOLDEN = HERE / "golden" / "card_features.txt"


def features(spark: SparkSession) -> DataFrame:
    """The query on the views `requests` and `payments`, of tables or of streams."""
    (statement,) = Example(HERE / "card_features.sql").statements()
    return spark.sql(statement.sql.removesuffix(";"))


def in_batch(spark: SparkSession) -> DataFrame:
    """The features, with the files as tables."""
    spark.conf.set("spark.sql.session.timeZone", "UTC")  # the golden result is in UTC
    Example(HERE / "views.sql").make_views(spark)
    return features(spark)


def on_streams(spark: SparkSession, folder: Path) -> DataFrame:
    """The features, with the files as streams, one file in each micro-batch."""
    Example(HERE / "views.sql").make_views(spark)
    arrive(folder, VIEWS)
    for name in VIEWS:
        add(folder / name, "heartbeat.json", HEARTBEAT)
        rows = stream(spark, name, folder).withWatermark("at", "1 minute")
        rows.createOrReplaceTempView(name)
    return features(spark).where("id IS NOT NULL")


def result(frame: DataFrame) -> str:
    """The features in the format of the golden file."""
    return as_text(frame.orderBy("id"))


def main() -> None:
    """Computes and prints the features."""
    parser = argparse.ArgumentParser(description="Compute the features of card payments.")
    parser.add_argument("--write", action="store_true", help="rewrite the golden result")
    options = parser.parse_args()
    spark = session()
    for key, value in STATE.items():
        spark.conf.set(key, value)
    text = result(in_batch(spark))
    if options.write:
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(text, encoding="utf-8")
    print(f"-- as tables\n{text}")
    with tempfile.TemporaryDirectory() as folder:
        print(f"-- as streams\n{result(run(on_streams(spark, Path(folder)), 'features'))}", end="")


if __name__ == "__main__":
    main()
