# SPDX-License-Identifier: Apache-2.0
"""Peers and oracle of the inequality-join benchmark, compared with a test of all pairs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.streams.inequality import oracle
from benchmarks.streams.inequality import trees as btree
from benchmarks.streams.inequality.peers import PEERS, split
from benchmarks.streams.inequality.plots import draw
from benchmarks.streams.inequality.report import markdown
from benchmarks.streams.inequality.workloads import QUERIES, Query, Rows, Window, streams

WINDOW = Window(length=600, slide=200, batch=100, full=2)


def sides(query: Query, values: int, seed: int) -> tuple[Rows, Rows]:
    """Random rows. With few distinct values, both columns have ties."""
    rng = np.random.default_rng(seed)
    a, b = (Rows(*rng.integers(0, values, (2, WINDOW.rows))) for _ in range(2))
    return (a, a if query.is_self_join else b)


def matrix(a: Rows, b: Rows) -> np.ndarray:
    return (a.x[:, None] < b.x) & (a.y[:, None] > b.y)


@pytest.mark.extended
@pytest.mark.parametrize("values", [5, 100, 10**9])
@pytest.mark.parametrize("query", QUERIES.values(), ids=list(QUERIES))
def test_peers_count_the_pairs_of_rows_that_arrive(query: Query, values: int) -> None:
    a, b = sides(query, values, seed=values)
    stored, arriving = split(WINDOW, (a, b), sample=70)
    first, end = stored[0].count, stored[0].count + arriving[0].count
    assert (first, end) == (500, 570)
    numbers = np.arange(end)
    arrives = np.maximum(numbers[:, None], numbers) >= first
    expected = int((matrix(a.part(0, end), b.part(0, end)) & arrives).sum())
    assert expected > 1000
    found = {name: peer.measure(WINDOW, stored, arriving)["pairs"] for name, peer in PEERS.items()}
    assert found == dict.fromkeys(PEERS, expected)
    pairs = list(zip(stored, arriving, strict=True))
    assert oracle.arriving(pairs[0], pairs[1]) == expected


@pytest.mark.extended
@pytest.mark.parametrize("order", ["random", "ascending", "ties"])
def test_trees_of_three_levels_find_what_the_oracle_finds(order: str) -> None:
    window = Window(length=20_000, slide=10_000, batch=10_000, full=1)
    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 40 if order == "ties" else 10**9, (2, window.length))
    rows = Rows(np.sort(x) if order == "ascending" else x, y)
    stored, arriving = split(window, (rows, rows), sample=20)
    trees = btree.trees(1, stored[0].count)
    for number, key in enumerate(stored[0].x):
        btree.insert(trees, 0, key, number)
    assert trees.shape[0, btree.HEIGHT] == 3
    pairs = list(zip(stored, arriving, strict=True))
    expected = oracle.arriving(pairs[0], pairs[1])
    assert expected > 10_000
    found = {name: peer.measure(window, stored, arriving)["pairs"] for name, peer in PEERS.items()}
    assert found == dict.fromkeys(PEERS, expected)


@pytest.mark.parametrize("values", [5, 10**9])
@pytest.mark.parametrize("query", QUERIES.values(), ids=list(QUERIES))
def test_oracle_counts_the_pairs_of_each_slice(query: Query, values: int) -> None:
    a, b = sides(query, values, seed=3)
    slices = np.arange(WINDOW.rows) // WINDOW.slide
    pairs = matrix(a, b) & (abs(slices[:, None] - slices) < WINDOW.slices)
    later = np.maximum(slices[:, None], slices)
    expected = [int((pairs & (later == each)).sum()) for each in range(slices[-1] + 1)]
    assert min(expected) > 1000
    assert oracle.by_slice(WINDOW, a, b) == expected


@pytest.mark.parametrize("query", QUERIES.values(), ids=list(QUERIES))
def test_noise_makes_as_many_pairs_as_wanted(query: Query) -> None:
    window = Window(10_000, 1000, 1000, 1)
    for rate in (2, 20, 200):
        a, b = streams(query, window, rate)
        (stored, arriving) = split(window, (a, b), 500)
        sides = list(zip(stored, arriving, strict=True))
        rows = arriving[0].count * len(query.streams)
        assert oracle.arriving(sides[0], sides[1]) / rows == pytest.approx(rate, rel=0.35)


def test_lines_become_a_table_and_a_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    ours = {"probes/s": 2000.4, "pairs/s": 10**6, "completeness": 1.0, "spark, MiB": 900}
    wrong = {"pairs": 3, "why_not": "there are 4 pairs"}
    found: dict[str, dict[str, Any]] = {"intervalsweep": ours, "po-join": wrong, "duckdb": {}}
    lines = [
        {"query": "q2", "rate": rate, "system": system, **line}
        for rate in (1.0, 25.0)
        for system, line in found.items()
    ]
    window = {"length": 1000, "slide": 100, "batch": 100}
    results = {"options": {"window": window, "cores": 2}, "machine": {"cpu": "a"}, "lines": lines}
    results |= {"date": "2026-01-31", "commit": "abc"}
    rows = [row for row in markdown(results).splitlines() if row.startswith("| Q2")]
    assert rows[3] == "| Q2 | 25 | IntervalSweep | 2,000 | 1,000,000 |  | 1 | 900 |"
    assert rows[4] == "| Q2 | 25 | B+tree and PO-Join | wrong: there are 4 pairs |  |  |  |  |"
    assert {len(re.findall(r"\|", row)) for row in rows} == {9}
    (picture,) = draw(results, tmp_path)
    assert picture.stat().st_size > 1000
