# SPDX-License-Identifier: Apache-2.0
"""Sweeps over periods that are cancelled, or that have little memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from applications import PRELUDE as APPLICATION
from applications import program
from faults.test_cancel import PRELUDE

SWEPT = """
def swept(frame):
    assert "PeriodSweep" in frame._jdf.queryExecution().executedPlan().toString()
    return frame

def valid(rows, keys):
    spark.range(rows).selectExpr(
        f"id % {keys} AS k", "id * 7919 % 10000019 AS ts", "id * 7919 % 10000019 + 100 AS te"
    ).createOrReplaceTempView("rows_of_r")
    marked = "validtime(TABLE(rows_of_r), 'ts', 'te')"
    spark.sql(f"CREATE OR REPLACE TEMP VIEW v AS SELECT * FROM {marked}")

def history(query):
    return f"SELECT * FROM sequenced(TABLE({query}))"
"""


@pytest.mark.extended
def test_a_cancelled_sweep_ends_at_once(tmp_path: Path) -> None:
    printed = program(
        tmp_path,
        PRELUDE
        + SWEPT
        + """
valid(100_000_000, 1000)
cancelled(history("SELECT k, count(*) AS n FROM v GROUP BY k") + " WHERE n < 0")
cancelled(history("SELECT count(*) AS n FROM v") + " WHERE n < 0")
cancelled(history("SELECT DISTINCT k % 1 AS k FROM v") + " WHERE te < 0")
""",
    )
    lines = printed.splitlines()
    assert len(lines) == 3, printed
    assert all(float(line.split()[0]) <= 2 for line in lines), printed


def test_one_group_with_all_rows_in_little_memory(tmp_path: Path) -> None:
    """What one key has is spilled by Spark's sort, and swept window by window."""
    printed = program(
        tmp_path,
        APPLICATION
        + SWEPT
        + """
spark = start(
    spark__driver__memory="640m", spark__sql__adaptive__enabled="false",
    spark__memory__fraction="0.1", spark__sql__intervalsweep__batchRows="4096")
valid(1_000_000, 1)
frame = swept(spark.sql("SELECT count(*) AS n, sum((te - ts) * c) AS t FROM ("
    + history("SELECT k, count(*) AS c FROM v GROUP BY k") + ")"))
row = frame.collect()[0]
assert row.t == 100_000_000, row
plan = frame._jdf.queryExecution().executedPlan()
def nodes(plan):
    below = [plan.children().apply(i) for i in range(plan.children().size())]
    return [plan, *(node for child in below for node in nodes(child))]
[node] = [n for n in nodes(plan) if n.nodeName() == "PeriodSweep"]
names = ("pythonDataSent", "kernelTime", "peakMemory", "spillSize")
values = {name: node.metrics().apply(name).value() for name in names}
assert all(values.values()), values
print(values)
""",
    )
    assert "spillSize" in printed
