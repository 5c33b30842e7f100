# SPDX-License-Identifier: Apache-2.0
"""Encodes endpoints as 64-bit integers in the same order, and adds distances to them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from intervalsweep._distances import Duration, Months, read, refuse_months, refuse_number
from intervalsweep._errors import ArgumentError, EndpointTypeError, EndpointValueError
from intervalsweep._instants import in_local_time, instant, is_naive
from intervalsweep.kernels import Int64Array

Mask = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

_LEAST, _LARGEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
_BEYOND = 1 << 64  # larger than the distance of any two 64-bit integers
_UNITS = ("s", "ms", "us", "ns")
_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_DAY = 86_400 * 1_000_000_000  # nanoseconds
_NAN = np.array(np.nan).view(np.int64)


class Encoding:
    """The common type of several endpoint columns, and its conversion to integers and back.

    Whole numbers stay as they are. Decimals become their unscaled values, dates become days, and
    timestamps and durations become multiples of the unit of their type. The bits of a double are
    rearranged so that the integers have the order of the doubles, with NaN above all other values
    and -0.0 equal to 0.0.

    Raises EndpointTypeError if the types have no common order.
    """

    def __init__(self, types: Sequence[Any]) -> None:
        self.type = _common(types)
        self.is_float = pa.types.is_floating(self.type)

    def cast(self, column: Any) -> Any:
        """Return a column as one array of the common type. Raises EndpointValueError."""
        try:
            array = column.cast(self.type)
        except pa.ArrowInvalid as error:
            raise EndpointValueError(f"An endpoint is out of range: {error}") from error
        if not isinstance(array, pa.ChunkedArray):
            return array
        # combine_chunks() copies, so a single chunk is returned without it.
        return array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()

    def encode(self, column: Any) -> tuple[Int64Array, Mask]:
        """Return a column's values as integers, and a mask of those that are not NULL."""
        array = self.cast(column)
        valid = _all(array)
        if array.null_count:
            valid = np.asarray(pc.is_valid(array).to_numpy(zero_copy_only=False))
        if self.is_float:
            return encode_floats(array.fill_null(0.0).to_numpy()), valid
        if pa.types.is_decimal(self.type):
            return _unscaled(array), valid
        if pa.types.is_date32(self.type):
            array = array.cast(pa.int32())
        integers = array.cast(pa.int64())
        return (integers.fill_null(0) if array.null_count else integers).to_numpy(), valid

    def decode(self, values: Int64Array, valid: Mask) -> Any:
        """Return integers as a column of the common type, with NULL where `valid` is False."""
        if self.is_float:
            return pa.array(decode_floats(values), mask=~valid)
        if pa.types.is_decimal(self.type):
            return self.lengths(values, valid).cast(self.type)
        if pa.types.is_date32(self.type):
            return pa.array(np.where(valid, values, 0).astype(np.int32), mask=~valid).cast(
                self.type
            )
        return pa.array(values, mask=~valid).cast(self.type)

    def limit(self, name: str, value: Any) -> int | float:
        """Return a distance in the unit of the integers, like :meth:`difference`.

        Raises ArgumentError if the distance is negative or not a distance, and EndpointTypeError if
        it does not fit the type.
        """
        limit = self.difference(name, value)
        if limit < 0:
            raise ArgumentError(f"`{name}` must not be negative; got {value!r}.")
        return limit

    def difference(self, name: str, value: Any) -> int | float:
        """Return a difference in the unit of the integers, rounded down; for floats, as a float.

        Rounding is exact for a limit: whole distances up to 1.5 are those up to 1. Raises
        ArgumentError if the value is not a distance, EndpointTypeError if it does not fit the type.
        """
        exact = self._exact(name, value)
        return exact if isinstance(exact, int | float) else math.floor(exact)

    def least(self, name: str, value: Any) -> int | float:
        """Return a least distance in the unit of the integers, rounded up.

        Raises the errors of :meth:`limit`.
        """
        self.limit(name, value)
        exact = self._exact(name, value)
        return exact if isinstance(exact, int | float) else math.ceil(exact)

    def length(self, name: str, value: Any) -> int:
        """Return a length in the unit of the integers, which must be a whole number of them.

        Raises the errors of :meth:`difference`, and ArgumentError if the length is not positive.
        """
        exact = self._exact(name, value)
        if not 0 < exact <= _LARGEST:
            raise ArgumentError(
                f"`{name}` must be more than 0 and fit into 64 bits; got {value!r}."
            )
        if exact != int(exact):
            raise EndpointTypeError(
                f"{name}={value!r} is not a whole number of the units of {self.type}."
            )
        return int(exact)

    def instant(self, name: str, value: Any) -> Any:
        """Return an instant as an array of one value of the common type; None becomes NULL.

        A naive datetime is in Python's local time if the type has a time zone. Raises
        EndpointTypeError if the value does not fit the type.
        """
        zone = getattr(self.type, "tz", None)
        found = value if zone is None else instant(value)
        if is_naive(found) and zone is not None:
            found = in_local_time(found)
        is_aware = isinstance(found, datetime) and found.tzinfo is not None
        if isinstance(value, bool) or (is_aware and zone is None):
            raise _not_an_instant(name, value, self.type)
        try:
            kind = pa.scalar(found).type
            if value is not None and _is_number(kind) != _is_number(self.type):
                raise _not_an_instant(name, value, self.type)
            return pa.array([found], kind).cast(self.type)
        except (pa.ArrowException, OverflowError) as error:
            raise _not_an_instant(name, value, self.type) from error

    def _exact(self, name: str, value: Any) -> int | float | Fraction:
        given = read(name, value)
        if isinstance(given, Months):
            raise refuse_months(name, value)
        if isinstance(given, Duration):
            return self._of_duration(name, value, given)
        if given != 0 and pa.types.is_temporal(self.type) and not pa.types.is_date32(self.type):
            raise refuse_number(name, value, self.type)
        return self._of_number(given)

    def _of_duration(self, name: str, value: Any, given: Duration) -> Fraction:
        is_date = pa.types.is_date32(self.type)
        if not pa.types.is_temporal(self.type) or (is_date and given.nanoseconds % _DAY):
            raise EndpointTypeError(
                f"{name}={value!r} is not a distance between {self.type} endpoints: "
                "give whole days for dates, a number for numbers."
            )
        unit = _DAY if is_date else 1_000_000_000 // _PER_SECOND[self.type.unit]
        return Fraction(given.nanoseconds, unit)

    def _of_number(self, given: int | float | Decimal) -> int | float | Fraction:
        if self.is_float:
            return math.inf if math.isnan(given) else float(given)
        if not math.isfinite(given):  # NaN is larger than everything
            return -_BEYOND if not math.isnan(given) and given < 0 else _BEYOND
        scale = self.type.scale if pa.types.is_decimal(self.type) else 0
        return Fraction(given) * Fraction(10) ** int(scale)

    def at_most_later(self, values: Int64Array, limit: int | float) -> tuple[Int64Array, Mask]:
        """Return the last `x` with `x - value <= limit`, and a mask of values with such an `x`."""
        if self.is_float:
            return _last_near(values, float(limit))
        for step in _steps(int(limit)):
            values = np.where(values > _LARGEST - step, _LARGEST, values + step)
        return values, _all(values)

    def at_most_earlier(self, values: Int64Array, limit: int | float) -> tuple[Int64Array, Mask]:
        """Return the first `x` with `value - x <= limit`, and a mask of values with such an `x`."""
        if self.is_float:  # the mirror image: x - (-value) <= limit
            mirrored, some = _last_near(encode_floats(-decode_floats(values)), float(limit))
            return encode_floats(-decode_floats(mirrored)), some
        for step in _steps(int(limit)):
            values = np.where(values < _LEAST + step, _LEAST, values - step)
        return values, _all(values)

    def moved(self, values: Int64Array, difference: int | float) -> tuple[Int64Array, Mask]:
        """Return values plus a difference, clipped to 64 bits, and a mask of those not clipped."""
        if self.is_float:
            with np.errstate(invalid="ignore", over="ignore"):
                return encode_floats(decode_floats(values) + difference), _all(values)
        some = _all(values)
        for step in _steps(abs(int(difference))):
            if difference > 0:
                some &= values <= _LARGEST - step
                values = np.where(values > _LARGEST - step, _LARGEST, values + step)
            else:
                some &= values >= _LEAST + step
                values = np.where(values < _LEAST + step, _LEAST, values - step)
        return values, some

    def minus(self, later: Int64Array, earlier: Int64Array) -> npt.NDArray[Any]:
        """Return the distances, integers or floats. Raises EndpointValueError if one overflows."""
        if self.is_float:
            with np.errstate(invalid="ignore", over="ignore"):
                return np.asarray(decode_floats(later) - decode_floats(earlier))
        distance = later - earlier
        if np.any(((later ^ earlier) & (later ^ distance)) < 0):
            raise EndpointValueError("A distance between two endpoints exceeds 64 bits.")
        return distance

    def lengths(self, values: npt.NDArray[Any], valid: Mask) -> Any:
        """Return distances as a column of numbers, in the unit of the integers."""
        if pa.types.is_decimal(self.type):
            wide = np.stack([values, values >> 63], axis=1)
            exact = pa.Array.from_buffers(
                pa.decimal128(38, self.type.scale), len(values), [None, pa.py_buffer(wide)]
            )
            return pc.if_else(pa.array(valid), exact, None)
        return pa.array(values, mask=~valid)


def _not_an_instant(name: str, value: Any, kind: Any) -> EndpointTypeError:
    advice = ""
    if isinstance(value, datetime) and pa.types.is_timestamp(kind):
        advice = (
            ": it has a time zone, and the column has none. Give it without, or cast the column"
        )
    return EndpointTypeError(f"{name}={value!r} is not an instant of type {kind}{advice}.")


def largest_of(kind: Any) -> int:
    """Return the encoding of the largest value of a type, in a column of only this type."""
    kind = _plain(kind)
    if pa.types.is_floating(kind):
        return int(_NAN)
    if pa.types.is_decimal(kind):
        return int(min(10**kind.precision - 1, _LARGEST))
    if pa.types.is_integer(kind):
        return int(min(np.iinfo(kind.to_pandas_dtype()).max, _LARGEST))
    return int(np.iinfo(np.int32).max if pa.types.is_date(kind) else _LARGEST)


def smallest_of(kind: Any) -> int:
    """Return the encoding of the smallest value of a type without fractions."""
    kind = _plain(kind)
    if pa.types.is_decimal(kind):
        return -largest_of(kind)
    if pa.types.is_integer(kind):
        return int(np.iinfo(kind.to_pandas_dtype()).min)
    return -largest_of(kind) - 1


def encode_floats(values: FloatArray) -> Int64Array:
    """Return integers in the order of the doubles."""
    bits = np.where(values == 0, 0.0, values).view(np.int64)
    return np.where(np.isnan(values), _NAN, np.where(bits >= 0, bits, bits ^ _LARGEST))


def decode_floats(values: Int64Array) -> FloatArray:
    """Return the doubles from their integers: the inverse of :func:`encode_floats`."""
    return np.where(values >= 0, values, values ^ _LARGEST).view(np.float64)


def _last_near(values: Int64Array, limit: float) -> tuple[Int64Array, Mask]:
    """Bisect for the last double whose rounded distance from a value is finite and <= `limit`.

    Adding `limit` to the value would not give it: the subtraction rounds, and many doubles far from
    the value have the same rounded distance.
    """
    base = decode_floats(values)
    some = np.isfinite(base)
    base = np.where(some, base, 0.0)
    low = np.where(some, values, 0)
    high = np.full_like(low, encode_floats(np.array([np.inf]))[0])  # infinity is not near
    for _ in range(64):
        middle = (low >> 1) + (high >> 1) + (low & high & 1)
        with np.errstate(over="ignore"):
            distance = decode_floats(middle) - base
        near = np.isfinite(distance) & (distance <= limit)
        low, high = np.where(near, middle, low), np.where(near, high, middle)
    return low, some


def _steps(limit: int) -> Iterator[int]:
    """Yield steps that each fit into 64 bits and add up to `limit`, or to `_BEYOND` if less."""
    limit = min(limit, _BEYOND)
    while limit > 0:
        yield min(limit, _LARGEST)
        limit -= _LARGEST


def _all(values: Any) -> Mask:
    return np.ones(len(values), dtype=np.bool_)


def _unscaled(array: Any) -> Int64Array:
    filled = array.fill_null(Decimal(0))
    words = np.frombuffer(filled.buffers()[1], np.int64)
    words = words[2 * filled.offset : 2 * (filled.offset + len(filled))].reshape(-1, 2)
    if np.any(words[:, 1] != words[:, 0] >> 63):
        raise EndpointValueError("Decimal endpoints must not have more than 18 digits.")
    return np.ascontiguousarray(words[:, 0])


def _common(types: Sequence[Any]) -> Any:
    plain = {_plain(kind) for kind in types} - {pa.null()}
    if all(map(pa.types.is_integer, plain)):
        return pa.int64()
    if all(pa.types.is_integer(t) or pa.types.is_decimal(t) for t in plain):
        return pa.decimal128(38, max(t.scale for t in plain if pa.types.is_decimal(t)))
    if all(map(_is_number, plain)):
        return pa.float64()
    if all(map(pa.types.is_date, plain)):
        return pa.date32()
    zones = {t.tz is None for t in plain if pa.types.is_timestamp(t)}
    if zones and all(pa.types.is_timestamp(t) or pa.types.is_date(t) for t in plain):
        if len(zones) == 2 or (zones == {False} and any(map(pa.types.is_date, plain))):
            raise EndpointTypeError(
                "Some timestamps have a time zone and others do not: cast all of them to one type."
            )
        named = next(t.tz for t in plain if pa.types.is_timestamp(t))
        return pa.timestamp(_finest(plain), named)
    if all(map(pa.types.is_duration, plain)):
        return pa.duration(_finest(plain))
    listed = ", ".join(sorted(map(str, plain)))
    raise EndpointTypeError(
        f"Endpoints of the types {listed} have no common order: give numbers, dates, timestamps or "
        "durations."
    )


def _is_number(kind: Any) -> bool:
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def _plain(kind: Any) -> Any:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _finest(types: Any) -> str:
    units = [t.unit for t in types if not pa.types.is_date(t)]
    return str(max(units, key=_UNITS.index))
