# SPDX-License-Identifier: Apache-2.0
"""Joins ten tables of versions (SCD2) over time, with `sequenced` and with spark-temporalquery.

spark-temporalquery (MIT) joins tables in which the rows of a key do not overlap. It is published
for Spark 3: compile its sources for the installed Spark, and pass the jar as `--jar`. Without a jar
only `sequenced` is measured.

python -m benchmarks.temporal.scd2 [--ids 20000] [--tables 10] [--runs 3] [--jar JAR]
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from functools import partial, reduce
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.adapter import Limits
from benchmarks.systems import ENABLED, spark_session
from benchmarks.temporal.__main__ import OURS, timed

VERSIONS = 5
# The number of days, from 2000-01-01 on, in which versions begin.
DAYS = 9_000
DAY = 86_400_000_000
START = np.datetime64("2000-01-01", "us").astype(np.int64)
PACKAGE = "ch.zzeekk.spark.temporalquery.TemporalQueryUtil$"


def main() -> None:
    """Measures both and prints the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ids", type=int, default=20_000)
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--jar", type=Path, help="a jar of spark-temporalquery")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        spark = spark_session(Limits(2, "4g", folder))
        spark.conf.set("spark.sql.session.timeZone", "UTC")
        frames = []
        for number in range(1, arguments.tables + 1):
            pq.write_table(versions(number, arguments.ids), folder / f"t{number}.parquet")
            frames.append(spark.read.parquet(str(folder / f"t{number}.parquet")))
            frames[-1].createOrReplaceTempView(f"t{number}")
        ways: dict[str, Callable[[], tuple[object, ...]]] = {
            OURS: partial(answer, spark, "true", partial(sequenced, spark, arguments.tables))
        }
        if arguments.jar:
            peer = TemporalQuery(spark, arguments.jar)
            ways["spark-temporalquery"] = partial(
                answer, spark, "false", lambda: reduce(peer.left_join, frames)
            )
        took = timed(arguments.runs, ways)
        spark.stop()
    rows = arguments.ids * VERSIONS
    parts = [f"{name} {seconds:.2f} s" for name, seconds in took.items()]
    print(f"left join of {arguments.tables} tables of {rows:,} versions: {', '.join(parts)}")


def versions(number: int, ids: int) -> pa.Table:
    """Versions that follow each other without gaps, with no version before or after them."""
    random = np.random.default_rng(number)
    ends = np.sort(random.integers(0, DAYS, (ids, VERSIONS + 1)), axis=1)
    ends += np.arange(VERSIONS + 1)  # no version is empty
    ends = START + ends * DAY
    kind = pa.timestamp("us", "UTC")
    columns = {
        "id": np.repeat(np.arange(ids), VERSIONS),
        f"v{number}": random.integers(0, 100, ids * VERSIONS),
        "ts": pa.array(ends[:, :-1].ravel(), kind),
        "te": pa.array(ends[:, 1:].ravel(), kind),
    }
    return pa.table(columns)


def sequenced(spark: Any, tables: int) -> Any:
    def marked(number: int) -> str:
        return f"(SELECT * FROM validtime(TABLE(t{number}), 'ts', 'te'))"

    query = f"SELECT * FROM {marked(1)}"
    for number in range(2, tables + 1):
        query += f" LEFT JOIN {marked(number)} USING (id)"
    return spark.sql(f"SELECT * FROM sequenced(TABLE({query}))")


def answer(spark: Any, enabled: str, made: Callable[[], Any]) -> tuple[object, ...]:
    """Sums of days, weighted by values: the same wherever periods of equal rows are cut."""
    spark.conf.set(ENABLED, enabled)
    frame = made()
    values = ", ".join(sorted(column for column in frame.columns if column.startswith("v")))
    days = "(unix_micros(te) - unix_micros(ts)) DIV 86400000000"
    sums = frame.selectExpr(
        f"sum({days}) AS days", f"sum({days} * pmod(xxhash64(id, {values}), 1000)) AS weighed"
    )
    return tuple(sums.collect()[0])


class TemporalQuery:
    """The functions of spark-temporalquery, called through its Scala objects."""

    def __init__(self, spark: Any, jar: Path) -> None:
        self._spark = spark
        spark.sql(f"ADD JAR '{jar.resolve()}'")
        self._jvm = spark._jvm
        self._loader = spark._jsparkSession.sharedState().jarClassLoader()
        self._functions = self._module(PACKAGE)
        settings = self._module(f"{PACKAGE}TemporalHalfOpenIntervalQueryConfig$")
        nothing = self._seq()
        self._settings = settings.apply("ts", "te", nothing, getattr(settings, "apply$default$4")())

    def left_join(self, left: Any, right: Any) -> Any:
        from pyspark.sql import DataFrame

        functions = self._functions.TemporalDataFrameExtensions(left._jdf)
        always = self._jvm.org.apache.spark.sql.functions.lit(True)
        joined = functions.temporalLeftJoin(
            right._jdf, self._seq("id"), self._seq(), always, True,
            self._spark._jsparkSession, self._settings,
        )  # fmt: skip
        return DataFrame(joined, self._spark)

    def _module(self, name: str) -> Any:
        """A Scala object."""
        found = self._jvm.java.lang.Class.forName(name, True, self._loader)
        return found.getField("MODULE$").get(None)

    def _seq(self, *names: str) -> Any:
        values = self._jvm.java.util.ArrayList()
        for name in names:
            values.add(name)
        return self._jvm.org.apache.spark.api.python.PythonUtils.toSeq(values)


if __name__ == "__main__":
    main()
