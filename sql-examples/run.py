# SPDX-License-Identifier: Apache-2.0
"""Runs all or the named examples and prints their results; --write saves them as golden.

python sql-examples/run.py --list
python sql-examples/run.py joins/exons_hotspots
python sql-examples/run.py --write
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

HERE = Path(__file__).resolve().parent
CHAPTERS = ("joins", "temporal")
QUIET = HERE / "log4j2.properties"
NOT_SWEPT = "-- Spark's own join:"


@dataclass(frozen=True)
class Statement:
    """A statement of an example, with the comments before it."""

    text: str

    @property
    def sql(self) -> str:
        """The statement without its comments."""
        lines = self.text.splitlines()
        return "\n".join(line for line in lines if not line.startswith("--")).strip()

    @property
    def is_query(self) -> bool:
        return self.sql.startswith("SELECT")

    @property
    def is_swept(self) -> bool:
        """True if the plan must have a sweep. Exceptions say NOT_SWEPT, with a reason."""
        return NOT_SWEPT not in self.text


@dataclass(frozen=True)
class Example:
    """A file of statements and its golden results."""

    path: Path

    @property
    def name(self) -> str:
        """The path in this folder, without `.sql`."""
        return self.path.relative_to(HERE).with_suffix("").as_posix()

    @property
    def golden(self) -> Path:
        return HERE / "golden" / f"{self.name}.txt"

    @property
    def title(self) -> str:
        """The first sentence of the file."""
        lines = takewhile(
            lambda line: line.startswith("-- "), self.path.read_text(encoding="utf-8").splitlines()
        )
        text = " ".join(line.removeprefix("-- ") for line in lines)
        return re.split(r"(?<=[.?]) ", text)[0]

    def statements(self) -> Iterator[Statement]:
        """The statements, split as by the spark-sql shell: at each semicolon that ends a line."""
        for text in self.path.read_text(encoding="utf-8").split(";\n"):
            if text.strip():
                yield Statement(text.strip())

    def make_views(self, spark: SparkSession) -> None:
        """Runs the statements that are not queries."""
        for statement in self.statements():
            if not statement.is_query:
                spark.sql(statement.sql)

    def queries(self, spark: SparkSession) -> Iterator[tuple[Statement, DataFrame]]:
        """Runs all statements; yields the queries."""
        for statement in self.statements():
            frame = spark.sql(statement.sql)
            if statement.is_query:
                yield statement, frame

    def results(self, spark: SparkSession) -> str:
        """The results of all queries, in the format of the golden file."""
        return "\n".join(as_text(frame) for _, frame in self.queries(spark))


def examples() -> list[Example]:
    """All examples by name, except streams, which have separate programs in `streams`."""
    return [Example(path) for name in CHAPTERS for path in sorted((HERE / name).glob("*.sql"))]


def as_text(frame: DataFrame) -> str:
    """Names and values separated by tabs, with values as Spark casts them to STRING."""
    rows = frame.selectExpr(*(f"CAST(`{name}` AS STRING)" for name in frame.columns)).collect()
    lines = [["NULL" if value is None else value for value in row] for row in rows]
    return "".join("\t".join(line) + "\n" for line in [frame.columns, *lines])


def session() -> SparkSession:
    """A quiet local session with the extension, run in the project's folder."""
    from pyspark.sql import SparkSession

    import intervalsweep

    os.chdir(HERE.parent)  # the paths of the data are relative to this folder
    builder = (
        SparkSession.builder.appName("IntervalSweep examples")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile={QUIET.as_uri()}")
        .config("spark.sql.warehouse.dir", str(HERE.parent / "target" / "spark-warehouse"))
    )
    if "MASTER" not in os.environ:
        builder = builder.master("local[*]")
    return intervalsweep.configure(builder).getOrCreate()


def main() -> None:
    """Runs or lists the examples of the command line."""
    parser = argparse.ArgumentParser(description="Run the SQL examples.")
    parser.add_argument("names", nargs="*", help="examples to run (default: all)")
    parser.add_argument("--list", action="store_true", help="list the examples and stop")
    parser.add_argument("--write", action="store_true", help="rewrite the golden results")
    options = parser.parse_args()
    chosen = [e for e in examples() if not options.names or e.name in options.names]
    unknown = set(options.names) - {e.name for e in chosen}
    if unknown:
        parser.error(f"no such example: {', '.join(sorted(unknown))}; --list lists them")
    if options.list:
        print("".join(f"{e.name:24}{e.title}\n" for e in chosen), end="")
        return
    spark = session()
    for example in chosen:
        result = example.results(spark)
        if options.write:
            example.golden.write_text(result, encoding="utf-8")
        print(f"-- {example.name}\n{result}")


if __name__ == "__main__":
    main()
