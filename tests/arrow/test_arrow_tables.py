# SPDX-License-Identifier: Apache-2.0
"""The other helpers for Arrow tables, compared with brute force."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections import Counter
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import intervalsweep
from intervalsweep import arrow as isa
from intervalsweep import dataframe as isd
from intervalsweep._requirements import check_packages
from intervalsweep._signatures import ArrowFunctions, implements
from intervalsweep.arrow import threads
from support.docs.examples import run_example
from support.joins import brute
from support.joins.brute import REPEATABLE, Interval

PYTHON = Path(intervalsweep.__file__).parents[1]
QUICK = settings(REPEATABLE, max_examples=200)
# Two groups of intervals, and rows with NULL keys.
KEYS = ("a", "b", None)
groups = st.tuples(*(brute.intervals(8) for _ in KEYS))
Groups = tuple[list[Interval], ...]


def table(rows: Groups) -> Any:
    flat = [(key, *row) for key, some in zip(KEYS, rows, strict=True) for row in some]
    key, ts, te = (pa.array([row[i] for row in flat], kind) for i, kind in enumerate(TYPES))
    return pa.table({"k": key, "id": pa.array(range(len(flat)), pa.int64()), "ts": ts, "te": te})


TYPES = (pa.string(), pa.int32(), pa.int32())


def bag(result: Any) -> Counter[Any]:
    return Counter(tuple(row.values()) for row in result.to_pylist())


@pytest.mark.parametrize("name", isa.__all__)
def test_example_of_the_docstring(name: str) -> None:
    assert run_example(getattr(isa, name), pa=pa) > 0


def test_nearest() -> None:
    seen: set[Any] = set()

    @QUICK
    @given(groups, groups, st.sampled_from((None, 3)))
    def compare(r: Groups, s: Groups, most: int | None) -> None:
        left, right = table(r), table(s)
        found = isa.nearest(left, right, by="k", max_distance=most)
        more = ["id_right", "ts_right", "te_right", "distance"]
        assert found.column_names == ["k", "id", "ts", "te", *more]
        assert found.select(left.column_names).equals(left)
        for row in found.to_pylist():
            mine, others = (row["ts"], row["te"]), s[KEYS.index(row["k"])]
            least = brute.least_distance(mine, others) if row["k"] else None
            least = None if least is None or (most is not None and least > most) else least
            assert row["distance"] == least, row
            seen.add(least)
            if least is None:
                assert row["id_right"] is None
            else:
                right_row = right.slice(row["id_right"], 1).to_pylist()[0]
                assert right_row["k"] == row["k"]
                assert (right_row["ts"], right_row["te"]) == (row["ts_right"], row["te_right"])
                assert brute.distance(mine, (row["ts_right"], row["te_right"])) == least
        kept = isa.nearest(left, right, by="k", max_distance=most, how="inner")
        assert kept.num_rows == found.num_rows - found.column("distance").null_count

    compare()
    assert seen > {None, 0, 1, 2}


def test_a_right_column_with_the_name_of_the_distance_was_an_error() -> None:
    left = pa.table({"ts": [1], "te": [2]})
    right = pa.table({"distance": [7], "ts": [4], "te": [5]})
    found = isa.nearest(left, right).to_pydict()
    assert (found["distance_right"], found["distance"]) == ([7], [2])


def next_in_time(row: Any, others: list[Any], sign: int, most: int) -> list[int]:
    """The ids of the nearest rows with the same key, before or after; all have one instant."""
    found = [
        (sign * (row["ts"] - other["ts"]), other["id"])
        for other in others
        if row["k"] and row["k"] == other["k"] and None not in (row["ts"], other["ts"])
    ]
    near = [(distance, number) for distance, number in found if 0 <= distance <= most]
    return [number for distance, number in near if distance == min(near)[0]]


@pytest.mark.parametrize("in_threads", [False, True])
def test_as_of_join(in_threads: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_ROWS_FOR_THREADS", 0 if in_threads else 1 << 16)
    seen: set[Any] = set()

    @QUICK
    @given(groups, groups, st.sampled_from((1, -1)), st.sampled_from((None, 0, 3)))
    def compare(r: Groups, s: Groups, sign: int, most: int | None) -> None:
        left, right = table(r), table(s)
        direction = "backward" if sign == 1 else "forward"
        found = isa.as_of_join(left, right, on="ts", by="k", direction=direction, tolerance=most)
        more = ["id_right", "ts_right", "te_right"]
        assert found.column_names == ["k", "id", "ts", "te", *more]
        assert found.select(left.column_names).equals(left)
        others = right.to_pylist()
        for row in found.to_pylist():
            equal = next_in_time(row, others, sign, 99 if most is None else most)
            assert row["id_right"] == max(equal, default=None), "the last one of the table"
            seen.add((direction, min(len(equal), 2)))

    compare()
    assert seen == {(way, many) for way in ("backward", "forward") for many in (0, 1, 2)}


def test_coverage() -> None:
    seen: set[Any] = set()

    @QUICK
    @given(groups, groups)
    def compare(r: Groups, s: Groups) -> None:
        found = isa.coverage(table(r), table(s), by="k")
        expected = [
            brute.covered(row, others if key else [])
            for key, rows, others in zip(KEYS, r, s, strict=True)
            for row in rows
        ]
        assert found.column("id").to_pylist() == list(range(len(expected)))
        known = [
            None if key is None and value is None else value
            for key, value in zip(found.column("k").to_pylist(), expected, strict=True)
        ]
        assert found.column("covered").to_pylist() == known
        seen.update(expected)

    compare()
    assert seen > {None, 0, 1, 2, 5}


def test_merge() -> None:
    most = 0

    @QUICK
    @given(groups, st.sampled_from((None, 2)))
    def compare(rows: Groups, gap: int | None) -> None:
        nonlocal most
        got = bag(isa.merge(table(rows), by="k", gap=gap))
        expected = Counter(
            (key, *row)
            for key, some in zip(KEYS, rows, strict=True)
            for row in brute.unbounded(brute.merged, some, gap or 0)
        )
        assert got == expected
        most = max(most, *(row[-1] for row in got), 0)

    compare()
    assert most > 2


def test_split() -> None:
    most = 0

    @QUICK
    @given(groups)
    def compare(rows: Groups) -> None:
        nonlocal most
        got = bag(isa.split(table(rows), by=["k"]))
        expected = Counter(
            (key, *row)
            for key, some in zip(KEYS, rows, strict=True)
            for row in brute.unbounded(brute.pieces, some)
        )
        assert got == expected
        most = max(most, *(row[-1] for row in got), 0)

    compare()
    assert most > 2


def test_complement() -> None:
    total = 0

    @QUICK
    @given(groups, st.sampled_from((None, (-3, 20), (5, 7), (-9, -5))))
    def compare(rows: Groups, within: Any) -> None:
        nonlocal total
        got = bag(isa.complement(table(rows), by="k", within=within))
        expected = Counter(
            (key, *row)
            for key, some in zip(KEYS, rows, strict=True)
            for row in brute.unbounded(brute.gaps, some, within)
        )
        assert got == expected
        total += got.total()

    compare()
    assert total > 100


@pytest.mark.parametrize(
    ("within", "expected"),
    [((5, 11), [(5, 10)]), ((0, 8), [(0, 1), (3, 8)]), ((4, 6), [(4, 6)]), ((1, 3), [])],
)
def test_gaps_are_cut_at_the_limits(within: Interval, expected: list[Interval]) -> None:
    frame = pa.table({"ts": [1, 10], "te": [3, 12]})
    assert bag(isa.complement(frame, within=within)) == Counter(expected)


@pytest.mark.parametrize("within", [(9, 0), (None, 5), (5, None)])
def test_limits_of_gaps_are_two_values_in_order(within: Any) -> None:
    with pytest.raises(intervalsweep.ArgumentError, match="ascending order"):
        isa.complement(pa.table({"ts": [1], "te": [3]}), within=within)


LENGTHS = {
    "date": (pa.date32(), lambda n: n, timedelta(days=1), 1, 2),
    "timestamp": (pa.timestamp("ms", "UTC"), lambda n: n * 1000, timedelta(seconds=1), 1000, 2000),
    "double": (pa.float64(), lambda n: n / 2, 0.5, 0.5, 1.0),
    "decimal": (
        pa.decimal128(9, 2),
        lambda n: Decimal(n * 50).scaleb(-2),
        Decimal("0.5"),
        Decimal("0.50"),
        Decimal("1.00"),
    ),
}


@pytest.mark.parametrize("kind", list(LENGTHS))
def test_other_types(kind: str) -> None:
    """Results have the type of the endpoints, and lengths have its unit."""
    arrow, make, gap, one, two = LENGTHS[kind]

    def column(*numbers: int) -> Any:
        values = [make(n) for n in numbers]
        if pa.types.is_temporal(arrow):
            whole = pa.int32() if kind == "date" else pa.int64()
            return pa.array(values, whole).cast(arrow)
        return pa.array(values, arrow)

    r = pa.table({"ts": column(0, 0), "te": column(1, 5)})
    s = pa.table({"ts": column(3, 8, 9), "te": column(5, 8, 10)})
    assert isa.nearest(r, s).column("distance").to_pylist() == [two, two * 0]
    assert isa.coverage(r, s).column("covered").to_pylist() == [two * 0, two]
    most = gap if kind == "timestamp" else one
    assert isa.nearest(r, s, max_distance=most).column("distance").to_pylist() == [None, two * 0]
    merged = isa.merge(s, gap=gap)
    assert merged.schema.field("ts").type == merged.schema.field("te").type == arrow
    assert merged.select(["ts", "te"]).equals(pa.table({"ts": column(3, 9), "te": column(5, 10)}))
    gaps = isa.complement(s)
    assert gaps.equals(pa.table({"ts": column(5), "te": column(9)}))
    pieces = isa.split(s, count="n")
    assert pieces.select(["ts", "te"]).equals(pa.table({"ts": column(3, 9), "te": column(5, 10)}))


def test_infinite_and_nan_ends() -> None:
    inf, nan = float("inf"), float("nan")
    frame = pa.table({"ts": [-inf, 1.0, 3.0, nan], "te": [0.0, inf, nan, nan]})
    merged = isa.merge(frame).to_pydict()
    assert merged["ts"] == [-inf, 1.0]
    assert str(merged["te"]) == "[0.0, nan]"
    assert merged["count"] == [1, 2]


def test_coverage_by_endless_intervals() -> None:
    inf, nan = float("inf"), float("nan")
    r = pa.table({"k": ["a", "a", "b"], "ts": [5.0, 5.0, 0.0], "te": [7.0, inf, 5.0]})
    s = pa.table({"k": ["a", "b", "b"], "ts": [0.0, 1.0, 4.5], "te": [inf, 2.0, nan]})
    assert isa.coverage(r, s, by="k").column("covered").to_pylist() == [2.0, inf, 1.5]


def test_distance_that_overflows_is_an_error() -> None:
    r = pa.table({"ts": [-(2**63)], "te": [-(2**63) + 1]})
    s = pa.table({"ts": [2**63 - 2], "te": [2**63 - 1]})
    with pytest.raises(intervalsweep.IntervalSweepError, match="exceeds 64 bits"):
        isa.nearest(r, s)


@pytest.mark.parametrize("name", ["merge", "split", "complement"])
def test_sets_say_what_is_wrong(name: str) -> None:
    frame = pa.table({"ts": [1], "te": [2]})
    function = getattr(isa, name)
    with pytest.raises(intervalsweep.IntervalSweepError, match=r"no column key\. Known: ts, te"):
        function(frame, by="key")
    with pytest.raises(intervalsweep.IntervalSweepError, match=r"no column tee\. Did you mean te"):
        function(frame, on=("ts", "tee"))
    with pytest.raises(intervalsweep.IntervalSweepError, match="would be called ts"):
        function(frame, by="ts")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_of_other_libraries(library: str) -> None:
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    frame = module.DataFrame({"ts": [1, 3, 8], "te": [4, 6, 9]})
    for function in (isa.merge, isa.split, isa.complement):
        assert type(function(frame)) is module.DataFrame
    assert list(isa.coverage(frame, frame)["covered"]) == [3, 3, 1]
    assert list(isa.nearest(frame, frame)["distance"]) == [0, 0, 0]


def test_missing_package_is_named_with_the_command() -> None:
    with pytest.raises(intervalsweep.IntervalSweepError) as raised:
        check_packages("intervalsweep.arrow", "numpy", "no_such_package")
    assert f"{sys.executable} -m pip install no_such_package" in str(raised.value)


def test_no_spark_and_no_java_are_needed() -> None:
    program = (
        "import sys; sys.modules['pyspark'] = None\n"
        "import pyarrow as pa; from intervalsweep import arrow as isa\n"
        "t = pa.table({'ts': [1], 'te': [2]})\n"
        "print(isa.join(t, t, 'allen_equals').num_rows)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(PYTHON), "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr


def test_what_needs_spark_says_what_to_install() -> None:
    program = "import sys; sys.modules['pyspark'] = None\nimport intervalsweep.dataframe"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(PYTHON), "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "SetupError: intervalsweep.dataframe needs pyspark" in done.stderr
    assert "pip install 'intervalsweep[spark]'" in done.stderr


def test_functions_are_those_of_dataframes_with_the_same_arguments() -> None:
    """The exceptions are `pairs`, as Spark's rows have no numbers, and joins of streams."""
    assert set(isa.__all__) - set(isd.__all__) == {"pairs"}
    of_streams = {"stream_join", "inequality_join", "rows", "time", "with_heartbeat"}
    assert set(isd.__all__) - set(isa.__all__) == of_streams
    tables = {"Frame", "OtherFrame"}
    for module in (isa, isd):
        for name in set(module.__all__) - of_streams:
            said = [*inspect.signature(getattr(ArrowFunctions, name)).parameters.values()][1:]
            has = inspect.signature(getattr(module, name)).parameters.values()
            assert [(p.name, p.kind, p.default) for p in has] == [
                (p.name, p.kind, p.default) for p in said
            ], name
            for shown, declared in zip(has, said, strict=True):
                assert shown.annotation == declared.annotation or declared.annotation in tables


def test_an_implementation_has_the_declared_arguments() -> None:
    def other(data: Any, *, on: Any, by: Any, cuont: str) -> Any: ...
    def fewer(data: Any, *, on: Any) -> Any: ...

    for function, error in ((other, "argument: 'cuont'"), (fewer, "argument 'by'")):
        with pytest.raises(TypeError, match=error):
            implements(ArrowFunctions.split)(function)


def test_arguments_that_do_not_fit_are_errors() -> None:
    frame = pa.table({"ts": [1], "te": [2]})
    for arguments, error in (
        ({"count": "n", "gap": 1}, r"split\(\) got an unexpected keyword argument 'gap'"),
        ({"data": frame}, r"split\(\) multiple values for argument 'data'"),
    ):
        with pytest.raises(TypeError, match=error):
            isa.split(frame, **arguments)
