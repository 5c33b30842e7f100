# SPDX-License-Identifier: Apache-2.0
"""Spark for streams, and what its queries tell of themselves."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.adapter import Limits
from benchmarks.systems import spark_session

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def stream_session(cores: int, heap: str, scratch: Path, settings: dict[str, str]) -> Any:
    """A session with as many partitions of state as cores."""
    store = {"spark.sql.streaming.stateStore.providerClass": ROCKSDB}
    return spark_session(Limits(cores, heap, scratch, partitions=cores), **store, **settings)


def observed(progress: Iterable[Any], name: str) -> Any:
    """The sum of what was observed under a name in some micro-batches, by all operators."""
    rows = (row.asDict() for p in progress for row in (p.observedMetrics or {}).values())
    return sum(row.get(name) or 0 for row in rows)
