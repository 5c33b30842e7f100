# SPDX-License-Identifier: Apache-2.0
"""Writes a case as a program that needs only PySpark and intervalsweep."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from fuzz.joins.cases import Case
from fuzz.joins.compare import union
from fuzz.joins.endpoints import Table

PROGRAM = '''"""{title}: exits with 1 if the rows differ.

Run it with the Python of a checkout in which the jar is built: .venv/bin/python {name}
"""

import sys
import tempfile
from collections import Counter
from decimal import Decimal  # noqa: F401
from math import inf, nan  # noqa: F401

import intervalsweep
import pyarrow as pa
from pyspark.sql import SparkSession

SETTINGS = {settings}
TOGETHER = {together}
ORDERED = {ordered}
TAKEN = {taken}
FILES = {files}
TABLES = {{
{tables}
}}
# Statements that create the tables and caches that the query reads.
BEFORE = {before}
QUERY = """
{query}
"""
# The query for Spark's own plan, with written-out relations.
EXPECTED = """
{expected}
"""


def column(values, of):
    """Dates and timestamps are given as the numbers behind them."""
    if pa.types.is_timestamp(of):
        return pa.array(values, pa.int64()).cast(of)
    if pa.types.is_date32(of):
        return pa.array(values, pa.int32()).cast(of)
    return pa.array(values, of)


def shown(of):
    if pa.types.is_timestamp(of.type):
        of = of.cast(pa.int64())
    return (of.cast(pa.int32()) if pa.types.is_date32(of.type) else of).to_pylist()


def rows(query, enabled):
    """By number of the query, which is a column where there are several."""
    spark.conf.set("spark.sql.intervalsweep.enabled", enabled)
    try:
        for statement in BEFORE if enabled == "true" else ():
            spark.sql(statement)
        frame = spark.sql(query)
        print(frame._jdf.queryExecution().executedPlan().toString())
        found = list(zip(*map(shown, frame.toArrow().columns)))
    except Exception as error:
        print(error)
        return {{0: [f"an error: {{type(error).__name__}}"]}}
    if not TOGETHER:
        return {{0: list(map(repr, found))}}
    numbers = {{number for number, _, _ in found}}
    return {{n: [value for number, _, value in sorted(found) if number == n] for n in numbers}}


def judge(number, expected, got):
    """Whether they differ: as bags, as sequences if they are ordered, or taken from all."""
    missing, many = Counter(expected) - Counter(got), Counter(got) - Counter(expected)
    if number in TAKEN:
        count = len(expected[TAKEN[number]])
        print(f"query {{number}}: {{len(got)}} rows, {{count}} of {{len(expected)}} are to come")
        if len(got) == count:
            missing = Counter()
    print("missing: ", dict(missing))
    print("too many:", dict(many))
    order = number in ORDERED and not missing and not many and expected != got
    if order:
        print("the order differs:", expected, got, sep="\\n")
    return bool(missing or many or order)


FOLDER = tempfile.TemporaryDirectory()
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
builder = builder.config("spark.sql.warehouse.dir", f"{{FOLDER.name}}/warehouse")
spark = intervalsweep.configure(builder).getOrCreate()
for key, value in SETTINGS.items():
    spark.conf.set(key, value)
for name, (columns, values) in TABLES.items():
    arrays = {{
        column_name: column([row[i] for row in values], of)
        for i, (column_name, of) in enumerate(columns.items())
    }}
    frame = spark.createDataFrame(pa.table(arrays))
    if FILES:
        path = f"{{FOLDER.name}}/{{name}}"
        frame.write.parquet(path)
        frame = spark.read.schema(frame.schema).parquet(path)
    frame.createOrReplaceTempView(name)

expected, got = rows(EXPECTED, "false"), rows(QUERY, "true")
numbers = sorted({{*expected, *got}})
different = [n for n in numbers if judge(n, expected.get(n, []), got.get(n, []))]
print("the rows differ" if different else f"the same {{sum(map(len, got.values()))}} rows")
sys.exit(bool(different))
'''


def write(case: Case, folder: Path, name: str, title: str) -> Path:
    """Writes the program and returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.py"
    first, numbered = case.queries[0], list(enumerate(case.queries))
    alone = len(case.queries) == 1
    path.write_text(
        PROGRAM.format(
            title=title,
            name=path.name,
            settings=_lines("{}", [f"{k!r}: {v!r}" for k, v in case.settings.items()]),
            files=case.files,
            tables="\n".join(_table(name, table) for name, table in case.tables.items()),
            together=not alone,
            ordered=[n for n, query in numbered if query.above.ordered],
            taken={n: query.above.taken for n, query in numbered if query.above.taken},
            before=_lines(
                "[]", [repr(text) for n, query in numbered for text in query.prepared(n)]
            ),
            query=first.sql() if alone else union(case.queries, written=False),
            expected=first.written() if alone else union(case.queries, written=True),
        ),
        encoding="utf-8",
    )
    return path


def _lines(brackets: str, items: list[str], indent: str = "") -> str:
    inner = "".join(f"\n{indent}    {item}," for item in items)
    return f"{brackets[0]}{inner}\n{indent}{brackets[1]}" if items else brackets


def _table(name: str, table: Table) -> str:
    columns = _lines("{}", [f"{c!r}: {_type(of)}" for c, of in table.columns], " " * 8)
    rows = _lines("[]", [repr(row) for row in table.rows], " " * 8)
    return f"    {name!r}: (\n        {columns},\n        {rows},\n    ),"


def _type(of: pa.DataType) -> str:
    """The Python expression for an Arrow type."""
    if pa.types.is_timestamp(of):
        return f"pa.timestamp('us', {of.tz!r})"
    if pa.types.is_decimal(of):
        return f"pa.decimal128({of.precision}, {of.scale})"
    names = {pa.float32(): "float32", pa.float64(): "float64", pa.date32(): "date32"}
    return f"pa.{names.get(of, of)}()"
