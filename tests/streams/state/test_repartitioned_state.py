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


NAMES = pytest.mark.parametrize("name", ["window_union", "stream_join", "ongoing_join"])


def repartitioned(spark: Any, conf: Any, folder: Path, name: str, *numbers: int) -> Any:
    """The query of a checkpoint that was written with two state partitions, to be continued."""
    conf({**SETTINGS, "spark.sql.shuffle.partitions": "2"})
    query = golden_checkpoint.QUERIES[name]
    query.write(folder)
    golden_checkpoint.hold_back(folder, query)
    golden_checkpoint.stream(spark, folder, query)
    golden_checkpoint.arrive(folder, query)
    for number in numbers:
        spark._streamingCheckpointManager.repartition(str(folder / "checkpoint"), number)
    return query


@NAMES
def test_a_repartitioned_checkpoint_is_refused(
    spark: Any, conf: Any, tmp_path: Path, name: str
) -> None:
    query = repartitioned(spark, conf, tmp_path, name, 4)
    says = r"STATE_MISMATCH\].* of 2 state partitions.*repartitioned to 4.*new checkpoint"
    with pytest.raises(Exception, match=rf"(?s){says}"):
        golden_checkpoint.stream(spark, tmp_path, query)


@pytest.mark.extended
@NAMES
def test_a_checkpoint_goes_on_after_it_was_repartitioned_back(
    spark: Any, conf: Any, tmp_path: Path, name: str
) -> None:
    query = repartitioned(spark, conf, tmp_path, name, 4, 2)
    found = golden_checkpoint.stream(spark, tmp_path, query)
    query.read(spark, tmp_path)
    assert not difference(expected(spark, query.text), found)
