# SPDX-License-Identifier: Apache-2.0
"""Interval joins of Arrow tables: every relation, compared with brute force."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import intervalsweep
from intervalsweep import arrow as isa
from intervalsweep.arrow import sides, threads
from intervalsweep.arrow.search import matches, plan
from intervalsweep.kernels.expand_runs import Expansion
from intervalsweep.relations import relation_named
from support.joins import brute, oracle
from support.joins.brute import REPEATABLE, Interval, ids, table

ENDS = ("ts", "te")
QUICK = settings(REPEATABLE, max_examples=30)
LARGEST = 2**63 - 1
FLOATS = (
    math.nan,
    math.inf,
    -math.inf,
    -0.0,
    0.0,
    1.0,
    2.0,
    1e16,
    -1e16,
    5e-324,
    1.7e308,
    -1.7e308,
)

small = st.integers(0, 9)
any_whole = st.one_of(small, st.sampled_from((LARGEST, LARGEST - 1, -LARGEST - 1, -LARGEST)))
any_float = st.one_of(st.integers(0, 9).map(lambda n: n / 4), st.sampled_from(FLOATS))


def rows_of(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Interval]]:
    end = st.one_of(values, values, values, values, st.none())
    return st.lists(st.tuples(end, end), max_size=12)


def check(r: list[Interval], s: list[Interval], kind: Any, limits: dict[str, Any]) -> int:
    """Checks every relation, with and without its parameters; returns the number of pairs."""
    left, right = table(r, kind), table(s, kind)
    total = 0
    for variant in oracle.variants():
        chosen = {parameter: limits[parameter] for parameter in variant.parameters}
        name = variant.relation.name
        expected = [
            (i, j)
            for i, a in enumerate(r)
            for j, b in enumerate(s)
            if brute.holds(name, a, b, **chosen)
        ]
        joined = isa.join(left, right, name, **chosen)
        got = zip(*(joined.column(c).to_pylist() for c in ("id", "id_right")), strict=True)
        assert sorted(got) == expected, str(variant)
        counts = isa.count_matches(left, right, name, **chosen).column("count").to_pylist()
        per_row = Counter(i for i, _ in expected)
        assert counts == [per_row[i] for i in range(len(r))], str(variant)
        total += len(expected)
    return total


def run(values: st.SearchStrategy[Any], kind: Any, limit: st.SearchStrategy[Any]) -> int:
    pairs = 0

    @QUICK
    @given(rows_of(values), rows_of(values), limit, limit)
    def compare(r: list[Interval], s: list[Interval], delta: Any, epsilon: Any) -> None:
        nonlocal pairs
        pairs += check(r, s, kind, {"delta": delta, "epsilon": epsilon})

    compare()
    return pairs


def test_whole_numbers() -> None:
    assert run(small, pa.int32(), st.integers(0, 4)) > 1000


def test_whole_numbers_with_extremes() -> None:
    limits = st.one_of(st.integers(0, 4), st.sampled_from((LARGEST, 2**64 - 2, 2**64)))
    assert run(any_whole, pa.int64(), limits) > 500


def test_floats_with_their_extremes() -> None:
    limits = st.sampled_from((0.0, 0.25, 1.0, 0.75, 1e16, 1e308, math.inf))
    assert run(any_float, pa.float64(), limits) > 500


def test_distances_that_are_infinite_exceed_every_parameter() -> None:
    rows = [(-1.7e308, 1.75e308), (1.7e308, 1.75e308), (math.inf, math.inf), (-math.inf, 0.0)]
    limits = {"delta": math.inf, "epsilon": math.inf}
    assert check(rows, rows, pa.float64(), limits) > 50


def test_decimals() -> None:
    decimals = st.integers(-5, 9).map(lambda n: Decimal(n).scaleb(-2))
    assert run(decimals, pa.decimal128(9, 2), decimals.map(abs)) > 1000


@pytest.mark.parametrize("in_threads", [False, True])
@pytest.mark.parametrize("in_order", [False, True])
def test_many_rows_with_ties(
    in_order: bool, in_threads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables that are larger than the kernels' blocks and lookup tables."""
    monkeypatch.setattr(threads, "_ROWS_FOR_THREADS", 0 if in_threads else LARGEST)
    monkeypatch.setattr(sides, "_SMALL", 200)  # larger tables have 64-bit row numbers
    monkeypatch.setattr(matches, "_FEW_TIES", 1)
    random.seed(3)
    r, s = (
        [(start := random.randrange(400), start + random.randrange(-3, 30)) for _ in range(size)]
        for size in (120, 300)
    )
    if in_order:
        r, s = sorted(r), sorted(s)
    assert check(r, s, pa.int64(), {"delta": 7, "epsilon": 5}) > 50_000


def test_equal_intervals_of_few_starts_were_looked_at_one_by_one() -> None:
    """There are three starts, and three rows of each interval, which are far apart."""
    rows = range(900)
    table = pa.table({"ts": [n % 3 for n in rows], "te": [n * 7 % 300 for n in rows]})
    found = matches.Matches.of(table, table, "allen_equals", on=ENDS)
    (sweep,) = found._sweeps()
    swept = found._swept(sweep)
    assert swept is not None
    assert sum(batch.count.sum() for batch in swept.runs) == 900 * 3
    assert swept.runs.runs == 900  # three equal rows are adjacent
    assert swept.runs.skipped > 900


def test_sweeps_lead_with_a_bounded_axis() -> None:
    """A lead axis that is bounded on one side only would visit half of all pairs."""
    for variant in oracle.variants():
        relation = relation_named(variant.relation.name)
        for sweep in plan.sweeps(relation, variant.parameters):
            assert sweep.lead.strength > 1 or sweep.second is None, str(variant)


@pytest.mark.parametrize("how", ["inner", "left", "right", "full", "semi", "anti"])
def test_join_types_with_keys(how: str) -> None:
    """Two key columns, NULL keys and NULL endpoints, with hand-written pairs."""
    r = pa.table(
        {
            "k": pa.array(["a", "a", "b", None, "c"]).dictionary_encode(),
            "x": pa.array([-0.0, 0.0, math.nan, 1.0, 1.0]),
            "id": [0, 1, 2, 3, 4],
            "ts": [1, 5, 1, 1, None],
            "te": [4, 6, 4, 4, 9],
        }
    )
    s = pa.table(
        {
            "k": pa.array(["a", "b", None, "c"], pa.large_string()),
            "y": pa.array([0.0, math.nan, 1.0, 1.0], pa.float32()),
            "id": [0, 1, 2, 3],
            "ts": [2, 3, 1, 1],
            "te": [3, 9, 4, 4],
        }
    )
    joined = isa.join(r, s, "interval_intersects", by=["k", ("x", "y")], how=how)
    matched = [(0, 0), (2, 1)]
    left, right = [(i, None) for i in (1, 3, 4)], [(None, j) for j in (2, 3)]
    expected: dict[str, list[Any]] = {
        "inner": matched,
        "left": matched + left,
        "right": matched + right,
        "full": matched + left + right,
        "semi": [(0,), (2,)],
        "anti": [(1,), (3,), (4,)],
    }
    assert ids(joined) == sorted(expected[how], key=repr)
    more = [] if how in ("semi", "anti") else ["y", "id_right", "ts_right", "te_right"]
    assert joined.column_names == ["k", "x", "id", "ts", "te", *more]
    if how in ("right", "full"):
        keys = dict(zip(joined["id_right"].to_pylist(), joined["k"].to_pylist(), strict=True))
        assert keys[3] == "c"


def test_nothing_on_either_side() -> None:
    some, none = table([(1, 4)]), table([])
    assert isa.join(some, none, "allen_before", how="left").num_rows == 1
    assert isa.join(none, some, "allen_before", how="right").num_rows == 1
    assert isa.join(none, none, "interval_intersects", how="full").num_rows == 0
    assert isa.count_matches(some, none, "iseql_during").column("count").to_pylist() == [0]


def test_a_sweep_of_empty_boxes_is_left_out() -> None:
    """One of the two sweeps of DURING finds only reversed intervals."""
    long, short, reversed_long = [(1, 9)], [(3, 5)], [(9, 1)]
    limits = {"delta": 4, "epsilon": 4}
    assert check(long, short, pa.int64(), limits) > 0
    assert check(short, long, pa.int64(), limits) > 0
    for r, s, sweeps in ((short, long, 1), (long, short, 1), (reversed_long, short, 2)):
        found = matches.Matches.of(table(r), table(s), "allen_during", on=ENDS)
        assert sum(found._swept(sweep) is not None for sweep in found._sweeps()) == sweeps


def mixed(left: Any, right: Any) -> Callable[[], Any]:
    r = pa.table({"ts": left, "te": left})
    s = pa.table({"ts": right, "te": right})
    return lambda: isa.join(r, s, "allen_equals").num_rows


def test_types_are_brought_to_one() -> None:
    day = pa.array([19_000], pa.int32()).cast(pa.date32())
    seconds = pa.array([19_000 * 86_400], pa.int64())
    nanos = pa.array([19_000 * 86_400 * 10**9], pa.int64()).cast(pa.timestamp("ns"))
    assert mixed(day, nanos)() == 1
    assert mixed(
        seconds.cast(pa.timestamp("s", "UTC")), nanos.cast(pa.timestamp("ns", "Asia/Tokyo"))
    )()
    assert mixed(pa.array([3], pa.uint8()), pa.array([3.0], pa.float32()))() == 1
    assert mixed(pa.array([3], pa.int16()), pa.array([Decimal("3.00")]))() == 1
    assert mixed(pa.array([3], pa.uint64()), pa.array([3], pa.int8()))() == 1
    assert mixed(pa.array([None], pa.null()), pa.array([3], pa.int8()))() == 0


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        (pa.array(["a"]), pa.array([1]), "of the types int64, string have no common order"),
        (pa.array([2**63], pa.uint64()), pa.array([1]), "out of range"),
        (
            pa.array([0]).cast(pa.timestamp("us")),
            pa.array([0]).cast(pa.timestamp("us", "UTC")),
            "Some timestamps have a time zone",
        ),
        (pa.array([Decimal(10**19)]), pa.array([1]), "more than 18 digits"),
    ],
)
def test_types_without_a_common_order(left: Any, right: Any, message: str) -> None:
    with pytest.raises(intervalsweep.IntervalSweepError, match=message):
        mixed(left, right)()


TIMES = pa.table(
    {"ts": pa.array([0]).cast(pa.timestamp("s")), "te": pa.array([9]).cast(pa.timestamp("s"))}
)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"relation": "iseql_befor"},
            r"Unknown relation 'iseql_befor'\. Did you mean iseql_before",
        ),
        ({"on": "tse"}, r"left side has no column tse\. Did you mean ts"),
        ({"on": "ts"}, "ts is int64, not a struct of two fields"),
        ({"by": "ID"}, r"left side has no column ID\. Did you mean id"),
        ({"how": "cross"}, "`how` must be one of inner, left, .*; got 'cross'"),
        ({"epsilon": 1}, "ISEQL_BEFORE has no parameter epsilon; it has delta"),
        ({"delta": -1}, "`delta` must not be negative; got -1"),
        ({"delta": "far"}, "`delta` must be a number, a timedelta or a text .*; got 'far'"),
        ({"delta": timedelta(1)}, "is not a distance between int64 endpoints"),
        ({"right": [1, 2]}, "list is not a table"),
        ({"suffix": ""}, "Two columns of the result would be called id"),
    ],
)
def test_says_what_is_wrong(change: Any, message: str) -> None:
    arguments = {"left": table([(1, 2)]), "right": table([(3, 4)]), "relation": "iseql_before"}
    with pytest.raises(intervalsweep.IntervalSweepError, match=message):
        isa.join(**{**arguments, **change})


@pytest.mark.parametrize("how", ["inner", "left", "right", "full", "semi", "anti"])
def test_columns_are_those_that_are_wanted(how: str) -> None:
    left, right = table([(1, 4), (8, 9)]), table([(2, 6), (20, 30)])
    everything = isa.join(left, right, how=how, by=[("id", "id")] if how == "full" else ())
    names = everything.column_names
    for wanted in (names[::-1], names[-1:], names[:1]):
        by = [("id", "id")] if how == "full" else ()
        found = isa.join(left, right, how=how, columns=wanted, by=by)
        assert found.equals(everything.select(wanted))
    assert everything.num_rows > 0
    with pytest.raises(intervalsweep.ColumnError, match=r"joined side has no column tss\. Did"):
        isa.join(left, right, how=how, columns=["tss"])
    with pytest.raises(intervalsweep.ColumnError, match="has ts twice"):
        isa.join(left, right, how=how, columns=["ts", "ts"])


@pytest.mark.parametrize("relation", ["interval_intersects", "allen_overlaps", "allen_during"])
def test_pairs_are_the_numbers_of_the_rows(relation: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs are expanded in chunks of ten, by several threads."""
    monkeypatch.setattr(Expansion.parts, "__defaults__", (10,))
    left, right = (table([(n % 17, n % 17 + n % 5) for n in range(0, 60, step)]) for step in (1, 2))
    found = isa.pairs(left, right, relation)
    assert found.column("left").num_chunks > 2
    joined = isa.join(left, right, relation, columns=["id", "id_right"])
    assert joined.column("id").num_chunks > 2
    assert ids(found.rename_columns(["id", "id_right"])) == ids(joined)
    expected = [
        (i, j)
        for i, a in enumerate(zip(*(left[c].to_pylist() for c in ("ts", "te")), strict=True))
        for j, b in enumerate(zip(*(right[c].to_pylist() for c in ("ts", "te")), strict=True))
        if brute.holds(relation.upper(), a, b)
    ]
    assert ids(joined) == sorted(expected, key=repr)
    assert len(expected) > 40
    full = isa.join(left, right, relation, how="full", columns=["id", "id_right"])
    assert full.num_rows > len(expected)
    assert set(ids(joined)) < set(ids(full))


def test_structs_and_slices() -> None:
    periods = pa.StructArray.from_arrays([pa.array([9, 1, 2]), pa.array([9, 4, 6])], ["a", "b"])
    r = pa.table({"period": pa.concat_arrays([periods, pa.nulls(1, periods.type)])}).slice(1)
    joined = isa.join(r, r, "allen_overlaps", on="period")
    assert joined.to_pylist() == [{"period": {"a": 1, "b": 4}, "period_right": {"a": 2, "b": 6}}]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_of_other_libraries(library: str) -> None:
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    r = module.DataFrame({"k": ["a", "b"], "ts": [1.5, None], "te": [4.0, 9.0]})
    s = module.DataFrame({"k": ["a", "a"], "ts": [2, 8], "te": [6, 9]})
    joined = isa.join(r, s, "allen_overlaps", by="k")
    assert type(joined) is module.DataFrame
    assert pa.table(joined).to_pylist() == [
        {"k": "a", "ts": 1.5, "te": 4.0, "ts_right": 2, "te_right": 6}
    ]
    assert list(isa.count_matches(r, s, "interval_intersects", by="k")["count"]) == [1, 0]


def test_any_arrow_stream() -> None:
    reader = table([(1, 4), (2, 6)]).to_reader(max_chunksize=1)
    assert isa.join(reader, table([(2, 6)]), "allen_overlaps").num_rows == 1
