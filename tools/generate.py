# SPDX-License-Identifier: Apache-2.0
"""Writes what follows from relations.json: three pages, drawings, intervalsweep.functions.

python tools/generate.py           writes them
python tools/generate.py --check   fails if one is out of date
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import python_functions
import relation_bounds
import relation_drawings

ROOT = Path(__file__).resolve().parent.parent
RELATIONS = ROOT / "python" / "intervalsweep" / "relations.json"
PAGE = ROOT / "docs" / "sql-functions.md"
MEANINGS = ROOT / "docs" / "relations.md"
BOUNDS = ROOT / "docs" / "streams" / "relations.md"
DRAWINGS = ROOT / "docs" / "images" / "relations"
MODULE = ROOT / "python" / "intervalsweep" / "functions.py"
NAMES = ROOT / "python" / "intervalsweep" / "_relation_names.py"

Relation = dict[str, Any]

INTRODUCTION = """\
# SQL functions

<!-- Written by tools/generate.py from python/intervalsweep/relations.json: change those. -->

An interval is half-open, `[ts, te)`; `r` is the left operand, `s` the right one. A function is
exactly its formula, in SQL's three-valued logic: also for NULL, NaN, empty (`ts = te`) and reversed
(`ts > te`) intervals. It may stand wherever a Boolean may: in ON, WHERE, HAVING, CASE, SELECT.
`DESCRIBE FUNCTION EXTENDED allen_overlaps` says in SQL what is said here.

## Arguments

Four endpoints, or two structs of two fields each:

```sql title="Not run: a part of a statement"
... ON allen_overlaps(r.ts, r.te, s.ts, s.te)
... ON allen_overlaps(r.period, s.period)
```

The four endpoints may be of any types that `greatest` would bring to one, which must have an order:
numbers, DATE, TIMESTAMP, TIMESTAMP_NTZ, STRING and so on.

## Parameters

`delta` and `epsilon` bound a distance between two endpoints. They follow the endpoints by position
or by name, and may be columns:

```sql title="Not run: a part of a statement"
... ON iseql_during(r.ts, r.te, s.ts, s.te, 5, 10)
... ON iseql_during(r.period, s.period, epsilon => 10)
```

| endpoints | a parameter is |
|---|---|
| numbers | a number |
| DATE | a whole number of days, an `INTERVAL` of days, or one of months or years |
| TIMESTAMP, TIMESTAMP_NTZ | an `INTERVAL` of days to seconds, or one of months or years |

- Without it, or with the literal NULL, there is no bound. A NULL from a column makes it NULL.
- A negative constant is an error.
- Distances are exact: they neither overflow nor are they rounded, except that those of FLOAT and
  DOUBLE are computed as DOUBLE. There, NaN and infinite distances exceed every parameter.
- Between timestamps a day is 24 hours, also across a change of clocks. Months and years have no
  length; they are added to the earlier endpoint, on the session's calendar, by Spark's own `+`.

## Is a join swept?

`interval_join_report` is a table function. It plans the query whose text it is given, executes
nothing, and has a row for each join that is left in the optimized plan:

```sql
SELECT * FROM interval_join_report('SELECT * FROM r JOIN s ON r.name < s.name');
```

| column | type | |
|---|---|---|
| `number` | INT | the joins are counted as in EXPLAIN, from the top |
| `join_type` | STRING | INNER, LEFT OUTER, ... |
| `condition` | STRING | the condition, as the optimizer leaves it |
| `swept` | BOOLEAN | whether it is planned as IntervalSweepJoin |
| `how` | STRING | keys, boxes and points, axes, distribution, in the words of EXPLAIN |
| `reason` | STRING | if it is not swept, why: one of a closed list, such as `UnsupportedEndpoint` |
| `conjunct` | STRING | the part of the condition that the reason is about |
| `explanation` | STRING | the reason in words |
| `advice` | STRING | what to change |
| `estimated_pairs` | BIGINT | the pairs with equal keys, or all pairs: a sweep visits a part |

`estimated_pairs` comes from Spark's optimizer: it is NULL unless `spark.sql.cbo.enabled` is set and
the tables are analyzed.

The text may be any constant expression. Of `INSERT ... SELECT` and the like, ask for the `SELECT`.
In Python, `intervalsweep.why_not(df)` says the same of a DataFrame.
"""

SETS = """
## Intervals of one table

Three table functions take the intervals of a table together. `ts` and `te` are the names of its
columns; its other columns are keys, within equal ones of which this is done (NULL equals NULL, as
in GROUP BY). Intervals that are empty, reversed or have a NULL end take no part. They are of
numbers, DECIMAL of at most 18 digits, DATE, TIMESTAMP or INTERVAL, are swept in the Python worker,
and EXPLAIN names them `PeriodSweep`.

```sql
CREATE TEMPORARY VIEW shifts AS SELECT * FROM VALUES
  ('ops', 6, 14), ('ops', 8, 16), ('ops', 18, 22), ('web', 9, 17) AS t(team, ts, te);
```

### INTERVAL_MERGE

`interval_merge(TABLE(t), ts, te[, gap][, count])`: the intervals that remain when those that
overlap, meet, or are no more than `gap` apart are one, and as `count`, or under another name, how
many each is made of. A gap is given as `delta` is, but not in months
between dates and timestamps.

```sql
SELECT * FROM interval_merge(TABLE(shifts), 'ts', 'te');
-- ops  6  16  2
-- ops  18  22  1
-- web  9  17  1
SELECT * FROM interval_merge(TABLE(shifts), 'ts', 'te', gap => 2, count => 'n');
-- ops  6  22  3
-- web  9  17  1
```

### INTERVAL_SPLIT

`interval_split(TABLE(t), ts, te[, count])`: the time in pieces in which no interval starts or
ends, and how many hold each piece, which is never 0.

```sql
SELECT ts, te, count FROM interval_split(TABLE(shifts), 'ts', 'te')
WHERE team = 'ops';
-- 6  8  1
-- 8  14  2
-- 14  16  1
-- 18  22  1
```

### INTERVAL_COMPLEMENT

`interval_complement(TABLE(t), ts, te[, within])`: the gaps. They are between the first start and
the last end, or within `array(a, b)`. Keys without any interval have no row.

```sql
SELECT * FROM interval_complement(TABLE(shifts), 'ts', 'te');  -- ops  16  18
SELECT * FROM interval_complement(TABLE(shifts), 'ts', 'te', within => array(6, 22));
-- ops  16  18
-- web  6  9
-- web  17  22
```
"""

FAMILIES = {
    "allen": "Allen's relations",
    "iseql": "ISEQL's relations",
    "intersection": "Intersection",
}


def main(arguments: list[str]) -> int:
    relations = json.loads(RELATIONS.read_text(encoding="utf-8"))["relations"]
    texts = {
        PAGE: render(relations),
        MEANINGS: relation_drawings.page(relations, FAMILIES),
        BOUNDS: relation_bounds.page(relations),
        MODULE: python_functions.render(relations, drawing),
        NAMES: python_functions.render_names(relations),
    }
    for relation in relations:
        file = DRAWINGS / f"{relation['name'].lower()}.svg"
        texts[file] = relation_drawings.svg(relation, relations)
    if arguments != ["--check"]:
        DRAWINGS.mkdir(parents=True, exist_ok=True)
        for file, text in texts.items():
            file.write_text(text, encoding="utf-8")
        return 0
    old = [f for f, text in texts.items() if not f.exists() or f.read_text("utf-8") != text]
    for file in old:
        print(f"{file.name} is out of date: run python tools/generate.py", file=sys.stderr)
    return 1 if old else 0


def render(relations: list[Relation]) -> str:
    sections = [INTRODUCTION]
    for family, title in FAMILIES.items():
        members = [r for r in relations if r["family"] == family]
        sections.append(f"## {title}\n\n" + "\n".join(map(entry, members)))
    return "\n".join([*sections, SETS.rstrip("\n") + "\n"])


def entry(relation: Relation) -> str:
    name = relation["name"]
    inverse = relation["inverse"]
    lines = [
        f"### {name}",
        "",
        relation["summary"],
        "",
        f"- Formula: `{' AND '.join(relation['formula'])}`",
        *(f"- With `{p}`: `{distance} <= {p}`" for p, distance in parameters(relation)),
        "- Inverse: itself" if inverse == name else f"- Inverse: [{inverse}](#{inverse.lower()})",
        "",
        "```text",
        *drawing(relation["example"]),
        "```",
        "",
        "```sql",
        *examples(relation),
        "```",
        "",
    ]
    return "\n".join(lines)


def parameters(relation: Relation) -> list[tuple[str, str]]:
    return [(p, relation[p]) for p in ("delta", "epsilon") if relation[p]]


def drawing(example: dict[str, list[int]]) -> list[str]:
    """Three columns a unit, then the numbers: `   [-----)   [1, 3)`."""
    bars = [
        f"{name} {' ' * (3 * start)}[{'-' * (3 * (end - start) - 1)})"
        for name, (start, end) in example.items()
    ]
    width = max(map(len, bars))
    numbers = [f"[{start}, {end})" for start, end in example.values()]
    return [f"{bar:<{width}}   {interval}" for bar, interval in zip(bars, numbers, strict=True)]


def examples(relation: Relation) -> list[str]:
    """The drawn intervals, which match; and the least parameter with which they still do."""
    example = relation["example"]
    endpoints = ", ".join(map(str, example["r"] + example["s"]))
    call = f"SELECT {relation['name'].lower()}({endpoints}"
    lines = [f"{call});  -- true"]
    for parameter, distance in parameters(relation):
        later, earlier = (endpoint(example, e) for e in distance.split(" - "))
        for value, result in ((later - earlier, "true"), (later - earlier - 1, "false")):
            lines.append(f"{call}, {parameter} => {value});  -- {result}")
    return lines


def endpoint(example: dict[str, list[int]], name: str) -> int:
    operand, end = name.split(".")
    return example[operand][("ts", "te").index(end)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
