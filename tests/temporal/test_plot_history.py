# SPDX-License-Identifier: Apache-2.0
"""`plot.history`: tests read matplotlib's artists."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

import pyarrow as pa
import pytest

from intervalsweep import ColumnError
from intervalsweep.arrow import temporal

pytest.importorskip("matplotlib", reason="matplotlib is not installed: the extra plot has it")
from matplotlib import pyplot

from intervalsweep import plot

WORKS = pa.table(
    {
        "name": ["Ann", "Joe", "Sam", "Ann", "Eve", "Bob"],
        "skill": ["SP", "NS", "SP", "SP", None, "SP"],
        "ts": [3, 8, 8, 18, None, 7],
        "te": [10, 16, 16, 20, 9, 7],
    }
)


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    pyplot.switch_backend("Agg")
    yield
    pyplot.close("all")


def bars(ax: Any) -> list[list[tuple[float, float, int]]]:
    """Start, end and lane of the bars of each value, from the top."""
    return [
        [
            (bar.get_x(), bar.get_x() + bar.get_width(), round(bar.get_y() + bar.get_height() / 2))
            for bar in container
        ]
        for container in ax.containers
    ]


def names(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_yticklabels()]


def test_bars_of_each_value() -> None:
    ax = plot.history(WORKS, "skill", span=(0, 24))
    assert names(ax) == ["NS", "SP", "NULL"]
    # Rows that overlap have separate lanes; an empty period is not drawn.
    assert bars(ax) == [[(8, 16, 0)], [(3, 10, 1), (18, 20, 1), (8, 16, 2)], [(0, 9, 3)]]
    assert ax.get_xlim() == (0, 24)
    assert list(ax.get_yticks()) == [0, 1.5, 3]


def test_before_and_after_an_operator() -> None:
    figure, (before, after) = pyplot.subplots(2, sharex=True)
    plot.history(WORKS, "skill", span=(0, 24), ax=before)
    counts = temporal.aggregate(WORKS, people="count")
    assert plot.history(counts, span=(0, 24), ax=after) is after
    assert names(after) == ["0", "1", "2", "3", "4"]
    ends = [[(start, end) for start, end, _ in value] for value in bars(after)]
    # Eve's row has no start, so there is a row from the beginning.
    assert ends[0] == [(16, 18), (20, 24)]
    assert len(figure.axes) == 2


def test_labels_limit_and_edges() -> None:
    ax = plot.history(WORKS, ["skill", "name"], limit=2)
    assert names(ax) == ["SP, Ann", "NULL, Eve"]
    assert ax.get_title() == "the 2 rows that start first"
    assert ax.get_xlim() == pytest.approx((3 - 0.35, 10 + 0.35))
    assert names(plot.history(WORKS, "name", span=(17, 24))) == ["Ann"]
    nothing = plot.history(WORKS.slice(0, 0))
    assert bars(nothing) == []
    assert names(plot.history(WORKS.select(["ts", "te"]))) == [""]


def test_dates_of_a_dataframe(spark: Any) -> None:
    frame = spark.sql(
        "SELECT * FROM VALUES ('a', DATE '2024-01-01', DATE '2024-03-01'), "
        "('a', DATE '2024-02-01', NULL) AS t(v, f, u)"
    )
    ax = plot.history(frame, on=("f", "u"), span=(date(2024, 1, 1), date(2025, 1, 1)))
    assert names(ax) == ["a"]
    (found,) = bars(ax)
    assert [lane for *_, lane in found] == [0, 1]
    assert found[1][1] - found[0][0] == 366
    ax.figure.canvas.draw()


def test_columns_that_are_not_there() -> None:
    for arguments in ({"label": "x"}, {"on": ("a", "te")}):
        with pytest.raises(ColumnError, match="no column"):
            plot.history(WORKS, **arguments)
