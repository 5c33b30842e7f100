# SPDX-License-Identifier: Apache-2.0
"""Apache Sedona in the same session: each extension plans its own joins."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.neighbours.maven import jars
from support.spark.applications import program

pytestmark = [pytest.mark.extended, pytest.mark.needs_spark("4.0")]
SEDONA = (
    "org.apache.sedona:sedona-spark-shaded-4.0_2.13:1.8.0",
    "org.datasyslab:geotools-wrapper:1.8.0-33.1",
)


def test_joins_next_to_sedona(tmp_path: Path) -> None:
    names = ",".join(map(str, jars(*SEDONA)))
    printed = program(
        tmp_path,
        f"""
        from support.neighbours.checks import plan, relations, same
        spark = start(spark__jars={names!r}, spark__sql__extensions=
            "org.apache.sedona.viz.sql.SedonaVizExtensions,org.apache.sedona.sql.SedonaSqlExtensions",
            spark__serializer="org.apache.spark.serializer.KryoSerializer",
            spark__kryo__registrator="org.apache.sedona.core.serde.SedonaKryoRegistrator")
        rows = ("SELECT id, id % 7 AS k, id % 500 AS ts, id % 500 + 1 + id % 20 AS te, "
                "ST_Point(id % 50, id % 40) AS p FROM range({{0}}, {{1}})")
        spark.sql(rows.format(0, 400)).createOrReplaceTempView("r")
        spark.sql(rows.format(300, 900)).createOrReplaceTempView("s")
        print(relations(spark, "r", "s") > 10000)
        spatial = spark.sql("SELECT a.id, b.id FROM r a JOIN s b ON ST_Distance(a.p, b.p) < 2")
        print(any(name in plan(spatial) for name in ("DistanceJoin", "BroadcastIndexJoin")))
        both = ("SELECT a.id, b.id, c.id FROM r a "
                "JOIN s b ON ALLEN_OVERLAPS(a.ts, a.te, b.ts, b.te) "
                "JOIN (SELECT * FROM r WHERE id < 20) c ON ST_Distance(b.p, c.p) < 2")
        print(len(same(spark, both)) > 0, spatial.count() > 1000)
        """,
    )
    assert printed.split() == ["True"] * 4, printed
