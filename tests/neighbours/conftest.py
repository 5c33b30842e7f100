# SPDX-License-Identifier: Apache-2.0
"""Real neighbours of the extension. Each test starts its own; `make test-neighbours` runs them."""

from __future__ import annotations

import pyspark
import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips tests that need another Spark, since most neighbours support only some."""
    for item in items:
        if needed := item.get_closest_marker("needs_spark"):
            series = ".".join(pyspark.__version__.split(".")[:2])
            if series != needed.args[0]:
                reason = (
                    f"needs Spark {needed.args[0]}: make test-neighbours MATRIX={needed.args[0]}"
                )
                item.add_marker(pytest.mark.skip(reason=reason))
