# SPDX-License-Identifier: Apache-2.0
"""Pictures: tests read matplotlib's artists, never pixels."""

from __future__ import annotations

import doctest
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from itertools import product
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import intervalsweep
from intervalsweep import IntervalSweepError
from support.joins import brute, oracle
from support.joins.brute import table
from support.spark.metrics import metrics_of_last_query, number
from support.streams import arrivals

pytest.importorskip("matplotlib", reason="matplotlib is not installed: the extra plot has it")
from matplotlib import colors, dates, pyplot

from intervalsweep import plot

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python-api.md"


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    pyplot.switch_backend("Agg")
    yield
    pyplot.close("all")


@pytest.mark.parametrize("name", plot.__all__)
def test_example_of_the_docstring(spark: Any, name: str) -> None:
    function = getattr(plot, name)
    (found,) = doctest.DocTestFinder(recurse=False).find(
        function, name, globs={"pa": pa, "spark": spark, name: function}
    )
    report: list[str] = []
    result = doctest.DocTestRunner().run(found, out=report.append)
    assert result.failed == 0, "".join(report)
    assert result.attempted > 0


def bars(ax: Any) -> list[list[tuple[float, float]]]:
    """Start and end of the bars of each side, from the top."""
    return [
        [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in container]
        for container in ax.containers
    ]


def lines(ax: Any) -> list[tuple[int, int, float, float]]:
    """For each line: the numbers of the left and the right bar, and the x of both its ends."""
    heights = [[bar.get_y() + bar.get_height() / 2 for bar in c] for c in ax.containers]
    (collection,) = ax.collections
    return [
        (heights[0].index(y), heights[1].index(other_y), x, other_x)
        for (x, y), (other_x, other_y) in collection.get_segments()
    ]


@pytest.mark.parametrize("name", oracle.RELATIONS)
def test_bars_and_lines_of_every_relation(name: str) -> None:
    r, s = some_rows(1), some_rows(2)
    ax = plot.matches(table(r), table(s), name, limit=99)
    rows, others = (
        sorted((p for p in side if None not in p), key=itemgetter(0)) for side in (r, s)
    )
    assert bars(ax) == [rows, others]
    expected = [
        (i, j)
        for (i, a), (j, b) in product(enumerate(rows), enumerate(others))
        if brute.holds(name, a, b)
    ]
    found = lines(ax)
    assert found
    assert sorted((i, j) for i, j, _, _ in found) == expected
    for i, j, x, other_x in found:
        assert sorted((x, other_x)) == nearest_places(rows[i], others[j])
    for side, matched in zip(ax.containers, zip(*expected, strict=True), strict=True):
        pale = {k for k, bar in enumerate(side) if bar.get_alpha() is not None}
        assert pale == set(range(len(side))) - set(matched)


def some_rows(seed: int) -> list[brute.Interval]:
    """Intervals of all kinds, with many ties."""
    values = [*range(6)] * 4 + [None]
    draw = random.Random(seed)
    return [(draw.choice(values), draw.choice(values)) for _ in range(30)]


def nearest_places(r: brute.Interval, s: brute.Interval) -> list[float]:
    """Twice the middle of the common part of two bars, or the two ends around their gap."""
    (_, one), (other, _) = sorted(sorted(end) for end in (r, s))
    shared = max(min(r), min(s)), min(max(r), max(s))
    return [one, other] if one < other else [sum(shared) / 2] * 2


def test_first_rows_by_start_are_drawn_and_the_legend_says_so() -> None:
    r = table([(n, n + 2) for n in range(9, -1, -1)])
    s = table([(5, 7)])
    ax = plot.matches(r, s, "interval_intersects", limit=5, label="id")
    assert bars(ax)[0] == [(n, n + 2) for n in range(5)]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["9", "8", "7", "6", "5", "0"]
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["left: the 5 rows that start first", "right"]
    assert ax.get_title() == "INTERVAL_INTERSECTS: 1 match"
    assert plot.matches(r, s, "interval_intersects").get_title().endswith(": 3 matches")
    with pytest.raises(IntervalSweepError, match=r"column ids\. Did you mean id"):
        plot.matches(r, s, "interval_intersects", label="ids")


def test_rows_without_two_finite_ends_are_not_drawn() -> None:
    inf, nan = float("inf"), float("nan")
    r = table([(1.0, inf), (-inf, 2.0), (nan, 3.0), (None, 4.0), (2.0, 5.0)], pa.float64())
    ax = plot.matches(r, table([(3, 4)]), "interval_intersects")
    assert bars(ax) == [[(2.0, 5.0)], [(3.0, 4.0)]]
    assert len(lines(ax)) == 1


@pytest.mark.parametrize("kind", ["date", "timestamp", "timestamp with time zone"])
def test_dates_and_timestamps(kind: str) -> None:
    day: date = date(2026, 3, 1)
    if kind != "date":
        day = datetime(2026, 3, 1, 6, tzinfo=timezone.utc if "zone" in kind else None)
    r = pa.table({"ts": [day], "te": [day + timedelta(days=2)]})
    s = pa.table({"ts": [day + timedelta(days=3)], "te": [day + timedelta(days=4)]})
    ax = plot.matches(r, s, "iseql_before", delta=timedelta(days=1))
    assert bars(ax)[0] == [tuple(dates.date2num([day, day + timedelta(days=2)]))]
    assert len(lines(ax)) == 1
    assert ax.get_xlabel() == ("UTC" if "zone" in kind else "")
    ax.figure.canvas.draw()
    assert any("Mar" in text.get_text() for text in ax.get_xticklabels())


def test_keys_structs_and_durations() -> None:
    ends = [{"from": timedelta(seconds=n), "to": timedelta(seconds=n + 2)} for n in range(3)]
    r = pa.table({"k": ["a", "b", "a"], "period": ends})
    s = pa.table({"key": ["a"], "since": [timedelta(seconds=1)], "till": [timedelta(seconds=9)]})
    ax = plot.matches(
        r, s, "interval_intersects", left_on="period", right_on=("since", "till"), by=[("k", "key")]
    )
    assert bars(ax) == [[(0, 2), (1, 3), (2, 4)], [(1, 9)]]
    assert sorted(lines(ax)) == [(0, 0, 1.5, 1.5), (2, 0, 3, 3)]
    assert ax.get_xlabel() == "seconds"


def same_picture(left: Any, right: Any, **more: Any) -> None:
    r, s = (table(rows) for rows in TABLES)
    expected = plot.matches(r, s, "interval_intersects", label="id", limit=3)
    ax = plot.matches(left, right, "interval_intersects", label="id", limit=3, **more)
    assert (bars(ax), lines(ax)) == (bars(expected), lines(expected))
    for one, other in zip(legend(ax), legend(expected), strict=True):
        assert one == other
    assert len(lines(ax)) == 3


TABLES = ([(3, 5), (0, 2), (7, None), (1, 9), (8, 9)], [(4, 6), (None, 3), (0, 1)])


def legend(ax: Any) -> list[str]:
    texts = [*ax.get_legend().get_texts(), *ax.get_yticklabels()]
    return [text.get_text() for text in texts]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_of_other_libraries(library: str) -> None:
    pytest.importorskip(library, reason=f"{library} is not installed")
    kind = {"pandas": "Int64", "polars": None}[library]
    tables = [table(rows) for rows in TABLES]
    if library == "polars":
        import polars

        same_picture(*(polars.from_arrow(one) for one in tables))
    else:
        same_picture(*(one.to_pandas().astype(kind) for one in tables))


@pytest.mark.extended
def test_dataframes_of_spark(spark: Any) -> None:
    schema = "id LONG, ts LONG, te LONG"
    left, right = (
        spark.createDataFrame([(n, *row) for n, row in enumerate(rows)], schema) for rows in TABLES
    )
    same_picture(left, right)
    period = [one.selectExpr("id", "struct(ts, te) AS period") for one in (left, right)]
    same_picture(*period, on="period")
    same_picture(left, period[1], right_on="period")
    with pytest.raises(IntervalSweepError, match=r"left side has no column t\. Did you mean ts"):
        plot.matches(left, right, "interval_intersects", on=("t", "te"))


def box(ax: Any) -> Any:
    """A test whether a point is in the drawn area, which includes solid but not dashed edges."""
    (area,) = [p for p in ax.patches if colors.same_color(p.get_facecolor()[:3], GREEN)]
    (left, bottom), (right, top) = area.get_xy().min(axis=0), area.get_xy().max(axis=0)
    edges = [one for one in ax.lines if colors.same_color(one.get_color(), GREEN)]

    def is_open(edge: Any) -> bool:
        return edge.get_linestyle() == "--" or edge.get_markerfacecolor() == "white"

    def holds(x: float, y: float) -> bool:
        on = [edge for edge in edges if is_on(x, y, edge)]
        return left <= x <= right and bottom <= y <= top and not any(map(is_open, on))

    return holds


GREEN = "#009E73"


def is_on(x: float, y: float, edge: Any) -> bool:
    xs, ys = edge.get_data()
    return bool(min(xs) <= x <= max(xs) and min(ys) <= y <= max(ys))


@pytest.mark.parametrize("variant", oracle.variants(), ids=str)
@pytest.mark.parametrize("r", [(2, 6), (4, 4)], ids=str)
def test_box_of_every_relation(variant: oracle.Variant, r: tuple[int, int]) -> None:
    name, limits = variant.relation.name, dict.fromkeys(variant.parameters, 2)
    ax = plot.relation(name, r, (3, 5), **limits)
    holds = box(ax)
    low, high = ax.get_xlim()
    grid = [n / 2 for n in range(20) if low < n / 2 < high]
    expected = {s for s in product(grid, grid) if brute.holds(name, r, s, **limits)}
    assert {s for s in product(grid, grid) if holds(*s)} == expected
    assert expected or r == (4, 4)

    (point,) = [line for line in ax.lines if colors.same_color(line.get_color(), "#E69F00")]
    assert point.get_data() == ([3], [5])
    is_filled = point.get_markerfacecolor() != "white"
    assert is_filled == brute.holds(name, r, (3, 5), **limits)
    assert bars(ax.child_axes[0]) == [[r], [(3, 5)]]


@pytest.mark.parametrize("name", oracle.RELATIONS)
def test_example_of_every_relation_lies_in_its_box(name: str) -> None:
    ax = plot.relation(name)
    ((r,), (s,)) = bars(ax.child_axes[0])
    assert brute.holds(name, r, s)
    assert box(ax)(*s)
    written = oracle.RELATIONS[name].formula
    shown = ax.get_title().split("\n")[1]
    assert sorted(shown.split(" AND ")) == sorted(written.split(" AND "))


def test_bounds_have_their_names() -> None:
    ax = plot.relation("iseql_left_overlap", (1, 5), delta=2, epsilon=1)
    ticks = [
        dict(zip(axis.get_ticklocs(), map(text_of, axis.get_ticklabels()), strict=True))
        for axis in (ax.xaxis, ax.yaxis)
    ]
    assert ticks == [
        {1: "r.ts", 3: "r.ts + delta", 5: "r.te"},
        {1: "r.ts", 5: "r.te", 6: "r.te + epsilon"},
    ]
    assert ax.get_title().endswith("s.ts - r.ts <= 2 AND s.te - r.te <= 1")
    assert len(ax.child_axes[0].containers) == 1, "no s is drawn"


def text_of(label: Any) -> str:
    return str(label.get_text())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "allen_overlap"}, "Did you mean allen_overlaps"),
        ({"name": "allen_overlaps", "delta": 1}, "has no parameter delta"),
        ({"name": "iseql_before", "delta": -1}, "`delta` must not be negative; got -1"),
        ({"name": "iseql_before", "s": (1, 2)}, "needs r if s is given"),
    ],
)
def test_relation_that_means_nothing(arguments: Any, message: str) -> None:
    with pytest.raises(IntervalSweepError, match=message):
        plot.relation(**arguments)


SIDE = "(SELECT id, {0} AS k, id * {1} % 3001 AS ts FROM range(0, 3000, 1, 3)) {2}"


def heights(ax: Any) -> list[float]:
    (container,) = ax.containers
    return [bar.get_height() for bar in container]


@pytest.mark.extended
def test_rows_of_each_range(spark: Any, conf: Any) -> None:
    conf({"spark.sql.autoBroadcastJoinThreshold": "-1", "spark.sql.intervalsweep.rangeRows": "800"})
    r, s = SIDE.format("id % 2", 7, "r"), SIDE.format("id % 2", 11, "s")
    condition = "r.ts <= s.ts AND s.ts < r.ts + 20"
    assert spark.sql(f"SELECT r.id FROM {r} JOIN {s} ON {condition}").collect()
    metrics = metrics_of_last_query(spark)
    drawn = heights(plot.tasks(spark))
    assert len(drawn) == 4
    assert sum(drawn) == number(metrics["records read"]) == 6000 + replicated(metrics)
    assert all(1000 < rows < 2000 for rows in drawn), "even ranges of even data"
    seconds = plot.tasks(spark, measure="seconds")
    assert seconds.get_ylabel() == "seconds"
    assert len(heights(seconds)) == 4


def replicated(metrics: dict[str, str]) -> int:
    return number(metrics["replicated rows"])


def test_hot_key_is_the_tall_bar(spark: Any, conf: Any) -> None:
    conf(
        {
            "spark.sql.autoBroadcastJoinThreshold": "-1",
            "spark.sql.adaptive.enabled": "false",
            "spark.sql.shuffle.partitions": "3",
        }
    )
    hot = "if(id % 10 = 0, id, -1)"
    r, s = SIDE.format(hot, 7, "r"), SIDE.format(hot, 11, "s")
    frame = spark.sql(
        f"SELECT r.id FROM {r} JOIN {s} ON r.k = s.k AND r.ts < s.ts AND s.ts < r.ts + 9"
    )
    assert frame.collect()
    drawn = sorted(heights(plot.tasks(spark)))
    assert len(drawn) == 3
    assert sum(drawn) == 6000
    assert drawn[-1] >= 2 * 2700
    assert drawn[-2] < 600
    legend = plot.tasks(spark).get_legend().get_texts()[0].get_text()
    assert legend == f"median {drawn[1]:g}"


def test_one_of_two_joins(spark: Any, conf: Any) -> None:
    """The lower join reads 90 rows twice; the upper join reads its result and 7 rows."""
    conf({"spark.sql.autoBroadcastJoinThreshold": "-1"})
    lower = (
        "(SELECT a.id FROM range(0, 90, 1, 2) a JOIN range(0, 90, 1, 2) b "
        "ON a.id <= b.id AND b.id < a.id + 1)"
    )
    query = (
        f"SELECT c.id FROM {lower} c JOIN range(0, 7, 1, 2) d ON c.id <= d.id AND d.id < c.id + 1"
    )
    assert len(spark.sql(query).collect()) == 7
    rows = {join: sum(heights(plot.tasks(spark, join=join))) for join in (1, 2)}
    assert 97 <= rows[1] < 180 <= rows[2]
    with pytest.raises(IntervalSweepError, match="No query with such an IntervalSweepJoin"):
        plot.tasks(spark, join=99)
    with pytest.raises(IntervalSweepError, match="`measure` must be one of rows, seconds"):
        plot.tasks(spark, measure="row")


def test_spark_connect_shows_no_tasks() -> None:
    with pytest.raises(IntervalSweepError, match="needs a classic session"):
        plot.tasks(object())  # type: ignore[arg-type]


WINDOW = """SELECT S.id, w.c FROM S LEFT JOIN LATERAL (SELECT count(*) c FROM R
    WHERE R.k = S.k AND R.ts BETWEEN S.ts - INTERVAL 5 SECONDS AND S.ts) w ON true"""


def test_micro_batches_of_a_stream(spark: Any, conf: Any, tmp_path: Path) -> None:
    conf(arrivals.QUICKLY)
    arrivals.Arrivals(random.Random(1), rows=60, files=4, lateness=150).write(tmp_path)
    # Rows arrive up to 150 seconds after their event time, so some are late.
    arrivals.read(spark, tmp_path, lateness=2)
    query = arrivals.run(spark.sql(WINDOW), tmp_path)
    some = [p for p in query.recentProgress if p["numInputRows"]]
    assert len(some) == 5
    assert heights(plot.batches(query)) == [p["processedRowsPerSecond"] for p in some]
    seconds = plot.batches(query, measure="seconds")
    assert seconds.get_ylabel() == "seconds"
    assert heights(seconds) == [p["batchDuration"] / 1000 for p in some]
    counts = [row for p in some for row in p["observedMetrics"].values()]
    assert heights(plot.batches(query, measure="state")) == [row["storedRows"] for row in counts]
    late = heights(plot.batches(query, measure="late"))
    assert late == [row["lateRows"] for row in counts]
    assert sum(late) > 0


def test_no_micro_batch_yet(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    stream = spark.readStream.schema("a INT").parquet(str(tmp_path / "in"))
    query = stream.writeStream.format("noop").trigger(availableNow=True).start()
    query.awaitTermination(60)
    with pytest.raises(IntervalSweepError, match="No micro-batch with new rows"):
        plot.batches(query)
    with pytest.raises(IntervalSweepError, match=r"`measure` must be one of rate, .*; got 'sec'"):
        plot.batches(query, measure="sec")


def test_axes_are_the_callers(spark: Any) -> None:
    _, axes = pyplot.subplots(1, 3)
    assert (
        len(spark.sql("SELECT a.id FROM range(9) a JOIN range(9) b ON a.id < b.id").collect()) == 36
    )
    one = table([(1, 2)])
    assert plot.matches(one, one, "allen_equals", ax=axes[0]) is axes[0]
    assert plot.relation("allen_meets", ax=axes[1]) is axes[1]
    assert plot.tasks(spark, ax=axes[2]) is axes[2]
    assert len(pyplot.get_fignums()) == 1


def test_it_is_imported_for_those_who_ask_and_says_what_is_missing() -> None:
    program = """
import sys
import intervalsweep
assert not {"matplotlib", "intervalsweep.plot", "intervalsweep.arrow"} & set(sys.modules)
sys.modules["matplotlib"] = None
try:
    import intervalsweep.plot
except intervalsweep.IntervalSweepError as error:
    print(error)
"""
    environment = {"PYTHONPATH": str(Path(intervalsweep.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment
    )
    assert done.stdout.startswith("intervalsweep.plot needs matplotlib, which "), done.stderr
    assert done.stdout.endswith("-m pip install 'intervalsweep[plot]'\n")


def test_the_page_lists_all_functions() -> None:
    listed = re.findall(r"^\| `plot\.(\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(plot.__all__)
