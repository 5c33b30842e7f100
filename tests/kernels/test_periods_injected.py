# SPDX-License-Identifier: Apache-2.0
"""Mutation tests: each loop of the sweeps over periods is broken on purpose, and tests notice."""

from __future__ import annotations

import random
import re
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np
import pytest

from intervalsweep.kernels import period_loops, periods
from intervalsweep.kernels.oracle import counted_periods, values_by_time
from intervalsweep.kernels.period_loops import MAX, MIN
from support.kernels.periods import column, counted, parts

SOURCE = Path(period_loops.__file__).read_text(encoding="utf-8")
FIRST = "                first = state[FIRST]\n"
CARRY = "        if row == n and goes_on != 0:\n"

# Bug -> (text, replacement) pairs.
BUGS: dict[str, list[tuple[str, str]]] = {
    "last in, first out": [
        (FIRST, FIRST.rstrip() + " + state[QUEUED] - 1\n" + " " * 16 + "first %= queue.shape[0]\n"),
        ("state[FIRST] = (first + 1) % queue.shape[0]", "pass"),
    ],
    "starts and ends of an instant one by one": [("if at != now or is_over:", "if True:")],
    "times its matches (12)": [("return a if b > 0 else 0", "return a * b")],
    "no difference of numbers (5)": [("return max(a - b, 0)", "return a if b == 0 else 0")],
    "an end that is not there is never": [
        ("start[row] >= end[row]", "start[row] >= end[row] or end[row] == MAX")
    ],
    "an end belongs to its period": [("start[row] >= end[row]", "start[row] > end[row]")],
    "what is valid is lost between the parts": [(CARRY, CARRY + " " * 12 + "state[HEAP] = 0\n")],
    "no gap before the first start": [("state[NOW] = MIN\n", "state[NOW] = MIN + 2\n")],
    "no row while nothing is valid": [("(valid > 0 or empty != 0)", "valid > 0")],
    "the greatest end on top": [("if heap[above, 0] <= end:", "if heap[above, 0] >= end:")],
    "a value stays when its row ends": [("_neutral(kinds[k]))", "measures[k, 0])")],
    "values that change are not noticed": [("if tree[k, 1] != values[k]:", "if False:")],
    "a cut is no cut": [("ends == CHANGES and _is_same", "_is_same")],
    "an island ends where values change": [("if stays and ends != ISLANDS:", "if stays:")],
    "an island has the rows of the one before": [("tree[k, 1] = _neutral(kinds[k])", "pass")],
    "an island forgets rows whose place is taken": [
        ("_gather(tree, k, kinds[k], m", "_set(tree, k, kinds[k], place, m")
    ],
}


def broken(replaced: list[tuple[str, str]]) -> ModuleType:
    """The module of the loops as plain Python, with some of its text replaced."""
    text = SOURCE
    for old, new in replaced:
        assert old in text, old
        text = text.replace(old, new)
    # Override the decorators after the imports, so that nothing is compiled.
    plain = (
        "kernel = lambda *types: lambda function: function\nhelper = lambda function: function\n"
    )
    text = re.sub(r"(?m)^MIN, MAX = ", f"{plain}MIN, MAX = ", text, count=1)
    module = ModuleType("intervalsweep.kernels.broken_loops")
    module.__package__ = "intervalsweep.kernels"
    exec(compile(text, "broken_loops", "exec"), module.__dict__)
    return module


def random_rows(rng: random.Random) -> list[Any]:
    ends = [*range(10), MIN, MAX, MAX]
    rows = [
        (rng.randrange(3), rng.choice(ends), rng.choice(ends), rng.choice((-1, 1, 1, 2)))
        for _ in range(rng.randrange(14))
    ]
    return sorted(rows, key=lambda row: row[:2])


def is_right(rng: random.Random) -> bool:
    """True if the loops agree with the oracle for random rows."""
    rows, cuts = random_rows(rng), [rng.randrange(14)]
    by_group: dict[int, list[Any]] = {}
    for group, *row in rows:
        by_group.setdefault(group, []).append(tuple(row))
    rule = rng.choice([*periods.RULES])
    expected = {group: counted_periods(rule, some) for group, some in by_group.items()}
    if counted(rule, rows, cuts) != {group: some for group, some in expected.items() if some}:
        return False
    flags: dict[str, Any] = {"empty": rng.random() < 0.5, "ends": rng.choice([*periods.ENDS])}
    flags["empty"] &= flags["ends"] != "islands"
    rows = [(0, *row[1:]) for row in sorted(rows, key=lambda row: row[1])]
    sweep = periods.ValueSweep(["sum", "least"], **flags)
    got = []
    for some, goes_on in parts(rows, cuts):
        ends = column(some, 0, np.int32), column(some, 1), column(some, 2)
        values = np.stack([column(some, 3)] * 2)
        for batch in sweep.feed(*ends, values, goes_on=goes_on):
            period = batch.start.tolist(), batch.end.tolist(), batch.values.T.tolist()
            got += list(zip(*period, strict=True))

    def value(held: list[int]) -> object:
        of = [rows[k][3] for k in held]
        return [sum(of), min(of, default=MAX)]

    wanted = values_by_time([row[1:3] for row in rows], value, **flags) if rows else []
    return got == wanted


def caught(module: ModuleType) -> int | None:
    """The number of cases before a difference, an endless loop or a crash."""
    rng = random.Random(5)
    with mock.patch.object(periods, "loops", module):
        for number in range(900):
            try:
                if not is_right(rng):
                    return number
            except (AssertionError, IndexError):
                return number
    return None


def test_without_a_bug_nothing_is_caught() -> None:
    assert caught(broken([])) is None


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_is_caught(bug: str) -> None:
    assert caught(broken(BUGS[bug])) is not None
