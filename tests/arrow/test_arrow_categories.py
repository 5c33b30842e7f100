# SPDX-License-Identifier: Apache-2.0
"""Categorical and Enum columns of pandas and Polars as keys and as values, in every function."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from intervalsweep import EndpointTypeError
from intervalsweep import arrow as isa
from intervalsweep.arrow import temporal

ROWS = {
    "k": ["b", "a", None, "b"],
    "v": ["low", "high", "high", None],
    "ts": [1, 2, 3, 6],
    "te": [5, 4, 8, 9],
}
OTHERS = {"k": ["c", "b", "a"], "v": ["high", "mid", "low"], "ts": [0, 3, 8], "te": [9, 7, 10]}
LEVELS = ["low", "mid", "high"]
AGGS = {"least": "min(v)", "most": "max(v)", "all": "list(v)", "n": "count(v)", "at": "first(v)"}

ONE: dict[str, Any] = {
    "merge": lambda t: isa.merge(t, by=["k", "v"]),
    "cluster": lambda t: isa.cluster(t, by="k"),
    "split": lambda t: isa.split(t, by="k"),
    "complement": lambda t: isa.complement(t, by="v"),
    "half_open": lambda t: isa.half_open(t, "ts", "te"),
    "distinct": temporal.distinct,
    "coalesce": temporal.coalesce,
    "window": lambda t: temporal.window(t, 3),
    "pieces": lambda t: temporal.split(t, 2),
    "period": lambda t: temporal.period(t, 2, 7),
    "at": lambda t: temporal.at(t, 4),
    "aggregate": lambda t: temporal.aggregate(t, "k", n=("count", "v")),
    "extremes": lambda t: temporal.aggregate(t, "k", a=("min", "v"), z=("max", "v")),
}
TWO: dict[str, Any] = {
    f"join {how}": lambda t, u, how=how: isa.join(t, u, by="k", how=how)
    for how in ("inner", "left", "right", "full", "semi", "anti")
}
TWO |= {
    f"history {how}": lambda t, u, how=how: temporal.join(t, u, "k", how=how)
    for how in ("inner", "left", "right", "full", "semi", "anti")
}
TWO |= {
    name: lambda t, u, name=name: getattr(temporal, name)(t, u)
    for name in ("union", "union_all", "union_max", "except_", "except_all", "intersect_all")
}
TWO |= {
    "pairs": lambda t, u: isa.pairs(t, u, by="k"),
    "count_matches": lambda t, u: isa.count_matches(t, u, by="k"),
    "nearest": lambda t, u: isa.nearest(t, u, by="k"),
    "as_of_join": lambda t, u: isa.as_of_join(t, u, by="k"),
    "coverage": lambda t, u: isa.coverage(t, u, by="k"),
    "subtract": lambda t, u: isa.subtract(t, u, by="k"),
    "window_union": lambda t, u: isa.window_union(t, u, by="k", pre=9, fol=9, aggs=AGGS),
}


def bag(frame: Any) -> list[str]:
    table = frame if isinstance(frame, pa.Table) else pa.table(frame)
    rows = table.to_pylist()  # pandas has floats where a whole number is missing
    return sorted(
        repr({n: int(v) if isinstance(v, float) else v for n, v in r.items()}) for r in rows
    )


def in_polars(rows: dict[str, Any], kind: str, levels: list[str] = LEVELS) -> Any:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    key = polars.Categorical if kind == "categorical" else polars.Enum(["b", "c", "a"])
    value = polars.Categorical if kind == "categorical" else polars.Enum(levels)
    return polars.DataFrame(rows, schema_overrides={"k": key, "v": value})


def in_pandas(rows: dict[str, Any], kind: str) -> Any:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    ordered = kind == "ordered"
    return pandas.DataFrame(rows).assign(
        k=pandas.Categorical(rows["k"], ["b", "c", "a"], ordered=ordered),
        v=pandas.Categorical(rows["v"], LEVELS, ordered=ordered),
    )


KINDS = {
    "polars categorical": lambda rows: in_polars(rows, "categorical"),
    "polars enum": lambda rows: in_polars(rows, "enum"),
    "pandas categorical": lambda rows: in_pandas(rows, "categorical"),
    "pandas ordered": lambda rows: in_pandas(rows, "ordered"),
}


def expected(name: str, kind: str, found: Any, strings: list[str]) -> bool:
    """Extremes of ordered categories are by their order, the others by their texts."""
    if kind.endswith(("enum", "ordered")) and name in ("extremes", "window_union"):
        return "'high'" in repr(found)
    return found == strings


@pytest.mark.every_case
@pytest.mark.parametrize("kind", KINDS)
def test_results_are_those_of_strings(kind: str) -> None:
    left, right = KINDS[kind](ROWS), KINDS[kind](OTHERS)
    wrong = [name for name, use in ONE.items() if not same(kind, name, use, left)]
    wrong += [name for name, use in TWO.items() if not same(kind, name, use, left, right)]
    assert not wrong
    # A key of codes and a key of strings have a common type, too.
    plain = pa.table(OTHERS)
    wrong = [name for name, use in TWO.items() if not same(kind, name, use, left, plain)]
    assert not wrong


def same(kind: str, name: str, use: Any, *frames: Any) -> bool:
    tables = [pa.table(rows) for rows in (ROWS, OTHERS)][: len(frames)]
    found = use(*frames)
    assert type(found) is type(frames[0]), name
    return expected(name, kind, bag(found), bag(use(*tables)))


def test_an_enum_comes_back_as_an_enum() -> None:
    left, right = in_polars(ROWS, "enum"), in_polars(OTHERS, "enum")
    for name, use in {**ONE, **TWO}.items():
        found = use(left) if name in ONE else use(left, right)
        for column, kind in found.schema.items():
            if column in ("k", "v", "k_right", "v_right", "least", "most", "a", "z", "at"):
                assert kind == left.schema[column[0] if column in ("k", "k_right") else "v"], name
    categorical = in_polars(ROWS, "categorical")
    assert isa.merge(categorical, by="k").schema["k"] == categorical.schema["k"]
    none = left.clear()
    assert isa.join(none, none, by="k", how="full").schema["k"] == left.schema["k"]


def test_extremes_of_ordered_categories_are_by_their_order() -> None:
    frame = in_polars(
        {"k": ["b"] * 3, "v": ["high", "low", "mid"], "ts": [1] * 3, "te": [2] * 3}, "enum"
    )
    found = temporal.aggregate(frame, "k", a=("min", "v"), z=("max", "v"))
    assert found.select("a", "z").row(0) == ("low", "high")
    base = pa.table({"ts": [1]})
    found = isa.window_union(base, frame, fol=9, aggs={"a": "min(v)", "z": "max(v)"})
    assert found.select(["a", "z"]).to_pylist() == [{"a": "low", "z": "high"}]


def test_enums_of_different_categories_become_texts() -> None:
    left = in_polars(ROWS, "enum")
    right = in_polars({**OTHERS, "v": ["x", "x", "low"]}, "enum", ["x", "low"])
    found = temporal.union_all(left, right)
    assert str(found.schema["v"]) == "String"
    assert bag(found) == bag(temporal.union_all(pa.table(left.to_arrow()), right.to_arrow()))
    assert set(found["v"]) == {"low", "high", "x", None}


def test_lists_and_structs_as_keys_are_an_error_of_ours() -> None:
    for values in ([[1], [2]], [{"a": 1}, {"a": 2}]):
        frame = pa.table({"k": values, "ts": [1, 2], "te": [3, 4]})
        for use in (
            lambda t: isa.join(t, t, by="k"),
            lambda t: isa.merge(t, by="k"),
            lambda t: isa.nearest(t, t, by="k"),
            temporal.distinct,
            lambda t: temporal.except_all(t, t),
            lambda t: temporal.aggregate(t, "k", n="count"),
        ):
            with pytest.raises(EndpointTypeError, match=r"k is (list|struct).*cannot be compared"):
                use(frame)
        assert isa.join(frame, frame).num_rows == 4  # as values that are not compared
