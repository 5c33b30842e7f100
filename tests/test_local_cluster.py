"""Nothing of ours but the jar: executors in processes of their own, and Spark's command lines."""

from __future__ import annotations

import os
from pathlib import Path

import pyspark
import pytest

from applications import BY_CONF, ROOT, run

SPARK = Path(pyspark.__file__).parent
# No `import intervalsweep`. The executors answer for where the tasks ran.
PROGRAM = """
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
for name in ("exons", "fbrain"):
    path = f"sql-examples/data/{name}"
    spark.read.parquet(path).repartition(4).createOrReplaceTempView(name)
for threshold in ("100m", "-1"):
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", threshold)
    for key in ("e.contig = f.contig AND", "e.contig = 'chr1' AND f.contig = 'chr1' AND"):
        frame = spark.sql(f'''
            SELECT count(*) FROM exons e JOIN fbrain f
            ON {key} INTERVAL_INTERSECTS(e.pos_start, e.pos_end, f.pos_start, f.pos_end)
        ''')
        assert "IntervalSweepJoin" in frame._jdf.queryExecution().executedPlan().toString()
        print("pairs", frame.first()[0])
spark.stop()
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A SPARK_HOME of links: the workers of a local cluster write into theirs."""
    folder = tmp_path / "spark"
    folder.mkdir()
    for entry in SPARK.iterdir():
        (folder / entry.name).symlink_to(entry)
    (tmp_path / "sql-examples").symlink_to(ROOT / "sql-examples")
    return folder


def command(home: Path, name: str, *options: str) -> list[str]:
    warehouse = f"spark.sql.warehouse.dir={home.parent / 'warehouse'}"
    quiet = ["--conf", "spark.log.level=ERROR", "--conf", "spark.ui.enabled=false"]
    return [str(home / "bin" / name), *BY_CONF, *quiet, "--conf", warehouse, *options]


def test_executors_need_the_jar_alone(home: Path, tmp_path: Path) -> None:
    """By spark-submit, broadcast and distributed, by keys and by ranges."""
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    master = ["--master", "local-cluster[2,1,1024]", "--conf", "spark.sql.shuffle.partitions=4"]
    printed = run(
        tmp_path, command(home, "spark-submit", *master, "program.py"), SPARK_HOME=str(home)
    )
    answers = [line for line in printed.splitlines() if line.startswith("pairs ")]
    assert answers == ["pairs 54246", "pairs 5385"] * 2
    assert len(list((home / "work").glob("*/*/stderr"))) == 2, "two executors"


def test_spark_sql_runs_the_examples_as_they_are(home: Path, tmp_path: Path) -> None:
    """All but one that takes longer, in one shell; the golden results without their empty lines."""
    examples = sorted((ROOT / "sql-examples").glob("*.sql"))
    examples = [example for example in examples if example.stem != "file_histories"]
    file = tmp_path / "all.sql"
    file.write_text("".join(f"SOURCE sql-examples/{e.name};\n" for e in examples), encoding="utf-8")
    options = ["--master", "local[2]", "--conf", "spark.sql.cli.print.header=true"]
    options += ["--conf", "spark.sql.shuffle.partitions=2", "-f", str(file)]
    printed = run(tmp_path, command(home, "spark-sql", *options), SPARK_HOME=str(home))
    goldens = [ROOT / "sql-examples" / "golden" / f"{e.stem}.txt" for e in examples]
    expected = "".join(golden.read_text(encoding="utf-8") for golden in goldens)
    assert without_empty_lines(printed) == without_empty_lines(expected)


def without_empty_lines(text: str) -> list[str]:
    return [line for line in text.split(os.linesep) if line]
