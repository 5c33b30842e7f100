# SPDX-License-Identifier: Apache-2.0
"""The same results as other libraries, if they are installed.

pip install bioframe pyranges1 polars-bio
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

from intervalsweep import arrow as isa

# These libraries give many warnings.
pytestmark = [pytest.mark.extended, pytest.mark.filterwarnings("ignore")]
NAMES = ("chrom", "start", "end")
ENDS = ("start", "end")


def intervals(seed: int, size: int) -> Any:
    """Proper intervals on two chromosomes, with ties."""
    drawn = random.Random(seed)
    rows = []
    for _ in range(size):
        start = drawn.randrange(400)
        rows.append((drawn.choice(("chr1", "chr2")), start, start + drawn.randrange(1, 25)))
    columns = zip(NAMES, zip(*rows, strict=True), strict=True)
    return pa.table({name: list(values) for name, values in columns} | {"id": range(size)})


LEFT, RIGHT = intervals(1, 80), intervals(2, 60)
APART = intervals(3, 12)


def bag(table: Any, *names: str) -> Counter[Any]:
    return Counter(zip(*(list(table[name]) for name in names), strict=True))


def ours(table: Any, *names: str) -> Counter[Any]:
    return bag({name: table.column(name).to_pylist() for name in names}, *names)


def importable(name: str) -> Any:
    return pytest.importorskip(name, reason=f"{name} is not installed", exc_type=ImportError)


def test_bioframe_overlap() -> None:
    bioframe = importable("bioframe")
    theirs = bioframe.overlap(LEFT.to_pandas(), RIGHT.to_pandas(), suffixes=("", "_right"))
    mine = isa.join(LEFT, RIGHT, "interval_intersects", on=ENDS, by="chrom")
    assert ours(mine, "id", "id_right") == bag(theirs.dropna(), "id", "id_right")
    assert mine.num_rows > 100


def test_bioframe_count_overlaps_and_coverage() -> None:
    bioframe = importable("bioframe")
    theirs = bioframe.count_overlaps(LEFT.to_pandas(), RIGHT.to_pandas())
    mine = isa.count_matches(LEFT, RIGHT, "interval_intersects", on=ENDS, by="chrom")
    assert ours(mine, "id", "count") == bag(theirs, "id", "count")
    theirs = bioframe.coverage(LEFT.to_pandas(), RIGHT.to_pandas())
    mine = isa.coverage(LEFT, RIGHT, on=ENDS, by="chrom", covered="coverage")
    assert ours(mine, "id", "coverage") == bag(theirs, "id", "coverage")
    assert max(mine.column("coverage").to_pylist()) > 10


def test_bioframe_merge_and_complement() -> None:
    bioframe = importable("bioframe")
    frame = LEFT.slice(0, 20)
    theirs = bioframe.merge(frame.to_pandas(), min_dist=0)
    mine = isa.merge(frame, on=ENDS, by="chrom", count="n_intervals")
    assert ours(mine, *NAMES, "n_intervals") == bag(theirs, *NAMES, "n_intervals")
    view = {"chr1": 500, "chr2": 500}
    gaps = bioframe.complement(frame.to_pandas(), view_df=view)
    mine = isa.complement(frame, on=ENDS, by="chrom", within=(0, 500))
    assert ours(mine, *NAMES) == bag(gaps, *NAMES)
    assert mine.num_rows > 5


def test_bioframe_closest() -> None:
    bioframe = importable("bioframe")
    theirs = bioframe.closest(LEFT.to_pandas(), APART.to_pandas())
    mine = isa.nearest(LEFT, APART, on=ENDS, by="chrom")
    assert ours(mine, "id", "distance") == bag(theirs, "id", "distance")
    assert max(mine.column("distance").to_pylist()) > 5


@pytest.mark.skipif(sys.version_info < (3, 12), reason="pyranges1 needs Python 3.12")
def test_pyranges_overlaps_and_merge() -> None:
    pyranges = importable("pyranges1")
    names = dict(zip(NAMES, ("Chromosome", "Start", "End"), strict=True))
    left, right = (
        pyranges.PyRanges(table.to_pandas().rename(columns=names)) for table in (LEFT, RIGHT)
    )
    theirs = left.join_overlaps(right, suffix="_right")
    mine = isa.join(LEFT, RIGHT, "interval_intersects", on=ENDS, by="chrom")
    assert ours(mine, "id", "id_right") == bag(theirs, "id", "id_right")
    merged = left.merge_overlaps(slack=1)  # without slack, intervals that touch are not merged
    assert ours(isa.merge(LEFT, on=ENDS, by="chrom"), *NAMES) == bag(merged, *names.values())


def test_polars_bio_overlap() -> None:
    polars, polars_bio = importable("polars"), importable("polars_bio")
    polars_bio.set_option("datafusion.bio.coordinate_system_zero_based", True)
    left, right = (polars.from_arrow(table) for table in (LEFT, RIGHT))
    theirs = polars_bio.overlap(
        left,
        right,
        cols1=NAMES,
        cols2=NAMES,
        suffixes=("", "_right"),
        output_type="polars.DataFrame",
    )
    mine = isa.join(LEFT, RIGHT, "interval_intersects", on=ENDS, by="chrom")
    assert ours(mine, "id", "id_right") == bag(theirs, "id", "id_right")
