# SPDX-License-Identifier: Apache-2.0
"""Distances and lengths on Spark: each kind of value, and the values that are refused."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import functions as sf

from intervalsweep import ArgumentError, EndpointTypeError, temporal
from intervalsweep import dataframe as isd
from intervalsweep import functions as isf
from intervalsweep import table_functions as ist

AGGS = {"n": "count(*)"}
# Each distance of a table, by its name in the error.
DISTANCES: dict[str, Any] = {
    "delta": lambda t, d: isd.join(t, t, "iseql_before", delta=d),
    "epsilon": lambda t, d: isd.count_matches(t, t, "iseql_left_overlap", epsilon=d),
    "max_distance": lambda t, d: isd.nearest(t, t, max_distance=d),
    "tolerance": lambda t, d: isd.as_of_join(t, t, tolerance=d),
    "gap": lambda t, d: isd.merge(t, gap=d),
    "pre": lambda t, d: isd.window_union(t, t, pre=d, aggs=AGGS),
    "fol": lambda t, d: isd.window_union(t, t, fol=d, aggs=AGGS),
}
# Each length of a history.
LENGTHS: dict[str, Any] = {
    "max_length": lambda t, d: temporal.valid(t, "ts", "te").split(d).frame,
    "longest": lambda t, d: temporal.valid(t, "ts", "te").coalesce(d).frame,
    "sliding": lambda t, d: temporal.valid(t, "ts", "te").window(d).frame,
    "fixed": lambda t, d: ist.temporal_window(t, fixed=d, ts="ts", te="te"),
}


@pytest.fixture
def times(spark: Any) -> Any:
    rows = "(TIMESTAMP'2024-01-01 10:00:00', TIMESTAMP'2024-01-01 11:00:00'), "
    rows += "(TIMESTAMP'2024-01-01 12:30:00', TIMESTAMP'2024-01-01 13:00:00')"
    return spark.sql(f"SELECT * FROM VALUES {rows} t(ts, te)")


def bag(frame: Any) -> list[str]:
    return sorted(map(repr, frame.collect()))


@pytest.mark.parametrize("name", DISTANCES)
def test_each_kind_of_duration(times: Any, name: str) -> None:
    use = DISTANCES[name]
    expected = bag(use(times, timedelta(minutes=90)))
    for same in (np.timedelta64(90, "m"), "90 minutes", "1 hour 30 minutes"):
        assert bag(use(times, same)) == expected, same
    with pytest.raises(EndpointTypeError, match=f"{name}=7200 has no unit between timestamp"):
        use(times, 7200)
    with pytest.raises(ArgumentError, match=f"`{name}` must be a number, a timedelta or a text"):
        use(times, True)


@pytest.mark.parametrize("name", LENGTHS)
def test_each_kind_of_length(times: Any, name: str) -> None:
    use = LENGTHS[name]
    expected = bag(use(times, timedelta(minutes=30)))
    for same in (np.timedelta64(1800, "s"), "30 minutes"):
        assert bag(use(times, same)) == expected, same
    for wrong in (True, "soon", timedelta):
        with pytest.raises(ArgumentError, match="must be a number, a timedelta or a text"):
            use(times, wrong)
    with pytest.raises(AnalysisException, match="30"):
        use(times, 30)


def test_whole_numbers_of_numpy_and_months(spark: Any) -> None:
    days = spark.sql("SELECT DATE'2024-01-31' AS ts, DATE'2024-02-01' AS te")
    later = spark.sql("SELECT DATE'2024-03-01' AS ts, DATE'2024-03-02' AS te")
    for near in (np.int32(29), "29 days", np.timedelta64(29, "D"), "1 month"):
        assert isd.join(days, later, "iseql_before", delta=near).count() == 1, near
    assert isd.join(days, later, "iseql_before", delta=28).count() == 0
    with pytest.raises(EndpointTypeError, match="months and years differ in length"):
        isd.nearest(days, later, max_distance="1 month")
    window = temporal.valid(days, "ts", "te").window("1 month").frame.first()
    assert str(window.te) == "2024-02-29"


def test_a_duration_is_not_the_name_of_a_column(spark: Any) -> None:
    frame = spark.sql("SELECT TIMESTAMP'2024-01-01' AS a, TIMESTAMP'2024-01-02' AS b")
    for delta, expected in (("1 day", True), (np.timedelta64(23, "h"), False)):
        found = frame.select(isf.iseql_before("a", "a", "b", "b", delta=delta)).first()
        assert found[0] is expected
    named = spark.sql("SELECT 1 AS ts, 2 AS te, 5 AS `3 days`")
    far = spark.sql("SELECT 6 AS ts, 7 AS te")
    assert isd.join(named, far, "iseql_before", delta=sf.col("`3 days`")).count() == 1


def test_windows_of_streams_take_numbers_of_numpy_and_texts() -> None:
    assert isd.rows(np.int64(10), slide=np.int64(5)) == isd.rows(10, slide=5)
    assert isd.time("10 minutes", slide="60 seconds") == isd.time(
        timedelta(minutes=10), slide=timedelta(minutes=1)
    )
    for wrong in (1.5, True):
        with pytest.raises(ArgumentError, match="`length` must be a"):
            isd.rows(wrong)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="`length` must be a timedelta or a text"):
        isd.time(600)  # type: ignore[arg-type]
