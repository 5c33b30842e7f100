# SPDX-License-Identifier: Apache-2.0
"""The typed functions of Python equal those of SQL, in joins and other expressions."""

from __future__ import annotations

import ast
import inspect
import pickle
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions as sf

from intervalsweep import functions as isf
from intervalsweep import table_functions as ist
from intervalsweep import temporal
from intervalsweep._sql.relation_functions import drawing
from intervalsweep.relations import relations
from support.docs.examples import run_example
from support.joins import oracle
from support.spark.comparison import BROADCAST, EXCLUDED_RULES, FOLDING, physical, sweeps

ROOT = Path(__file__).resolve().parents[2]
R, S = ("rts", "rte"), ("sts", "ste")


def test_a_typed_function_for_every_function_of_sql(spark: Any) -> None:
    state = spark._jsparkSession.sessionState()
    for registry, module in (
        (state.functionRegistry(), isf),
        (state.tableFunctionRegistry(), ist),
    ):
        listed = registry.listFunction()
        known = [listed.apply(i) for i in range(listed.size())]
        of_class = {
            one.funcName(): registry.lookupFunction(one).get().getClassName() for one in known
        }
        ours = {name for name, owner in of_class.items() if "intervalsweep" in owner}
        assert ours == set(module.__all__)
    assert len(isf.__all__) + len(ist.__all__) == 41


def test_parameters_are_those_of_the_relation() -> None:
    for name, relation in oracle.RELATIONS.items():
        signature = inspect.signature(getattr(isf, name.lower()))
        assert [*signature.parameters][1:] == list(relation.parameters), name


def test_both_languages_draw_one_example(spark: Any) -> None:
    for name, relation in relations().items():
        rows = spark.sql(f"DESCRIBE FUNCTION EXTENDED {name}").collect()
        described = "\n".join(row[0] for row in rows)
        bars = [line.rpartition("   [")[0].rstrip() for line in drawing(relation)]
        assert len(bars) == 2, name
        assert all(f"      {bar}\n" in described for bar in bars), name


def test_stub_declares_the_functions_that_are_built() -> None:
    stub = ast.parse(Path(isf.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    overloads: dict[str, list[list[str]]] = {}
    for node in stub.body:
        if isinstance(node, ast.FunctionDef):
            names = [argument.arg for argument in node.args.kwonlyargs]
            overloads.setdefault(node.name, []).append(names)
        if isinstance(node, ast.Assign):
            assert ast.literal_eval(node.value) == isf.__all__
    assert len(overloads) == 25
    for name, found in overloads.items():
        function = getattr(isf, name)
        limits = [*inspect.signature(function).parameters][1:]
        assert found == [limits, limits], name
        assert (function.__module__, function.__qualname__) == (isf.__name__, name)
        assert pickle.loads(pickle.dumps(function)) is function


@pytest.mark.parametrize("name", isf.__all__)
def test_example_of_the_docstring(spark: Any, name: str) -> None:
    assert run_example(getattr(isf, name), spark=spark, sf=sf) >= 1


@pytest.mark.parametrize("name", ist.__all__)
def test_example_of_the_docstring_of_a_table_function(spark: Any, name: str) -> None:
    assert run_example(getattr(ist, name), spark=spark, validtime=ist.validtime) >= 2


def test_every_function_is_its_formula(spark: Any) -> None:
    """Functions, with and without parameters, have the three-valued results of their formulas."""
    ends = (None, 0, 1, 2)
    rows = [(a, b, c, d) for a in ends for b in ends for c in (None, 0, 1) for d in ends]
    frame = spark.createDataFrame(rows, "rts INT, rte INT, sts INT, ste INT").coalesce(1)
    one = oracle.Limit("1", "CAST({later} AS BIGINT) - {earlier} <= 1")
    calls, formulas = [], []
    for variant in oracle.variants():
        name = variant.relation.name
        function = getattr(isf, name.lower())
        calls.append(function(*R, *S, **dict.fromkeys(variant.parameters, 1)))
        formulas.append(oracle.formula(name, R, S, **dict.fromkeys(variant.parameters, one)))
    got = [list(row) for row in frame.select(*calls).collect()]
    assert got == [list(row) for row in frame.selectExpr(*formulas).collect()]
    assert {value for row in got for value in row} == {True, False, None}


def test_structs_columns_and_names_of_fields(spark: Any) -> None:
    frame = spark.sql("SELECT named_struct('a', 1, 'b', 4) AS r, named_struct('a', 2, 'b', 6) AS s")
    row = frame.select(
        isf.allen_overlaps("r", "s"),
        isf.allen_overlaps(frame.s, frame.r),
        isf.allen_overlaps("r.a", "r.b", frame["s.a"], "s.b"),
        isf.iseql_left_overlap("r", "s", delta=frame["r.a"], epsilon="r.b"),
    ).first()
    assert list(row) == [True, False, True, True]


@pytest.mark.parametrize(
    ("start", "delta", "expected"),
    [
        (date(2024, 1, 1), timedelta(days=2), [0, 1, 2]),
        (date(2024, 1, 1), 1, [0, 1]),
        (datetime(2024, 1, 1), timedelta(days=1), [0, 1]),
        (datetime(2024, 1, 1), timedelta(hours=47), [0, 1]),
    ],
)
def test_timedelta_between_dates_and_timestamps(
    spark: Any, start: Any, delta: Any, expected: list[int]
) -> None:
    rows = [(n, start, start + timedelta(days=n)) for n in range(4)]
    frame = spark.createDataFrame(rows, ["n", "x", "y"])
    found = frame.where(isf.iseql_before("x", "x", "y", "y", delta=delta)).select("n").collect()
    assert sorted(row.n for row in found) == expected


def test_join_is_swept(spark: Any, conf: Any) -> None:
    conf({EXCLUDED_RULES: FOLDING, BROADCAST: "-1"})
    r = spark.sql("SELECT id AS ts, id + 10 AS te FROM range(100)")
    s = spark.sql("SELECT id AS ts, id + 5 AS te FROM range(100)")
    joined = r.join(s, isf.allen_overlaps(r.ts, r.te, s.ts, s.te))
    assert sweeps(physical(joined)) == 1
    assert joined.count() == 370


def test_number_of_operands_is_checked() -> None:
    with pytest.raises(TypeError, match=r"allen_meets\(\) takes four endpoints.* got 3 columns"):
        isf.allen_meets("a", "b", "c")  # type: ignore[call-overload]


def test_functions_keep_the_caches_of_their_inputs(spark: Any) -> None:
    """PySpark's `sql` drops the cache of each DataFrame that a text names."""
    frame = spark.range(9).selectExpr("id AS ts", "id + 2 AS te", "id % 2 AS k").cache()
    try:
        history = temporal.valid(frame, "ts", "te")
        results = [
            ist.interval_merge(frame, "ts", "te", keys="k"),
            ist.temporal_coalesce(frame, ts="ts", te="te"),
            history.group_by("k").agg(n="count(*)").frame,
            temporal.sequenced(spark, "SELECT k FROM h", h=history),
        ]
        assert frame.storageLevel.useMemory
        assert all("InMemoryTableScan" in physical(result) for result in results)
        assert not [t.name for t in spark.catalog.listTables() if t.name.startswith("_pyspark")]
    finally:
        frame.unpersist()
