# SPDX-License-Identifier: Apache-2.0
"""Smaller cases: fewer settings, queries, conditions, columns, rows."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

from fuzz.joins.above import Above
from fuzz.joins.cases import Case
from fuzz.joins.conditions import Predicate
from fuzz.joins.endpoints import Table
from fuzz.joins.queries import SHAPES, Query
from fuzz.settings import SETTINGS
from fuzz.shrink import shorter


def _fewer_queries(case: Case) -> Iterator[Case]:
    for queries in shorter(case.queries):
        if queries:
            yield case.only(*queries)


def _fewer_settings(case: Case) -> Iterator[Case]:
    """The case without files, with all settings at their defaults, and with one at its default."""
    if case.files:
        yield dataclasses.replace(case, files=False)
    usual = {key: SETTINGS[key][0] for key in case.settings}
    for settings in (usual, *({**case.settings, key: usual[key]} for key in usual)):
        if settings != case.settings:
            yield dataclasses.replace(case, settings=settings)


def _fewer_rows(case: Case) -> Iterator[Case]:
    for name, table in case.tables.items():
        for rows in shorter(table.rows):
            yield _with(case, name, dataclasses.replace(table, rows=rows))


def _fewer_columns(case: Case) -> Iterator[Case]:
    """The case without all columns that no query names, and without each single column."""
    words = {word for query in case.queries for word in re.findall(r"\w+", query.written())}
    named = case
    for name, column in _columns(case):
        if column not in words:
            named = _with(named, name, named.tables[name].without(column))
    if named is not case:
        yield named
    for name, column in _columns(case):
        yield _with(case, name, case.tables[name].without(column))


def _columns(case: Case) -> list[tuple[str, str]]:
    return [(name, column) for name, table in case.tables.items() for column, _ in table.columns]


def _with(case: Case, name: str, table: Table) -> Case:
    return dataclasses.replace(case, tables={**case.tables, name: table})


def _simpler_queries(case: Case) -> Iterator[Case]:
    for i, query in enumerate(case.queries):
        for simpler in simpler_queries(query):
            yield case.only(*case.queries[:i], simpler, *case.queries[i + 1 :])


def simpler_queries(query: Query) -> Iterator[Query]:
    """The query with one of its parts removed or simplified."""
    plain = {"left": "r", "right": "s", "third": "", "hint": "", "where": ()}
    for part, value in plain.items():
        if getattr(query, part) != value:
            yield dataclasses.replace(query, **{part: value})
    for over in _less_above(query.above):
        yield dataclasses.replace(query, above=over)
    for part in ("on", "third_on", "where", "other_on"):
        for predicates in simpler_predicates(getattr(query, part)):
            yield dataclasses.replace(query, **{part: predicates})
    for columns in shorter(query.columns):
        if columns:
            yield dataclasses.replace(query, columns=columns)
    shapes = list(SHAPES)
    for shape in shapes[: shapes.index(query.shape)]:
        if SHAPES[shape][1] == SHAPES[query.shape][1] and not query.third:
            yield dataclasses.replace(query, shape=shape)


def _less_above(over: Above) -> Iterator[Above]:
    for wraps in shorter(over.wraps):
        yield dataclasses.replace(over, wraps=wraps)
    for part, value in {"some": "", "kept": "", "order": "c0", "n": 1, "m": 0}.items():
        if getattr(over, part) != value:
            yield dataclasses.replace(over, **{part: value})


def simpler_predicates(predicates: tuple[Predicate, ...]) -> Iterator[tuple[Predicate, ...]]:
    yield from shorter(predicates)
    for i, predicate in enumerate(predicates):
        for simpler in predicate.simpler:
            yield (*predicates[:i], simpler, *predicates[i + 1 :])


STEPS = (_fewer_queries, _fewer_settings, _fewer_rows, _simpler_queries, _fewer_columns)
