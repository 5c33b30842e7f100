# SPDX-License-Identifier: Apache-2.0
"""A Hive metastore: joins and histories of its tables, also through Spark's Thrift server."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.neighbours.kafka import free_port
from support.spark.applications import SPARK_HOME, by_conf, clean_environment, program
from support.spark.processes import eventually
from support.spark.servers import DEPLOY, spark_class

pytestmark = [pytest.mark.extended, pytest.mark.needs_spark("4.3")]
THRIFT = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"


def test_tables_of_a_hive_metastore(tmp_path: Path) -> None:
    metastore = f"jdbc:derby:;databaseName={tmp_path / 'metastore'};create=true"
    printed = program(
        tmp_path,
        f"""
        from support.neighbours.checks import bag, relations
        spark = start(spark__sql__catalogImplementation="hive",
                      spark__sql__warehouse__dir={str(tmp_path / "warehouse")!r},
                      spark__hadoop__javax__jdo__option__ConnectionURL={metastore!r},
                      spark__hadoop__hive__exec__dynamic__partition__mode="nonstrict")
        rows = ("SELECT id, id % 500 AS ts, id % 500 + 1 + id % 20 AS te, id % 7 AS k "
                "FROM range({{0}}, {{1}})")
        spark.sql("CREATE TABLE r STORED AS PARQUET AS " + rows.format(0, 400))
        spark.sql("CREATE TABLE s (id BIGINT, ts BIGINT, te BIGINT) PARTITIONED BY (k BIGINT) "
                  "STORED AS ORC TBLPROPERTIES ('validtime' = 'ts,te')")
        spark.sql("INSERT INTO s " + rows.format(300, 900))
        print(relations(spark, "r", "s") > 10000)
        history = "SELECT * FROM sequenced(TABLE(SELECT k, count(*) AS n FROM {{0}} GROUP BY k))"
        by_property = bag(spark.sql(history.format("(SELECT * FROM validtime(TABLE(s)))")))
        marked = bag(spark.sql(history.format("(SELECT * FROM validtime(TABLE(s), 'ts', 'te'))")))
        print(by_property == marked, len(marked) > 100)
        """,
    )
    assert printed.split() == ["True"] * 3, printed


def test_clients_of_the_thrift_server(tmp_path: Path) -> None:
    """Beeline, a JDBC client without any part of ours."""
    port = free_port()
    settings = {
        "spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:derby:memory:thrift;create=true",
        "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
        "spark.pyspark.python": sys.executable,
        "spark.ui.enabled": "false",
    }
    conf = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
    hive = ["--hiveconf", f"hive.server2.thrift.port={port}"]
    hive += ["--hiveconf", "hive.server2.thrift.bind.host=127.0.0.1"]
    submit = [f"{DEPLOY}.SparkSubmit", "--class", THRIFT, "--master", "local[2]", *conf]
    queries = tmp_path / "queries.sql"
    join = (
        "SELECT count(*) FROM (SELECT id AS ts, id + 10 AS te FROM range(1000)) r JOIN "
        "(SELECT id AS ts, id + 15 AS te FROM range(1000)) s "
        "ON ALLEN_OVERLAPS(r.ts, r.te, s.ts, s.te);"
    )
    queries.write_text(f"{join}\nEXPLAIN {join}\n")
    with spark_class(tmp_path, "thrift", *submit, *by_conf(), "spark-internal", *hive) as log:
        started = "ThriftBinaryCLIService on port"
        assert eventually(lambda: started in log.read_text(errors="replace"), 120), log.read_text()
        beeline = [str(SPARK_HOME / "bin" / "beeline"), "-u", f"jdbc:hive2://127.0.0.1:{port}"]
        done = subprocess.run(
            ["bash", *beeline, "--silent=true", "-f", str(queries)],
            env=clean_environment(SPARK_HOME=str(SPARK_HOME)),
            capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip
    assert "8955" in done.stdout, done.stdout + done.stderr
    assert "IntervalSweepJoin" in done.stdout
