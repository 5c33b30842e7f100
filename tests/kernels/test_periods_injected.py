# SPDX-License-Identifier: Apache-2.0
"""Mutation tests: each loop of the sweeps over periods is broken on purpose, and tests notice."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np
import pytest

from intervalsweep.kernels import jit, periods
from intervalsweep.kernels.oracle import counted_periods, values_by_time
from intervalsweep.kernels.period_events import MAX, MIN
from support.kernels.periods import column, counted, parts

# The modules of the loops; each may import those before it.
MODULES = ("period_events", "period_counts", "period_measures", "period_values")
FOLDER = Path(periods.__file__).parent
SOURCES = {name: (FOLDER / f"{name}.py").read_text(encoding="utf-8") for name in MODULES}
CARRY = "    if state.row == rows.start.size and state.goes_on != 0:\n"

# Bug -> (text, replacement) pairs.
BUGS: dict[str, list[tuple[str, str]]] = {
    "last in, first out": [
        (
            "    first = state.first\n",
            "    first = (state.first + state.queued - 1) % len(queue)\n",
        ),
        ("state.first = (first + 1) % queue.shape[0]", "pass"),
    ],
    "starts and ends of an instant one by one": [
        ("return at != state.now or event == GROUP_ENDS", "return True")
    ],
    "times its matches (12)": [("return a if b > 0 else 0", "return a * b")],
    "no difference of numbers (5)": [("return max(a - b, 0)", "return a if b == 0 else 0")],
    "an end that is not there is never": [
        (
            "rows.start[state.row] >= rows.end[state.row]:",
            "(rows.start[state.row] >= rows.end[state.row] or rows.end[state.row] == MAX):",
        )
    ],
    "an end belongs to its period": [
        ("rows.start[state.row] >= rows.end", "rows.start[state.row] > rows.end")
    ],
    "what is valid is lost between the parts": [(CARRY, CARRY + " " * 8 + "state.valid = 0\n")],
    "no gap before the first start": [("state.now = MIN\n", "state.now = MIN + 2\n")],
    "no row while nothing is valid": [("(state.valid > 0 or empty != 0)", "state.valid > 0")],
    "the greatest end on top": [("if heap[above, END] <= end:", "if heap[above, END] >= end:")],
    "a place that is taken is free": [("heap[last, LOAD] = load", "pass")],
    "a value stays when its row ends": [("place, measures.neutral[k])", "place, 7)")],
    "values that change are not noticed": [
        ("[k, NOW] != measures.tree[k, SINCE]", "[k, NOW] != 0")
    ],
    "a cut is no cut": [("if not has_values or ends == CUTS:", "if not has_values:")],
    "an island ends where values change": [("return ends == CHANGES and", "return")],
    "an island has the rows of the one before": [("forget_rows(measures)\n", "pass\n")],
    "an island forgets rows whose place is taken": [
        ("gather_row(row, measures)", "put_row(row, place, measures)")
    ],
    "a tree loses its values when it grows": [
        ("= old[:, level : 2 * level]", "= neutral[:, None]")
    ],
}


def broken(replaced: list[tuple[str, str]]) -> dict[str, ModuleType]:
    """The modules of the loops as plain Python, with some of their text replaced."""
    sources = dict(SOURCES)
    for old, new in replaced:
        [name] = [name for name, text in sources.items() if old in text]
        sources[name] = sources[name].replace(old, new)
    modules: dict[str, ModuleType] = {}
    plain = {
        "kernel": lambda *types: lambda function: function,
        "helper": lambda function: function,
    }
    # Nothing is compiled, and the modules import each other.
    with mock.patch.multiple(jit, **plain), mock.patch.dict(sys.modules):
        for name, text in sources.items():
            full_name = f"intervalsweep.kernels.{name}"
            modules[name] = sys.modules[full_name] = ModuleType(full_name)
            modules[name].__package__ = "intervalsweep.kernels"
            exec(compile(text, f"broken_{name}", "exec"), modules[name].__dict__)
    return modules


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


def caught(modules: dict[str, ModuleType]) -> int | None:
    """The number of cases before a difference, an endless loop or a crash."""
    rng = random.Random(5)
    with mock.patch.multiple(periods, _PLACES=2, **modules):
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
