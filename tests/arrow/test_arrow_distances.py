# SPDX-License-Identifier: Apache-2.0
"""Distances and lengths of Arrow tables: each kind of value, and the values that are refused."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from intervalsweep import ArgumentError, EndpointTypeError, _distances
from intervalsweep import arrow as isa
from intervalsweep._distances import Duration, Months
from intervalsweep.arrow import temporal
from support.docs.examples import run_example

SECOND = 1_000_000


def times(*seconds: float, unit: str = "us") -> Any:
    micros = [int(s * SECOND) for s in seconds]
    return pa.array(micros, pa.int64()).cast(pa.timestamp("us")).cast(pa.timestamp(unit))


@pytest.mark.parametrize("name", ["read"])
def test_example_of_the_docstring(name: str) -> None:
    assert run_example(getattr(_distances, name), np=np) > 0


# The value and what it means.
MEANINGS = [
    (timedelta(minutes=10), Duration(600 * 10**9)),
    ("10 minutes", Duration(600 * 10**9)),
    ("INTERVAL 1 hour 30 Minutes", Duration(5400 * 10**9)),
    ("1 week -1 day", Duration(6 * 86_400 * 10**9)),
    ("0.5 seconds", Duration(5 * 10**8)),
    ("1 year 2 months", Months(14)),
    (np.timedelta64(1, "s"), Duration(10**9)),
    (np.timedelta64(7, "ns"), Duration(7)),
    (np.timedelta64(3, "W"), Duration(21 * 86_400 * 10**9)),
    (np.timedelta64(2, "Y"), Months(24)),
    (np.int8(3), 3),
    (np.float32(0.5), 0.5),
]


@pytest.mark.every_case
@pytest.mark.parametrize(("value", "meaning"), MEANINGS)
def test_a_distance_means_the_same_everywhere(value: Any, meaning: Any) -> None:
    found = _distances.read("gap", value)
    assert (found, type(found)) == (meaning, type(meaning))


@pytest.mark.every_case
@pytest.mark.parametrize(
    "value", [True, np.True_, "far", "5", "1.5 days", "1 month 2 days", [1], np.timedelta64("NaT")]
)
def test_what_is_no_distance(value: Any) -> None:
    with pytest.raises(ArgumentError, match="`gap`"):
        _distances.read("gap", value)
    frame = pa.table({"ts": [1], "te": [2]})
    with pytest.raises(ArgumentError, match="`gap`"):
        isa.merge(frame, gap=value)


def test_numpy_timedelta_was_taken_as_a_bare_number() -> None:
    """A tolerance of one second matched rows that are 1,000 seconds apart."""
    left = pa.table({"ts": times(0, 2000)})
    right = pa.table({"ts": times(-1, 1000), "v": ["a", "b"]})
    for second in (np.timedelta64(1, "s"), np.timedelta64(10**9, "ns"), "1 second"):
        found = isa.as_of_join(left, right, tolerance=second)
        assert found.column("v").to_pylist() == ["a", None], second


def test_pandas_timedelta_keeps_its_nanoseconds() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    at = pa.array([0, 700], pa.int64()).cast(pa.timestamp("ns"))
    frame = pa.table({"ts": at, "te": at})
    for nanoseconds, pairs in ((699, 2), (700, 3)):
        delta = pandas.Timedelta(nanoseconds, "ns")
        assert isa.join(frame, frame, "iseql_before", delta=delta).num_rows == pairs


# Each length, gap and distance of a table, by its name in the error.
DISTANCES: dict[str, Any] = {
    "delta": lambda t, d: isa.join(t, t, "iseql_before", delta=d),
    "epsilon": lambda t, d: isa.count_matches(t, t, "iseql_left_overlap", epsilon=d),
    "max_distance": lambda t, d: isa.nearest(t, t, max_distance=d),
    "tolerance": lambda t, d: isa.as_of_join(t, t, tolerance=d),
    "gap": lambda t, d: isa.cluster(t, gap=d),
    "pre": lambda t, d: isa.window_union(t, t, pre=d, aggs={"n": "count(*)"}),
    "fol": lambda t, d: isa.window_union(t, t, fol=d, aggs={"n": "count(*)"}),
    "max_length": lambda t, d: temporal.split(t, d),
    "sliding": lambda t, d: temporal.window(t, d),
    "fixed": lambda t, d: temporal.window(t, fixed=d),
}


@pytest.mark.every_case
@pytest.mark.parametrize("name", DISTANCES)
def test_a_number_between_timestamps_has_no_unit(name: str) -> None:
    """It was nanoseconds on datetime64[ns], and microseconds on Spark."""
    use = DISTANCES[name]
    for unit in ("s", "ns"):
        frame = pa.table({"ts": times(0, 5, unit=unit), "te": times(3, 9, unit=unit)})
        with pytest.raises(EndpointTypeError, match=rf"{name}=7200 has no unit between timestamp"):
            use(frame, 7200)
        with pytest.raises(EndpointTypeError, match="months and years differ in length"):
            use(frame, np.timedelta64(1, "M"))
        assert use(frame, "2 hours").equals(use(frame, timedelta(hours=2)))
    with pytest.raises(ArgumentError, match=f"`{name}` must be a number, a timedelta or a text"):
        use(pa.table({"ts": [1], "te": [2]}), True)


def test_a_limit_may_have_a_fraction_and_a_length_may_not() -> None:
    frame = pa.table({"ts": [0, 4, 7], "te": [2, 5, 8]})
    assert isa.merge(frame, gap=1.5).num_rows == 3
    assert isa.merge(frame, gap=2.5).num_rows == 1
    for use in (DISTANCES["max_length"], DISTANCES["sliding"], DISTANCES["fixed"]):
        with pytest.raises(EndpointTypeError, match=r"=1\.5 is not a whole number of the units"):
            use(frame, 1.5)
    seconds = pa.table({"ts": times(0, unit="s"), "te": times(9, unit="s")})
    with pytest.raises(EndpointTypeError, match="not a whole number of the units"):
        temporal.split(seconds, timedelta(milliseconds=1500))
    assert temporal.split(seconds, timedelta(seconds=2)).num_rows == 5


def test_a_month_of_numpy_was_a_day() -> None:
    day = pa.array([0]).cast(pa.int32()).cast(pa.date32())
    with pytest.raises(EndpointTypeError, match="months and years differ in length"):
        temporal.window(pa.table({"ts": day, "te": day}), np.timedelta64(1, "M"))
