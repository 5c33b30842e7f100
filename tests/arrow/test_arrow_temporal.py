# SPDX-License-Identifier: Apache-2.0
"""Histories without Spark: at each instant, the operator over the snapshot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intervalsweep import (
    ArgumentError,
    ColumnError,
    EndpointTypeError,
    EndpointValueError,
)
from intervalsweep.arrow import temporal
from support.docs.examples import run_example
from support.joins.brute import REPEATABLE
from support.temporal.snapshots import assert_canonical, is_valid

QUICK = settings(REPEATABLE, max_examples=150)
INSTANTS = range(-1, 10)
END = st.integers(0, 8) | st.none()
ROW = st.tuples(
    st.sampled_from([1, 1, 2, None]), st.sampled_from([10, 10, 20, None]), END, END
)  # fmt: skip
ROWS = st.lists(ROW, max_size=8)
SCHEMA = pa.schema([("k", pa.int32()), ("v", pa.int64()), ("ts", pa.int32()), ("te", pa.int32())])
Row = tuple[Any, ...]


def table(rows: list[Row]) -> Any:
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], SCHEMA)


def rows_of(found: Any) -> list[Row]:
    return [tuple(row.values()) for row in found.to_pylist()]


def proper(row: Row) -> bool:
    return row[-2] is None or row[-1] is None or row[-2] < row[-1]


def at(rows: list[Row], instant: int) -> Counter[Row]:
    return Counter(row[:-2] for row in rows if proper(row) and is_valid(row, instant))


def check(found: Any, expected: Callable[[int], Counter[Row]], canonical: bool = True) -> None:
    rows = rows_of(found)
    assert all(map(proper, rows))
    for instant in INSTANTS:
        assert at(rows, instant) == +expected(instant), (instant, rows)
    if canonical:
        assert_canonical(rows)


def times(one: Counter[Row], other: Counter[Row], often: Callable[[int, int], int]) -> Counter[Row]:
    return Counter({row: often(one[row], other[row]) for row in {*one, *other}})


SETS: list[tuple[Any, Callable[[int, int], int]]] = [
    (temporal.except_all, lambda a, b: max(a - b, 0)),
    (temporal.except_, lambda a, b: int(a > 0 and b == 0)),
    (temporal.except_strict, lambda a, b: a if b == 0 else 0),
    (temporal.intersect_all, min),
    (temporal.intersect, lambda a, b: int(a > 0 and b > 0)),
    (temporal.union_all, lambda a, b: a + b),
    (temporal.union, lambda a, b: int(a + b > 0)),
    (temporal.union_max, max),
]


@pytest.mark.parametrize(("operator", "often"), SETS, ids=[one.__name__ for one, _ in SETS])
def test_set_operations(operator: Any, often: Callable[[int, int], int]) -> None:
    @QUICK
    @given(ROWS, ROWS)
    def compare(r: list[Row], s: list[Row]) -> None:
        found = operator(table(r), table(s))
        assert found.schema.names == SCHEMA.names
        canonical = operator is not temporal.union_all
        check(found, lambda i: times(at(r, i), at(s, i), often), canonical)

    compare()


@QUICK
@given(ROWS)
def test_distinct_and_coalesce(r: list[Row]) -> None:
    check(temporal.distinct(table(r)), lambda i: Counter({*at(r, i)}))
    check(temporal.coalesce(table(r)), lambda i: at(r, i))


def test_joins() -> None:
    seen: set[str] = set()

    @settings(REPEATABLE, max_examples=400)
    @given(ROWS, ROWS, st.sampled_from(["inner", "left", "right", "full", "semi", "anti"]),
           st.sampled_from([(), ("k",), ("k", "v")]))  # fmt: skip
    def compare(r: list[Row], s: list[Row], how: str, by: tuple[str, ...]) -> None:
        found = temporal.join(table(r), table(s), by, how=how)
        check(found, lambda i: joined(at(r, i), at(s, i), how, len(by)), canonical=False)
        seen.add(f"{how} {bool(found.num_rows)}")

    compare()
    assert len(seen) == 12


def joined(r: Counter[Row], s: Counter[Row], how: str, keys: int) -> Counter[Row]:
    """The plain join of two bags on their first columns, which the result has once."""

    def meets(a: Row, b: Row) -> bool:
        return all(x is not None and x == y for x, y in zip(a[:keys], b[:keys], strict=True))

    pairs = [(a, b) for a in r.elements() for b in s.elements() if meets(a, b)]
    lone = [a for a in r.elements() if not any(meets(a, b) for b in s)]
    others = [b for b in s.elements() if not any(meets(a, b) for a in r)]
    if how == "anti":
        return Counter(lone)
    if how == "semi":
        return r - Counter(lone)
    found = [a + b[keys:] for a, b in pairs]
    if how in ("left", "full"):
        found += [a + (None,) * (2 - keys) for a in lone]
    if how in ("right", "full"):
        found += [b[:keys] + (None,) * (2 - keys) + b[keys:] for b in others]
    return Counter(found)


def aggregated(values: list[Any]) -> Row:
    some = [value for value in values if value is not None]
    if not some:
        return len(values), 0, None, None, None, None
    return len(values), len(some), sum(some), min(some), max(some), sum(some) / len(some)


WANTED: dict[str, Any] = {
    "rows": "count", "n": ("count", "v"), "total": ("sum", "v"), "least": ("min", "v"),
    "most": ("max", "v"), "mean": ("avg", "v"),
}  # fmt: skip


@QUICK
@given(ROWS)
def test_aggregates_by_groups(r: list[Row]) -> None:
    def expected(instant: int) -> Counter[Row]:
        valid = list(at(r, instant).elements())
        keys = {k for k, _ in valid}
        return Counter((k, *aggregated([v for key, v in valid if key == k])) for k in keys)

    check(temporal.aggregate(table(r), "k", **WANTED), expected)
    floats = table(r).set_column(1, "v", table(r).column("v").cast(pa.float64()))
    check(temporal.aggregate(floats, "k", **WANTED), expected)


@QUICK
@given(ROWS)
def test_aggregates_of_all_rows(r: list[Row]) -> None:
    def expected(instant: int) -> Counter[Row]:
        return Counter([aggregated([v for _, v in at(r, instant).elements()])])

    check(temporal.aggregate(table(r), **WANTED), expected)
    check(temporal.aggregate(table(r), mean=("avg", "v")), lambda i: Counter(
        [row[-1:] for row in expected(i)]))  # fmt: skip


@QUICK
@given(ROWS, st.integers(1, 4))
def test_pieces(r: list[Row], length: int) -> None:
    bounded = [row for row in r if None not in row[-2:]]
    found = temporal.split(table(bounded), length)
    check(found, lambda i: at(bounded, i), canonical=False)
    sizes = [te - ts for *_, ts, te in rows_of(found)]
    assert all(size <= length for size in sizes)
    whole = [te - ts for *_, ts, te in bounded if ts < te]
    assert len(sizes) == sum(-(-size // length) for size in whole)
    merged = temporal.coalesce(table(r), length)
    check(merged, lambda i: at(r, i), canonical=False)
    # No row is cut: each end is one of a row, and a shorter period is not followed by another one.
    ends = {end for row in r if proper(row) for end in row[-2:]}
    assert {end for *_, ts, te in rows_of(merged) for end in (ts, te)} <= ends


@QUICK
@given(ROWS, st.integers(1, 4), st.integers(-3, 3))
def test_windows(r: list[Row], length: int, origin: int) -> None:
    some = [row for row in r if row[-2] is not None]
    valid = [row for row in some if proper(row)]
    sliding = [(*row[:-1], row[-2] + length) for row in valid]
    assert Counter(rows_of(temporal.window(table(some), length))) == Counter(sliding)
    ends = [(row[-2] - origin) // length * length + origin + length for row in valid]
    fixed = [(*row[:-1], end) for row, end in zip(valid, ends, strict=True)]
    endless = [(*row[:-1], None) for row in some]
    got = temporal.window(table(endless), length, on_bounded="error")
    assert len(rows_of(got)) == len(endless)
    got = temporal.window(table(some), fixed=length, origin=origin)
    assert Counter(rows_of(got)) == Counter(fixed)


@QUICK
@given(ROWS, st.integers(0, 8) | st.none(), st.integers(0, 8) | st.none())
def test_a_part_of_the_history(r: list[Row], start: int | None, end: int | None) -> None:
    if start is not None and end is not None:
        start, end = min(start, end), max(start, end)
    found = temporal.period(table(r), start, end)
    inside = (None, start, end)
    check(found, lambda i: at(r, i) if is_valid(inside, i) else Counter(), canonical=False)
    if start is not None:
        assert Counter(rows_of(temporal.at(table(r), start))) == at(r, start)


@pytest.mark.parametrize("name", temporal.__all__)
def test_example_of_the_docstring(name: str) -> None:
    assert run_example(getattr(temporal, name), pa=pa) > 0


DAY = date(2024, 1, 1)


@pytest.mark.parametrize(
    ("kind", "low", "high", "step", "largest"),
    [
        (pa.date32(), DAY, DAY + timedelta(days=9), timedelta(days=2), None),
        (pa.timestamp("us"), datetime(2024, 1, 1), datetime(2024, 1, 3), timedelta(hours=5), None),
        (pa.duration("s"), timedelta(0), timedelta(9), timedelta(hours=30), None),
        (pa.int8(), -3, 120, 7, 127),
        (
            pa.decimal128(6, 2),
            Decimal("1.10"),
            Decimal("9.00"),
            Decimal("0.30"),
            Decimal("9999.99"),
        ),
        (pa.float64(), -0.5, 1e300, None, float("nan")),
    ],
)
def test_types_of_periods(kind: Any, low: Any, high: Any, step: Any, largest: Any) -> None:
    data = pa.table(
        {
            "v": ["a", "a", "b"],
            "ts": pa.array([low, low, None], kind),
            "te": pa.array([high, None, largest], kind),
        }
    )
    found = temporal.except_all(data, data.slice(0, 1))
    assert found.schema == data.schema
    assert sorted(rows_of(found)) == [("a", low, None), ("b", None, None)]
    assert rows_of(temporal.at(data, low)) == [("a",), ("a",), ("b",)]
    if step is not None:
        pieces = temporal.split(data.slice(0, 1), step).column("te").to_pylist()
        assert pieces[0] == low + step
        assert pieces[-1] == high


def test_texts_dates_and_nothing() -> None:
    data = pa.table(
        {"k": ["x", "x", "y"], "t": ["b", None, "a"], "d": [DAY, None, None], "ts": [1, 2, 3],
         "te": [5, 4, 6]}
    )  # fmt: skip
    found = temporal.aggregate(data, "k", a=("min", "t"), b=("max", "t"), c=("max", "d"))
    assert rows_of(found) == [("x", "b", "b", DAY, 1, 5), ("y", "a", "a", None, 3, 6)]
    none = data.slice(0, 0)
    assert rows_of(temporal.aggregate(none, n="count", m=("max", "t"))) == [(0, None, None, None)]
    assert temporal.aggregate(none, "k", n="count").num_rows == 0
    assert temporal.join(none, data, "k", how="full").num_rows == 3
    assert temporal.union(none, none).schema == data.schema
    keyless = temporal.join(data.select(["ts", "te"]), data.select(["ts", "te"]), how="semi")
    assert keyless.num_rows == 3


def test_other_names_on_the_right() -> None:
    a = pa.table({"x": [1, 2], "p": ["a", "b"], "ts": [1, 2], "te": [5, 6]})
    b = pa.table({"y": [1, 9], "p": ["q", "r"], "f": [2, 0], "u": [4, 3]})
    found = temporal.join(a, b, [("x", "y")], how="right", right_on=("f", "u"))
    assert found.schema.names == ["x", "p", "y", "p_right", "ts", "te"]
    assert rows_of(found) == [(1, "a", 1, "q", 2, 4), (None, None, 9, "r", 0, 3)]
    both = temporal.union_all(a, b, right_on=("f", "u"))
    assert rows_of(both)[2:] == [(1, "q", 2, 4), (9, "r", 0, 3)]
    with pytest.raises(ColumnError, match="called p"):
        temporal.join(a, b, [("x", "y")], right_on=("f", "u"), suffix="")


def test_libraries() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    data = {"v": ["a", "b"], "ts": [1, 2], "te": [3, None]}
    for frame in (pandas.DataFrame(data), polars.DataFrame(data)):
        found = temporal.distinct(temporal.union_all(frame, frame))
        assert type(found) is type(frame)
        assert len(found) == 2


def test_many_rows() -> None:
    """Several batches, groups that span batches, and more valid rows than initial capacity."""
    rng = np.random.default_rng(7)
    size = 60_000
    start = rng.integers(0, 50_000, size)
    data = pa.table({"v": rng.integers(0, 20, size), "ts": start, "te": start + 200})
    counts = temporal.aggregate(data, n="count")
    n, ts, te = (counts.column(name).to_numpy() for name in ("n", "ts", "te"))
    assert np.nansum(n[1:-1] * (te - ts)[1:-1]) == 200 * size
    left = temporal.except_all(data, data.slice(0, size // 2))
    lengths = left.column("te").to_numpy() - left.column("ts").to_numpy()
    assert lengths.sum() == 200 * (size // 2)


@pytest.mark.parametrize(
    ("error", "call", "says"),
    [
        (ColumnError, lambda t: temporal.distinct(t, on=("a", "te")), "no column a"),
        (ColumnError, lambda t: temporal.distinct(t, on="p"), "two columns"),
        (
            ColumnError,
            lambda t: temporal.union(t, t.select(["k", "ts", "te"])),
            "select equally many",
        ),
        (ColumnError, lambda t: temporal.join(t, t, "x"), "no column x"),
        (ColumnError, lambda t: temporal.aggregate(t, "k", k="count"), "called k"),
        (ColumnError, lambda t: temporal.aggregate(t, x=("sum", "y")), "no column y"),
        (ArgumentError, lambda t: temporal.aggregate(t), "at least one aggregate"),
        (ArgumentError, lambda t: temporal.aggregate(t, x="sum"), "needs a column"),
        (
            ArgumentError,
            lambda t: temporal.aggregate(t, x=("median", "v")),
            "`x` must be one of count",
        ),
        (ArgumentError, lambda t: temporal.window(t), "one of sliding and fixed"),
        (ArgumentError, lambda t: temporal.split(t, 0), "more than 0"),
        (ArgumentError, lambda t: temporal.window(t[1:], 0), "`sliding` must be more than 0"),
        (ArgumentError, lambda t: temporal.window(t[1:], fixed=0), "`fixed` must be more than 0"),
        (ArgumentError, lambda t: temporal.window(t, 1, on_bounded="no"), "on_bounded"),
        (EndpointValueError, lambda t: temporal.window(t[1:], 1, on_bounded="error"), "an end"),
        (ArgumentError, lambda t: temporal.at(t, None), "must not be None"),
        (ArgumentError, lambda t: temporal.period(t, 9, 3), "must not be before `start`"),
        (EndpointTypeError, lambda t: temporal.at(t, "x"), "not an instant"),
        (EndpointTypeError, lambda t: temporal.aggregate(t, x=("sum", "s")), "cast it"),
        (EndpointTypeError, lambda t: temporal.split(t, timedelta(1)), "not a distance"),
        (EndpointValueError, lambda t: temporal.split(t, 2), "period"),
        (EndpointValueError, lambda t: temporal.window(t, 2), "no start"),
        (EndpointValueError, lambda t: temporal.aggregate(t, x=("sum", "big")), "64 bits"),
    ],
)
def test_errors(error: type[Exception], call: Any, says: str) -> None:
    data = pa.table(
        {"k": [1, 2], "v": [1, 2], "s": ["a", "b"], "big": [2**62, 2**62], "ts": [None, 1],
         "te": [5, 6]}
    )  # fmt: skip
    with pytest.raises(error, match=says):
        call(data)


SWEPT = [temporal.except_all, temporal.except_strict, temporal.intersect_all, temporal.union_max]


def ordered(found: Any) -> list[Row]:
    return sorted(rows_of(found), key=repr)


@QUICK
@given(ROWS, ROWS, st.sampled_from(SWEPT), st.integers(1, 7))
def test_how_rows_are_cut_does_not_matter(
    r: list[Row], s: list[Row], operator: Any, at: int
) -> None:
    """The same history with its rows cut into other periods has the same result."""

    def cut(rows: list[Row]) -> list[Row]:
        found = []
        for row in rows:
            holds = proper(row) and is_valid(row, at) and row[-2] != at
            found += [(*row[:-1], at), (*row[:-2], at, row[-1])] if holds else [row]
        return found[::-1]

    expected = ordered(operator(table(r), table(s)))
    assert ordered(operator(table(cut(r)), table(cut(s)))) == expected
    whole = ordered(temporal.aggregate(table(r), "k", **WANTED))
    assert ordered(temporal.aggregate(table(cut(r)), "k", **WANTED)) == whole


@QUICK
@given(ROWS, ROWS, st.sampled_from(SWEPT), st.sampled_from([-1000, 7, 10**9]))
def test_a_shift_of_time_shifts_the_result(
    r: list[Row], s: list[Row], operator: Any, by: int
) -> None:
    def shifted(rows: list[Row]) -> list[Row]:
        return [
            (*row[:-2], *(end if end is None else end + by for end in row[-2:])) for row in rows
        ]

    expected = shifted(rows_of(operator(table(r), table(s))))
    found = operator(table(shifted(r)), table(shifted(s)))
    assert ordered(found) == sorted(expected, key=repr)


@QUICK
@given(ROWS, ROWS, st.sampled_from([(), ("k",), ("k", "v")]))
def test_semi_and_anti_are_the_left_side(r: list[Row], s: list[Row], by: tuple[str, ...]) -> None:
    parts = (temporal.join(table(r), table(s), by, how=how) for how in ("semi", "anti"))
    both = temporal.coalesce(temporal.union_all(*parts))
    assert ordered(both) == ordered(temporal.coalesce(table(r)))


@QUICK
@given(ROWS, ROWS)
def test_equations_of_the_paper(r: list[Row], s: list[Row]) -> None:
    a, b = table(r), table(s)
    minus, both = temporal.except_all(a, b), temporal.intersect_all(a, b)
    assert ordered(both) == ordered(temporal.except_all(a, minus))  # (13)
    parts = temporal.union_all(temporal.union_all(minus, temporal.except_all(b, a)), both)
    assert ordered(temporal.union_max(a, b)) == ordered(temporal.coalesce(parts))  # (14)
    semi = temporal.except_all(a, temporal.except_strict(a, b))
    assert ordered(temporal.except_strict(a, b)) == ordered(temporal.except_all(a, semi))  # (15)


def test_ends_beyond_the_type_are_null() -> None:
    small = pa.table({"ts": pa.array([100, 3], pa.int8()), "te": pa.array([120, None], pa.int8())})
    assert temporal.window(small, 100).column("te").to_pylist() == [None, 103]
    buckets = temporal.resample(small, 100, period=(None, 124))
    assert buckets.column("bucket_end").to_pylist() == [None, 100, None]
    assert buckets.column("share").to_pylist() == [0.2, 0.97, 0.24]
