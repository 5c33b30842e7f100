# SPDX-License-Identifier: Apache-2.0
"""Streams `query.sql` of a folder to the end, in a process of its own, which may be killed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import eager  # noqa: E402
import intervalsweep  # noqa: E402
from arrivals import QUICKLY, read, run  # noqa: E402


def main(folder: Path, lateness: float, settings: dict[str, str], *, is_eager: bool) -> None:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.log.level", "OFF")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.sql.session.timeZone", "UTC")
    for key, value in {**QUICKLY, **settings}.items():
        builder = builder.config(key, value)
    spark = intervalsweep.configure(builder).getOrCreate()
    read(spark, folder, lateness)
    start = eager.run if is_eager else run
    start(spark.sql((folder / "query.sql").read_text()), folder)
    spark.stop()


def command(folder: Path, lateness: float, *, is_eager: bool = False, **settings: str) -> list[str]:
    more = ["eager"] if is_eager else []
    numbers = [str(folder), str(lateness), json.dumps(settings)]
    return [sys.executable, str(Path(__file__)), *numbers, *more]


if __name__ == "__main__":
    main(
        Path(sys.argv[1]),
        float(sys.argv[2]),
        json.loads(sys.argv[3]),
        is_eager=sys.argv[4:] == ["eager"],
    )
