# SPDX-License-Identifier: Apache-2.0
"""The functions as Boolean expressions, with three-valued results, and their errors."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.errors import AnalysisException

from support.joins import oracle
from support.joins.oracle import RELATIONS
from support.spark.comparison import ANSI, EXCLUDED_RULES, FOLDING

# All intervals over four points, also empty and reversed, and some with NULL endpoints.
POINTS = (0, 1, 2, 3)
INTERVALS = [*itertools.product(POINTS, POINTS), (None, 1), (1, None), (None, None)]


@pytest.fixture(scope="module")
def pairs(spark: Any) -> None:
    """Creates a view with all pairs of intervals: rts, rte, sts, ste."""
    rows = [(*r, *s) for r in INTERVALS for s in INTERVALS]
    frame = spark.createDataFrame(rows, "rts INT, rte INT, sts INT, ste INT")
    frame.cache().createOrReplaceTempView("pairs")


R, S = ("rts", "rte"), ("sts", "ste")


@pytest.fixture(params=["compiled", "interpreted"])
def evaluation(spark: Any, conf: Any, request: pytest.FixtureRequest) -> Iterator[None]:
    """Compiled or interpreted. Spark honours NO_CODEGEN only if spark.testing is set."""
    if request.param == "compiled":
        yield
        return
    conf({"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"})
    system = spark._jvm.java.lang.System
    system.setProperty("spark.testing", "true")
    yield
    system.clearProperty("spark.testing")


def columns(spark: Any, expressions: list[str]) -> list[list[Any]]:
    names = [f"{expression} AS c{i}" for i, expression in enumerate(expressions)]
    query = f"SELECT {', '.join(names)} FROM pairs ORDER BY rts, rte, sts, ste"
    return [list(column) for column in zip(*spark.sql(query).collect(), strict=True)]


@pytest.mark.usefixtures("pairs", "evaluation")
def test_three_valued_results(spark: Any) -> None:
    """Each function returns TRUE, FALSE or NULL as its formula does, for every pair."""
    calls = columns(spark, [oracle.call(name, R, S) for name in RELATIONS])
    formulas = columns(spark, [oracle.formula(name, R, S) for name in RELATIONS])
    for name, called, written in zip(RELATIONS, calls, formulas, strict=True):
        assert called == written, name
        assert set(called) == {True, False, None}, name


@pytest.mark.usefixtures("pairs", "evaluation")
def test_parameters(spark: Any) -> None:
    limits = [
        oracle.Limit(argument, "CAST({later} AS BIGINT) - {earlier} <= " + argument)
        for argument in ("0", "1", "rts", "CAST(NULL AS INT)")
    ]
    cases = [
        (variant, dict(zip(variant.parameters, chosen, strict=True)))
        for variant in oracle.variants()
        if variant.parameters
        for chosen in itertools.product(limits[:3], repeat=len(variant.parameters))
    ]
    for style in ("named", "positional", "structs"):
        calls = [oracle.call(v.relation.name, R, S, **chosen, style=style) for v, chosen in cases]
        formulas = [oracle.formula(v.relation.name, R, S, **chosen) for v, chosen in cases]
        both = zip(columns(spark, calls), columns(spark, formulas), strict=True)
        wrong = [call for call, (got, expected) in zip(calls, both, strict=True) if got != expected]
        assert wrong == []


@pytest.mark.usefixtures("pairs")
def test_a_null_column_makes_the_bound_null(spark: Any) -> None:
    plain, column = columns(
        spark,
        [
            "ISEQL_DURING(rts, rte, sts, ste)",
            "ISEQL_DURING(rts, rte, sts, ste, delta => nullif(rts, rts))",
        ],
    )
    # FALSE AND NULL is FALSE, TRUE AND NULL is NULL.
    assert column == [False if value is False else None for value in plain]


@pytest.mark.usefixtures("pairs")
def test_inverses_swap_the_operands(spark: Any) -> None:
    for name, inverse in oracle.INVERSES.items():
        parameters = dict.fromkeys(RELATIONS[name].parameters, oracle.Limit("1", ""))
        one, other = columns(
            spark,
            [oracle.call(name, R, S, **parameters), oracle.call(inverse, S, R, **parameters)],
        )
        assert one == other, name
    symmetric = columns(
        spark, [f"INTERVAL_INTERSECTS({a})" for a in ("rts,rte,sts,ste", "sts,ste,rts,rte")]
    )
    assert symmetric[0] == symmetric[1]


@pytest.mark.usefixtures("pairs")
def test_exactly_one_of_allens_relations_holds(spark: Any) -> None:
    holding = " + ".join(f"CAST({oracle.call(name, R, S)} AS INT)" for name in oracle.ALLEN)
    query = f"SELECT DISTINCT {holding} AS n FROM pairs WHERE rts < rte AND sts < ste"
    assert [row.n for row in spark.sql(query).collect()] == [1]
    assert len(oracle.ALLEN) == 13


@pytest.mark.usefixtures("pairs")
def test_before_with_delta_zero_is_meets(spark: Any) -> None:
    before, meets = columns(
        spark, ["ISEQL_BEFORE(rts, rte, sts, ste, 0)", "ALLEN_MEETS(rts, rte, sts, ste)"]
    )
    assert before == meets


def test_worked_example_of_the_papers(spark: Any, both: Any) -> None:
    r = "VALUES ('r1', 0, 1), ('r2', 1, 3), ('r3', 2, 5) AS r(id, ts, te)"
    s = "VALUES ('s1', 1, 3), ('s2', 3, 4) AS s(id, ts, te)"
    query = f"SELECT r.id, s.id FROM {r} JOIN {s} ON ISEQL_BEFORE(r.ts, r.te, s.ts, s.te"
    near = {tuple(row) for row in spark.sql(f"{query}, delta => 1)").collect()}
    every = {tuple(row) for row in spark.sql(f"{query})").collect()}
    assert near == {("r1", "s1"), ("r2", "s2")}
    assert every == near | {("r1", "s2")}


WITH_A_BOOLEAN = (
    "SELECT count(*) FROM pairs WHERE {p}",
    "SELECT count(*) FROM pairs WHERE NOT {p}",
    "SELECT count(*) FROM pairs WHERE {p} IS NULL",
    "SELECT rts, count_if({p}), bool_or({p}) FROM pairs GROUP BY rts ORDER BY rts",
    "SELECT sum(CASE WHEN {p} THEN 1 WHEN NOT {p} THEN 10 ELSE 100 END) FROM pairs",
    "SELECT if({p}, rts, ste) AS x, count(*) FROM pairs GROUP BY x ORDER BY x",
    "SELECT rts, rte FROM pairs GROUP BY rts, rte HAVING bool_or({p}) ORDER BY rts, rte",
    "SELECT rts FROM pairs ORDER BY {p}, rts, rte, sts, ste LIMIT 7",
    "SELECT sum(rts) OVER (PARTITION BY {p} ORDER BY rts, rte, sts, ste) FROM pairs",
    "SELECT {p} AS p, count(*) FROM pairs GROUP BY p ORDER BY p",
    "SELECT size(filter(array(0, 1, 2), x -> x < rts AND {p})) AS n, count(*) FROM pairs "
    "GROUP BY n ORDER BY n",
    "SELECT count(*) FROM pairs WHERE coalesce({p}, rts = sts) OR rte > 2 AND {p}",
)


@pytest.mark.usefixtures("pairs", "evaluation")
def test_anywhere_a_boolean_is(spark: Any, drawn: Any) -> None:
    call, written = (f("ALLEN_OVERLAPS", R, S) for f in (oracle.call, oracle.formula))
    for query in drawn(WITH_A_BOOLEAN, 6):
        got = spark.sql(query.format(p=call)).collect()
        assert got == spark.sql(query.format(p=written)).collect(), query
        assert got


@pytest.mark.parametrize("name", list(RELATIONS))
def test_constants_are_folded(spark: Any, name: str) -> None:
    query = f"SELECT {oracle.call(name, ('1', '4'), ('2', '6'))} AS called, " + (
        f"{oracle.formula(name, ('1', '4'), ('2', '6'))} AS written"
    )
    row = spark.sql(query).first()
    assert row.called == row.written


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("DATE'2024-01-01', TIMESTAMP'2024-01-02', DATE'2024-01-01', DATE'2024-01-03'", True),
        ("1S, 2L, 1.5D, 3", True),
        ("1.00, 2.5, 1.5000, 4", True),
        ("'a', 'c', 'b', 'd'", True),
        ("double('NaN'), 1D, 0D, 2D", False),
        ("0D, double('NaN'), -0.0D, 2D", True),
        ("-0.0D, 5D, -1D, 0D", False),
        ("X'00', X'02', X'01', X'03'", True),
        ("INTERVAL '1' DAY, INTERVAL '3' DAY, INTERVAL '2' DAY, INTERVAL '4' DAY", True),
        ("named_struct('a', 1, 'b', 2L), named_struct('from', 1S, 'to', 4)", True),
        ("1, NULL, 0, 5", None),
        ("DATE'2024-01-01', DATE'2024-01-03', '2024-01-02', '2024-01-04'", True),
        ("TIMESTAMP'2024-01-01', '2024-01-03', '2024-01-03', '2024-01-04'", False),
    ],
)
@pytest.mark.parametrize("ansi", ["true", "false"])
def test_types(spark: Any, conf: Any, arguments: str, expected: bool | None, ansi: str) -> None:
    conf({ANSI: ansi})
    assert spark.sql(f"SELECT INTERVAL_INTERSECTS({arguments}) AS p").first().p is expected


def test_struct_columns_and_null_structs(spark: Any, conf: Any) -> None:
    conf({EXCLUDED_RULES: FOLDING})
    query = """
        SELECT ALLEN_MEETS(r, s) AS p FROM VALUES
          (named_struct('ts', 1, 'te', 2), named_struct('ts', 2, 'te', 3)),
          (named_struct('ts', 1, 'te', 3), named_struct('ts', 2, 'te', 3)),
          (CAST(NULL AS STRUCT<ts INT, te INT>), named_struct('ts', 2, 'te', 3)) AS t(r, s)
    """
    assert [row.p for row in spark.sql(query).collect()] == [True, False, None]


@pytest.mark.parametrize("name", list(RELATIONS))
def test_described(spark: Any, name: str) -> None:
    described = spark.sql(f"DESCRIBE FUNCTION EXTENDED {name.lower()}").collect()
    text = "\n".join(row[0] for row in described)
    assert f"{name.lower()}(" in text.lower()
    for part in ("Usage:", "Arguments:", "Examples:", "Since:", *RELATIONS[name].parameters):
        assert part in text, text
    assert "N/A" not in text


REFUSED = {
    "ALLEN_OVERLAPS(1, 2, 3)": ("WRONG_NUM_ARGS", "allen_overlaps", "3"),
    "ALLEN_OVERLAPS(1, 2, 3, 4, 5)": ("WRONG_NUM_ARGS", "allen_overlaps", "5"),
    "ALLEN_OVERLAPS()": ("WRONG_NUM_ARGS", "allen_overlaps", "0"),
    "ISEQL_BEFORE(1, 2, 3, 4, 5, 6)": ("WRONG_NUM_ARGS", "iseql_before", "6"),
    "ISEQL_BEFORE(1, 2, 3, 4, width => 5)": (
        "UNRECOGNIZED_PARAMETER_NAME",
        "iseql_before",
        "width",
    ),
    "ALLEN_MEETS(1, 2, 3, 4, delta => 5)": ("UNRECOGNIZED_PARAMETER_NAME", "allen_meets", "delta"),
    "ISEQL_BEFORE(1, 2, 3, 4, 5, delta => 5)": ("DUPLICATE_ROUTINE_PARAMETER", "delta"),
    "ISEQL_BEFORE(1, 2, 3, 4, delta => -1)": ("DATATYPE_MISMATCH", "iseql_before", "delta", "-1"),
    "ISEQL_DURING(1, 2, 3, 4, NULL)": ("DATATYPE_MISMATCH", "delta", "leave it out"),
    "ISEQL_DURING(1, 2, 3, 4, 2, NULL)": ("DATATYPE_MISMATCH", "epsilon", "leave it out"),
    "ISEQL_DURING(1, 2, 3, 4, 0, -2)": ("DATATYPE_MISMATCH", "iseql_during", "epsilon", "-2"),
    "ISEQL_BEFORE(1, 2, 3, 4, 'x')": ("DATATYPE_MISMATCH", "iseql_before", "delta", "STRING"),
    "ISEQL_BEFORE(1, 2, 3, 4, INTERVAL '1' DAY)": ("DATATYPE_MISMATCH", "delta", "INTERVAL DAY"),
    "ALLEN_MEETS(1, 2, DATE'2024-01-01', 4)": ("DATATYPE_MISMATCH", "allen_meets", "DATE"),
    "ALLEN_MEETS(true, 2, 3, 4)": ("DATATYPE_MISMATCH", "allen_meets", "BOOLEAN"),
    "ALLEN_MEETS(struct(1, 2, 3), struct(1, 2))": ("DATATYPE_MISMATCH", "allen_meets", "STRUCT"),
    "ALLEN_MEETS(struct(1, 2), 3)": ("DATATYPE_MISMATCH", "allen_meets", "INT"),
    "ALLEN_MEETS(map(1, 2), map(1, 2), map(1, 2), map(1, 2))": ("DATATYPE_MISMATCH", "MAP"),
}


@pytest.mark.parametrize("call", list(REFUSED))
def test_refused(spark: Any, call: str) -> None:
    condition, *parts = REFUSED[call]
    with pytest.raises(AnalysisException) as refused:
        spark.sql(f"SELECT {call}")
    assert (refused.value.getCondition() or "").startswith(condition)
    message = str(refused.value)
    assert [part for part in parts if part not in message] == []


@pytest.mark.parametrize(
    ("parameter", "ok"),
    [("INTERVAL '1' DAY", True), ("INTERVAL '-1' DAY", False), ("INTERVAL '-1' MONTH", False)],
)
def test_negative_intervals(spark: Any, parameter: str, ok: bool) -> None:
    dates = ", ".join(f"DATE'2024-01-0{day}'" for day in (1, 2, 3, 4))
    query = f"SELECT ISEQL_BEFORE({dates}, delta => {parameter}) AS p"
    if ok:
        assert spark.sql(query).first().p is True
        return
    with pytest.raises(AnalysisException, match="delta"):
        spark.sql(query)


def test_switched_off_the_functions_still_evaluate(spark: Any, conf: Any) -> None:
    conf({"spark.sql.intervalsweep.enabled": "false"})
    assert spark.sql("SELECT ALLEN_MEETS(1, 2, 2, 3) AS p").first().p is True
