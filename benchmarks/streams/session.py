# SPDX-License-Identifier: Apache-2.0
"""Spark sessions for streams, and the observed metrics of their queries."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.adapter import Limits
from benchmarks.systems import spark_session

STORE = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def stream_session(cores: int, heap: str, scratch: Path, settings: dict[str, str]) -> Any:
    """A session with as many state partitions as cores."""
    limits = Limits(cores, heap, scratch, partitions=cores)
    return spark_session(limits, **{STORE: ROCKSDB, **settings})


def observed(progress: Iterable[Any], name: str) -> Any:
    """The sum of an observed metric over micro-batches and operators."""
    rows = (row.asDict() for p in progress for row in (p.observedMetrics or {}).values())
    return sum(row.get(name) or 0 for row in rows)
