# SPDX-License-Identifier: Apache-2.0
"""Runs the ten queries on employees of "Snapshot Semantics for Temporal Multiset Relations".

The paper is by A. Dignös, B. Glavic, X. Niu, M. Böhlen, J. Gamper, PVLDB 12(6), 2019; its Section
10 has joins of histories, aggregates over joins, and differences of bags. Here each is the plain
query in `sequenced`. The tables are generated with the sizes of the paper's sample database
(300,024 people, 2.8 million salaries, 17 years of days). Salaries change once a year, titles and
departments now and then. Each of nine departments has two to four managers, one after the other.

DuckDB, and Spark without the extension, get the best hand-written SQL that we know, and the answers
must be equal. The query for the largest valid value (agg-join) has no hand-written text of a
reasonable length. The text for differences works for sums only: it subtracts the excepted rows.

python -m benchmarks.temporal.employees [--scale 1.0] [--runs 3]
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.adapter import Limits
from benchmarks.machine import heading
from benchmarks.systems import ENABLED, spark_session
from benchmarks.temporal.__main__ import create_views, timed
from benchmarks.temporal.queries import changes

PEOPLE = 300_024
DAYS = 6_400
DEPARTMENTS = 9
TITLES = 7
TABLES = ("employees", "salaries", "titles", "dept_emp", "dept_manager")

# Sums of a value over time, which are the same wherever periods of equal rows are cut.
SUMS = (
    "SELECT count(*) > 0 AS n, sum((te - ts) * {weight}) AS t, "
    "sum((te - ts) * {weight} * ({value})) AS v FROM ({rows}) q"
)


def both(left: str, right: str, columns: str, where: str = "true") -> str:
    """A hand-written join of histories."""
    return (
        f"SELECT {columns}, greatest(l.ts, r.ts) AS ts, least(l.te, r.te) AS te "
        f"FROM {left} l JOIN {right} r ON l.emp_no = r.emp_no AND l.ts < r.te AND r.ts < l.te "
        f"WHERE {where}"
    )


def but(rows: str, others: str, columns: str) -> str:
    """Hand-written EXCEPT ALL, for sums: the rows, and with weight -1 the excepted rows."""
    return (
        f"SELECT {columns}, ts, te, 1 AS weight FROM {rows} a UNION ALL "
        f"SELECT {columns}, ts, te, -1 FROM {others} b"
    )


_PAID = f"({both('dept_emp', 'salaries', 'dept_no, salary')})"
_MANAGERS = f"({both('dept_manager', 'salaries', 'l.emp_no, salary')})"
_MEAN = "CAST(round(mean) AS BIGINT)"
# By title: the plain query, the value that is summed, and the hand-written query.
QUERIES: dict[str, tuple[str, str, str | None]] = {
    "join-1, salary and department": (
        "SELECT emp_no, dept_no, salary FROM dept_emp JOIN salaries USING (emp_no)",
        "salary",
        both("dept_emp", "salaries", "l.emp_no, dept_no, salary"),
    ),
    "join-2, salary and title": (
        "SELECT emp_no, title, salary FROM titles JOIN salaries USING (emp_no)",
        "salary + title",
        both("titles", "salaries", "l.emp_no, title, salary"),
    ),
    "join-3, managers who earn more than 70,000": (
        "SELECT dept_no, emp_no FROM dept_manager JOIN salaries USING (emp_no) "
        "WHERE salary > 70000",
        "dept_no",
        both("dept_manager", "salaries", "dept_no, l.emp_no", "salary > 70000"),
    ),
    "join-4, colleagues of managers": (
        "SELECT m.emp_no, d.emp_no AS other FROM dept_manager m JOIN dept_emp d USING (dept_no)",
        "1",
        "SELECT l.emp_no, r.emp_no AS other, greatest(l.ts, r.ts) AS ts, least(l.te, r.te) AS te "
        "FROM dept_manager l JOIN dept_emp r "
        "ON l.dept_no = r.dept_no AND l.ts < r.te AND r.ts < l.te",
    ),
    "agg-1, mean salary by department": (
        "SELECT dept_no, avg(salary) AS mean FROM dept_emp JOIN salaries USING (emp_no) "
        "GROUP BY dept_no",
        _MEAN,
        f"SELECT s / c AS mean, ts, te FROM ({changes(_PAID, 'dept_no', 'salary')})",
    ),
    "agg-2, mean salary of managers": (
        "SELECT avg(salary) AS mean FROM dept_manager JOIN salaries USING (emp_no) "
        "HAVING count(*) > 0",
        _MEAN,
        f"SELECT s / c AS mean, ts, te FROM ({changes(_MANAGERS, '', 'salary')})",
    ),
    "agg-3, departments with more than 21 people": (
        "SELECT count(*) AS s FROM (SELECT dept_no FROM dept_emp GROUP BY dept_no "
        "HAVING count(*) > 21) HAVING count(*) > 0",
        "s",
        "SELECT c AS s, ts, te FROM ("
        + changes(
            f"(SELECT ts, te FROM ({changes('dept_emp', 'dept_no', '0')}) q WHERE c > 21)", "", "0"
        )
        + ")",
    ),
    "agg-join, who earns most in a department": (
        "SELECT d.emp_no, s.salary FROM dept_emp d JOIN salaries s USING (emp_no) JOIN "
        "(SELECT dept_no, max(salary) AS most FROM dept_emp JOIN salaries USING (emp_no) "
        "GROUP BY dept_no) m ON d.dept_no = m.dept_no AND s.salary = m.most",
        "salary",
        None,
    ),
    "diff-1, people who are no managers": (
        "SELECT emp_no FROM employees EXCEPT ALL SELECT emp_no FROM dept_manager",
        "1",
        but("employees", "dept_manager", "emp_no"),
    ),
    "diff-2, salaries of those who are none": (
        "SELECT emp_no, salary FROM salaries EXCEPT ALL "
        "SELECT emp_no, salary FROM salaries JOIN dept_manager USING (emp_no)",
        "salary",
        but("salaries", _MANAGERS, "emp_no, salary"),
    ),
}


def write(folder: Path, scale: float) -> None:
    """Writes the tables. Days run from 0 to DAYS; periods that are still valid end at DAYS."""
    random = np.random.default_rng(2019)
    people = max(30, int(PEOPLE * scale))
    hired = random.integers(0, DAYS * 3 // 4, people)
    until = np.where(random.random(people) < 0.2, random.integers(hired + 1, DAYS), DAYS)
    numbers = np.arange(people)
    _table(folder, "employees", emp_no=numbers, ts=hired, te=until)
    who, start, end = _pieces(numbers, hired, until, np.full(people, 365))
    _table(folder, "salaries", emp_no=who, salary=38_000 + _noise(random, who), ts=start, te=end)
    every = random.integers(1200, 9000, people)
    who, start, end = _pieces(numbers, hired, until, every)
    titles = random.integers(0, TITLES, len(who))
    _table(folder, "titles", emp_no=who, title=titles, ts=start, te=end)
    every = np.where(random.random(people) < 0.1, random.integers(300, 3000, people), DAYS)
    who, start, end = _pieces(numbers, hired, until, every)
    departments = random.integers(0, DEPARTMENTS, len(who))
    _table(folder, "dept_emp", emp_no=who, dept_no=departments, ts=start, te=end)
    terms = [
        np.sort(random.choice(DAYS - 1, random.integers(1, 4), replace=False)) + 1
        for _ in range(DEPARTMENTS)
    ]
    starts = [np.concatenate([[0], at]) for at in terms]
    ends = [np.concatenate([at, [DAYS]]) for at in terms]
    department = np.repeat(np.arange(DEPARTMENTS), [len(s) for s in starts])
    ts, te = np.concatenate(starts), np.concatenate(ends)
    # Managers are people who stay until the end, from their first day at the earliest.
    old = random.choice(np.flatnonzero(until == DAYS), len(ts), replace=False)
    ts = np.maximum(ts, hired[old])
    _table(folder, "dept_manager", emp_no=old, dept_no=department, ts=ts, te=te)


def _noise(random: Any, who: Any) -> Any:
    return (who * 7919 % 60_000) + random.integers(0, 20_000, len(who))


def _pieces(numbers: Any, start: Any, end: Any, every: Any) -> tuple[Any, Any, Any]:
    """Periods cut into fragments of `every` days."""
    counts = -(-(end - start) // every)
    who = np.repeat(numbers, counts)
    place = np.arange(len(who)) - np.repeat(np.cumsum(counts) - counts, counts)
    first = start[who] + place * every[who]
    return who, first, np.minimum(first + every[who], end[who])


def _table(folder: Path, name: str, **columns: Any) -> None:
    keep = columns["ts"] < columns["te"]
    table = pa.table({key: values[keep] for key, values in columns.items()})
    pq.write_table(table, folder / f"{name}.parquet", row_group_size=1 << 17)


def main() -> None:
    """Measures all queries and prints the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="", help="a part of the titles to run")
    parser.add_argument("--output", type=Path, help="a file for the medians, as JSON")
    arguments = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write(folder, arguments.scale)
        spark, duck = spark_session(Limits(2, "4g", folder)), duckdb.connect(config={"threads": 2})
        create_views(spark, duck, folder, TABLES)
        for title, (plain, value, by_hand) in QUERIES.items():
            if arguments.only in title:
                found[title] = compared(spark, duck, arguments.runs, plain, value, by_hand)
                print(title, json.dumps(found[title]), flush=True)
        spark.stop()
    if arguments.output:
        report = {**heading(), "scale": arguments.scale, "queries": found}
        arguments.output.write_text(json.dumps(report, indent=1) + "\n")


def compared(
    spark: Any, duck: Any, runs: int, plain: str, value: str, by_hand: str | None
) -> dict[str, float]:
    """The seconds of each system; the answers must be equal."""
    marked = re.sub(f"(FROM|JOIN) ({'|'.join(TABLES)})( [mds])?\\b", _marked, plain)
    sequenced = f"SELECT * FROM sequenced(TABLE({marked}))"
    ways: dict[str, Callable[[], tuple[object, ...]]] = {
        "sequenced": partial(_row, spark, SUMS.format(weight=1, value=value, rows=sequenced)),
    }
    if by_hand:
        weight = "weight" if "weight" in by_hand else 1
        text = SUMS.format(weight=weight, value=value, rows=by_hand)
        ways["DuckDB"] = lambda: tuple(duck.execute(text).fetchall()[0])
        ways["Spark"] = partial(_row, spark, text, "false")
    return {name: round(seconds, 3) for name, seconds in timed(runs, ways).items()}


def _marked(found: re.Match[str]) -> str:
    word, table, alias = found.groups()
    return f"{word} {table}_valid{alias or ' ' + table}"


def _row(spark: Any, text: str, enabled: str = "true") -> tuple[object, ...]:
    spark.conf.set(ENABLED, enabled)
    return tuple(spark.sql(text).collect()[0])


if __name__ == "__main__":
    main()
