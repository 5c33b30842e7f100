# SPDX-License-Identifier: Apache-2.0
"""`intervalsweep explain FILE.sql`: the plan of each query, and of each join how or why not."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from intervalsweep._errors import ArgumentError
from intervalsweep.cli.local import local_session
from intervalsweep.report import JoinReport, JoinReports

# What the queries after it need, and what changes nothing outside the session.
_SET_UP = re.compile(r"(CREATE\s+(OR\s+REPLACE\s+)?(GLOBAL\s+)?TEMP|SET\b|USE\b)", re.IGNORECASE)
_TOKEN = re.compile(
    r"--[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|`[^`]*`|;|.", re.DOTALL
)


def explain(file: Path, conf: list[str]) -> int:
    """Print the plans and reports; returns 0 if all statements can be planned."""
    from pyspark.errors import PySparkException

    if not file.is_file():
        raise ArgumentError(f"There is no file {file}.")
    settings = dict(setting.partition("=")[::2] for setting in conf)
    with local_session(settings) as spark:
        for statement in statements(file.read_text(encoding="utf-8")):
            try:
                if _SET_UP.match(statement):
                    spark.sql(statement)
                    continue
                report = spark.sql("SELECT * FROM interval_join_report(:q)", {"q": statement})
                joins = JoinReports(JoinReport(**row.asDict()) for row in report.collect())
                plan = spark.sql(f"EXPLAIN {statement}").collect()[0][0]
            except PySparkException as error:
                print(f"{statement}\n\n{error}", file=sys.stderr)
                return 1
            print(f"{statement}\n\n{plan.strip()}\n\n{joins}\n")
    return 0


def statements(text: str) -> Iterator[str]:
    """The statements of a text, without comments; not cut at semicolons in strings."""
    statement = ""
    for token in [*_TOKEN.findall(text), ";"]:
        if token == ";":
            if statement.strip():
                yield statement.strip()
            statement = ""
        elif not token.startswith(("--", "/*")) or token.startswith("/*+"):  # hints are no comments
            statement += token
