# SPDX-License-Identifier: Apache-2.0
"""Interval joins of Arrow tables return the rows of the same joins in SQL."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from intervalsweep import arrow as isa
from support.joins import generated, oracle
from support.joins.brute import ids
from support.spark.comparison import EXCLUDED_RULES, FOLDING


@pytest.mark.parametrize("endpoint", generated.TYPES, ids=[e.id for e in generated.TYPES])
def test_same_rows_as_spark(spark: Any, conf: Any, endpoint: Any) -> None:
    """Uses the generated tables with the extremes of each type, and all join types."""
    conf({EXCLUDED_RULES: FOLDING})
    r, s = generated.draw_tables(endpoint, 24, 22, True)
    for name, rows in (("r", r), ("s", s)):
        generated.register(spark, name, endpoint, rows)
    left, right = (spark.table(name).toArrow() for name in ("r", "s"))
    names = ("ALLEN_OVERLAPS", "ISEQL_BEFORE", "ISEQL_DURING", "INTERVAL_INTERSECTS", "ALLEN_AFTER")
    hows = ("inner", "left", "right", "full")
    total = 0
    for how, name in zip((*hows, "inner"), names, strict=True):
        query = f"SELECT r.id, s.id AS id_right FROM r {how} JOIN s ON r.k1 = s.k1 AND "
        expected = spark.sql(query + oracle.call(name)).toArrow()
        got = isa.join(left, right, name, by="k1", how=how)
        assert ids(got) == ids(expected), name
        total += got.num_rows
    assert total > 50


PARAMETERS = {
    "date": (timedelta(days=2), 2),
    "timestamp": (timedelta(hours=36), timedelta(hours=20)),
    "timestamp_ntz": (timedelta(hours=36), timedelta(hours=20)),
    "double": (2.5, 0.75),
    "decimal": (Decimal("0.75"), 2),
}
SQL = {
    timedelta(days=2): "INTERVAL '2' DAY",
    timedelta(hours=36): "INTERVAL '1 12' DAY TO HOUR",
    timedelta(hours=20): "INTERVAL '20' HOUR",
}


@pytest.mark.parametrize("kind", list(PARAMETERS))
def test_same_parameters_as_spark(spark: Any, conf: Any, kind: str) -> None:
    conf({EXCLUDED_RULES: FOLDING})
    endpoint = next(e for e in generated.TYPES if e.id == kind)
    r, s = generated.draw_tables(endpoint, 24, 22, True)
    for name, rows in (("r", r), ("s", s)):
        generated.register(spark, name, endpoint, rows)
    left, right = (spark.table(name).toArrow() for name in ("r", "s"))
    delta, epsilon = PARAMETERS[kind]
    limits = [oracle.Limit(SQL.get(value, str(value)), "") for value in (delta, epsilon)]
    for name in ("ISEQL_LEFT_OVERLAP", "ISEQL_REVERSE_DURING"):
        call = oracle.call(name, delta=limits[0], epsilon=limits[1])
        expected = spark.sql(f"SELECT r.id, s.id AS id_right FROM r JOIN s ON {call}").toArrow()
        got = isa.join(left, right, name, delta=delta, epsilon=epsilon)
        assert ids(got) == ids(expected), name
        assert got.num_rows
