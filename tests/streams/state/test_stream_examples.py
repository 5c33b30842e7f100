# SPDX-License-Identifier: Apache-2.0
"""The examples of streams return their golden results, both as tables and as streams."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from support.spark.comparison import physical, sweeps
from support.streams.arrivals import QUICKLY

EXAMPLES = Path(__file__).resolve().parents[3] / "sql-examples" / "streams"


@pytest.fixture
def examples(monkeypatch: pytest.MonkeyPatch, conf: Any) -> Any:
    """A function that imports an example."""
    monkeypatch.syspath_prepend(str(EXAMPLES.parent))
    monkeypatch.syspath_prepend(str(EXAMPLES))
    conf({**import_module("arriving").STATE, **QUICKLY})
    return import_module


def test_features(spark: Any, examples: Any, tmp_path: Path) -> None:
    example = examples("card_features")
    golden = example.GOLDEN.read_text(encoding="utf-8")
    frame = example.in_batch(spark)
    assert sweeps(physical(frame)) == 1
    assert example.result(frame) == golden
    frame = example.on_streams(spark, tmp_path)
    assert "WindowUnion" in frame._jdf.queryExecution().analyzed().toString()
    assert example.result(example.run(frame, "features")) == golden
    assert len(golden.splitlines()) > 25


def test_joins(spark: Any, examples: Any, tmp_path: Path) -> None:
    example = examples("stream_joins")
    example.tables(spark)
    for name in example.NAMES:
        frame = example.query(spark, name)
        assert sweeps(physical(frame)) == (2 if name == "deploy_pattern" else 1)
        assert example.result(frame) == example.golden(name).read_text(encoding="utf-8")
    example.streams(spark, tmp_path)
    for name in example.NAMES:
        frame = example.query(spark, name)
        assert "StreamJoin" in frame._jdf.queryExecution().analyzed().toString()
        assert example.result(example.run(frame, name)) == example.golden(name).read_text("utf-8")
        assert len(example.golden(name).read_text("utf-8").splitlines()) > 4


def test_history(spark: Any, examples: Any, tmp_path: Path) -> None:
    example = examples("running_sessions")
    golden = example.GOLDEN.read_text(encoding="utf-8")
    assert example.result(example.in_batch(spark)) == golden
    frame = example.on_streams(spark, tmp_path)
    assert example.result(example.run(frame, "history")) == golden
    assert len(golden.splitlines()) > 15
