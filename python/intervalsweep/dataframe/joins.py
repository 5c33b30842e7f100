# SPDX-License-Identifier: Apache-2.0
"""The interval join of two DataFrames, with the columns of its result named plainly."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import and_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from intervalsweep._calls import Parameter, call
from intervalsweep._naming import HOWS, Ends, Keys, Naming, check_choice, check_columns, names_of
from intervalsweep._naming import key_pairs as pairs_of
from intervalsweep.relations import check_parameters, relation_named
from intervalsweep.session import check_active


def interval_join(
    left: DataFrame,
    right: DataFrame,
    relation: str,
    *,
    on: Ends = ("ts", "te"),
    left_on: Ends | None = None,
    right_on: Ends | None = None,
    by: Keys | str = (),
    how: str = "inner",
    delta: Parameter = None,
    epsilon: Parameter = None,
    suffix: str = "_right",
) -> DataFrame:
    """Join the rows whose intervals are in a relation, such as ``"allen_overlaps"``.

    The operands of the relation are ``r``, the left side, and ``s``, the right one; see
    :mod:`intervalsweep.functions` for the relations and for `delta` and `epsilon`, which may also
    be a column of the left side.

    Parameters
    ----------
    on
        The columns of start and end, or one struct of the two, on both sides; `left_on` and
        `right_on` say so for one side.
    by
        Equality keys: a name that both sides have, or a pair of names. NULL keys match nothing.
    how
        ``inner``, ``left``, ``right``, ``full``, ``semi`` or ``anti``.

    Returns
    -------
    DataFrame
        All columns of the left side under their names, then those of the right side. A key of one
        name is there once. A column of the right side whose name the left side has too gets the
        `suffix`. Semi and anti joins have the columns of the left side alone.

    Raises
    ------
    IntervalSweepError
        For a column, relation or parameter that there is not (the message names the near ones),
        for two columns of one name, and for a session without the extension.

    Examples
    --------
    >>> r = spark.sql("SELECT 'r1' AS id, 1 AS ts, 4 AS te")
    >>> s = spark.sql("SELECT 's1' AS id, 2 AS ts, 6 AS te")
    >>> interval_join(r, s, "allen_overlaps").show()
    +---+---+---+--------+--------+--------+
    | id| ts| te|id_right|ts_right|te_right|
    +---+---+---+--------+--------+--------+
    | r1|  1|  4|      s1|       2|       6|
    +---+---+---+--------+--------+--------+
    <BLANKLINE>
    """
    meant = relation_named(relation)
    check_parameters(meant, delta=delta, epsilon=epsilon)
    check_choice("how", how, HOWS)
    left_ends, right_ends, pairs = names_of(left_on or on), names_of(right_on or on), pairs_of(by)
    check_columns("left", left.columns, *left_ends, *(one for one, _ in pairs))
    check_columns("right", right.columns, *right_ends, *(other for _, other in pairs))
    check_active(left.sparkSession)

    alone = how in ("semi", "anti")
    naming = Naming.of(left.columns, [] if alone else right.columns, pairs, suffix)
    # Under names that occur nowhere else, so that no name in the condition is ambiguous.
    inner = {name: f"{name}{suffix} #{number}" for number, name in enumerate(right.columns)}
    renamed = right.select([column(name).alias(inner[name]) for name in right.columns])
    operands = (*map(column, left_ends), *(column(inner[name]) for name in right_ends))
    limits = {"delta": delta, "epsilon": epsilon}
    condition = reduce(
        and_,
        [column(one) == column(inner[other]) for one, other in pairs],
        call(meant.name, operands, *(limits[name] for name in meant.parameters)),
    )
    joined = left.join(renamed, condition, how)
    return joined.select(result(naming, how, column, lambda name: column(inner[name])))


def result(
    naming: Naming, how: str, left: Callable[[str], Column], right: Callable[[str], Column]
) -> list[Column]:
    """Return the columns of a join's result; `left` and `right` find those of the sides."""

    def of_left(name: str) -> Column:
        if name in naming.shared_keys and how in ("right", "full"):
            return sf.coalesce(left(name), right(name))
        return left(name)

    return [of_left(name).alias(name) for name in naming.left] + [
        right(name).alias(new) for name, new in naming.right.items()
    ]


def column(name: str) -> Column:
    """Return the column of exactly this name, also if there are dots in it."""
    quoted = name.replace("`", "``")
    return sf.col(f"`{quoted}`")
