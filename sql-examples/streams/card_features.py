# SPDX-License-Identifier: Apache-2.0
"""Computes the features of card payments, over the files as tables; --write makes them golden.

python sql-examples/streams/card_features.py
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from run import Example, as_text, session  # noqa: E402

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

GOLDEN = HERE / "golden" / "card_features.txt"


def features(spark: SparkSession) -> DataFrame:
    """The query over the views `requests` and `payments`, whatever they are views of."""
    (statement,) = Example(HERE / "card_features.sql").statements()
    return spark.sql(statement.sql.removesuffix(";"))


def in_batch(spark: SparkSession) -> DataFrame:
    """The features over the files as tables."""
    spark.conf.set("spark.sql.session.timeZone", "UTC")  # in which the result is written
    Example(HERE / "views.sql").make_views(spark)
    return features(spark)


def result(frame: DataFrame) -> str:
    """The features as they are kept in the golden file."""
    return as_text(frame.orderBy("id"))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Compute the features of card payments.")
    parser.add_argument("--write", action="store_true", help="rewrite the golden result")
    options = parser.parse_args()
    text = result(in_batch(session()))
    if options.write:
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
