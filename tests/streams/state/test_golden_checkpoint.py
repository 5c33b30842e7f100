# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of earlier versions: streams go on from them, and other queries are rejected."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyspark
import pytest

from support.spark.comparison import difference
from support.streams import golden_checkpoint
from support.streams.arrivals import expected

CHECKPOINTS = sorted((Path(__file__).parents[1] / "checkpoints").glob("*.tar.xz"))

pytestmark = pytest.mark.skipif(
    tuple(map(int, pyspark.__version__.split(".")[:2])) < (4, 3),
    reason="the checkpoints are of Spark 4.3",
)


@pytest.fixture(autouse=True)
def _settings(conf: Any) -> None:
    conf(golden_checkpoint.ONE_PARTITION)


@pytest.mark.every_case
@pytest.mark.parametrize("archive", CHECKPOINTS, ids=lambda archive: archive.name)
def test_a_stream_of_an_earlier_version_goes_on(spark: Any, tmp_path: Path, archive: Path) -> None:
    query = golden_checkpoint.query(archive)
    seen = golden_checkpoint.unpack(archive, tmp_path)
    golden_checkpoint.arrive(tmp_path, query)
    found = golden_checkpoint.stream(spark, tmp_path, query)
    query.read(spark, tmp_path)
    wanted = expected(spark, query.text)
    assert 0 < seen.total() < wanted.total()
    assert not difference(wanted - seen, found)


# Query -> (text of the query, its replacement, error message).
CHANGES = {
    "window_union": ("15 SECONDS", "16 SECONDS", "window.*-15000000.*-16000000"),
    "bucket_sums": ("150 SECONDS", "160 SECONDS", "window.*-150000000.*-160000000"),
    "ongoing_join": ("INTERVAL_INTERSECTS", "ALLEN_OVERLAPS", ""),
    "stream_join": ("INTERVAL_INTERSECTS", "ALLEN_OVERLAPS", ""),
}


@pytest.mark.parametrize("archive", CHECKPOINTS, ids=lambda archive: archive.name)
def test_another_query_is_refused(spark: Any, tmp_path: Path, archive: Path) -> None:
    query = golden_checkpoint.query(archive)
    golden_checkpoint.unpack(archive, tmp_path)
    golden_checkpoint.arrive(tmp_path, query)
    before, after, error = next(c for name, c in CHANGES.items() if archive.name.startswith(name))
    other = replace(query, text=query.text.replace(before, after))
    with pytest.raises(Exception, match=f"STATE_MISMATCH.*{error}"):
        golden_checkpoint.stream(spark, tmp_path, other)
