# SPDX-License-Identifier: Apache-2.0
"""Reads the lengths and distances that functions take: numbers, durations, months and texts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np

from intervalsweep._errors import ArgumentError, EndpointTypeError


@dataclass(frozen=True)
class Duration:
    """An elapsed time; numpy and pandas have finer durations than `timedelta`."""

    nanoseconds: int

    @property
    def timedelta(self) -> timedelta:
        """The duration in whole microseconds, rounded down."""
        return timedelta(microseconds=self.nanoseconds // 1000)


@dataclass(frozen=True)
class Months:
    """A number of calendar months, which differ in length."""

    count: int


# The result of `read`. A number is a distance in units of the column.
Read: TypeAlias = "int | float | Decimal | Duration | Months"

_NANOSECONDS = {
    "nanosecond": 1,
    "microsecond": 1_000,
    "millisecond": 1_000_000,
    "second": 1_000_000_000,
    "minute": 60 * 1_000_000_000,
    "hour": 3_600 * 1_000_000_000,
    "day": 86_400 * 1_000_000_000,
    "week": 7 * 86_400 * 1_000_000_000,
}
_MONTHS = {"month": 1, "year": 12}
_UNIT = "|".join([*_NANOSECONDS, *_MONTHS])
_PART = rf"(?:([-+]?)\s*(\d+(?:\.\d+)?)\s+({_UNIT})s?)"
_PARTS = re.compile(_PART, re.IGNORECASE)
_TEXT = re.compile(rf"\s*(?:interval\s+)?{_PART}(?:\s+{_PART})*\s*", re.IGNORECASE)
# The units of numpy.timedelta64 whose length in nanoseconds is a whole number.
_NUMPY = {
    "ns": "nanosecond",
    "us": "microsecond",
    "ms": "millisecond",
    "s": "second",
    "m": "minute",
    "h": "hour",
    "D": "day",
    "W": "week",
}
_NUMPY_MONTHS = {"M": 1, "Y": 12}


def read(name: str, value: Any) -> Read:
    """Return a length or distance as one of few types.

    A `numpy.timedelta64` has the unit that it states. A text is a duration as Spark writes it, such
    as `10 minutes`. Raises ArgumentError for other values.

    >>> read("gap", "1 hour 30 minutes").timedelta
    datetime.timedelta(seconds=5400)
    >>> read("length", np.timedelta64(2, "Y"))
    Months(count=24)
    """
    if hasattr(value, "to_timedelta64"):  # of pandas, which counts nanoseconds
        value = value.to_timedelta64()
    if isinstance(value, np.timedelta64):
        return _of_numpy(name, value)
    if isinstance(value, timedelta):
        return Duration(value // timedelta(microseconds=1) * 1000)
    if isinstance(value, str) and is_duration(value):
        return _of_text(name, value)
    if isinstance(value, np.number):
        value = value.item()
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return value
    raise ArgumentError(
        f"`{name}` must be a number, a timedelta or a text such as '10 minutes'; got {value!r}."
    )


def is_duration(text: str) -> bool:
    """Return whether a text is a duration, such as `10 minutes`, and not the name of a column."""
    return _TEXT.fullmatch(text) is not None


def elapsed(name: str, value: Any) -> timedelta:
    """Return a length of time. Raises ArgumentError for a number or for months."""
    found = read(name, value)
    if not isinstance(found, Duration):
        raise ArgumentError(
            f"`{name}` must be a timedelta or a text such as '10 minutes'; got {value!r}."
        )
    return found.timedelta


def whole(name: str, value: Any) -> int:
    """Return a number of rows. Raises ArgumentError if it is not a whole number."""
    found = read(name, value)
    if not isinstance(found, int):
        raise ArgumentError(f"`{name}` must be a whole number; got {value!r}.")
    return found


def refuse_number(name: str, value: Any, kind: object) -> EndpointTypeError:
    """Return the error for a number between timestamps, which has no unit."""
    return EndpointTypeError(
        f"{name}={value!r} has no unit between {kind} endpoints: give a timedelta, such as "
        f"timedelta(seconds={value!r}), or a text such as '10 minutes'."
    )


def refuse_months(name: str, value: Any) -> EndpointTypeError:
    """Return the error for months where only lengths of one size are possible."""
    return EndpointTypeError(
        f"{name}={value!r}: months and years differ in length: give days, such as "
        "timedelta(days=30)."
    )


def _of_numpy(name: str, value: np.timedelta64) -> Read:
    unit, step = np.datetime_data(value)
    count = int(value.astype(np.int64)) * step
    if np.isnat(value) or (unit not in _NUMPY and unit not in _NUMPY_MONTHS):
        raise ArgumentError(
            f"`{name}` must have a unit from nanoseconds to years and a value; got {value!r}."
        )
    if unit in _NUMPY_MONTHS:
        return Months(count * _NUMPY_MONTHS[unit])
    return Duration(count * _NANOSECONDS[_NUMPY[unit]])


def _of_text(name: str, text: str) -> Duration | Months:
    months, nanoseconds, kinds = 0, 0, set()
    for sign, number, unit in _PARTS.findall(text):
        unit = unit.lower()
        count = Decimal(f"{sign}{number}")
        if count != int(count) and unit != "second":
            raise ArgumentError(f"`{name}` is {text!r}: only seconds may have a fraction.")
        kinds.add(unit in _MONTHS)
        months += int(count) * _MONTHS.get(unit, 0)
        nanoseconds += int(count * _NANOSECONDS.get(unit, 0))
    if len(kinds) == 2:
        raise ArgumentError(
            f"`{name}` is {text!r}: give either months and years or shorter units, as months "
            "differ in length."
        )
    return Months(months) if kinds == {True} else Duration(nanoseconds)
