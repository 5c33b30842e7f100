# SPDX-License-Identifier: Apache-2.0
"""Instants of Arrow tables: naive datetimes are in Python's local time on zoned columns."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from intervalsweep import EndpointTypeError, _instants
from intervalsweep import arrow as isa
from intervalsweep.arrow import temporal
from support.docs.examples import run_example


@pytest.fixture(params=["UTC", "America/New_York", "Asia/Kolkata"])
def zone(request: Any) -> Iterator[str]:
    """The time zone of this process."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = request.param
    time.tzset()
    yield request.param
    os.environ.pop("TZ")
    if before is not None:
        os.environ["TZ"] = before
    time.tzset()


def table(kind: Any) -> Any:
    noon = int(datetime(2024, 7, 1, 12, tzinfo=timezone.utc).timestamp())
    ts, te = (pa.array([noon + h * 3600], pa.int64()).cast(pa.timestamp("s")) for h in (0, 1))
    return pa.table({"v": ["x"], "ts": ts.cast(kind), "te": te.cast(kind)})


def test_example_of_the_docstring() -> None:
    assert run_example(_instants.instant, np=np) > 0


@pytest.mark.every_case
def test_a_naive_datetime_is_local_on_a_zoned_column(zone: str) -> None:
    zoned = table(pa.timestamp("us", "UTC"))
    aware = datetime(2024, 7, 1, 12, 30, tzinfo=timezone.utc)
    local = aware.astimezone().replace(tzinfo=None)
    for instant in (aware, local, np.datetime64(local)):
        assert temporal.at(zoned, instant).num_rows == 1
    assert temporal.at(zoned, local + timedelta(hours=1)).num_rows == 0
    clipped = temporal.period(zoned, local, None).column("ts").to_pylist()
    assert clipped == [aware]
    (gap,) = isa.complement(zoned, within=(local, local + timedelta(hours=1))).to_pylist()
    assert gap == {"ts": aware.replace(hour=13, minute=0), "te": aware + timedelta(hours=1)}


@pytest.mark.every_case
def test_a_naive_datetime_is_itself_on_a_naive_column(zone: str) -> None:
    naive = table(pa.timestamp("ns"))
    for instant in (datetime(2024, 7, 1, 12, 30), np.datetime64("2024-07-01T12:30", "ns")):
        assert temporal.at(naive, instant).num_rows == 1
    with pytest.raises(EndpointTypeError, match="it has a time zone, and the column has none"):
        temporal.at(naive, datetime(2024, 7, 1, 12, 30, tzinfo=timezone.utc))


@pytest.mark.every_case
def test_first_and_last_years(zone: str) -> None:
    for value in (datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59)):
        found = _instants.in_local_time(value)
        assert found.replace(tzinfo=None) == value
        assert found.utcoffset() is not None


def test_what_is_no_instant() -> None:
    frame = pa.table({"ts": [1], "te": [5]})
    for value in (True, 1.5, "a", datetime(2024, 1, 1), [1]):
        with pytest.raises(EndpointTypeError, match=r"instant=.* is not an instant of type int64"):
            temporal.at(frame, value)
        with pytest.raises(EndpointTypeError, match=r"within=.* is not an instant of type int64"):
            isa.complement(frame, within=(value, 9))
    with pytest.raises(EndpointTypeError, match="is not an instant of type date32"):
        temporal.at(
            table(pa.timestamp("s"))
            .set_column(1, "ts", pa.array([date(2024, 1, 1)]))
            .set_column(2, "te", pa.array([date(2024, 1, 2)])),
            3.5,
        )
