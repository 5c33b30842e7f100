# SPDX-License-Identifier: Apache-2.0
"""Streams what folders describe to the end, all at once, in a process that may be killed."""

from __future__ import annotations

import json
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import eager  # noqa: E402
import intervalsweep  # noqa: E402
import quick_files  # noqa: E402
from arrivals import QUICKLY, read, run  # noqa: E402

STREAM = "stream.json"


def main(folders: list[Path]) -> None:
    from pyspark.sql import SparkSession

    with tempfile.TemporaryDirectory() as classes:
        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.log.level", "OFF")
        builder = builder.config("spark.ui.showConsoleProgress", "false")
        builder = builder.config("spark.sql.session.timeZone", "UTC")
        # It ends before code that is compiled well would pay.
        builder = builder.config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1")
        for key, value in {**QUICKLY, **quick_files.settings(Path(classes))}.items():
            builder = builder.config(key, value)
        spark = intervalsweep.configure(builder).getOrCreate()
        with ThreadPoolExecutor(len(folders)) as threads:
            list(threads.map(lambda folder: stream(spark.newSession(), folder), folders))
        spark.stop()


def stream(spark: Any, folder: Path) -> None:
    given = json.loads((folder / STREAM).read_text())
    for key, value in given["settings"].items():
        spark.conf.set(key, value)
    read(spark, folder, given["lateness"])
    start = eager.run if given["is_eager"] else run
    start(spark.sql(given["sql"]), folder)


def describe(
    folder: Path, sql: str, lateness: float, *, is_eager: bool = False, **settings: str
) -> None:
    """Says to later processes what they are to run over the files of a folder."""
    given = {"sql": sql, "lateness": lateness, "is_eager": is_eager, "settings": settings}
    (folder / STREAM).write_text(json.dumps(given))


def command(*folders: Path) -> list[str]:
    return [sys.executable, str(Path(__file__)), *map(str, folders)]


if __name__ == "__main__":
    main([Path(folder) for folder in sys.argv[1:]])
