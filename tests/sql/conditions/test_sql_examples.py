# SPDX-License-Identifier: Apache-2.0
"""Every example returns its golden result, with the plan that it promises."""

from __future__ import annotations

import json
import os
from importlib.resources import files
from typing import Any

import pytest
from run import HERE, Example, as_text, examples

from support.spark.comparison import physical, sweeps


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_example(spark: Any, example: Example) -> None:
    assert HERE.parent.samefile(os.curdir), "the examples are run from the project's folder"
    results = []
    for statement, frame in example.queries(spark):
        plan = physical(frame)
        swept = sweeps(plan) > 0 or "PeriodSweep" in plan
        assert swept == statement.is_swept, f"{statement.text}\n{plan}"
        results.append(as_text(frame))
    assert results, "an example without a query shows nothing"
    assert "\n".join(results) == example.golden.read_text(encoding="utf-8")


def test_every_golden_result_has_its_example() -> None:
    golden = {*(HERE / "golden").rglob("*.txt")}
    assert golden == {example.golden for example in examples()}


def test_every_relation_is_shown() -> None:
    relations = json.loads((files("intervalsweep") / "relations.json").read_text("utf-8"))
    shown = "".join(example.path.read_text("utf-8") for example in examples())
    assert [r["name"] for r in relations["relations"] if f" {r['name']}(" not in shown] == []
