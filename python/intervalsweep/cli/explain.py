# SPDX-License-Identifier: Apache-2.0
"""`intervalsweep explain FILE.sql`: the plan of each query, and a report on each join."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from intervalsweep._errors import ArgumentError
from intervalsweep.cli.local import local_session
from intervalsweep.report import reports_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Statements that are executed: later queries need them, and they change only the session.
_SET_UP = re.compile(r"(CREATE\s+(OR\s+REPLACE\s+)?(GLOBAL\s+)?TEMP|SET\b|USE\b)", re.IGNORECASE)
# Statements that are executed as well if the catalog is in the memory of this session.
_DEFINITION = re.compile(
    r"CREATE\s+(OR\s+REPLACE\s+)?(EXTERNAL\s+)?(TABLE|VIEW|SCHEMA|DATABASE|NAMESPACE)\b",
    re.IGNORECASE,
)
_VIEW = re.compile(r"CREATE\s+(OR\s+REPLACE\s+)?VIEW\b", re.IGNORECASE)


def explain(file: Path, conf: list[str]) -> int:
    """Print the plans and reports; return 0 if all statements can be planned."""
    from pyspark.errors import PySparkException

    if not file.is_file():
        raise ArgumentError(f"The file {file} does not exist.")
    settings = dict(setting.partition("=")[::2] for setting in conf)
    with tempfile.TemporaryDirectory() as warehouse:
        defaults = {"spark.sql.warehouse.dir": warehouse}
        with local_session({**defaults, **settings}) as spark:
            for statement in _script(spark).statements(file.read_text(encoding="utf-8")):
                try:
                    _explain_one(spark, statement)
                except PySparkException as error:
                    print(f"{statement}\n\n{error}", file=sys.stderr)
                    return 1
    return 0


def _explain_one(spark: SparkSession, statement: str) -> None:
    if _SET_UP.match(statement):
        spark.sql(statement)
        return
    schema, *name = _script(spark).madeTableOf(spark._jsparkSession, statement) or [None]
    is_definition = bool(_DEFINITION.match(statement)) and schema is None
    if not is_definition or _VIEW.match(statement):
        joins = reports_of(spark, statement)
        plan = spark.sql(f"EXPLAIN {statement}").collect()[0][0]
        print(f"{statement}\n\n{plan.strip()}\n\n{joins}\n")
    if schema is not None:
        _make_empty(spark, schema, name)
    elif is_definition and _is_in_memory(spark):
        spark.sql(statement)


def _make_empty(spark: SparkSession, schema: str, name: list[str]) -> None:
    """Make an empty table or view in place of the table that a statement would make.

    A view of the session does not touch a catalog. It can be neither qualified nor written to, so
    a catalog in memory gets a table.
    """
    from pyspark.sql.types import StructType

    empty = spark.createDataFrame([], StructType.fromJson(json.loads(schema)))
    if _is_in_memory(spark) and len(name) < 3:
        quoted = ".".join(f"`{part}`" for part in name)
        empty.write.mode("overwrite").saveAsTable(quoted)
    elif len(name) == 1:
        empty.createOrReplaceTempView(name[0])


def _is_in_memory(spark: SparkSession) -> bool:
    settings = spark.conf
    return (
        settings.get("spark.sql.catalogImplementation") == "in-memory"
        and settings.get("spark.sql.catalog.spark_catalog", None) in (None, "builtin")
        and settings.get("spark.sql.defaultCatalog", "spark_catalog") == "spark_catalog"
    )


def _script(spark: SparkSession) -> Any:
    package = "org.apache.spark.sql.intervalsweep.planner.report"
    return getattr(spark._jvm, f"{package}.SqlScript")
