# SPDX-License-Identifier: Apache-2.0
"""Newer Java versions run a relation, a history and a stream."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from support.spark.applications import program

pytestmark = [pytest.mark.extended, pytest.mark.needs_spark("4.3")]

STEPS = """
from support.neighbours.checks import ROCKSDB, relations
spark = start(spark__sql__streaming__stateStore__providerClass=ROCKSDB)
print(spark._jvm.java.lang.System.getProperty("java.specification.version"))
rows = ("SELECT id, id % 7 AS k, id % 500 AS ts, id % 500 + 1 + id % 20 AS te "
        "FROM range({0}, {1})")
spark.sql(rows.format(0, 400)).createOrReplaceTempView("r")
spark.sql(rows.format(300, 900)).createOrReplaceTempView("s")
print(relations(spark, "r", "s") > 10000)
history = spark.sql("SELECT * FROM sequenced(TABLE(SELECT k, sum(id) AS n FROM (SELECT * FROM "
                    "validtime(TABLE(r), 'ts', 'te')) GROUP BY k))")
print(history.count() > 100)
for name in "rs":
    rows = spark.sql(f"SELECT id, k, timestamp_seconds(ts) AS ts FROM {name}")
    rows.write.parquet(f"{FOLDER}/{name}")
    stream = spark.readStream.schema("id LONG, k LONG, ts TIMESTAMP").parquet(f"{FOLDER}/{name}")
    stream.withWatermark("ts", "1 second").createOrReplaceTempView(name + "_stream")
pairs = spark.sql("SELECT a.id, b.id AS other FROM r_stream a JOIN s_stream b ON a.k = b.k "
                  "AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '9' SECONDS")
query = pairs.writeStream.format("memory").queryName("out")
query.trigger(availableNow=True).start().awaitTermination()
print(spark.table("out").count() > 100)
"""


def homes() -> list[Path]:
    """The Java installations of this machine that are newer than 17."""
    found = Path("/usr/lib/jvm").glob("*/bin/java")
    return sorted(java.parents[1] for java in found if version(java) > 17)


def version(java: Path) -> int:
    asked = [str(java), "-XshowSettings:properties", "-version"]
    shown = subprocess.run(asked, capture_output=True, text=True, check=False).stderr
    line = next(line for line in shown.splitlines() if "java.specification.version" in line)
    return int(line.split("=")[1].strip().split(".")[-1])


@pytest.mark.skipif(not homes(), reason="needs a Java newer than 17 in /usr/lib/jvm")
def test_relations_a_history_and_a_stream_on_newer_java(tmp_path: Path) -> None:
    for home in homes():
        folder = tmp_path / home.name
        folder.mkdir()
        text = f"FOLDER = {str(folder)!r}\n" + STEPS
        printed = program(folder, text, JAVA_HOME=str(home))
        assert printed.split() == [str(version(home / "bin" / "java")), *["True"] * 3], printed
