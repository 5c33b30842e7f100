# SPDX-License-Identifier: Apache-2.0
"""Builds the typed function of each relation, with its signature and its documentation."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from intervalsweep._arguments import with_signature
from intervalsweep._sql.calls import ColumnOrName, call
from intervalsweep.relations import Relation, by_name

if TYPE_CHECKING:
    from pyspark.sql import Column

_DESCRIPTION = """\
{summary}{alias}

Formula: ``{formula}``.{limits}

{drawing}

{inverse}
"""

_DETAILS = """
Parameters
----------
*operands
    ``r.ts, r.te, s.ts, s.te`` or the structs ``r, s``: columns or column names. The endpoints
    must have a common type with an order.{parameters}

Returns
-------
Column
    BOOLEAN. NULL if an endpoint in the formula is NULL and no other part of the formula is
    false.

Examples
--------
>>> pair = spark.sql("SELECT {endpoints}")
{examples}
"""

_PARAMETER = """
{name}
    The upper limit on ``{distance}``: a number, a timedelta, a column or a column name.
    None means no limit."""


def relation_functions() -> list[Callable[..., Column]]:
    """Return a function for each relation, and for each other name of a relation."""
    return [_function(name, relation) for name, relation in by_name().items()]


def _function(name: str, relation: Relation) -> Callable[..., Column]:
    def function(operands: tuple[ColumnOrName, ...], **limits: Any) -> Column:
        return call(name, operands, *limits.values())

    function.__name__ = function.__qualname__ = name
    function.__doc__ = description(name, relation) + _details(name, relation)
    typed: Callable[..., Column] = with_signature(function, _signature(relation))
    return typed


def _signature(relation: Relation) -> inspect.Signature:
    kinds = inspect.Parameter
    operands = kinds("operands", kinds.VAR_POSITIONAL, annotation="ColumnOrName")
    limits = [
        kinds(name, kinds.KEYWORD_ONLY, default=None, annotation="Parameter")
        for name in relation.parameters
    ]
    return inspect.Signature([operands, *limits], return_annotation="Column")


def description(name: str, relation: Relation) -> str:
    """Return what a relation means: its formula, a drawing of its example, and its inverse.

    `name` is the name of the relation, or another name of it.
    """
    own = relation.name.lower()
    limits = relation.parameters.items()
    return _DESCRIPTION.format(
        summary=relation.summary,
        alias="" if name == own else f"\n\nAnother name of :func:`{own}`.",
        formula=" AND ".join(map(str, relation.formula)),
        limits="".join(f"\nWith ``{name}``: ``{what} <= {name}``." for name, what in limits),
        drawing="\n".join(f"    {line}" for line in drawing(relation)),
        inverse=(
            "This function is its own inverse."
            if relation.inverse == relation.name
            else f"Inverse (operands swapped): :func:`{relation.inverse.lower()}`."
        ),
    )


def drawing(relation: Relation) -> list[str]:
    """Draw a bar for each interval, three columns a unit, as in `   [-----)   [1, 3)`."""
    bars = [
        f"{name} {' ' * (3 * start)}[{'-' * (3 * (end - start) - 1)})"
        for name, (start, end) in relation.example.items()
    ]
    width = max(map(len, bars))
    numbers = [f"[{start}, {end})" for start, end in relation.example.values()]
    return [f"{bar:<{width}}   {interval}" for bar, interval in zip(bars, numbers, strict=True)]


def _details(name: str, relation: Relation) -> str:
    (r_ts, r_te), (s_ts, s_te) = relation.example["r"], relation.example["s"]
    return _DETAILS.format(
        parameters="".join(
            _PARAMETER.format(name=limit, distance=distance)
            for limit, distance in relation.parameters.items()
        ),
        endpoints=f"{r_ts} AS rts, {r_te} AS rte, {s_ts} AS sts, {s_te} AS ste",
        examples="\n".join(_examples(name, relation)),
    )


def _examples(name: str, relation: Relation) -> list[str]:
    """Return doctest lines: a call on the drawn intervals, which match, and calls that do not.

    The latter have, for each parameter, the largest value that does not match.
    """
    calls = [("", True)]
    calls += [(f", {limit}={relation.least(limit) - 1}", False) for limit in relation.parameters]
    lines = []
    for limit, result in calls:
        lines += [f'>>> pair.select({name}("rts", "rte", "sts", "ste"{limit})).first()[0]']
        lines += [str(result)]
    return lines
