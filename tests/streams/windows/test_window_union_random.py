# SPDX-License-Identifier: Apache-2.0
"""Random window unions: keys, windows, aggregates, spellings, plans."""

from __future__ import annotations

import random
from typing import Any

import pytest

from support.spark.comparison import BROADCAST, SMALL_GROUPS, Both
from support.streams.window_rows import SCHEMA, rows

SETTINGS = {
    BROADCAST: ["-1", "10MB"],
    SMALL_GROUPS: ["0", "1000000"],
    "spark.sql.adaptive.enabled": ["true", "false"],
    "spark.sql.codegen.wholeStage": ["true", "true", "false"],
    "spark.sql.intervalsweep.rangeRows": ["5", "1000000"],
    "spark.sql.intervalsweep.batchRows": ["3", "65536"],
}
AGGREGATES = (
    *("count(*)", "count(v)", "sum(v)", "avg(v)", "min(v)", "max(v)", "min(k)", "max(at)"),
    *("sum(x)", "sum(CAST(v AS DECIMAL(9, 2)))", "count(DISTINCT v)", "bool_or(v > 2)"),
    *("sum(coalesce(v, 3))", "sort_array(collect_list(v))", "max(day)", "avg(x)"),
)


@pytest.mark.extended
@pytest.mark.parametrize("seed", range(40))
def test_random(spark: Any, both: Both, conf: Any, seed: int) -> None:
    draw = random.Random(seed)
    conf({name: draw.choice(values) for name, values in SETTINGS.items()})
    for name in ("base", "probe"):
        some = rows(draw.choice([1, 30, 60]), draw.randrange(1000))
        spark.createDataFrame(some, SCHEMA).createOrReplaceTempView(name)
    for _ in range(3):
        query = text(draw)
        # If Spark removes an unused aggregate, the query may have no join to sweep.
        both(query, swept=None)


def text(draw: random.Random) -> str:
    pre, fol = draw.randrange(-3, 8), draw.randrange(-3, 4)
    lower, upper = f"base.ts - ({pre})", f"base.ts + ({fol})"
    window = draw.choice(
        [
            f"probe.ts BETWEEN {lower} AND {upper}",
            f"{lower} <= probe.ts AND {upper} > probe.ts",
            f"base.ts - probe.ts <= {pre} AND probe.ts - base.ts <= {fol}",
            f"NOT probe.ts > {upper} AND probe.ts > {lower}",
        ]
    )
    keys = draw.choice([[], ["k"], ["k", "n"], ["d"]])
    more = draw.choice([[], [], ["probe.v > 1"], ["probe.v < base.v"], ["base.n = 1"]])
    conditions = [f"probe.{key} = base.{key}" for key in keys] + [window, *more]
    draw.shuffle(conditions)
    aggregates = draw.sample(AGGREGATES, draw.randrange(1, 5))
    named = ", ".join(f"{aggregate} a{i}" for i, aggregate in enumerate(aggregates))
    having = draw.choice(["", "", "HAVING count(*) > 1"])
    subquery = f"SELECT {named} FROM probe WHERE {' AND '.join(conditions)} {having}"
    join = draw.choice(["LEFT JOIN LATERAL ({}) w ON true", "JOIN LATERAL ({}) w"])
    where = draw.choice(["", "", "WHERE base.ts > 5", "WHERE w.a0 IS NOT NULL"])
    return f"SELECT base.*, w.* FROM base {join.format(subquery)} {where}"
