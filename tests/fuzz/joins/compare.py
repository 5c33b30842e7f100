# SPDX-License-Identifier: Apache-2.0
"""Runs a case with the extension and by Spark's own plan, and compares the rows.

Rows are compared as bags, or as sequences if the query orders them. A LIMIT without an order may
return any of the rows, so their number is compared, and that each is a row of the whole result.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException

from fuzz.joins.cases import Case
from fuzz.joins.queries import Query
from support.spark.comparison import BROADCAST, ENABLED, OWN_PLAN, configured, difference, physical

Rows = list[Any]
ONE_TASK = {BROADCAST: "10MB", "spark.sql.leafNodeDefaultParallelism": "1"}
# Spark's errors, and Java errors without a PySpark class.
ERRORS = (PySparkException, Py4JJavaError)
# In a plan, IntervalSweepJoin shows its join type, and q7 is the column of branch 7 of a UNION ALL.
SWEEP = re.compile(r"\bIntervalSweepJoin (\w+)")
# Numbers the rows of a query with an order.
PLACE = "monotonically_increasing_id()"
MARK = re.compile(rf"\bq(\d+)#|{SWEEP.pattern}")


class RefusedError(Exception):
    """The analysis of the query fails, which is a mistake of the generator."""


@dataclass
class Report:
    """The outcome of the queries of a case."""

    different: dict[int, str] = field(default_factory=dict)  # by the number of the query
    rows: Counter[int] = field(default_factory=Counter)
    sweeps: dict[int, list[str]] = field(default_factory=dict)  # the join types
    raised: int = 0  # queries for which Spark's own plan raises an error
    wrong_in_spark: int = 0  # queries for which it returns rows that do not exist


def compare(spark: Any, case: Case) -> Report:
    """Runs all queries as one, or each by itself if the case says so or the one query fails."""
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


def _expected_together(spark: Any, queries: tuple[Query, ...]) -> dict[int, Rows] | None:
    """The rows of each query by Spark's own plan, or None if one raises an error."""
    with configured(spark, {**OWN_PLAN, **ONE_TASK}):
        try:
            return _tagged_rows(spark.sql(union(queries, written=True)))
        except ERRORS:
            return None


def _together(spark: Any, queries: tuple[Query, ...], expected: dict[int, Rows]) -> Report:
    with _prepared(spark, *enumerate(queries)) as below:
        frame = spark.sql(union(queries, written=False))
        report = Report(sweeps=_sweeps(physical(frame)))
        report.sweeps.update(below)
        got = _tagged_rows(frame)
    for number, query in enumerate(queries):
        _judge(spark, report, number, query, expected.get(number, []), got.get(number, []))
    return report


@contextmanager
def _prepared(spark: Any, *queries: tuple[int, Query]) -> Iterator[dict[int, list[str]]]:
    """Stores tables and caches of the queries for a block; yields the sweeps of written tables."""
    try:
        written: dict[int, list[str]] = {}
        for number, query in queries:
            if query.above.kept == "write":
                written[number] = SWEEP.findall(physical(spark.sql(query.kept())))
            for statement in query.prepared(number):
                spark.sql(statement)
        yield written
    finally:
        for number, query in queries:
            for statement in query.removed(number):
                spark.sql(statement)


def union(queries: tuple[Query, ...], written: bool) -> str:
    """One query for all, as a Spark job costs more than a small join.

    Each branch starts with a column that has its number as name and value. A UNION ALL has no
    order, so rows of a query with an order carry their position.
    """
    return "\nUNION ALL\n".join(
        f"SELECT {n} AS q{n}, {PLACE if query.above.ordered else '0L'} AS place, "
        f"CAST(struct(*) AS STRING) AS v FROM ({query.written() if written else query.sql(n)})"
        for n, query in enumerate(queries)
    )


def _tagged_rows(frame: Any) -> dict[int, Rows]:
    found: dict[int, list[tuple[int, str]]] = {}
    for tag, place, value in zip(*(c.to_pylist() for c in frame.toArrow().columns), strict=True):
        found.setdefault(tag, []).append((place, value))
    return {tag: [value for _, value in sorted(rows)] for tag, rows in found.items()}


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
    """Compare one query.

    If Spark's own plan raises an error, the extension may raise it or not, as it visits fewer
    pairs. If Spark's plan raises no error, the extension must not raise one.
    """
    try:
        with configured(spark, {ENABLED: "false"}):
            expected = values(spark.sql(query.written()))
    except AnalysisException as error:
        raise RefusedError(f"{query.written()}\n{error}") from None
    except ERRORS:
        report.raised += 1
        return
    try:
        with _prepared(spark, (number, query)) as below:
            frame = spark.sql(query.sql(number))
            if sweeps := below.get(number) or SWEEP.findall(physical(frame)):
                report.sweeps[number] = sweeps
            got = values(frame)
    except AnalysisException as error:
        raise RefusedError(f"{query.prepared()}\n{query.sql()}\n{error}") from None
    except ERRORS as error:
        report.different[number] = (
            f"  an error that Spark's own plan does not raise: {brief(error)}"
        )
        return
    _judge(spark, report, number, query, expected, got)


def brief(error: Exception) -> str:
    """The message of an error with its causes, but without the stack."""
    lines = str(error).splitlines()
    return "\n".join(line for line in lines if not line.startswith(("\t", " ")))[:2000]


def values(frame: Any) -> Rows:
    """The rows as texts; dates and timestamps are numbers."""
    columns = [_numbers(column).to_pylist() for column in frame.toArrow().columns]
    return list(map(repr, zip(*columns, strict=True)))


def _numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.int64())
    return column.cast(pa.int32()) if pa.types.is_date32(column.type) else column


def _judge(
    spark: Any, report: Report, number: int, query: Query, expected: Rows, got: Rows
) -> None:
    report.rows[number] = len(expected)
    if wrong := wrong_rows(query, expected, got):
        if query.above.taken and _is_wrong_in_spark(spark, query, number):
            report.wrong_in_spark += 1
        else:
            report.different[number] = wrong


def _is_wrong_in_spark(spark: Any, query: Query, number: int) -> bool:
    """True if Spark's own plan returns wrong rows, too, for a query with a LIMIT.

    Spark 4.3 moves a LIMIT below an outer join, and drops an ORDER BY ... LIMIT that stands there.
    The query has written-out formulas, so that mistakes of our functions do not count as Spark's.
    """
    own = query.spelled_out()
    with configured(spark, {ENABLED: "false"}), _prepared(spark, (number, own)):
        try:
            all_rows = values(spark.sql(own.written()))
            return bool(wrong_rows(own, all_rows, values(spark.sql(own.sql(number)))))
        except ERRORS:
            return False


def wrong_rows(query: Query, expected: Rows, got: Rows) -> str:
    """A message about wrong rows; empty if the rows are right."""
    all_rows, rows = Counter(expected), Counter(got)
    if taken := query.above.taken:
        if len(got) != (number := len(expected[taken])):
            return f"  {len(got)} rows instead of any {number} of {len(expected)}"
        return difference(all_rows & rows, rows)
    if wrong := difference(all_rows, rows):
        return wrong
    if query.above.ordered and expected != got:
        return f"  the same rows in another order, such as{_first_change(expected, got)}"
    return ""


def _first_change(expected: Rows, got: Rows) -> str:
    place = next(i for i, rows in enumerate(zip(expected, got, strict=True)) if len({*rows}) > 1)
    return f"\n    row {place}: {expected[place]}, got {got[place]}"
