# SPDX-License-Identifier: Apache-2.0
"""What users of PySpark write: its join types, columns in place of names, names in any case."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import functions as sf

import intervalsweep
from intervalsweep import ArgumentError, ColumnError, EndpointTypeError
from intervalsweep import arrow as isa
from intervalsweep import dataframe as isd
from intervalsweep import functions as isf
from intervalsweep.columns import join_type
from support.docs.examples import run_example

WORDS = {
    "inner": ["inner", "INNER"],
    "left": ["left", "leftouter", "left_outer"],
    "right": ["right", "rightouter", "right_outer"],
    "full": ["full", "outer", "fullouter", "full_outer", "FullOuter"],
    "semi": ["semi", "leftsemi", "left_semi"],
    "anti": ["anti", "leftanti", "left_anti"],
}


@pytest.fixture(scope="module")
def r(spark: Any) -> Any:
    return spark.sql(
        "SELECT *, named_struct('ts', ts, 'te', te, 'k', k) AS p "
        "FROM VALUES ('a', 1, 4, 10), ('b', 7, 9, 11) t(k, ts, te, v)"
    )


@pytest.fixture(scope="module")
def s(spark: Any) -> Any:
    return spark.sql(
        "SELECT *, named_struct('ts', ts, 'te', te) AS p "
        "FROM VALUES ('a', 2, 6, 1), ('c', 3, 5, 2) t(k, ts, te, w)"
    )


def bag(frame: Any) -> list[str]:
    return sorted(map(repr, frame.collect()))


def test_example_of_the_docstring() -> None:
    assert run_example(join_type) > 0


def test_every_word_of_pyspark_for_a_join_type(r: Any, s: Any) -> None:
    import pyarrow as pa

    table = pa.table({"ts": [1, 8], "te": [4, 9]})
    for how, words in WORDS.items():
        expected = isd.join(r, s, by="k", how=how)  # type: ignore[arg-type]
        for word in words:
            assert join_type(word, list(WORDS)) == how
            assert isd.join(r, s, by="k", how=word).columns == expected.columns  # type: ignore[arg-type]
            found = isa.join(table, table, how=word)  # type: ignore[arg-type]
            assert found.num_rows == (0 if how == "anti" else 2)
    for wrong in ("cross", "rightsemi", "outerfull", "", None, 3):
        with pytest.raises(ArgumentError, match=r"`how` must be one of inner, left, .*; got"):
            join_type(wrong, list(WORDS))
    assert isd.nearest(r, s, how="left_outer").count() == 2


Made = Callable[[Any, Any], Any]
# A call as users write it, and the call with plain names.
SAME: dict[str, tuple[Made, Made]] = {
    "by a column": (
        lambda r, s: isd.join(r, s, by=sf.col("k")),
        lambda r, s: isd.join(r, s, by="k"),
    ),
    "by a column of a side": (
        lambda r, s: isd.join(r, s, by=[r.k]),
        lambda r, s: isd.join(r, s, by="k"),
    ),
    "by a pair of columns": (
        lambda r, s: isd.join(r, s, by=[(sf.col("k"), s.k)]),
        lambda r, s: isd.join(r, s, by="k"),
    ),
    "on columns": (
        lambda r, s: isd.join(r, s, on=(sf.col("ts"), sf.col("te"))),
        lambda r, s: isd.join(r, s),
    ),
    "names in another case": (
        lambda r, s: isd.join(r, s, on=("TS", "Te"), by="K", columns=["K", "V"]),
        lambda r, s: isd.join(r, s, by="k", columns=["k", "v"]),
    ),
    "fields of structs": (
        lambda r, s: isd.join(r, s, on=("p.ts", "P.te")),
        lambda r, s: isd.join(r, s),
    ),
    "fields in count_matches": (
        lambda r, s: isd.count_matches(r, s, on=("p.ts", "p.te")),
        lambda r, s: isd.count_matches(r, s),
    ),
    "fields in nearest": (
        lambda r, s: isd.nearest(r, s, left_on=("p.ts", "p.te")),
        lambda r, s: isd.nearest(r, s),
    ),
    "fields in coverage": (
        lambda r, s: isd.coverage(r, s, on=("p.ts", "p.te")),
        lambda r, s: isd.coverage(r, s),
    ),
    "fields in as_of_join": (
        lambda r, s: isd.as_of_join(r, s, on="p.ts", tolerance=3),
        lambda r, s: isd.as_of_join(r, s, tolerance=3),
    ),
    "fields in window_union": (
        lambda r, s: isd.window_union(r, s, on="p.ts", pre=9, fol=9, aggs={"n": "last(w)"}),
        lambda r, s: isd.window_union(r, s, pre=9, fol=9, aggs={"n": "last(w)"}),
    ),
    "an instant as a column": (
        lambda r, s: isd.as_of_join(r, s, on=sf.col("ts"), by=sf.col("k")),
        lambda r, s: isd.as_of_join(r, s, by="k"),
    ),
    "one table by a column": (
        lambda r, s: isd.merge(r, on=("TS", "TE"), by=sf.col("k")),
        lambda r, s: isd.merge(r, by="k"),
    ),
    "half_open of columns": (
        lambda r, s: isd.half_open(r, sf.col("TS"), r.te),
        lambda r, s: isd.half_open(r, "ts", "te"),
    ),
    "named aggregates": (
        lambda r, s: isd.window_union(r, s, pre=9, fol=9, n="count(*)", m=sf.max("w")),
        lambda r, s: isd.window_union(r, s, pre=9, fol=9, aggs={"n": "count(*)", "m": "max(w)"}),
    ),
    "another name of the relation": (
        lambda r, s: isd.join(r, s, "INTERVAL_OVERLAPS"),
        lambda r, s: isd.join(r, s, "interval_intersects"),
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_a_spelling_means_the_same(r: Any, s: Any, name: str) -> None:
    spelled, plain = SAME[name]
    got, expected = spelled(r, s), plain(r, s)
    assert got.columns == expected.columns
    assert bag(got) == bag(expected)
    assert bag(got)


ERRORS: dict[str, tuple[Made, type[Exception], str]] = {
    "a key as the interval": (
        lambda r, s: isd.join(r, s, on="k"),
        EndpointTypeError,
        r"k is string, not a struct .* equality keys go into `by`",
    ),
    "a condition as a key": (
        lambda r, s: isd.join(r, s, by=r.k == s.k),
        ArgumentError,
        r"key in `by` must be given by its name; got Column",
    ),
    "a computed end": (
        lambda r, s: isd.join(r, s, on=(r.ts + 1, r.te)),
        ArgumentError,
        "end in `on` must be given by its name",
    ),
    "three ends": (
        lambda r, s: isd.join(r, s, on=("ts", "te", "k")),
        ArgumentError,
        "`on` must be a pair of columns",
    ),
    "a pair of instants": (
        lambda r, s: isd.as_of_join(r, s, on=("at", "ts")),
        ArgumentError,
        "`on` must be one column of instants; .* left_on and right_on",
    ),
    "a condition as a relation": (
        lambda r, s: isd.join(r, s, r.ts < s.te),
        ArgumentError,
        "`relation` must be the name of a relation",
    ),
    "overlap": (
        lambda r, s: isd.join(r, s, "overlap"),
        ArgumentError,
        r"Unknown relation 'overlap'\. Did you mean interval_intersects\?",
    ),
    "an interval of fields in a result": (
        lambda r, s: isd.merge(r, on=("p.ts", "p.te")),
        ColumnError,
        "p.ts is a field of a struct",
    ),
    "a key that is a field": (
        lambda r, s: isd.join(r, s, by="p.k"),
        ColumnError,
        r"has no column p\.k",
    ),
    "a number as a key": (
        lambda r, s: isd.merge(r, by=3),
        ArgumentError,
        "must be given by its name; got 3",
    ),
    "aggregates as a text": (
        lambda r, s: isd.window_union(r, s, by="k", aggs="count(*)"),
        ArgumentError,
        "`aggs` must be a dict",
    ),
    "a misspelled argument": (
        lambda r, s: isd.window_union(r, s, by="k", prre=3, n="count(*)"),
        ArgumentError,
        r"aggs\['prre'\] must be an aggregate",
    ),
    "an aggregate twice": (
        lambda r, s: isd.window_union(r, s, by="k", n="count(*)", aggs={"n": "max(w)"}),
        ArgumentError,
        "n is in `aggs` and a named argument",
    ),
    "pandas on Spark": (
        lambda r, s: isd.join(r.pandas_api(), s),
        ArgumentError,
        r"call \.to_spark\(\) first",
    ),
    "pandas on Spark without Spark": (
        lambda r, s: isa.merge(r.pandas_api()),
        ArgumentError,
        r"with \.to_spark\(\)",
    ),
    "why_not of a text": (
        lambda r, s: intervalsweep.why_not("SELECT 1"),
        ArgumentError,
        r"why_not\(spark.sql\(text\)\)",
    ),
    "configure a session": (
        lambda r, s: intervalsweep.configure(r.sparkSession),
        ArgumentError,
        r"call intervalsweep.register\(spark\)",
    ),
    "register a builder": (
        lambda r, s: intervalsweep.register(type(r.sparkSession).builder),
        ArgumentError,
        "register takes a SparkSession",
    ),
    "three endpoints": (
        lambda r, s: isf.allen_meets("a", "b", "c"),
        TypeError,
        "two structs, each with a start and an end; got 3 columns",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_of_ours_says_what_to_write(r: Any, s: Any, name: str) -> None:
    use, error, message = ERRORS[name]
    with pytest.raises(error, match=message):
        use(r, s)


def test_case_counts_if_spark_says_so(r: Any, s: Any, conf: Any) -> None:
    conf({"spark.sql.caseSensitive": "true"})
    with pytest.raises(ColumnError, match=r"no column K\. Did you mean k"):
        isd.join(r, s, by="K")
