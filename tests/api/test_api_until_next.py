# SPDX-License-Identifier: Apache-2.0
"""Events as periods on Spark: the same rows as Arrow's, and as histories."""

from __future__ import annotations

import random
from typing import Any

import pytest

from intervalsweep import ArgumentError, temporal
from intervalsweep import arrow as isa
from intervalsweep import dataframe as isd


@pytest.mark.parametrize("order", [(), "seq"])
@pytest.mark.parametrize("ended", [None, "gone"])
def test_the_same_rows_as_without_spark(spark: Any, order: Any, ended: Any) -> None:
    draw = random.Random(7)
    rows = [
        (draw.choice(["a", "b", None]), draw.choice([None, *range(9)]), n, draw.random() < 0.3)
        for n in range(80)
    ]
    log = spark.createDataFrame(rows, "k STRING, ts INT, seq INT, gone BOOLEAN")
    given = {"by": "K", "order": order, "deleted": ended}
    found = isd.until_next(log, **given).toArrow().to_pylist()
    expected = isa.until_next(log.toArrow(), **{**given, "by": "k"}).to_pylist()
    assert sorted(map(repr, found)) == sorted(map(repr, expected))
    assert len(found) > 10


def test_a_log_of_changes_as_a_history(spark: Any) -> None:
    log = spark.sql(
        "SELECT * FROM VALUES ('tea', 1, 3, false), ('tea', 6, 4, false), ('cup', 3, 9, false), "
        "('cup', 8, NULL, true) t(product, ts, price, gone)"
    )
    prices = temporal.valid(log, "ts", until_next="product", deleted="gone")
    found = prices.agg(n="count(*)").frame.orderBy("ts").collect()
    assert [tuple(row) for row in found] == [*[(0, None, 1), (1, 1, 3), (2, 3, 8), (1, 8, None)]]
    with pytest.raises(ArgumentError, match="`deleted` must be a column of booleans; price is int"):
        isd.until_next(log, deleted="price")
