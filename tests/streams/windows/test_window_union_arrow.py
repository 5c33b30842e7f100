# SPDX-License-Identifier: Apache-2.0
"""`arrow.window_union`, compared with a loop over all pairs of rows."""

from __future__ import annotations

import math
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intervalsweep import IntervalSweepError
from intervalsweep import arrow as isa

FUNCTIONS = ("count", "sum", "avg", "min", "max", "first", "last", "list")
NAN = float("nan")


def order(value: Any) -> Any:
    """A sort key by which NaN is the largest number."""
    return (isinstance(value, float) and math.isnan(value), value)


def expected(function: str, values: list[Any]) -> Any:
    some = [value for value in values if value is not None]
    match function:
        case "count":
            return len(some)
        case "list":
            return some
        case "first" | "last":
            return (values[0] if function == "first" else values[-1]) if values else None
    if not some:
        return None
    match function:
        case "sum":
            return sum(some)
        case "avg":
            return float(sum(some)) / len(some)
        case "min":
            return min(some, key=order)
        case _:
            return max(some, key=order)


def same(a: Any, b: Any) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-12)
    return bool(a == b)


def check(
    base: list[tuple[Any, Any]], probe: list[tuple[Any, Any, Any]], kinds: Any, **window: Any
) -> None:
    """Compares all aggregates. Instants differ, so first, last and list are unique."""
    time, value = kinds
    ours = pa.table(
        {
            "k": pa.array([r[0] for r in base], pa.string()),
            "ts": pa.array([r[1] for r in base], time),
        }
    )
    theirs = pa.table(
        {
            "k": pa.array([r[0] for r in probe], pa.string()),
            "ts": pa.array([r[1] for r in probe], time),
            "v": pa.array([r[2] for r in probe], value),
        }
    )
    names = (
        FUNCTIONS
        if not pa.types.is_string(value)
        else ("count", "min", "max", "first", "last", "list")
    )
    aggs = {name: f"{name}(v)" for name in names} | {"n": "count(*)"}
    rows = isa.window_union(ours, theirs, by="k", aggs=aggs, **window).to_pylist()
    assert len(rows) == len(base)
    pre, fol = window.get("pre"), window.get("fol", 0)
    for (key, ts), row in zip(base, rows, strict=True):
        found = sorted(
            (
                (at, v)
                for other, at, v in probe
                if None not in (key, ts, at)
                and other == key
                and (pre is None or at >= ts - pre)
                and (fol is None or at <= ts + fol)
            ),
            key=lambda one: one[0],
        )
        found = found[-window.get("max_rows", len(probe) + 1) :]
        values = [v for _, v in found]
        assert (row["k"], row["ts"], row["n"]) == (key, ts, len(found))
        for name in names:
            assert same(row[name], expected(name, values)), (name, row, values)


keys = st.sampled_from(["a", "b", None])
numbers = st.one_of(st.none(), st.integers(-8, 30))
distances = st.one_of(st.none(), st.integers(-6, 12))
VALUES = {
    pa.int64(): st.integers(-(2**40), 2**40),
    pa.float64(): st.sampled_from([0.5, -2.0, 1e300, -1e300, NAN, float("inf")]),
    pa.string(): st.text("abc", max_size=2),
    pa.decimal128(9, 2): st.integers(-999, 999).map(lambda n: Decimal(n).scaleb(-2)),
}


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_like_a_loop(data: st.DataObject) -> None:
    value = data.draw(st.sampled_from(list(VALUES)))
    values = st.one_of(st.none(), VALUES[value])
    base = data.draw(st.lists(st.tuples(keys, numbers), max_size=20))
    probe = data.draw(
        st.lists(st.tuples(keys, numbers, values), max_size=30, unique_by=lambda r: r[:2])
    )
    most = data.draw(st.sampled_from([{}, {"max_rows": 1}, {"max_rows": 3}]))
    ends = {"pre": data.draw(distances), "fol": data.draw(distances)}
    check(base, probe, (pa.int64(), value), **ends, **most)


def test_kinds_of_time() -> None:
    base = [("a", 3), ("a", 9), (None, 4), ("b", None)]
    probe = [("a", n, n * 3 - 7) for n in range(12)] + [("b", 2, 1)]
    hour = datetime(2024, 3, 1)
    day = date(2024, 2, 27)

    def of(make: Any) -> Any:
        return (
            [(k, None if t is None else make(t)) for k, t in base],
            [(k, make(t), v) for k, t, v in probe],
        )

    for make, kind, unit in (
        (lambda n: hour + timedelta(seconds=n), pa.timestamp("us"), timedelta(seconds=1)),
        (lambda n: day + timedelta(days=n), pa.date32(), timedelta(days=1)),
        (lambda n: timedelta(seconds=n), pa.duration("ms"), timedelta(seconds=1)),
        (lambda n: n / 4, pa.float64(), 0.25),
        (lambda n: Decimal(n).scaleb(-1), pa.decimal128(5, 1), Decimal("0.1")),
    ):
        for pre, fol in ((3, 0), (4, -2), (-1, 3), (-2, -1)):
            check(*of(make), (kind, pa.int64()), pre=pre * unit, fol=fol * unit)


def test_at_the_ends_of_the_type() -> None:
    least, largest = -(2**63), 2**63 - 1
    base = [("a", least), ("a", largest)]
    probe = [("a", least, 1), ("a", largest, 2), ("a", 0, 4)]
    for pre, fol in ((5, 5), (-5, 7), (7, -5), (2**64, 2**64), (None, None)):
        check(base, probe, (pa.int64(), pa.int64()), pre=pre, fol=fol)


def test_sums_are_exact_or_fail() -> None:
    base = [("a", 1), ("a", 2)]
    probe = [("a", 1, 2**62), ("a", 2, 2**62 - 1)]
    check(base, probe, (pa.int64(), pa.int64()), pre=1)
    with pytest.raises(IntervalSweepError, match="exceeds 64 bits"):
        check(base, [*probe, ("a", 0, 2**62)], (pa.int64(), pa.int64()), pre=5)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"aggs": {"s": "sum(v) + 1"}}, "must be an aggregate of one column"),
        ({"aggs": {"s": "summ(v)"}}, "unknown function 'summ'"),
        ({"aggs": {"s": "sum(*)"}}, "only count"),
        ({"aggs": {"s": "sum(w)"}}, "no column w"),
        ({"aggs": {"ts": "sum(v)"}}, "called ts"),
        ({"aggs": {"s": "sum(k)"}}, "need numbers; got a column of string"),
        ({"aggs": {"n": "count(*)"}, "pre": "x"}, "a number, a timedelta or a text"),
        ({"aggs": {}}, "needs an aggregate"),
        ({"aggs": {"n": "count(*)"}, "max_rows": 0}, "whole number of at least 1; got 0"),
        ({"aggs": {}, "emit": "later"}, "`emit` must be one of final, eager; got 'later'"),
        ({"aggs": {}, "by": "w"}, "no column w"),
    ],
)
def test_errors(given: dict[str, Any], message: str) -> None:
    table = pa.table({"k": ["a"], "ts": [1], "v": [2]})
    with pytest.raises(IntervalSweepError, match=message):
        isa.window_union(table, table, **given)


@pytest.mark.parametrize("size", [0, 3])
def test_rows_of_tables_come_once(size: int) -> None:
    table = pa.table({"ts": pa.array(range(size), pa.int64())})
    given: dict[str, Any] = {"pre": 1, "aggs": {"n": "count(*)"}}
    final = isa.window_union(table, table, **given)
    eager = isa.window_union(table, table, emit="eager", **given)
    assert eager.column_names == ["ts", "n", "revision", "is_final"]
    assert eager.drop_columns(["revision", "is_final"]) == final
    assert eager["revision"].to_pylist() == [1] * size
    assert eager["is_final"].to_pylist() == [True] * size
    assert eager.schema.field("revision").type == pa.int32()
    with pytest.raises(IntervalSweepError, match="called revision"):
        isa.window_union(table, table, pre=1, emit="eager", aggs={"revision": "count(*)"})
