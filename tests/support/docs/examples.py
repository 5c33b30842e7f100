# SPDX-License-Identifier: Apache-2.0
"""Runs the examples in docstrings."""

from __future__ import annotations

import doctest
from typing import Any


def run_example(function: Any, **known: Any) -> int:
    """Runs the example of a docstring with the names `known`; returns its number of lines."""
    name = function.__name__
    (found,) = doctest.DocTestFinder(recurse=False).find(
        function, name, globs={**known, name: function}
    )
    report: list[str] = []
    result = doctest.DocTestRunner().run(found, out=report.append)
    assert result.failed == 0, "".join(report)
    return result.attempted
