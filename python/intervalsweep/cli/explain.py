# SPDX-License-Identifier: Apache-2.0
"""`intervalsweep explain FILE.sql`: the plan of each query, and a report on each join."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from intervalsweep._errors import ArgumentError
from intervalsweep.cli.local import local_session
from intervalsweep.report import reports_of

# Statements that are executed: later queries need them, and they change only the session.
_SET_UP = re.compile(r"(CREATE\s+(OR\s+REPLACE\s+)?(GLOBAL\s+)?TEMP|SET\b|USE\b)", re.IGNORECASE)
_TOKEN = re.compile(
    r"--[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|`[^`]*`|;|.", re.DOTALL
)


def explain(file: Path, conf: list[str]) -> int:
    """Print the plans and reports; return 0 if all statements can be planned."""
    from pyspark.errors import PySparkException

    if not file.is_file():
        raise ArgumentError(f"The file {file} does not exist.")
    settings = dict(setting.partition("=")[::2] for setting in conf)
    with local_session(settings) as spark:
        for statement in statements(file.read_text(encoding="utf-8")):
            try:
                if _SET_UP.match(statement):
                    spark.sql(statement)
                    continue
                joins = reports_of(spark, statement)
                plan = spark.sql(f"EXPLAIN {statement}").collect()[0][0]
            except PySparkException as error:
                print(f"{statement}\n\n{error}", file=sys.stderr)
                return 1
            print(f"{statement}\n\n{plan.strip()}\n\n{joins}\n")
    return 0


def statements(text: str) -> Iterator[str]:
    """Yield the statements of a text, without comments. Semicolons in strings do not end one."""
    statement = ""
    for token in [*_TOKEN.findall(text), ";"]:
        if token == ";":
            if statement.strip():
                yield statement.strip()
            statement = ""
        elif not token.startswith(("--", "/*")) or token.startswith("/*+"):  # keep hints
            statement += token
