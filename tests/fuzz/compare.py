# SPDX-License-Identifier: Apache-2.0
"""Runs a case by the extension and by Spark's own plan, and compares the rows as bags."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException

from comparison import ENABLED, configured, difference, physical
from fuzz.cases import PLAINEST, Case
from fuzz.queries import Query

Bag = Counter[Any]
# Spark's errors, and those of Java that PySpark has no name for.
ERRORS = (PySparkException, Py4JJavaError)
# A branch of the UNION ALL begins with its number as a column, c7; a sweep shows its join type.
SWEEP = re.compile(r"\bIntervalSweepJoin (\w+)")
MARK = re.compile(rf"\bq(\d+)#|{SWEEP.pattern}")


class RefusedError(Exception):
    """Spark does not even analyse the query: the generator is at fault."""


@dataclass
class Report:
    """What became of the queries of a case."""

    different: dict[int, str] = field(default_factory=dict)  # by the number of the query
    rows: Counter[int] = field(default_factory=Counter)
    sweeps: dict[int, list[str]] = field(default_factory=dict)  # the join types
    raised: int = 0  # queries for which Spark's own plan raises an error


def compare(spark: Any, case: Case) -> Report:
    """Runs all queries in one, or each alone: also if an error stops the one."""
    with tempfile.TemporaryDirectory() as folder:
        _name_tables(spark, case, folder)
        with configured(spark, dict(case.settings)):
            return _compared(spark, case)


def _name_tables(spark: Any, case: Case, folder: str) -> None:
    for name, table in case.tables.items():
        frame = spark.createDataFrame(table.arrow())
        if case.files:
            frame.write.parquet(f"{folder}/{name}")
            frame = spark.read.schema(frame.schema).parquet(f"{folder}/{name}")
        frame.createOrReplaceTempView(name)


def _compared(spark: Any, case: Case) -> Report:
    failure = ""
    if len(case.queries) > 1 and not case.alone:
        expected = _expected_together(spark, case.queries)
        try:
            if expected is not None:
                return _together(spark, case.queries, expected)
        except ERRORS as error:
            failure = brief(error)
    report = Report()
    for number, query in enumerate(case.queries):
        _alone(spark, query, number, report)
    if failure and not report.different:
        report.different[0] = f"  an error, only beside the other queries: {failure}"
    return report


def _expected_together(spark: Any, queries: tuple[Query, ...]) -> dict[int, Bag] | None:
    """The rows of each query by Spark's own plan, or None if one raises an error."""
    with configured(spark, {**PLAINEST, ENABLED: "false"}):
        try:
            return _tagged_rows(spark.sql(union(queries, written=True)))
        except ERRORS:
            return None


def _together(spark: Any, queries: tuple[Query, ...], expected: dict[int, Bag]) -> Report:
    frame = spark.sql(union(queries, written=False))
    report = Report(sweeps=_sweeps(physical(frame)))
    got = _tagged_rows(frame)
    for number in range(len(queries)):
        _judge(report, number, expected.get(number, Counter()), got.get(number, Counter()))
    return report


def union(queries: tuple[Query, ...], written: bool) -> str:
    """All in one, as text: a Spark job costs more than a small join."""
    return "\nUNION ALL\n".join(
        f"SELECT {n} AS q{n}, CAST(struct(*) AS STRING) AS v FROM ({query.sql(written)})"
        for n, query in enumerate(queries)
    )


def _tagged_rows(frame: Any) -> dict[int, Bag]:
    tags, values = (column.to_pylist() for column in frame.toArrow().columns)
    found: dict[int, Bag] = {}
    for tag, value in zip(tags, values, strict=True):
        found.setdefault(tag, Counter())[value] += 1
    return found


def _sweeps(plan: str) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    branch = 0
    for mark in MARK.finditer(plan):
        if mark[1]:
            branch = int(mark[1])
        else:
            found.setdefault(branch, []).append(mark[2])
    return found


def _alone(spark: Any, query: Query, number: int, report: Report) -> None:
    """An error that Spark's own plan raises may be raised or not: it depends on the pairs visited.
    An error that it does not raise must not be."""
    try:
        frame = spark.sql(query.sql())
        with configured(spark, {ENABLED: "false"}):
            expected = values(spark.sql(query.sql(written=True)))
    except AnalysisException as error:
        raise RefusedError(f"{query.sql(written=True)}\n{error}") from None
    except ERRORS:
        report.raised += 1
        return
    try:
        if sweeps := SWEEP.findall(physical(frame)):
            report.sweeps[number] = sweeps
        got = values(frame)
    except ERRORS as error:
        report.different[number] = (
            f"  an error that Spark's own plan does not raise: {brief(error)}"
        )
        return
    _judge(report, number, expected, got)


def brief(error: Exception) -> str:
    """Without the stack, but with the causes."""
    lines = str(error).splitlines()
    return "\n".join(line for line in lines if not line.startswith(("\t", " ")))[:2000]


def values(frame: Any) -> Bag:
    """Rows in their own types, dates and timestamps as numbers."""
    columns = [_numbers(column).to_pylist() for column in frame.toArrow().columns]
    return Counter(map(repr, zip(*columns, strict=True)))


def _numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.int64())
    return column.cast(pa.int32()) if pa.types.is_date32(column.type) else column


def _judge(report: Report, number: int, expected: Bag, got: Bag) -> None:
    report.rows[number] = expected.total()
    if wrong := difference(expected, got):
        report.different[number] = wrong
