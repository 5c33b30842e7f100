# SPDX-License-Identifier: Apache-2.0
"""The texts of intervalsweep.functions and of the names of relations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Relation = dict[str, Any]

HEAD = '''\
# SPDX-License-Identifier: Apache-2.0
"""A typed function for every SQL function: the same names, meanings and arguments.

    from intervalsweep import functions as isf

    r.join(s, isf.allen_overlaps(r.ts, r.te, s.ts, s.te))
    r.join(s, isf.iseql_before(r.period, s.period, delta=timedelta(hours=1)))

An interval is half-open, ``[ts, te)``; ``r`` is the left operand, ``s`` the right one. A function
is exactly its formula, in SQL's three-valued logic, also for empty and reversed intervals: it is
NULL where a NULL endpoint leaves the formula open, and then nothing matches. Drawings have the
numbers of the examples.

The operands are four endpoints, or two structs of two fields: columns, or names of columns, of any
types that ``greatest`` would bring to one. ``delta`` and ``epsilon`` bound a distance: a number
between numbers, days or a whole number of them between dates, a ``timedelta`` between timestamps;
a column, or its name; None is no bound. A negative one is an error.

The session needs the extension: ``intervalsweep.configure`` or ``intervalsweep.register``; on
Spark Connect the server needs it.
"""

# Written by tools/generate.py from relations.json: change tools/python_functions.py.

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from intervalsweep._sql.calls import ColumnOrName, Parameter, call

if TYPE_CHECKING:
    from pyspark.sql import Column

__all__ = [
{names}
]
'''

FUNCTION = '''

@overload
{structs}
@overload
def {name}(
    r_ts: ColumnOrName,
    r_te: ColumnOrName,
    s_ts: ColumnOrName,
    s_te: ColumnOrName,
    /,{lines}
) -> Column: ...
{implementation}
    """{summary}

    Formula: ``{formula}``.{bounds}

{drawing}

    {inverse}

    Parameters
    ----------
    *operands
        ``r.ts, r.te, s.ts, s.te``, or the structs ``r, s``: columns or names, of types with a
        common one that has an order.{described}

    Returns
    -------
    Column
        BOOLEAN. NULL where an endpoint of the formula is NULL and no other part of it is false.

    Examples
    --------
    >>> pair = spark.sql("SELECT {endpoints}")
{examples}
    """
    return call("{name}", operands{passed})
'''


NAMES = '''\
# SPDX-License-Identifier: Apache-2.0
"""The names of the relations, for type checkers. Written by tools/generate.py."""

from __future__ import annotations

from typing import Literal, TypeAlias

RelationName: TypeAlias = Literal[
{names}
]
'''


def render_names(relations: list[Relation]) -> str:
    return NAMES.replace("{names}", _listed(relations))


def _listed(relations: list[Relation]) -> str:
    names = sorted(relation["name"].lower() for relation in relations)
    return "\n".join(f'    "{name}",' for name in names)


def render(relations: list[Relation], drawing: Callable[[dict[str, list[int]]], list[str]]) -> str:
    functions = (function(relation, drawing(relation["example"])) for relation in relations)
    return HEAD.replace("{names}", _listed(relations)) + "".join(functions)


def function(relation: Relation, drawing: list[str]) -> str:
    parameters = [(p, relation[p]) for p in ("delta", "epsilon") if relation[p]]
    typed = [f"{p}: Parameter = None" for p, _ in parameters]
    structs = ["r: ColumnOrName", "s: ColumnOrName", "/", *(["*"] if typed else []), *typed]
    inverse = relation["inverse"].lower()
    name = relation["name"].lower()
    return FUNCTION.format(
        name=name,
        structs=_header(name, structs, " ..."),
        lines="".join(f"\n    {text}," for text in ["*", *typed] if typed),
        implementation=_header(name, ["*operands: ColumnOrName", *typed]),
        summary=relation["summary"],
        formula=" AND ".join(relation["formula"]),
        bounds="".join(f"\n    With ``{p}``: ``{d} <= {p}``." for p, d in parameters),
        drawing="\n".join(f"        {line}" for line in drawing),
        inverse=(
            "It is its own inverse."
            if inverse == name
            else f"With its operands swapped it is :func:`{inverse}`."
        ),
        described="".join(
            f"\n    {p}\n        The largest ``{d}``: a number, a timedelta, a column or its name; "
            "None: no bound."
            for p, d in parameters
        ),
        endpoints=", ".join(
            f"{value} AS {operand}{end}"
            for operand in ("r", "s")
            for end, value in zip(("ts", "te"), relation["example"][operand], strict=True)
        ),
        examples="\n".join(examples(name, relation, parameters)),
        passed="".join(f", {p}" for p, _ in parameters),
    )


def examples(name: str, relation: Relation, parameters: list[tuple[str, str]]) -> list[str]:
    """The drawn intervals, which match; and the largest parameter with which they do not."""
    calls = [("", True)]
    for parameter, distance in parameters:
        later, earlier = (_endpoint(relation["example"], e) for e in distance.split(" - "))
        calls.append((f", {parameter}={later - earlier - 1}", False))
    lines = []
    for parameter, result in calls:
        call = f'{name}("rts", "rte", "sts", "ste"{parameter})'
        lines += [f"    >>> pair.select({call}).first()[0]", f"    {result}"]
    return lines


def _endpoint(example: dict[str, list[int]], name: str) -> int:
    operand, end = name.split(".")
    return example[operand][("ts", "te").index(end)]


def _header(name: str, arguments: list[str], body: str = "") -> str:
    """The `def` line; broken as ruff would break it, if it is too long."""
    listed = ", ".join(arguments)
    line = f"def {name}({listed}) -> Column:{body}"
    return line if len(line) <= 100 else f"def {name}(\n    {listed}\n) -> Column:{body}"
