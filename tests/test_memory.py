"""A task that holds more rows than its memory fails in words; the JVM and the session live on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

APPLICATION = """
import intervalsweep
from pyspark.sql import SparkSession

builder = (
    SparkSession.builder.master("local[1]")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.memory", "512m")
    .config("spark.memory.fraction", "0.05")
    .config("spark.sql.warehouse.dir", "warehouse")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.sql.autoBroadcastJoinThreshold", "-1")
)
spark = intervalsweep.configure(builder).getOrCreate()
spark.sparkContext.setLogLevel("OFF")
query = '''
    SELECT max(a.id) FROM range(1000) b JOIN range(3000000) a
    ON b.id <= a.id AND a.id < b.id + 9
'''
try:
    spark.sql(query).collect()
    print("no error")
except Exception as error:
    print("error:", error)
print("alive:", spark.range(7).count())
"""


def test_a_task_that_is_too_large_says_so_and_the_session_lives_on(tmp_path: Path) -> None:
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
    assert "IntervalSweepJoin: a task holds" in done.stdout
    assert "spark.driver.memory" in done.stdout
    assert "alive: 7" in done.stdout
