# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of earlier versions: streams go on from them, and other queries are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyspark
import pytest

import golden_checkpoint
from arrivals import expected, read
from comparison import bag, difference

CHECKPOINTS = sorted((Path(__file__).parent / "checkpoints").glob("*.tar.xz"))

pytestmark = pytest.mark.skipif(
    tuple(map(int, pyspark.__version__.split(".")[:2])) < (4, 3),
    reason="the checkpoints are of Spark 4.3",
)


@pytest.fixture(autouse=True)
def _settings(conf: Any) -> None:
    conf(golden_checkpoint.ONE_PARTITION)


@pytest.mark.parametrize("archive", CHECKPOINTS, ids=lambda archive: archive.name)
def test_a_stream_of_an_earlier_version_goes_on(spark: Any, tmp_path: Path, archive: Path) -> None:
    seen = golden_checkpoint.unpack(archive, tmp_path)
    golden_checkpoint.arrive(tmp_path)
    golden_checkpoint.stream(spark, tmp_path, golden_checkpoint.QUERY)
    found = golden_checkpoint.rows(spark, tmp_path)
    read(spark, tmp_path, golden_checkpoint.LATENESS)
    all_rows = expected(spark, golden_checkpoint.QUERY)
    came_before = ", ".join(map(str, seen))
    wanted = expected(
        spark, f"SELECT * FROM ({golden_checkpoint.QUERY}) WHERE id NOT IN ({came_before})"
    )
    assert 0 < wanted.total() < all_rows.total()
    assert not difference(wanted, bag(found))


@pytest.mark.parametrize("archive", CHECKPOINTS, ids=lambda archive: archive.name)
def test_another_window_is_refused(spark: Any, tmp_path: Path, archive: Path) -> None:
    golden_checkpoint.unpack(archive, tmp_path)
    golden_checkpoint.arrive(tmp_path)
    text = golden_checkpoint.QUERY.replace("15 SECONDS", "16 SECONDS")
    with pytest.raises(Exception, match=r"STATE_MISMATCH.*window.*-15000000.*-16000000"):
        golden_checkpoint.stream(spark, tmp_path, text)
