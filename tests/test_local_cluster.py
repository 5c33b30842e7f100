"""Executors in processes of their own, and Spark's own programs without any Python of ours."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import intervalsweep
from applications import SPARK_HOME, by_conf, program, run

QUERY = (
    "SELECT count(*) AS n, sum(r.ts + s.te) AS t FROM "
    "(SELECT id % 7 AS k, id AS ts, id + 10 + id % 3 AS te FROM range(2000)) r JOIN "
    "(SELECT id % 7 AS k, id AS ts, id + 5 + id % 11 AS te FROM range(2000)) s ON {keys}"
)
FUNCTION = "ALLEN_OVERLAPS(r.ts, r.te, s.ts, s.te)"
FORMULA = "r.ts < s.ts AND s.ts < r.te AND r.te < s.te"


def test_local_cluster(tmp_path: Path) -> None:
    """The jar and the worker's sources reach executors that share nothing with the driver."""
    printed = program(
        tmp_path,
        f"""
        if __name__ == "__main__":
            spark = start(
                "local-cluster[2,1,1024]",
                spark__executor__memory="512m",
                spark__pyspark__python={sys.executable!r},
            )
            for keys in ("", "r.k = s.k AND "):
                for threshold in ("10MB", "-1"):
                    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", threshold)
                    got = swept(spark.sql({QUERY!r}.format(keys=keys + {FUNCTION!r}))).first()
                    spark.conf.set("spark.sql.intervalsweep.enabled", "false")
                    expected = spark.sql({QUERY!r}.format(keys=keys + {FORMULA!r})).first()
                    spark.conf.set("spark.sql.intervalsweep.enabled", "true")
                    assert got == expected and got.n > 0, (got, expected)
                    print("same", got.n)
        """,
        SPARK_HOME=str(SPARK_HOME),
    )
    assert printed.count("same") == 4


def settings(folder: Path) -> list[str]:
    values = {
        "spark.ui.enabled": "false",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.pyspark.python": sys.executable,
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={folder}",
    }
    return [part for key, value in values.items() for part in ("--conf", f"{key}={value}")]


def test_spark_sql(tmp_path: Path) -> None:
    """The command line needs the jar and a setting, and no Python package in the driver."""
    command = ["bash", str(SPARK_HOME / "bin" / "spark-sql"), "--master", "local[2]"]
    query = QUERY.format(keys="r.k = s.k AND " + FUNCTION)
    statements = f"EXPLAIN {query}; {query}; {query.replace(FUNCTION, FORMULA)};"
    done = run(
        tmp_path,
        [*command, *by_conf(), *settings(tmp_path), "-e", statements],
        SPARK_HOME=str(SPARK_HOME),
        PYTHONPATH="",
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert "IntervalSweepJoin Inner" in done.stdout
    *_, swept, plain = done.stdout.strip().splitlines()
    assert swept == plain
    assert int(swept.split()[0]) > 0


def test_spark_submit(tmp_path: Path) -> None:
    """A script that knows nothing of IntervalSweep but its SQL, and a jar at any place."""
    jar = tmp_path / "a folder" / "x.jar"
    jar.parent.mkdir()
    shutil.copy(intervalsweep.jar_path(), jar)
    script = tmp_path / "job.py"
    script.write_text(
        "from pyspark.sql import SparkSession\n"
        "spark = SparkSession.builder.getOrCreate()\n"
        f"frame = spark.sql({QUERY.format(keys=FUNCTION)!r})\n"
        "assert 'IntervalSweepJoin' in frame._jdf.queryExecution().toString()\n"
        f"assert frame.first() == spark.sql({QUERY.format(keys=FORMULA)!r}).first()\n"
        "print('the same')\n"
    )
    submit = [str(SPARK_HOME / "bin" / "spark-submit"), "--master", "local[2]"]
    done = run(
        tmp_path,
        ["bash", *submit, *by_conf(str(jar)), *settings(tmp_path), str(script)],
        SPARK_HOME=str(SPARK_HOME),
        PYTHONPATH="",
        PYSPARK_PYTHON=sys.executable,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert "the same" in done.stdout
