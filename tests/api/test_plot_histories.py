# SPDX-License-Identifier: Apache-2.0
"""Pictures of histories: of DataFrames of Spark and relations, with a span, and with open ends."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

pytest.importorskip("matplotlib", reason="matplotlib is not installed").use("Agg")
from matplotlib import dates, pyplot  # noqa: E402

from intervalsweep import plot, temporal  # noqa: E402
from support.streams import arrivals  # noqa: E402


@pytest.fixture(autouse=True)
def _closed_pictures() -> Iterator[None]:
    yield
    pyplot.close("all")


def names(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_yticklabels()]


def test_rows_are_limited_after_the_span(spark: Any) -> None:
    """The rows of the span were not among those that start first, so the picture was empty."""
    frame = spark.sql(
        "SELECT concat('n', id) AS name, id AS ts, IF(id = 3, NULL, id + 1) AS te FROM range(200)"
    )
    ax = plot.history(frame, span=(150, 153), limit=4)
    assert sorted(names(ax)) == ["n150", "n151", "n152", "n3"]
    assert ax.get_title() == ""
    ax = plot.history(frame, span=(150, 190), limit=4)
    assert ax.get_title() == "the 4 rows that start first"
    days = spark.sql("SELECT 'x' AS v, DATE'2024-01-01' AS ts, DATE'2024-01-09' AS te")
    assert names(plot.history(days, span=(date(2024, 1, 2), date(2024, 1, 3)))) == ["x"]


def test_rows_with_empty_periods_take_no_place(spark: Any) -> None:
    frame = spark.sql("SELECT id AS v, id AS ts, IF(id < 50, id, id + 1) AS te FROM range(60)")
    assert len(names(plot.history(frame, limit=5))) == 5


def test_a_relation_is_drawn_with_its_own_period(spark: Any) -> None:
    frame = spark.sql("SELECT * FROM VALUES ('a', 1, 5), ('b', 2, 9) t(name, first, last)")
    relation = temporal.valid(frame, "first", "last")
    ax = plot.history(relation)
    assert names(ax) == ["a", "b"]
    assert [bar.get_width() for bars in ax.containers for bar in bars] == [4.0, 7.0]
    assert names(plot.history(relation.agg(n="count(*)").period(0, 10), "n")) == ["0", "1", "2"]


@pytest.mark.parametrize("kind", ["date", "timestamp"])
def test_an_end_in_the_year_9999_does_not_stretch_the_axis(kind: str) -> None:
    made = date if kind == "date" else datetime
    ends = [made(2024, 1, 9), made(9999, 12, 31), None]
    frame = pa.table(
        {"v": ["a", "b", "c"], "ts": [made(2024, 1, d) for d in (1, 3, 5)], "te": ends}
    )
    ax = plot.history(frame)
    low, high = (dates.num2date(edge).replace(tzinfo=None) for edge in ax.get_xlim())
    assert datetime(2023, 12, 30) < low < datetime(2024, 1, 1)
    assert datetime(2024, 1, 9) < high < datetime(2024, 1, 11)
    last = [bar.get_x() + bar.get_width() for bars in ax.containers for bar in bars]
    assert last[1] == last[2] == pytest.approx(ax.get_xlim()[1])
    matched = plot.matches(frame, frame, "interval_intersects")
    assert dates.num2date(matched.get_xlim()[1]).replace(tzinfo=None) < datetime(2024, 2, 1)


def test_the_largest_number_is_no_end() -> None:
    frame = pa.table(
        {
            "v": ["a", "b"],
            "ts": pa.array([1, 3], pa.int32()),
            "te": pa.array([9, 2**31 - 1], pa.int32()),
        }
    )
    assert plot.history(frame).get_xlim()[1] < 10
    lengths = pa.table({"v": ["a"], "ts": [timedelta(0)], "te": [timedelta(hours=1)]})
    assert plot.history(lengths).get_xlim()[1] == pytest.approx(3600 * 1.05)


def test_only_the_rows_that_have_ended(spark: Any) -> None:
    frame = spark.sql("SELECT * FROM VALUES ('a', 1, 5), ('b', 2, 9), ('c', 3, NULL) t(v, ts, te)")
    for data in (frame, frame.toArrow()):
        ax = plot.history(data, span=(0, 10), until=5)
        assert names(ax) == ["a"]
        assert [list(line.get_xdata()) for line in ax.lines] == [[5.0, 5.0]]
    assert names(plot.history(frame, span=(0, 10))) == ["a", "b", "c"]


def test_a_history_of_streams_is_followed(spark: Any, conf: Any, tmp_path: Path) -> None:
    """The picture has a step for each watermark, and the rows that had ended there."""
    conf({**arrivals.QUICKLY, "spark.sql.session.timeZone": "UTC"})
    for number, seconds in enumerate((10, 20, 40)):
        rows = [(n, 1, "a", arrivals.at(seconds + n), 0, 0.0, "") for n in range(3)]
        arrivals.write(tmp_path / "S", rows, number)
    reader = spark.readStream.schema(arrivals.SCHEMA).option("maxFilesPerTrigger", 1)
    stream = reader.parquet(str(tmp_path / "S")).withWatermark("ts", "0 seconds")
    events = stream.selectExpr("id", "ts", "ts + INTERVAL 4 SECONDS AS te")
    writer = temporal.valid(events, "ts", "te").frame.writeStream.format("memory")
    query = writer.queryName("followed").trigger(availableNow=True).start()
    query.awaitTermination(60)
    span = (arrivals.at(0), arrivals.at(60))
    _, ax = pyplot.subplots()
    moving = plot.follow(query, spark.table("followed"), "id", span=span, ax=ax)
    steps = []
    for watermark in moving.new_frame_seq():
        moving._draw_frame(watermark)
        steps.append((watermark.second, sum(len(bars) for bars in ax.containers)))
    assert [second for second, _ in steps] == sorted({second for second, _ in steps})
    assert steps[-1] == (42, 6)
    assert (12, 0) in steps
    assert moving.to_jshtml().count("frames[") >= len(steps)
