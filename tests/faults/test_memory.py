# SPDX-License-Identifier: Apache-2.0
"""A join with more rows than its task has memory for runs in chunks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

APPLICATION = """
import intervalsweep
from pyspark.sql import SparkSession

builder = (
    SparkSession.builder.master("local[1]")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.memory", "512m")
    .config("spark.memory.fraction", "0.2")
    .config("spark.sql.warehouse.dir", "warehouse")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.sql.autoBroadcastJoinThreshold", "-1")
)
spark = intervalsweep.configure(builder).getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
query = '''
    SELECT count(*), sum(a.id), count(b.id), sum(b.id) FROM range({0}) b FULL JOIN
    (SELECT id, id AS ts, repeat('x', 20) AS text FROM range(3000000)) a
    ON b.id <= a.ts AND a.ts < b.id + 9 AND a.text <> CAST(b.id AS STRING)
'''
for rows in (1000, 1000000):
    print("answer:", *spark.sql(query.format(rows)).first())
"""


@pytest.mark.extended
def test_a_task_with_a_few_mebibytes_joins_three_million_rows(tmp_path: Path) -> None:
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        [sys.executable, "-c", APPLICATION],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answers = [line.split()[1:] for line in done.stdout.splitlines() if "answer:" in line]
    assert len(answers) == 2
    for rows, answer in zip((1000, 1_000_000), answers, strict=True):
        all_a, matched_a = sum(range(3_000_000)), rows + 8
        # Each row of b matches nine rows of a; later rows of a are unmatched.
        pairs = 9 * rows
        of_pairs = 9 * sum(range(rows)) + rows * sum(range(9))
        expected = [pairs + 3_000_000 - matched_a, of_pairs + all_a - sum(range(matched_a))]
        assert [int(value) for value in answer] == [*expected, pairs, 9 * sum(range(rows))]
