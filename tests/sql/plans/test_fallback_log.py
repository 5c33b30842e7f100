# SPDX-License-Identifier: Apache-2.0
"""The log says once why a join with an interval function does not use IntervalSweepJoin."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from support.spark.comparison import BROADCAST, physical, sweeps

LOGGER = "org.apache.spark.sql.intervalsweep.planner.joins.FallbackLog"
MEET = "INTERVAL_INTERSECTS(r.ts, r.te, s.ts, s.te)"


@pytest.fixture(scope="module", autouse=True)
def views(spark: Any) -> None:
    columns = ("id", "id % 3 AS k", "id AS ts", "id + 4 AS te", "string(id) AS name")
    for name in ("r", "s"):
        spark.range(20).selectExpr(*columns).createOrReplaceTempView(name)


def joined(condition: str) -> str:
    return f"SELECT r.id, s.id FROM r JOIN s ON {condition}"


@pytest.fixture
def log(spark: Any) -> Iterator[Callable[[], list[str]]]:
    """Captures the log messages about joins that fall back, at INFO and above."""
    log4j = spark._jvm.org.apache.logging.log4j
    writer = spark._jvm.java.io.StringWriter()
    layout = log4j.core.layout.PatternLayout.newBuilder().withPattern("%p %m%n").build()
    appender = log4j.core.appender.WriterAppender.createAppender(
        layout, None, writer, "why_not", False, False
    )
    appender.start()
    logger = log4j.LogManager.getLogger(LOGGER)
    logger.addAppender(appender)
    log4j.core.config.Configurator.setLevel(LOGGER, log4j.Level.INFO)
    yield lambda: str(writer.toString()).splitlines()
    log4j.core.config.Configurator.setLevel(LOGGER, log4j.Level.ERROR)
    logger.removeAppender(appender)


def test_fallback_of_a_function_is_logged(spark: Any, log: Callable[[], list[str]]) -> None:
    assert sweeps(physical(spark.sql(joined(f"{MEET} OR r.k <> s.k")))) == 0
    (line,) = log()
    assert line.startswith("INFO IntervalSweep leaves a join to Spark, ON (interval_intersects(")
    assert "UNION ALL" in line


def test_fallback_is_logged_once_by_adaptive_execution(
    spark: Any, conf: Any, log: Callable[[], list[str]]
) -> None:
    conf({BROADCAST: "-1", "spark.sql.adaptive.enabled": "true"})
    side = "(SELECT k, min(ts) AS ts, max(te) AS te FROM {0} GROUP BY k) {0}"
    query = f"SELECT * FROM {side.format('r')} JOIN {side.format('s')} ON {MEET} OR r.k <> s.k"
    frame = spark.sql(query)
    assert frame.collect()
    assert "isFinalPlan=true" in physical(frame)
    assert len(log()) == 1


def test_only_functions_are_logged(spark: Any, log: Callable[[], list[str]]) -> None:
    for condition in ("r.name < s.name", "ALLEN_MEETS(r.ts, r.te, s.ts, s.te)", MEET):
        assert spark.sql(joined(condition)).collect()
    assert log() == []
