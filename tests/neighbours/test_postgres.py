# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL over JDBC: joins of its tables, and relations that it evaluates itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.neighbours.maven import jars
from support.neighbours.postgres import postgres
from support.spark.applications import program

pytestmark = [pytest.mark.extended, pytest.mark.needs_spark("4.3")]
DRIVER = "org.postgresql:postgresql:42.7.14"


def test_tables_of_postgresql(tmp_path: Path) -> None:
    names = ",".join(map(str, jars(DRIVER)))
    with postgres(tmp_path) as address:
        printed = program(
            tmp_path,
            f"""
            from support.neighbours.checks import plan, relations, same
            spark = start(spark__jars={names!r})
            rows = ("SELECT id, id % 7 AS k, "
                    "TIMESTAMP '2026-01-01' + make_dt_interval(0, 0, id % 500) AS ts, "
                    "TIMESTAMP '2026-01-01' + make_dt_interval(0, 0, id % 500 + 1 + id % 20) AS te "
                    "FROM range({{0}}, {{1}})")

            def table(name, first, last):
                jdbc = {{"url": {address!r}, "dbtable": name, "driver": "org.postgresql.Driver"}}
                spark.sql(rows.format(first, last)).write.format("jdbc").options(**jdbc).save()
                spark.read.format("jdbc").options(**jdbc).load().createOrReplaceTempView(name)

            table("r", 0, 400)
            table("s", 300, 900)
            print(relations(spark, "r", "s") > 10000)
            one = ("SELECT id FROM r WHERE INTERVAL_INTERSECTS(ts, te, "
                   "TIMESTAMP '2026-01-01 02:00:00', TIMESTAMP '2026-01-01 03:00:00')")
            pushed = plan(spark.sql(one)).split("PushedFilters: ")[1]
            print(*(name in pushed for name in ("LessThan", "GreaterThan", "te")))
            spark.conf.set("spark.sql.intervalsweep.enabled", "false")
            own = spark.sql(one).collect()
            spark.conf.set("spark.sql.intervalsweep.enabled", "true")
            print(own == spark.sql(one).collect(), len(own) > 50)
            """,
        )
    assert printed.split() == ["True"] * 6, printed
