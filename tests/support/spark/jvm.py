# SPDX-License-Identifier: Apache-2.0
"""JVMs that start in half the time, for the many applications that tests start.

`make test-python` runs this file once for each Spark. It writes two files to `target/tests/`: a
dynamic archive of Spark's loaded classes (class data sharing, JEP 350), and a file system that does
not start a process for each file, as Hadoop's does. Tests run without them, but take longer.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import pyspark

from intervalsweep.session import series_of
from support.spark.applications import SPARK_HOME

FOLDER = Path(__file__).resolve().parents[3] / "target" / "tests"
SERIES = series_of(pyspark.__version__)
CLASSES = FOLDER / f"classes-{SERIES}.jsa"
QUICK_FILES = FOLDER / f"quick-files-{SERIES}.jar"
SOURCE = Path(__file__).with_name("QuickFiles.java")
# The code of each query runs too briefly for an optimizing compiler to pay off, and its memory is
# garbage as soon as the query ends.
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=512m"
# A JVM that cannot use the archive, made for another patch release of Spark, would print a warning
# among the program's output.
QUIET = "-Xlog:cds=off,cds+dynamic=off,class+path=off"
OPTIONS, CLASS_PATH = "SPARK_SUBMIT_OPTS", "SPARK_DIST_CLASSPATH"


def options() -> str:
    """The options of a JVM that runs Spark for a minute or two."""
    archive = f"-XX:SharedArchiveFile={CLASSES} {QUIET}"
    return f"{SHORT_LIVED} {archive}" if CLASSES.exists() else SHORT_LIVED


def environment() -> dict[str, str]:
    """Environment variables that give these options to the JVMs of PySpark and Spark's commands.

    Entries after Spark's own classes on the class path do not invalidate the archive.
    """
    if OPTIONS in os.environ:  # a process that a test has started
        return {}
    return {OPTIONS: options(), CLASS_PATH: str(QUICK_FILES)}


def quick_files() -> dict[str, str]:
    """Settings of a session whose checkpoints are many small files."""
    is_known = QUICK_FILES.exists() and os.environ.get(CLASS_PATH) == str(QUICK_FILES)
    return {"spark.hadoop.fs.file.impl": "QuickFiles"} if is_known else {}


def make_quick_files() -> None:
    """Compile the file system into a jar; does nothing without a Java compiler."""
    if (compiler := shutil.which("javac")) is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        class_path = str(SPARK_HOME / "jars" / "*")
        subprocess.run([compiler, "-cp", class_path, "-d", folder, str(SOURCE)], check=True)
        with zipfile.ZipFile(QUICK_FILES, "w") as jar:
            for file in sorted(Path(folder).glob("*.class")):
                jar.write(file, file.name)


def make_classes() -> None:
    """Load the classes that queries and streams need; the JVM writes the archive when it ends."""
    from pyspark.sql import SparkSession

    CLASSES.unlink(missing_ok=True)
    os.environ[OPTIONS] = f"{SHORT_LIVED} -XX:ArchiveClassesAtExit={CLASSES} -Xlog:cds=off"
    with tempfile.TemporaryDirectory() as folder:
        builder = SparkSession.builder.master("local[2]")
        settings = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "ERROR",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution."
            "streaming.state.RocksDBStateStoreProvider",
            "spark.sql.warehouse.dir": f"{folder}/warehouse",
        }
        for key, value in settings.items():
            builder = builder.config(key, value)
        spark = builder.getOrCreate()
        try:
            _use(spark, Path(folder))
        finally:
            spark.stop()
            # The JVM writes the archive when it ends. It ends when its standard input is closed.
            gateway = spark.sparkContext._gateway
            gateway.shutdown()
            gateway.proc.stdin.close()
            gateway.proc.wait(120)


def _use(spark: Any, folder: Path) -> None:
    """Runs queries over files: joins of each kind, windows, aggregates, streams with state."""
    sql = spark.sql
    spark.range(500).selectExpr(
        "id", "id % 7 AS k", "string(id) AS s", "timestamp_seconds(id) AS ts", "double(id) AS d",
        "date(timestamp_seconds(id * 86400)) AS day", "decimal(id) AS m",
    ).write.parquet(f"{folder}/t")  # fmt: skip
    table = spark.read.parquet(f"{folder}/t")
    table.createOrReplaceTempView("t")
    for threshold, how in itertools.product(
        ("10MB", "-1"), ("JOIN", "FULL JOIN", "LEFT ANTI JOIN")
    ):
        sql(f"SET spark.sql.autoBroadcastJoinThreshold={threshold}")
        right = "1" if "ANTI" in how else "b.s"
        sql(f"SELECT a.id, {right} FROM t a {how} t b ON a.k = b.k AND a.id < b.id").collect()
    sql(
        "SELECT k, count(DISTINCT id), sum(m), max(day), collect_list(s) FROM t GROUP BY ROLLUP (k)"
    ).toPandas()
    sql("SELECT *, sum(d) OVER (PARTITION BY k ORDER BY ts) x FROM t ORDER BY x LIMIT 9").toArrow()
    sql("SELECT * FROM t a WHERE id IN (SELECT k FROM t b WHERE a.s = b.s) OR a.k = 1").collect()
    sql("SELECT a.id FROM t a JOIN t b ON a.id < b.k WHERE a.id < 9 EXCEPT ALL SELECT 3").collect()
    for name in ("a", "b"):
        stream = spark.readStream.schema(table.schema).parquet(f"{folder}/t")
        stream.withWatermark("ts", "1 second").createOrReplaceTempView(name)
    pairs = sql("SELECT a.id FROM a JOIN b ON a.k = b.k AND a.ts BETWEEN b.ts AND b.ts")
    counts = sql("SELECT k, count(*) FROM a GROUP BY k, window(ts, '1 minute')")
    for number, frame in enumerate((pairs, counts)):
        writer = frame.writeStream.format("parquet").trigger(availableNow=True)
        writer = writer.option("checkpointLocation", f"{folder}/state{number}")
        writer.start(f"{folder}/out{number}").awaitTermination(120)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    make_quick_files()
    make_classes()
    sys.exit(not CLASSES.exists())
