# SPDX-License-Identifier: Apache-2.0
"""Naive datetimes are in Python's local time, as in PySpark, whatever the session's time zone."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest

from intervalsweep import dataframe as isd
from intervalsweep import table_functions as ist
from intervalsweep import temporal

ZONE = "spark.sql.session.timeZone"
HOUR = timedelta(hours=1)


@pytest.fixture(params=["UTC", "Asia/Kolkata"])
def zones(request: Any, conf: Any) -> Iterator[None]:
    """Python and the session have different time zones."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = request.param
    time.tzset()
    conf({ZONE: "America/New_York"})
    yield
    os.environ.pop("TZ")
    if before is not None:
        os.environ["TZ"] = before
    time.tzset()


@pytest.mark.parametrize("kind", ["TIMESTAMP", "TIMESTAMP_NTZ"])
def test_a_collected_value_finds_its_row(spark: Any, zones: None, kind: str) -> None:
    """In New York, the clock skips from 02:00 to 03:00 on this day."""
    texts = f"{kind} '2024-03-10 02:30:00' AS ts, {kind} '2024-03-10 04:30:00' AS te"
    frame = spark.sql(f"SELECT 1 AS v, {texts}")
    start, end = frame.select("ts", "te").collect()[0]
    marked = temporal.valid(frame, "ts", "te")
    for at, rows in ((start, 1), (end - HOUR, 1), (start - timedelta(microseconds=1), 0), (end, 0)):
        for instant in (at, np.datetime64(at)):
            assert marked.at(instant).frame.count() == rows, at
            assert (
                temporal.sequenced(spark, "SELECT * FROM x", at=instant, x=marked).count() == rows
            )
            query = ist.validtime(frame, "ts", "te")
            assert ist.sequenced(query, at=instant).count() == rows
    inner = (start + HOUR / 2, end)
    for clipped in (
        marked.period(*inner).frame,
        temporal.sequenced(spark, "SELECT * FROM x", period=inner, x=marked),
        ist.sequenced(ist.validtime(frame, "ts", "te"), period=inner),
    ):
        assert clipped.select("ts", "te").collect() == [inner]
    (gap,) = isd.complement(frame, within=(start, end + HOUR)).collect()
    assert tuple(gap) == (end, end + HOUR)
    for window in (
        marked.window(fixed="1 hour", origin=start + HOUR / 4),
        temporal.valid(
            ist.temporal_window(frame, fixed="1 hour", origin=start + HOUR / 4, ts="ts", te="te"),
            "ts",
            "te",
        ),
    ):
        assert window.frame.first().te == start + HOUR / 4
    assert temporal.valid(frame, "ts", "te", unbounded=end).frame.first().te is None
    assert ist.sequenced(ist.validtime(frame, "ts", "te", unbounded=end)).first().te is None


def test_a_sentinel_in_the_last_year(spark: Any, zones: None) -> None:
    last = datetime(9999, 12, 31, 12)
    frame = spark.createDataFrame([(1, datetime(2024, 1, 1), last)], ["v", "ts", "te"])
    assert temporal.valid(frame, "ts", "te", unbounded=last).frame.first().te is None
