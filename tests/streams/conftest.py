# SPDX-License-Identifier: Apache-2.0
"""Settings for most tests of streams."""

from __future__ import annotations

from typing import Any

import pytest

from support.streams.arrivals import QUICKLY


@pytest.fixture
def quickly(conf: Any) -> None:
    conf(QUICKLY)


@pytest.fixture
def streaming(spark: Any, quickly: None) -> Any:
    """The session with the settings for streams."""
    return spark


@pytest.fixture
def two_partitions(conf: Any) -> None:
    """Two shuffle partitions: with few rows, a task costs more than its work."""
    conf({"spark.sql.shuffle.partitions": "2"})
