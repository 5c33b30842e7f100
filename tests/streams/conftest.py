# SPDX-License-Identifier: Apache-2.0
"""The settings of most tests of streams."""

from __future__ import annotations

from typing import Any

import pytest

from support.streams.arrivals import QUICKLY


@pytest.fixture
def quickly(conf: Any) -> None:
    conf(QUICKLY)


@pytest.fixture
def streaming(spark: Any, quickly: None) -> Any:
    """The session, for streams."""
    return spark


@pytest.fixture
def two_partitions(conf: Any) -> None:
    """Of few rows each task costs more than what it does."""
    conf({"spark.sql.shuffle.partitions": "2"})
