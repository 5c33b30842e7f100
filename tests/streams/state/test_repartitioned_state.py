# SPDX-License-Identifier: Apache-2.0
"""A checkpoint that Spark has repartitioned is refused: rows are stored by partition number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyspark
import pytest

from support.spark.comparison import difference
from support.streams import golden_checkpoint
from support.streams.arrivals import SETTINGS, expected

pytestmark = pytest.mark.skipif(
    tuple(map(int, pyspark.__version__.split(".")[:2])) < (4, 2),
    reason="Spark repartitions checkpoints since 4.2",
)


@pytest.mark.parametrize("name", ["window_union", "stream_join", "ongoing_join"])
def test_a_repartitioned_checkpoint_is_refused(
    spark: Any, conf: Any, tmp_path: Path, name: str
) -> None:
    conf({**SETTINGS, "spark.sql.shuffle.partitions": "2"})
    query = golden_checkpoint.QUERIES[name]
    query.write(tmp_path)
    golden_checkpoint.hold_back(tmp_path, query)
    golden_checkpoint.stream(spark, tmp_path, query)
    checkpoint = str(tmp_path / "checkpoint")
    golden_checkpoint.arrive(tmp_path, query)
    spark._streamingCheckpointManager.repartition(checkpoint, 4)
    says = r"STATE_MISMATCH\].* of 2 state partitions.*repartitioned to 4.*repartition it to 2"
    with pytest.raises(Exception, match=rf"(?s){says}"):
        golden_checkpoint.stream(spark, tmp_path, query)
    spark._streamingCheckpointManager.repartition(checkpoint, 2)
    found = golden_checkpoint.stream(spark, tmp_path, query)
    query.read(spark, tmp_path)
    assert not difference(expected(spark, query.text), found)
