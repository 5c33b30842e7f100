# SPDX-License-Identifier: Apache-2.0
"""The functions as methods of DataFrames of pandas and Polars: `df.intervals.join(other)`.

    import intervalsweep.arrow.accessors

    visits.intervals.join(outages, by="site")
    visits.intervals.merge(by="site", gap="5 minutes")

Importing this module registers the accessor `intervals` with each of the two libraries that is
installed. Each function of :mod:`intervalsweep.arrow` is a method, without its first argument.

A DataFrame of Spark has `transform` for the same: ``visits.transform(isd.merge, by="site")``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from importlib.util import find_spec
from typing import Any

from intervalsweep import arrow
from intervalsweep._errors import SetupError
from intervalsweep._requirements import pip_install

NAME = "intervals"


class Intervals:
    """The methods of `df.intervals`."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def method(self: Intervals, *given: Any, **named: Any) -> Any:
        return function(self._frame, *given, **named)

    signature = inspect.signature(function)
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    others = [*signature.parameters.values()][1:]
    shown: Any = method
    shown.__signature__ = signature.replace(parameters=[own, *others])
    return method


for _name in arrow.__all__:
    setattr(Intervals, _name, _method(getattr(arrow, _name)))


def _register() -> list[str]:
    """Register the accessor with the libraries that are installed; return their names."""
    found = [library for library in ("pandas", "polars") if find_spec(library) is not None]
    if "pandas" in found:
        import pandas

        if not hasattr(pandas.DataFrame, NAME):
            pandas.api.extensions.register_dataframe_accessor(NAME)(Intervals)
    if "polars" in found:
        import polars

        if not hasattr(polars.DataFrame, NAME):
            polars.api.register_dataframe_namespace(NAME)(Intervals)
    return found


if not _register():
    raise SetupError(
        "intervalsweep.arrow.accessors needs pandas or Polars. Install with:  "
        f"{pip_install('pandas')}"
    )
