# SPDX-License-Identifier: Apache-2.0
"""The workloads: each is one definition, from which the SQL of all systems is generated."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from benchmarks.data import Genome, Histories, LongAndShort, Synthetic, Tables

Join = Literal["inner", "left", "semi", "anti"]
Side = Literal["r", "s"]

RELATIONS = Path(__file__).resolve().parent.parent / "python" / "intervalsweep" / "relations.json"
STARTS_IN = ("r.ts <= s.ts", "s.ts < r.te")
INTERSECTS = ("r.ts < s.te", "s.ts < r.te")
OVERLAPS = ("r.ts < s.ts", "s.ts < r.te", "r.te < s.te")
AS_THEY_ARE = (0,)  # the size of tables with a fixed number of rows
MILLION = (1_000_000,)

SELECTED = {
    "inner": "count(*), sum(r.p + s.p)",
    "left": "count(*), sum(r.p + coalesce(s.p, 0))",
    "semi": "count(*), coalesce(sum(r.p), 0)",
    "anti": "count(*), coalesce(sum(r.p), 0)",
}


@dataclass(frozen=True)
class Workload:
    """A join of r and s on a conjunction of comparisons, and an aggregate of its rows.

    The aggregate is one row of integers, so that answers can be compared exactly. It uses both
    sides, so that a system must make the pairs, unless it can aggregate without pairs.
    """

    name: str
    about: str
    tables: Tables
    formula: tuple[str, ...] = STARTS_IN
    sizes: tuple[int, ...] = MILLION
    headline: tuple[int, ...] = ()  # the sizes that `make bench` takes
    join: Join = "inner"
    relation: str | None = None  # IntervalSweep's function for the formula
    arguments: str = ""  # the function's arguments after the endpoints
    is_keyed: bool = False
    group: str | None = None

    @property
    def is_of_all_pairs(self) -> bool:
        """True if a system without a plan for inequalities must compare all pairs of rows."""
        has_equality = self.is_keyed or any(" = " in each for each in self.formula)
        return self.join in ("inner", "left") and not has_equality

    def on(self, by_function: bool = False) -> str:
        """The condition: equality of keys, and the formula or the function for it."""
        keys = ["r.k = s.k"] if self.is_keyed else []
        if by_function and self.relation:
            call = f"{self.relation}(r.ts, r.te, s.ts, s.te{self.arguments})"
            return " AND ".join([*keys, call])
        return " AND ".join([*keys, *self.formula])

    def sql(self, r: str, s: str, on: str, semi: str | None = "LEFT SEMI JOIN") -> str:
        """The query over the tables r and s; `semi` spells a semi join, None uses EXISTS."""
        select = SELECTED[self.join]
        if self.join in ("inner", "left"):
            word = "JOIN" if self.join == "inner" else "LEFT JOIN"
            source = f"{r} r {word} {s} s ON {on}"
        elif semi is None:
            no = "NOT " if self.join == "anti" else ""
            source = f"{r} r WHERE {no}EXISTS (SELECT 1 FROM {s} s WHERE {on})"
        else:
            source = f"{r} r {semi if self.join == 'semi' else semi.replace('SEMI', 'ANTI')} {s} s"
            source += f" ON {on}"
        if self.group is None:
            return f"SELECT {select} FROM {source}"
        groups = f"SELECT {self.group} AS g, count(s.id) AS n FROM {source} GROUP BY {self.group}"
        return f"SELECT count(*), sum(n), sum(n * (g % 1000)) FROM ({groups}) t"


def starts_in(formula: tuple[str, ...]) -> Side | Literal["both"] | None:
    """The side whose interval contains the start of the other side in every match.

    Returns "both" if either side may start first, and None if matches need not share a point. The
    intervals must not be empty; those of the benchmarks are not.
    """

    def ordered(low: str, high: str) -> bool:
        return f"{low} < {high}" in formula or f"{low} <= {high}" in formula

    def starts_before_end(x: str, y: str) -> bool:
        return f"{x}.ts < {y}.te" in formula or ordered(f"{x}.te", f"{y}.te")

    if ordered("r.ts", "s.ts") and starts_before_end("s", "r"):
        return "r"
    if ordered("s.ts", "r.ts") and starts_before_end("r", "s"):
        return "s"
    return "both" if starts_before_end("r", "s") and starts_before_end("s", "r") else None


def workloads() -> list[Workload]:
    """All workloads, in the order in which they run."""
    return [*_anchor(), *_shapes(), *_joins(), *_keys(), *_groups(), *_relations(), *_real()]


def _anchor() -> Iterator[Workload]:
    about = "s starts in r, mean length 100"
    yield Workload(
        "anchor", about, Synthetic(), sizes=(10_000, 100_000, 1_000_000, 10_000_000),
        headline=(10_000, 1_000_000),
    )  # fmt: skip
    for length in (1, 10, 1_000, 10_000, 100_000):
        yield Workload(
            f"length-{length}", f"s starts in r, mean length {length}", Synthetic(matches=length)
        )


def _shapes() -> Iterator[Workload]:
    yield Workload(
        "long", "one interval in 1,000 as long as a tenth of all points",
        Synthetic(matches=10, long_share=0.001),
    )  # fmt: skip
    yield Workload("ties", "all endpoints are multiples of 100", Synthetic(grid=100))
    yield Workload(
        "candidates", "few long r, many short s: one pair in 5,000 passes the last inequality",
        LongAndShort(), OVERLAPS, relation="ALLEN_OVERLAPS",
    )  # fmt: skip


def _joins() -> Iterator[Workload]:
    sparse, dense = Synthetic(matches=1), Synthetic(matches=1000)
    joins: list[Join] = ["inner", "left", "semi", "anti"]
    for join in joins:
        headline = MILLION if join == "left" else ()
        about = f"{join} join, some rows without a match"
        yield Workload(f"join-{join}", about, sparse, join=join, headline=headline)
    for join in joins[2:]:
        headline = MILLION if join == "semi" else ()
        yield Workload(
            f"dense-{join}", f"{join} join, hundreds of matches a row", dense, OVERLAPS, join=join,
            headline=headline, relation="ALLEN_OVERLAPS",
        )  # fmt: skip


def _keys() -> Iterator[Workload]:
    sizes = (10_000, 1_000_000)
    joins: list[Join] = ["inner", "left", "semi", "anti"]
    for keys in (1, 10, 1_000, 1_000_000):
        tables = Synthetic(matches=10, keys=keys, is_zipf=True)
        for join in joins:
            is_headline = keys == 1_000 and join == "inner"
            yield Workload(
                f"zipf-{keys}-{join}", f"{join} join, {keys:,} keys by Zipf's law", tables,
                sizes=sizes, join=join, is_keyed=True, headline=MILLION if is_headline else (),
            )  # fmt: skip
    tables = Synthetic(matches=10, keys=100_000)
    for name, formula in (("range", STARTS_IN), ("one-sided", STARTS_IN[:1])):
        about = f"100,000 equal keys and {'a range' if name == 'range' else 'one inequality'}"
        yield Workload(f"keys-{name}", about, tables, formula, is_keyed=True)
    yield Workload(
        "keys-single", "1,000,000 equal keys, each of about one row, and a range",
        Synthetic(matches=0.5, keys=1_000_000), is_keyed=True,
    )  # fmt: skip


def _real() -> Iterator[Workload]:
    common = Workload(
        "exons", "exons x hotspots of fetal brain that intersect, on equal contigs", Genome(),
        INTERSECTS, AS_THEY_ARE, relation="INTERVAL_INTERSECTS", is_keyed=True,
    )  # fmt: skip
    yield common
    for repository in ("delta", "polars"):
        yield replace(
            common, name=f"history-{repository}", tables=Histories(repository), is_keyed=False,
            about=f"periods without a change of {repository}'s files that intersect",
        )  # fmt: skip


def _groups() -> Iterator[Workload]:
    hold = ("s.ts <= r.ts", "r.ts < s.te")
    yield Workload(
        "count-left", "how many of s start in each r", Synthetic(), join="left", group="r.id"
    )
    yield Workload(
        "count-hold", "how many of s hold at the start of each r", Synthetic(), hold, join="left",
        group="r.id",
    )  # fmt: skip
    # The join ignores k, so a row has 1,000 times as many matches as `matches` says: 100.
    tables = Synthetic(keys=1_000, matches=0.1)
    yield Workload(
        "group", "pairs for each of 1,000 values of r.k", tables, group="r.k", headline=MILLION
    )


def _relations() -> Iterator[Workload]:
    """Allen's 13 relations, ISEQL's 5 with and without parameters, and INTERVAL_INTERSECTS."""
    seen: set[str] = set()
    for relation in json.loads(RELATIONS.read_text(encoding="utf-8"))["relations"]:
        name, formula = relation["name"], tuple(relation["formula"])
        if relation["family"] == "iseql" and relation["inverse"] in seen:
            continue
        seen.add(name)
        # Nearly all pairs of intervals are apart, so the number of matches grows with the square.
        is_apart = name.endswith(("BEFORE", "AFTER"))
        sizes = (30_000,) if is_apart else (30_000, 1_000_000)
        workload = Workload(
            name.lower().replace("_", "-"), relation["summary"], Synthetic(), formula, sizes,
            MILLION if name == "ALLEN_OVERLAPS" else (), relation=name,
        )  # fmt: skip
        yield workload
        if relation["family"] == "iseql":
            yield _within(workload, {key: relation[key] for key in ("delta", "epsilon")}, 100)


def _within(workload: Workload, differences: dict[str, str | None], most: int) -> Workload:
    """The same relation with all its parameters, limits on distances such as s.ts - r.te."""
    given = {key: one.split(" - ") for key, one in differences.items() if one}
    return replace(
        workload,
        name=f"{workload.name}-within",
        about=f"{workload.about} {' and '.join(given)}: {most}.",
        formula=(*workload.formula, *(f"{a} <= {b} + {most}" for a, b in given.values())),
        sizes=(30_000, 1_000_000),
        arguments="".join(f", {key} => {most}" for key in given),
    )
