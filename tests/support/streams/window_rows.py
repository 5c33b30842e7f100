# SPDX-License-Identifier: Apache-2.0
"""Rows for window unions, with endpoints of several types."""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta
from typing import Any

SCHEMA = "k STRING, n INT, ts INT, at TIMESTAMP, day DATE, v INT, d DOUBLE, x DOUBLE"


def rows(number: int, seed: int) -> list[tuple[Any, ...]]:
    """Rows with few values, some of them equal in all columns; a tenth of the values are NULL."""
    draw = random.Random(seed)

    def maybe(value: Any) -> Any:
        return None if draw.random() < 0.1 else value

    def row() -> tuple[Any, ...]:
        ts = draw.randrange(20)
        return (
            maybe(draw.choice("ab")),
            maybe(draw.randrange(2)),
            maybe(ts),
            maybe(datetime(2024, 1, 1) + timedelta(minutes=ts)),
            maybe(date(2024, 1, 1) + timedelta(days=ts)),
            maybe(draw.randrange(6)),
            maybe(draw.choice([0.0, -0.0, 1.5, float("nan")])),
            maybe(ts / 4),
        )

    some = [row() for _ in range(number)]
    return some + some[: number // 4]
