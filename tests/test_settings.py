# SPDX-License-Identifier: Apache-2.0
"""The page of settings says what Spark says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parent.parent / "docs" / "settings.md"
ROW = re.compile(r"^\| `(spark\.sql\.intervalsweep\.\w+)` \| `(.*?)` \| (.*) \|$", re.MULTILINE)


def test_settings_page_is_that_of_spark(spark: Any, conf: Any) -> None:
    documented = {key: (default, text) for key, default, text in ROW.findall(PAGE.read_text())}
    conf(dict.fromkeys(documented, None))  # as nobody had set them
    known = spark.sql("SET -v").where("key LIKE 'spark.sql.intervalsweep.%'").collect()
    assert documented.keys() == {row.key for row in known}
    for row in known:
        assert documented[row.key] == (row.value, row.meaning)
        assert row["Since version"], row.key
