# SPDX-License-Identifier: Apache-2.0
"""Distances and overlaps of pairs on Spark: the same pairs as Arrow's, by the fast plan."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

from intervalsweep import ArgumentError, EndpointTypeError
from intervalsweep import arrow as isa
from intervalsweep import dataframe as isd
from support.spark.comparison import BROADCAST, EXCLUDED_RULES, FOLDING, physical, sweeps

NAMES = ("overlap_start", "overlap_end")
CASES: dict[str, dict[str, Any]] = {
    "distance": {"within": 3},
    "distance 0": {"within": 0},
    "length": {"min_overlap": 2},
    "fraction": {"min_fraction": 0.5},
    "reciprocal": {"min_fraction": (0.4, 0.4), "by": "k"},
    "distance with keys": {"within": 2, "by": "k"},
    "columns": {"overlap": NAMES},
}
ENDS = {
    "INT": "{}",
    "BIGINT": "IF({0} = 77, 9223372036854775807, {0})",
    "DOUBLE": "{}",
    "DATE": "date_from_unix_date({})",
    "TIMESTAMP": "timestamp_seconds({})",
    "DECIMAL(9, 2)": "{}",
}


def table(seed: int) -> Any:
    draw = random.Random(seed)
    rows = []
    for number in range(60):
        ts = draw.randrange(70)
        te = draw.choice([None, 77, *[ts + draw.randrange(1, 9)] * 8])
        rows.append((number, draw.choice("ab"), ts, te))
    return pa.table(dict(zip(("id", "k", "ts", "te"), zip(*rows, strict=True), strict=True)))


@pytest.mark.parametrize("kind", ENDS)
def test_the_same_pairs_as_without_spark(spark: Any, conf: Any, kind: str) -> None:
    conf({EXCLUDED_RULES: FOLDING, BROADCAST: "-1"})
    frames = []
    for seed in (1, 2):
        name = f"intervalsweep_overlaps_{seed}"
        spark.createDataFrame(
            table(seed).to_pandas().astype({"te": "Int64"})
        ).createOrReplaceTempView(name)
        ends = [f"CAST({ENDS[kind].format(end)} AS {kind}) AS {end}" for end in ("ts", "te")]
        frames.append(spark.sql(f"SELECT id, k, {', '.join(ends)} FROM {name}").cache())
    left, right = frames
    ours, theirs = left.toArrow(), right.toArrow()
    for name, asked in CASES.items():
        given = dict(asked)
        if kind == "TIMESTAMP":
            given |= {n: f"{v} seconds" for n, v in given.items() if n in ("within", "min_overlap")}
        joined = isd.join(left, right, how="full", **given)
        assert sweeps(physical(joined)) == 1, name
        found = sorted(map(repr, joined.toArrow().to_pylist()))
        plain = isa.join(ours, theirs, how="full", **given)
        assert found == sorted(map(repr, plain.to_pylist())), name
        counted = {n: v for n, v in given.items() if n != "overlap"}
        counts = isd.count_matches(left, right, **counted).toArrow()
        expected = isa.count_matches(ours, theirs, **counted)
        assert sorted(map(repr, counts.to_pylist())) == sorted(map(repr, expected.to_pylist()))
        assert sum(expected.column("count").to_pylist()) > 20, name


def test_says_what_is_wrong(spark: Any) -> None:
    frame = spark.sql("SELECT TIMESTAMP'2024-01-01' AS ts, TIMESTAMP'2024-01-02' AS te")
    for given, error, message in (
        ({"within": 5}, EndpointTypeError, "within=5 has no unit"),
        ({"within": "1 month"}, EndpointTypeError, "months and years differ in length"),
        ({"min_overlap": 5}, EndpointTypeError, "min_overlap=5 has no unit"),
        ({"overlap": NAMES, "how": "anti"}, ArgumentError, "needs a join that returns pairs"),
    ):
        with pytest.raises(error, match=message):
            isd.join(frame, frame, **given)
