# SPDX-License-Identifier: Apache-2.0
"""The SQL of the page of recipes, on generated tables, against oracles in plain Python.

Histories are compared by instants: at each instant of a grid, the rows of the result that are valid
then must equal the oracle's, as a bag. All periods begin and end on the grid.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest

from support.docs import pages
from support.spark.comparison import configured
from support.temporal.snapshots import Row, assert_canonical, is_valid

PAGE = pages.ROOT / "docs" / "temporal" / "recipes.md"
# The days at which periods begin and end, and some before and after all of them.
GRID = [date(2023 + n // 12, n % 12 + 1, day).toordinal() for n in range(10, 27) for day in (1, 16)]
MAY, JULY = date(2024, 5, 1).toordinal(), date(2024, 7, 1).toordinal()
YEAR = range(date(2024, 1, 1).toordinal(), date(2025, 1, 1).toordinal())
PRODUCTS = ["tea", "cup", *(f"p{n}" for n in range(30))]


def history(drawn: random.Random, keyed: bool) -> list[Row]:
    """Rows (product, price, from, to). Rows of one product overlap, unless they are keyed."""
    rows: list[Row] = []
    for product in PRODUCTS:
        ends = sorted(drawn.sample(GRID[2:-2], 6)) if keyed else drawn.choices(GRID[2:-2], k=6)
        periods = [*pairwise(ends)]
        # Keyed rows touch, or have gaps; others also overlap, and some are equal.
        periods = [period for period in periods if period[0] < period[1] and drawn.random() < 0.7]
        price = drawn.choice([1, 2, 3])
        for start, end in periods:
            price = price if drawn.random() < 0.3 else drawn.choice([1, 2, 3])
            is_open = end == ends[-1] and drawn.random() < 0.5
            row = (product, price, start, None if is_open else end)
            rows += [row] * (1 if keyed else drawn.choice([1, 1, 2]))
            if not keyed and drawn.random() < 0.2:
                rows.append((product, None, start, end))
    return rows


@dataclass
class Tables:
    prices: list[Row]
    changes: list[Row]
    feed: list[Row]
    loads: list[Row]
    copies: list[Row]
    holidays: list[Row]
    tasks: list[Row]

    @staticmethod
    def generated(seed: int, keyed: bool) -> Tables:
        drawn = random.Random(seed)
        days = [*range(YEAR.start + 200, YEAR.start + 300)]
        loads = history(drawn, False)
        drawn.shuffle(loads)
        return Tables(
            prices=history(drawn, keyed),
            changes=[row for row in history(drawn, keyed) if row[0] != "p0"],
            feed=[
                (drawn.choice(PRODUCTS), drawn.choice([7, 8]), drawn.choice(GRID[8:20]), gone, n)
                for n, gone in enumerate(drawn.choices([False, False, True], k=40))
            ],
            loads=[(row[0], row[1], n, *row[2:]) for n, row in enumerate(loads)],
            copies=[(drawn.choice(PRODUCTS), drawn.choice([1, 2]), MAY + n % 3) for n in range(90)],
            holidays=[(day,) for day in drawn.choices(days, k=20)],
            tasks=[
                (n, start, drawn.choice([None, start, start + drawn.randrange(12)]))
                for n, start in enumerate(drawn.choices(days, k=40))
            ],
        )


COLUMNS = {
    "prices": "product STRING, price INT, valid_from DATE, valid_to DATE",
    "changes": "product STRING, price INT, valid_from DATE, valid_to DATE",
    "feed": "product STRING, price INT, changed DATE, gone BOOLEAN, seq INT",
    "loads": "product STRING, price INT, load INT, valid_from DATE, valid_to DATE",
    "copies": "product STRING, price INT, day DATE",
    "holidays": "day DATE",
    "tasks": "task INT, valid_from DATE, valid_to DATE",
}


def values_at(rows: Iterable[Row], instant: int) -> Counter[Row]:
    return Counter(row[:-2] for row in rows if is_valid(row, instant))


def products(values: Iterable[Row]) -> set[str]:
    return {value[0] for value in values}


# What a history has at an instant.
Oracle = Callable[[Tables, int], Iterable[Row]]


def deleted(tables: Tables, instant: int) -> Iterable[Row]:
    for value in values_at(tables.prices, instant).elements():
        if not (value[0] == "tea" and MAY <= instant < JULY):
            yield value


def updated(tables: Tables, instant: int) -> Iterable[Row]:
    for product, price in values_at(tables.prices, instant).elements():
        changes = product == "tea" and MAY <= instant < JULY and price is not None
        yield product, price - 1 if changes else price


def upserted(tables: Tables, instant: int) -> Iterable[Row]:
    new = values_at(tables.changes, instant)
    old = values_at(tables.prices, instant).elements()
    return [*new.elements(), *(value for value in old if value[0] not in products(new))]


def applied(tables: Tables, instant: int) -> Iterable[Row]:
    last: dict[str, Row] = {}
    for row in sorted(tables.feed, key=lambda row: (row[2], row[4])):
        if row[2] <= instant:
            last[row[0]] = row
    for value in values_at(tables.prices, instant).elements():
        if value[0] not in last:
            yield value
    yield from (row[:2] for row in last.values() if not row[3])


def repeated(tables: Tables, instant: int) -> Iterable[Row]:
    values = values_at([*tables.prices, *tables.changes], instant).elements()
    counts = Counter(product for product, _ in values)
    return [(product, n) for product, n in counts.items() if n > 1]


def orphans(tables: Tables, instant: int) -> Iterable[Row]:
    parents = products(values_at(tables.prices, instant))
    children = values_at(tables.changes, instant).elements()
    return [value for value in children if value[0] not in parents]


def changed(tables: Tables, instant: int) -> Iterable[Row]:
    old, new = values_at(tables.prices, instant), values_at(tables.changes, instant)
    yield from (("-", *value) for value in (old - new).elements())
    yield from (("+", *value) for value in (new - old).elements())


def old_and_new(tables: Tables, instant: int) -> Iterable[Row]:
    if date(2024, 4, 1).toordinal() <= instant < JULY:
        old, new = (dict(values_at(rows, instant)) for rows in (tables.prices, tables.changes))
        before, after = dict(old.keys()), dict(new.keys())
        for product in before.keys() | after.keys():
            if before.get(product) != after.get(product):
                yield product, before.get(product), after.get(product)


def latest(tables: Tables, instant: int) -> Iterable[Row]:
    loads = sorted(values_at(tables.loads, instant), key=lambda value: value[2])
    return {value[0]: value[1] for value in loads}.items()


def defaulted(tables: Tables, instant: int) -> Iterable[Row]:
    if instant in YEAR:
        values = values_at(tables.prices, instant)
        missing = products(tables.prices) - products(values)
        yield from values.elements()
        yield from ((product, 0) for product in missing)


def carried(tables: Tables, instant: int) -> Iterable[Row]:
    values = values_at(tables.prices, instant)
    yield from values.elements()
    for product in products(tables.prices) - products(values):
        rows = [row for row in tables.prices if row[0] == product]
        ended = [row for row in rows if row[3] is not None and row[3] <= instant]
        if ended and len(ended) < len(rows):
            last = max(row[3] for row in ended)
            yield from (row[:2] for row in ended if row[3] == last)


def of_the_year(tables: Tables, instant: int) -> Iterable[Row]:
    return values_at(tables.prices, instant).elements() if instant in YEAR else []


def closed(tables: Tables, instant: int) -> Iterable[Row]:
    return values_at(tables.prices, instant).elements() if instant < JULY else []


HISTORIES: dict[str, Oracle] = {
    "Delete": deleted,
    "Update": updated,
    "Upsert": upserted,
    "Batch as a query": applied,
    "Primary key over time": repeated,
    "Foreign key over time": orphans,
    "Rows that changed": changed,
    "Old and new value": old_and_new,
    "Latest load wins": latest,
    "Default in gaps": defaulted,
    "Last value in gaps": carried,
    "A calendar year": of_the_year,
    "Close at a date": closed,
}


# The rows of a result that is no history.


def lasted(tables: Tables) -> Iterable[Row]:
    days = Counter(value for day in YEAR for value in values_at(tables.prices, day))
    return [(*value, n) for value, n in days.items()]


def on_days(tables: Tables) -> Iterable[Row]:
    for day in (date(2024, 3, 31).toordinal(), date(2024, 6, 30).toordinal()):
        yield from ((day, *value) for value in values_at(tables.prices, day).elements())


def business_days(tables: Tables) -> Iterator[int]:
    for day in range(YEAR.start, YEAR.stop + 365):
        if date.fromordinal(day).weekday() < 5 and (day,) not in tables.holidays:
            yield day


def worked(tables: Tables) -> Iterable[Row]:
    until = date(2024, 5, 15).toordinal()
    days = [*business_days(tables)]
    for task, start, end in tables.tasks:
        yield task, sum(start <= day < (until if end is None else end) for day in days)


def due(tables: Tables) -> Iterable[Row]:
    days = [*business_days(tables)]
    for task, start, _ in tables.tasks:
        yield task, [day for day in days if day > start][2]


ROWS: dict[str, Callable[[Tables], Iterable[Row]]] = {
    "Time in each state": lasted,
    "Rows of given days": on_days,
    "Business days of a period": worked,
    "Shift by business days": due,
}


@pytest.fixture
def views(spark: Any) -> Iterator[Callable[[Tables], dict[str, str]]]:
    """Creates the views of the page over other tables; returns the query below each heading."""
    created: set[str] = set()

    def create(tables: Tables) -> dict[str, str]:
        for name, columns in COLUMNS.items():
            frame(spark, getattr(tables, name), columns).createOrReplaceTempView(name)
            created.add(name)
        queries = {}
        for heading, statements in pages.statements_by_heading(PAGE).items():
            for statement in statements:
                if statement.startswith("CREATE TEMPORARY VIEW "):
                    name = statement.split()[3]
                    if name not in COLUMNS:
                        spark.sql(statement.replace("CREATE", "CREATE OR REPLACE", 1))
                        created.add(name)
                elif not statement.startswith("MERGE "):
                    assert heading not in queries, heading
                    queries[heading] = statement
        return queries

    with configured(spark, {"spark.sql.shuffle.partitions": "1"}):
        yield create
    for name in created:
        spark.catalog.dropTempView(name)


def frame(spark: Any, rows: Sequence[Row], columns: str) -> Any:
    types = {"INT": pa.int32(), "STRING": pa.string(), "BOOLEAN": pa.bool_(), "DATE": pa.date32()}
    kinds = dict(column.split() for column in columns.split(", "))
    by_column = zip(*rows, strict=True)
    arrays = [
        pa.array([*map(as_date, values)] if kind == "DATE" else values, types[kind])
        for values, kind in zip(by_column, kinds.values(), strict=True)
    ]
    return spark.createDataFrame(pa.table(arrays, [*kinds]))


def as_date(day: int | None) -> date | None:
    return None if day is None else date.fromordinal(day)


def collected(spark: Any, query: str) -> list[Row]:
    """The rows of a query, with the numbers of days in place of dates."""
    rows = spark.sql(query).collect()
    return [tuple(v.toordinal() if isinstance(v, date) else v for v in row) for row in rows]


def check_history(rows: Sequence[Row], expected: Callable[[int], Iterable[Row]]) -> None:
    some = False
    for row in rows:
        assert row[-2] is None or row[-1] is None or row[-2] < row[-1], f"no instant: {row}"
        assert {row[-2], row[-1]} <= {None, *GRID}, f"not on the grid: {row}"
    for instant in GRID:
        wanted = Counter(expected(instant))
        assert values_at(rows, instant) == wanted, date.fromordinal(instant)
        some = some or bool(wanted)
    assert some, "no rows"


def check_peak(tables: Tables, rows: Sequence[Row]) -> None:
    """The first period with the largest count is the only row."""
    both = [*tables.prices, *tables.changes]
    counts = {instant: values_at(both, instant).total() for instant in GRID}
    most = max(counts.values())
    first = next(instant for instant in GRID if counts[instant] == most)
    ends = [instant for instant in GRID if instant > first and counts[instant] != most]
    assert rows == [(most, first, min(ends, default=None))]


def check_copies(tables: Tables, rows: Sequence[Row]) -> None:
    """Each day has the rows of its copy; the last copy stays valid."""
    last = max(row[2] for row in tables.copies)
    for day in range(MAY - 1, last + 3):
        copy = [row[:2] for row in tables.copies if row[2] == min(day, last)]
        assert values_at(rows, day) == Counter(copy), date.fromordinal(day)
    assert_canonical(rows)


OTHERS = {"Peak": check_peak, "History of daily snapshots": check_copies}


@pytest.mark.parametrize("seed", range(30))
def test_recipes_return_what_their_oracles_return(spark: Any, views: Any, seed: int) -> None:
    keyed = seed % 2 == 0
    tables = Tables.generated(seed, keyed)
    queries = views(tables)
    assert queries.keys() == {*HISTORIES, *ROWS, *OTHERS}
    if not keyed:
        del queries["Old and new value"]
    for heading, query in queries.items():
        rows = collected(spark, query)
        try:
            if heading in HISTORIES:
                check_history(rows, partial(HISTORIES[heading], tables))
            elif heading in ROWS:
                assert Counter(rows) == Counter(ROWS[heading](tables))
                assert rows, "no rows"
            else:
                OTHERS[heading](tables, rows)
        except AssertionError as error:
            error.add_note(f"{heading}\n{query}")
            raise
