# SPDX-License-Identifier: Apache-2.0
"""Reads instants. A naive datetime is in Python's local time, as PySpark reads it."""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone
from typing import Any

import numpy as np


def instant(value: Any) -> Any:
    """Return an instant of numpy as one of Python; others unchanged.

    >>> instant(np.datetime64("2024-02-29")), instant(np.datetime64("2024-02-29T10:00", "ns"))
    (datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 10, 0))
    """
    if isinstance(value, np.datetime64):
        is_date = np.datetime_data(value)[0] in ("Y", "M", "W", "D")
        return value.astype("datetime64[D]" if is_date else "datetime64[us]").item()
    if isinstance(value, np.generic):
        return value.item()
    return value


def is_naive(value: Any) -> bool:
    """Return whether a value is a datetime without a time zone, also one of numpy."""
    found = instant(value)
    return isinstance(found, datetime) and found.tzinfo is None


def in_local_time(value: datetime) -> datetime:
    """Return a naive datetime with the offset that Python's time zone has at that time.

    `datetime.astimezone` does the same, but fails in the years 1 and 9999.
    """
    seconds = time.localtime(time.mktime(value.timetuple())).tm_gmtoff
    return value.replace(tzinfo=timezone(timedelta(seconds=seconds)))
