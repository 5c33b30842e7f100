# SPDX-License-Identifier: Apache-2.0
"""The page of settings has the defaults and descriptions that Spark reports."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from support.spark.applications import program
from support.spark.comparison import WORKER_PYTHON

PAGE = Path(__file__).resolve().parents[3] / "docs" / "settings.md"
ROW = re.compile(r"^\| `(spark\.sql\.intervalsweep\.\w+)` \| `(.*?)` \| (.*) \|$", re.MULTILINE)


def test_settings_page_is_that_of_spark(spark: Any, conf: Any) -> None:
    documented = {key: (default, text) for key, default, text in ROW.findall(PAGE.read_text())}
    conf(dict.fromkeys(documented, None))  # as if unset
    assert WORKER_PYTHON in documented
    known = spark.sql("SET -v").where("key LIKE 'spark.sql.intervalsweep.%'").collect()
    assert documented.keys() == {row.key for row in known}
    for row in known:
        assert documented[row.key] == (row.value, row.meaning)
        assert row["Since version"], row.key


@pytest.mark.parametrize("statement", ["SET {0}=/bin/false", "RESET {0}"])
def test_a_session_could_name_the_program_that_executors_run(spark: Any, statement: str) -> None:
    """In a shared session, SQL must not change which program the executors run."""
    with pytest.raises(Exception, match=r"CANNOT_MODIFY_(STATIC_)?CONFIG|static config"):
        spark.sql(statement.format(WORKER_PYTHON))


def test_a_session_could_name_the_program_by_a_setting_of_spark(spark: Any, conf: Any) -> None:
    conf({"spark.sql.execution.pyspark.python": "/nowhere/python3"})
    query = "SELECT count(*) AS n FROM range(99) a JOIN range(99) b ON a.id < b.id"
    frame = spark.sql(query)
    assert "IntervalSweepJoin" in frame._jdf.queryExecution().executedPlan().toString()
    assert frame.first().n == 4851


@pytest.mark.extended
def test_kryo_refused_classes_that_nobody_had_registered(tmp_path: Path) -> None:
    """Runs joins by broadcast and by ranges, with unmatched rows and with totals."""
    printed = program(
        tmp_path,
        """
        spark = start(
            spark__serializer="org.apache.spark.serializer.KryoSerializer",
            spark__kryo__registrationRequired="true",
        )
        table = "(SELECT id, id AS ts, id + 3 AS te, string(id) AS name FROM range(100)) "
        on = "ON r.ts <= s.ts AND s.ts < r.te"
        for threshold in ("10MB", "-1"):
            spark.conf.set("spark.sql.autoBroadcastJoinThreshold", threshold)
            for kind in ("JOIN", "FULL JOIN"):
                query = f"SELECT r.id, s.name FROM {table} r {kind} {table} s {on}"
                print(len(swept(spark.sql(query)).collect()))
            query = f"SELECT count(*) AS n FROM {table} r JOIN {table} s {on}"
            print(swept(spark.sql(query)).first().n)
        """,
    )
    assert printed.split() == ["297"] * 6
