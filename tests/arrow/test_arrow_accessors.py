# SPDX-License-Identifier: Apache-2.0
"""`df.intervals` of pandas and Polars has each function of `intervalsweep.arrow` as a method."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import intervalsweep
from intervalsweep import arrow as isa

ROWS = {"k": ["a", "b", "a"], "ts": [1, 3, 8], "te": [4, 6, 9]}


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_method_is_the_function(library: str) -> None:
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    from intervalsweep.arrow import accessors

    frame = module.DataFrame(ROWS)
    assert type(frame.intervals) is accessors.Intervals

    def same(got: Any, expected: Any) -> bool:
        assert type(got) is module.DataFrame
        return str(got) == str(expected)

    assert same(frame.intervals.join(frame, by="k"), isa.join(frame, frame, by="k"))
    assert same(frame.intervals.merge(gap=2), isa.merge(frame, gap=2))
    assert same(
        frame.intervals.count_matches(frame, "allen_before", by="k"),
        isa.count_matches(frame, frame, "allen_before", by="k"),
    )
    assert same(frame.intervals.half_open("ts", "te"), isa.half_open(frame, "ts", "te"))
    with pytest.raises(intervalsweep.ColumnError, match="no column key"):
        frame.intervals.merge(by="key")


def test_every_function_is_a_method_with_its_documentation() -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    from intervalsweep.arrow.accessors import Intervals

    for name in isa.__all__:
        function, method = getattr(isa, name), getattr(Intervals, name)
        assert method.__doc__ == function.__doc__
        assert [*inspect.signature(method).parameters][1:] == [
            *inspect.signature(function).parameters
        ][1:], name


def test_without_either_library_it_says_what_to_install() -> None:
    program = (
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda n, *a: None if n in ('pandas', 'polars') else find(n, *a)\n"
        "import intervalsweep.arrow.accessors"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(Path(intervalsweep.__file__).parents[1]), "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "SetupError: intervalsweep.arrow.accessors needs pandas or Polars" in done.stderr
