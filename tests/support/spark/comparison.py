# SPDX-License-Identifier: Apache-2.0
"""Runs a query with the extension and by Spark's own plan; compares plans, and rows as bags."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, TypeVar

from support.spark.session import INTERPRETED

ENABLED = "spark.sql.intervalsweep.enabled"
ANSI = "spark.sql.ansi.enabled"
WORKER_PYTHON = "spark.sql.intervalsweep.python"
BROADCAST = "spark.sql.autoBroadcastJoinThreshold"
AGGREGATE_RUNS = "spark.sql.intervalsweep.aggregateRuns"
SMALL_GROUPS = "spark.sql.intervalsweep.smallGroupPairs"
TIME_ZONE = "spark.sql.session.timeZone"
EXCLUDED_RULES = "spark.sql.optimizer.excludedRules"
# Settings for Spark's own plan that are quickest for small tables: more stages and partitions
# would cost more than they save.
OWN_PLAN = {
    ENABLED: "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    **INTERPRETED,
}
# Changes to OWN_PLAN for many rows.
OF_MANY_ROWS = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
}
# Optimizer rules that would compute joins of literal rows, or drop joins of empty tables.
FOLDING = ",".join(
    f"org.apache.spark.sql.catalyst.optimizer.{rule}"
    for rule in ("ConvertToLocalRelation", "PropagateEmptyRelation")
)
# Rules of the temporal algebra. EXCLUDED_RULES can turn off each of them.
TEMPORAL_RULES = tuple(
    f"org.apache.spark.sql.intervalsweep.temporal.rules.{rule}"
    for rule in (
        *("MergeSetOperations", "DropInnerSweep", "PushDistinctThroughJoin"),
        *("PushFilterThroughSweep", "FlattenPeriodJoins"),
    )
)

NODE = re.compile(r"\bIntervalSweepJoin\b")
Item = TypeVar("Item")
# Each task reads the plan of the whole query, so n joins under one UNION ALL cost O(n²).
JOINS_OF_A_UNION, FRAMES_OF_A_UNION = 8, 5


def batches(items: Sequence[Item], size: int = JOINS_OF_A_UNION) -> Iterator[Sequence[Item]]:
    """The items in order, in batches of `size`."""
    return (items[start : start + size] for start in range(0, len(items), size))


def rows_of_each(
    numbers: Iterable[int], make: Callable[[int], Any]
) -> dict[int, list[tuple[Any, ...]]]:
    """The rows of the frame `make(number)` for each number; one query runs several frames."""
    from pyspark.sql import DataFrame
    from pyspark.sql import functions as sf

    found: dict[int, list[tuple[Any, ...]]] = {number: [] for number in numbers}
    for some in batches(list(found), FRAMES_OF_A_UNION):
        frames = [make(number).select(sf.lit(number), "*") for number in some]
        for number, *row in reduce(DataFrame.unionAll, frames).collect():
            found[number].append(tuple(row))
    return found


@contextmanager
def configured(spark: Any, settings: dict[str, str | None]) -> Iterator[None]:
    """Changes settings for a block; None means the default. Errors get a note with the settings."""
    before = {key: _get(spark, key) for key in settings}
    try:
        _configure(spark, settings)
        yield
    except Exception as error:
        error.add_note("".join(f"SET {key}={value};\n" for key, value in settings.items()))
        raise
    finally:
        _configure(spark, before)


def _of_application(spark: Any) -> Any:
    """The configuration of the application, for settings that are made once when it starts."""
    return spark.sparkContext._jsc.sc().conf()


def _get(spark: Any, key: str) -> str | None:
    if key == WORKER_PYTHON:
        return _of_application(spark).get(key, "") or None
    return spark.conf.get(key, None)


def _configure(spark: Any, settings: dict[str, str | None]) -> None:
    for key, value in settings.items():
        if key == WORKER_PYTHON:
            _of_application(spark).set(key, value) if value else _of_application(spark).remove(key)
        elif value is None:
            spark.conf.unset(key)
        else:
            spark.conf.set(key, value)


def physical(frame: Any) -> str:
    """The physical plan as text, before the query runs and before adaptive execution changes it."""
    return str(frame._jdf.queryExecution().executedPlan().toString())


def sweeps(plan: str) -> int:
    """The number of IntervalSweepJoin nodes in a plan."""
    return len(NODE.findall(plan))


def bag(rows: Iterable[object]) -> Counter[str]:
    """Rows as a bag. `repr` tells NaN from NULL and -0.0 from 0.0, and NaN equals itself."""
    return Counter(map(repr, rows))


def difference(expected: Counter[str], got: Counter[str], show: int = 5) -> str:
    """A short list of the missing and the surplus rows; empty if the bags are equal."""
    lines = []
    for what, rest in (("missing", expected - got), ("too many", got - expected)):
        if rest:
            some = "".join(f"\n    {n} x {row}" for row, n in list(rest.items())[:show])
            lines.append(f"  {what}: {rest.total()} rows, such as{some}")
    return "\n".join(lines)


@dataclass
class Both:
    """Runs a query with the extension, and its written-out form by Spark's own plan."""

    spark: Any
    # The last query that ran with the extension, for its plan and metrics; and its rows.
    frame: Any = None
    rows: list[Any] = field(default_factory=list)
    # Settings of Spark's own plan that differ from OWN_PLAN.
    own: dict[str, str] = field(default_factory=dict)

    def __call__(
        self,
        query: str,
        written: str | None = None,
        swept: int | None = 1,
        ways: Iterable[dict[str, str | None]] = ({},),
    ) -> int:
        """Asserts equal bags and the number of swept joins (None: any); returns the row count.

        The query runs with the settings of each of `ways`; Spark's own plan runs once.
        """
        expected = self.expected(written or query)
        for way in ways:
            with configured(self.spark, way):
                self.compare(query, swept, expected)
        return expected.total()

    def expected(self, written: str) -> Counter[str]:
        """The rows by Spark's own plan."""
        with configured(self.spark, {**OWN_PLAN, **self.own}):
            frame = self.spark.sql(written)
            plan = physical(frame)
            assert sweeps(plan) == 0, f"a sweep although it is switched off:\n{plan}"
            return bag(frame.collect())

    def compare(self, query: str, swept: int | None, expected: Counter[str]) -> None:
        """Asserts the rows of the query and the number of swept joins."""
        self.frame = self.spark.sql(query)
        plan = physical(self.frame)
        if swept is not None:
            assert sweeps(plan) == swept, f"{swept} sweeps are expected in\n{query}\n{plan}"
        self.rows = self.frame.collect()
        wrong = difference(expected, bag(self.rows))
        assert not wrong, f"rows differ for\n{query}\n{wrong}\n{plan}"

    def executed(self) -> str:
        """The executed plan of the last query, including the changes by adaptive execution."""
        return str(self.frame._jdf.queryExecution().executedPlan().toString())
