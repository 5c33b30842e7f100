# SPDX-License-Identifier: Apache-2.0
"""Writes Python values as SQL literals, and names as quoted identifiers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from intervalsweep._distances import Duration, Months, read
from intervalsweep._errors import ArgumentError
from intervalsweep._instants import in_local_time, instant, is_naive

_SECOND = timedelta(seconds=1)
_CALENDAR = re.compile(r"\s*(\d+\s*)?(day|week|month|quarter|year)s?\s*", re.IGNORECASE)


def quoted(name: str) -> str:
    """Return a name as a quoted SQL identifier.

    >>> quoted("a`b")
    '`a``b`'
    """
    return "`" + name.replace("`", "``") + "`"


def literal(what: str, value: Any) -> str:
    """Return a value as an SQL literal. Raises ArgumentError for types without literals.

    >>> literal("at", date(2024, 2, 29)), literal("sliding", timedelta(days=1, hours=2))
    ("DATE '2024-02-29'", "INTERVAL '1 02:00:00.000000' DAY TO SECOND")
    >>> literal("sliding", length("sliding", "1 month"))
    "INTERVAL '1' MONTH"
    """
    if isinstance(value, Months):
        return f"INTERVAL '{value.count}' MONTH"
    if isinstance(value, _WallClock):
        return f"TIMESTAMP_NTZ '{value.time.isoformat(sep=' ', timespec='microseconds')}'"
    value = instant(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value) if -(2**31) <= value < 2**31 else f"{value}L"
    if isinstance(value, float):
        return f"CAST('{value}' AS DOUBLE)"
    if isinstance(value, Decimal) and value.is_finite():
        return f"{value:f}BD"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"
    if isinstance(value, datetime):
        return _timestamp(value if value.tzinfo else in_local_time(value))
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, timedelta):
        return _interval(value)
    raise ArgumentError(
        f"`{what}` must be a number, a date, a datetime, a timedelta or a str; got {value!r}, a "
        f"{type(value).__name__}."
    )


def length(name: str, value: Any) -> Any:
    """Return a length or gap as a value for :func:`literal`; None stays None.

    Raises ArgumentError if the value is not a length, or has fractions of a microsecond.
    """
    if value is None:
        return None
    given = read(name, value)
    if not isinstance(given, Duration):
        return given
    if given.nanoseconds % 1000:
        raise ArgumentError(f"`{name}` must be whole microseconds; got {value!r}.")
    return given.timedelta


def calendar_length(name: str, value: Any) -> Any:
    """Return a length as :func:`length` does, but a text such as `DAY` or `2 weeks` as it is.

    Between timestamps these are calendar units in the session's time zone, of differing lengths.
    """
    is_calendar = isinstance(value, str) and _CALENDAR.fullmatch(value)
    return value if is_calendar else length(name, value)


@dataclass(frozen=True)
class _WallClock:
    """A naive datetime for a column without a time zone."""

    time: datetime


def for_column(value: Any, kind: Any) -> Any:
    """Return an instant as a value for :func:`literal` that suits a column of Spark's type `kind`.

    A naive datetime is the time that the clock shows for TIMESTAMP_NTZ, and in Python's local time
    otherwise, as in PySpark. A tuple has several instants. Without the column, `kind` is None. The
    column may be a struct of two ends.
    """
    if isinstance(value, tuple):
        return tuple(for_column(one, kind) for one in value)
    if kind is not None and kind.typeName() == "struct" and len(kind):
        kind = kind[0].dataType
    found = instant(value)
    if is_naive(found) and kind is not None and kind.typeName() == "timestamp_ntz":
        return _WallClock(found)
    return found


def _timestamp(value: datetime) -> str:
    """Return a datetime with its offset: in UTC, the years 1 and 9999 might become others."""
    offset = value.utcoffset() or timedelta(0)
    sign = "-" if offset < timedelta(0) else "+"
    hours, seconds = divmod(abs(offset).seconds, 3600)
    zone = f"{sign}{hours:02}:{seconds // 60:02}:{seconds % 60:02}"
    return f"TIMESTAMP '{value.replace(tzinfo=None).isoformat(' ', 'microseconds')}{zone}'"


def _interval(value: timedelta) -> str:
    size = abs(value)
    minutes, seconds = divmod(size.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    sign = "-" if value < timedelta(0) else ""
    text = f"{size.days} {hours:02}:{minutes:02}:{seconds:02}.{size.microseconds:06}"
    return f"INTERVAL '{sign}{text}' DAY TO SECOND"


def options(given: Mapping[str, Any]) -> str:
    """Return named arguments of an SQL function, without those that are None.

    >>> options({"nulls": "drop", "unbounded": None, "names": ("f", "t")})
    ", nulls => 'drop', names => array('f', 't')"
    """
    found = ""
    for name, value in given.items():
        if isinstance(value, tuple):
            parts = ", ".join("NULL" if one is None else literal(name, one) for one in value)
            found += f", {name} => array({parts})"
        elif value is not None:
            found += f", {name} => {literal(name, value)}"
    return found
