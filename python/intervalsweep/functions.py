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
    "allen_after",
    "allen_before",
    "allen_contains",
    "allen_during",
    "allen_equals",
    "allen_finished_by",
    "allen_finishes",
    "allen_meets",
    "allen_met_by",
    "allen_overlapped_by",
    "allen_overlaps",
    "allen_started_by",
    "allen_starts",
    "interval_intersects",
    "iseql_after",
    "iseql_before",
    "iseql_during",
    "iseql_end_following",
    "iseql_left_overlap",
    "iseql_reverse_during",
    "iseql_reverse_end_following",
    "iseql_reverse_start_preceding",
    "iseql_right_overlap",
    "iseql_start_preceding",
]


@overload
def allen_before(r: ColumnOrName, s: ColumnOrName, /) -> Column: ...
@overload
def allen_before(
    r_ts: ColumnOrName,
    r_te: ColumnOrName,
    s_ts: ColumnOrName,
    s_te: ColumnOrName,
    /,
) -> Column: ...
def allen_before(*operands: ColumnOrName) -> Column:
    """r ends before s starts, with a gap between them.

    Formula: ``r.te < s.ts``.

        r    [-----)            [1, 3)
        s             [-----)   [4, 6)

    With its operands swapped it is :func:`allen_after`.

    Parameters
    ----------
    *operands
        ``r.ts, r.te, s.ts, s.te``, or the structs ``r, s``: columns or names, of types with a
        common one that has an order.

    Returns
    -------
    Column
        BOOLEAN. NULL where an endpoint of the formula is NULL and no other part of it is false.

    Examples
    --------
    >>> pair = spark.sql("SELECT 1 AS rts, 3 AS rte, 4 AS sts, 6 AS ste")
    >>> pair.select(allen_before("rts", "rte", "sts", "ste")).first()[0]
    True
    """
    return call("allen_before", operands)


@overload
def allen_after(r: ColumnOrName, s: ColumnOrName, /) -> Column: ...
@overload
def allen_after(
    r_ts: ColumnOrName,
    r_te: ColumnOrName,
    s_ts: ColumnOrName,
    s_te: ColumnOrName,
    /,
) -> Column: ...
def allen_after(*operands: ColumnOrName) -> Column:
    """r starts after s has ended, with a gap between them.

    Formula: ``s.te < r.ts``.

        r             [-----)   [4, 6)
        s    [-----)            [1, 3)

    With its operands swapped it is :func:`allen_before`.

    Parameters
    ----------
    *operands
        ``r.ts, r.te, s.ts, s.te``, or the structs ``r, s``: columns or names, of types with a
        common one that has an order.

    Returns
    -------
    Column
        BOOLEAN. NULL where an endpoint of the formula is NULL and no other part of it is false.

    Examples
    --------
    >>> pair = spark.sql("SELECT 4 AS rts, 6 AS rte, 1 AS sts, 3 AS ste")
    >>> pair.select(allen_after("rts", "rte", "sts", "ste")).first()[0]
    True
    """
    return call("allen_after", operands)


@overload
def allen_meets(r: ColumnOrName, s: ColumnOrName, /) -> Column: ...
@overload
def allen_meets(
    r_ts: ColumnOrName,
    r_te: ColumnOrName,
    s_ts: ColumnOrName,
    s_te: ColumnOrName,
    /,
) -> Column: ...
def allen_meets(*operands: ColumnOrName) -> Column:
    """r ends exactly where s starts.

    Formula: ``r.te = s.ts``.

        r    [-----)            [1, 3)
        s          [--------)   [3, 6)

    With its operands swapped it is :func:`allen_met_by`.

    Parameters
    ----------
    *operands
        ``r.ts, r.te, s.ts, s.te``, or the structs ``r, s``: columns or names, of types with a
        common one that has an order.

    Returns
    -------
    Column
        BOOLEAN. NULL where an endpoint of the formula is NULL and no other part of it is false.

    Examples
    --------
    >>> pair = spark.sql("SELECT 1 AS rts, 3 AS rte, 3 AS sts, 6 AS ste")
    >>> pair.select(allen_meets("rts", "rte", "sts", "ste")).first()[0]
    True
    """
    return call("allen_meets", operands)


@overload
def allen_met_by(r: ColumnOrName, s: ColumnOrName, /) -> Column: ...
@overload
def allen_met_by(
    r_ts: ColumnOrName,
    r_te: ColumnOrName,
    s_ts: ColumnOrName,
    s_te: ColumnOrName,
    /,
) -> Column: ...
def allen_met_by(*operands: ColumnOrName) -> Column:
    """r starts exactly where s ends.

    Formula: ``s.te = r.ts``.

        r          [--------)   [3, 6)
        s    [-----)            [1, 3)

    With its operands swapped it is :func:`allen_meets`.

    Parameters
    ----------
    *operands
        ``r.ts, r.te, s.ts, s.te``, or the structs ``r, s``: columns or names, of types with a
        common one that has an order.

    Returns
    -------
    Column
        BOOLEAN. NULL where an endpoint of the formula is NULL and no other part of it is false.

    Examples
    --------
    >>> pair = spark.sql("SELECT 3 AS rts, 6 AS rte, 1 AS sts, 3 AS ste")
    >>> pair.select(allen_met_by("rts", "rte", "sts", "ste")).first()[0]
    True
    """
    return call("allen_met_by", operands)


@overload
def allen_overlaps(r: ColumnOrName, s: ColumnOrName, /) -> Column: ...
@overload
def allen_overlaps(
    r_ts: ColumnOrName,
    r_te: ColumnOrName,
    s_ts: ColumnOrName,
    s_te: ColumnOrName,
    /,
) -> Column: ...
def allen_overlaps(*operands: ColumnOrName) -> Column:
    """r starts before s, and ends inside s.

    Formula: ``r.ts < s.ts AND s.ts < r.te AND r.te < s.te``.

        r    [--------)         [1, 4)
        s       [-----------)   [2, 6)

    With its operands swapped it is :func:`allen_overlapped_by`.

    Parameters
    ----------
    *operands
        ``r.ts, r.te, s.ts, s.te``, or the structs ``r, s``: columns or names, of types with a
        common one that has an order.

    Returns
    -------
    Column
        BOOLEAN. NULL where an endpoint of the formula is NULL and no other part of it is false.

    Examples
    --------
    >>> pair = spark.sql("SELECT 1 AS rts, 4 AS rte, 2 AS sts, 6 AS ste")
    >>> pair.select(allen_overlaps("rts", "rte", "sts", "ste")).first()[0]
    True
    """
    return call("allen_overlaps", operands)


@overload
def allen_overlapped_by(r: ColumnOrName, s: ColumnOrName, /) -> Column: ...
@overload
def allen_overlapped_by(
    r_ts: ColumnOrName,
    r_te: ColumnOrName,
    s_ts: ColumnOrName,
    s_te: ColumnOrName,
    /,
) -> Column: ...
def allen_overlapped_by(*operands: ColumnOrName) -> Column:
    """s starts before r, and ends inside r.

    Formula: ``s.ts < r.ts AND r.ts < s.te AND s.te < r.te``.

        r       [-----------)   [2, 6)
        s    [--------)         [1, 4)

    With its operands swapped it is :func:`allen_overlaps`.

    Parameters
    ----------
    *operands
        ``r.ts, r.te, s.ts, s.te``, or the structs ``r, s``: columns or names, of types with a
        common one that has an order.

    Returns
    -------
    Column
        BOOLEAN. NULL where an endpoint of the formula is NULL and no other part of it is false.

    Examples
    --------
    >>> pair = spark.sql("SELECT 2 AS rts, 6 AS rte, 1 AS sts, 4 AS ste")
    >>> pair.select(allen_overlapped_by("rts", "rte", "sts", "ste")).first()[0]
    True
    """
    return call("allen_overlapped_by", operands)


@overload
def allen_starts(r: ColumnOrName, s: ColumnOrName, /) -> Column: ...
@overload
def allen_starts(
    r_ts: ColumnOrName,
    r_te: ColumnOrName,
    s_ts: ColumnOrName,
    s_te: ColumnOrName,
    /,
) -> Column: ...
def allen_starts(*operands: ColumnOrName) -> Column:
    """Both start together, and r ends first.

    Formula: ``r.ts = s.ts AND r.te < s.te``.

        r    [-----)            [1, 3)
        s    [--------------)   [1, 6)

    With its operands swapped it is :func:`allen_started_by`.

    Parameters
    ----------
    *operands
        ``r.ts, r.te, s.ts, s.te``, or the structs ``r, s``: columns or names, of types with a
        common one that has an order.

    Returns
    -------
    Column
        BOOLEAN. NULL where an endpoint of the formula is NULL and no other part of it is false.

    Examples
    --------
    >>> pair = spark.sql("SELECT 1 AS rts, 3 AS rte, 1 AS sts, 6 AS ste")
    >>> pair.select(allen_starts("rts", "rte", "sts", "ste")).first()[0]
    True
    """
    return call("allen_starts", operands)


@overload
def allen_started_by(r: ColumnOrName, s: ColumnOrName, /) -> Column: ...
@overload
def allen_started_by(
    r_ts: ColumnOrName,
    r_te: ColumnOrName,
    s_ts: ColumnOrName,
    s_te: ColumnOrName,
    /,
) -> Column: ...
def allen_started_by(*operands: ColumnOrName) -> Column:
    """Both start together, and s ends first.

    Formula: ``s.ts = r.ts AND s.te < r.te``.

        r    [--------------)   [1, 6)
        s    [-----)            [1, 3)

    With its operands swapped it is :func:`allen_starts`.

    Parameters
    ----------
    *operands
        ``r.ts, r.te, s.ts, s.te``, or the structs ``r, s``: columns or names, of types with a
        common one that has an order.

    Returns
    -------
    Column
        BOOLEAN. NULL where an endpoint of the formula is NULL and no other part of it is false.

    Examples
    --------
    >>> pair = spark.sql("SELECT 1 AS rts, 6 AS rte, 1 AS sts, 3 AS ste")
    >>> pair.select(allen_started_by("rts", "rte", "sts", "ste")).first()[0]
    True
    """
    return call("allen_started_by", operands)


@overload
def allen_during(r: ColumnOrName, s: ColumnOrName, /) -> Column: ...
@overload
def allen_during(
    r_ts: ColumnOrName,
    r_te: ColumnOrName,
    s_ts: ColumnOrName,
    s_te: ColumnOrName,
    /,
) -> Column: ...
def allen_during(*operands: ColumnOrName) -> Column:
    """r lies inside s and touches neither of its ends.

    Formula: ``s.ts < r.ts AND r.te < s.te``.

        r       [-----)         [2, 4)
        s    [--------------)   [1, 6)

    With its operands swapped it is :func:`allen_contains`.

    Parameters
    ----------
    *operands
        ``r.ts, r.te, s.ts, s.te``, or the structs ``r, s``: columns or names, of types with a
        common one that has an order.

    Returns
    -------
    Column
        BOOLEAN. NULL where an endpoint of the formula is NULL and no other part of it is false.

    Examples
    --------
    >>> pair = spark.sql("SELECT 2 AS rts, 4 AS rte, 1 AS sts, 6 AS ste")
    >>> pair.select(allen_during("rts", "rte", "sts", "ste")).first()[0]
    True
    """
    return call("allen_during", operands)


@overload
def allen_contains(r: ColumnOrName, s: ColumnOrName, /) -> Column: ...
@overload
def allen_contains(
    r_ts: ColumnOrName,
    r_te: ColumnOrName,
    s_ts: ColumnOrName,
    s_te: ColumnOrName,
    /,
) -> Column: ...
def allen_contains(*operands: ColumnOrName) -> Column:
    """s lies inside r and touches neither of its ends.

    Formula: ``r.ts < s.ts AND s.te < r.te``.

        r    [--------------)   [1, 6)
        s       [-----)         [2, 4)

    With its operands swapped it is :func:`allen_during`.

    Parameters
    ----------
    *operands
        ``r.ts, r.te, s.ts, s.te``, or the structs ``r, s``: columns or names, of types with a
        common one that has an order.

    Returns
    -------
    Column
        BOOLEAN. NULL where an endpoint of the formula is NULL and no other part of it is false.

    Examples
    --------
    >>> pair = spark.sql("SELECT 1 AS rts, 6 AS rte, 2 AS sts, 4 AS ste")
    >>> pair.select(allen_contains("rts", "rte", "sts", "ste")).first()[0]
    True
    """
    return call("allen_contains", operands)


@overload
def allen_finishes(r: ColumnOrName, s: ColumnOrName, /) -> Column: ...
@overload
def allen_finishes(
    r_ts: ColumnOrName,
    r_te: ColumnOrName,
    s_ts: ColumnOrName,
    s_te: ColumnOrName,
    /,
) -> Column: ...
def allen_finishes(*operands: ColumnOrName) -> Column:
    """Both end together, and s starts first.

    Formula: ``s.ts < r.ts AND r.te = s.te``.

        r          [--------)   [3, 6)
        s    [--------------)   [1, 6)

    With its operands swapped it is :func:`allen_finished_by`.

    Parameters
    ----------
    *operands
        ``r.ts, r.te, s.ts, s.te``, or the structs ``r, s``: columns or names, of types with a
        common one that has an order.

    Returns
    -------
    Column
        BOOLEAN. NULL where an endpoint of the formula is NULL and no other part of it is false.

    Examples
    --------
    >>> pair = spark.sql("SELECT 3 AS rts, 6 AS rte, 1 AS sts, 6 AS ste")
    >>> pair.select(allen_finishes("rts", "rte", "sts", "ste")).first()[0]
    True
    """
    return call("allen_finishes", operands)


@overload
def allen_finished_by(r: ColumnOrName, s: ColumnOrName, /) -> Column: ...
@overload
def allen_finished_by(
    r_ts: ColumnOrName,
    r_te: ColumnOrName,
    s_ts: ColumnOrName,
    s_te: ColumnOrName,
    /,
) -> Column: ...
def allen_finished_by(*operands: ColumnOrName) -> Column:
    """Both end together, and r starts first.

    Formula: ``r.ts < s.ts AND s.te = r.te``.

        r    [--------------)   [1, 6)
        s          [--------)   [3, 6)

    With its operands swapped it is :func:`allen_finishes`.

    Parameters
    ----------
    *operands
        ``r.ts, r.te, s.ts, s.te``, or the structs ``r, s``: columns or names, of types with a
        common one that has an order.

    Returns
    -------
    Column
        BOOLEAN. NULL where an endpoint of the formula is NULL and no other part of it is false.

    Examples
    --------
    >>> pair = spark.sql("SELECT 1 AS rts, 6 AS rte, 3 AS sts, 6 AS ste")
    >>> pair.select(allen_finished_by("rts", "rte", "sts", "ste")).first()[0]
    True
    """
    return call("allen_finished_by", operands)


@overload
def allen_equals(r: ColumnOrName, s: ColumnOrName, /) -> Column: ...
@overload
def allen_equals(
    r_ts: ColumnOrName,
    r_te: ColumnOrName,
    s_ts: ColumnOrName,
    s_te: ColumnOrName,
    /,
) -> Column: ...
def allen_equals(*operands: ColumnOrName) -> Column:
    """Both start together and end together.

    Formula: ``r.ts = s.ts AND r.te = s.te``.

        r    [--------)   [1, 4)
        s    [--------)   [1, 4)

    It is its own inverse.

    Parameters
    ----------
    *operands
        ``r.ts, r.te, s.ts, s.te``, or the structs ``r, s``: columns or names, of types with a
        common one that has an order.

    Returns
    -------
    Column
        BOOLEAN. NULL where an endpoint of the formula is NULL and no other part of it is false.

    Examples
    --------
    >>> pair = spark.sql("SELECT 1 AS rts, 4 AS rte, 1 AS sts, 4 AS ste")
    >>> pair.select(allen_equals("rts", "rte", "sts", "ste")).first()[0]
    True
    """
    return call("allen_equals", operands)


@overload
def iseql_start_preceding(
    r: ColumnOrName, s: ColumnOrName, /, *, delta: Parameter = None
) -> Column: ...
@overload
def iseql_start_preceding(
    r_ts: ColumnOrName,
    r_te: ColumnOrName,
    s_ts: ColumnOrName,
    s_te: ColumnOrName,
    /,
    *,
    delta: Parameter = None,
) -> Column: ...
def iseql_start_preceding(*operands: ColumnOrName, delta: Parameter = None) -> Column:
    """r starts before s or with it, and is still running when s starts.

    Formula: ``r.ts <= s.ts AND s.ts < r.te``.
    With ``delta``: ``s.ts - r.ts <= delta``.

        r    [--------)         [1, 4)
        s       [-----------)   [2, 6)

    With its operands swapped it is :func:`iseql_reverse_start_preceding`.

    Parameters
    ----------
    *operands
        ``r.ts, r.te, s.ts, s.te``, or the structs ``r, s``: columns or names, of types with a
        common one that has an order.
    delta
        The largest ``s.ts - r.ts``: a number, a timedelta, a column or its name; None: no bound.

    Returns
    -------
    Column
        BOOLEAN. NULL where an endpoint of the formula is NULL and no other part of it is false.

    Examples
    --------
    >>> pair = spark.sql("SELECT 1 AS rts, 4 AS rte, 2 AS sts, 6 AS ste")
    >>> pair.select(iseql_start_preceding("rts", "rte", "sts", "ste")).first()[0]
    True
    >>> pair.select(iseql_start_preceding("rts", "rte", "sts", "ste", delta=0)).first()[0]
    False
    """
    return call("iseql_start_preceding", operands, delta)


@overload
def iseql_reverse_start_preceding(
    r: ColumnOrName, s: ColumnOrName, /, *, delta: Parameter = None
) -> Column: ...
@overload
def iseql_reverse_start_preceding(
    r_ts: ColumnOrName,
    r_te: ColumnOrName,
    s_ts: ColumnOrName,
    s_te: ColumnOrName,
    /,
    *,
    delta: Parameter = None,
) -> Column: ...
def iseql_reverse_start_preceding(*operands: ColumnOrName, delta: Parameter = None) -> Column:
    """s starts before r or with it, and is still running when r starts.

    Formula: ``s.ts <= r.ts AND r.ts < s.te``.
    With ``delta``: ``r.ts - s.ts <= delta``.

        r       [-----------)   [2, 6)
        s    [--------)         [1, 4)

    With its operands swapped it is :func:`iseql_start_preceding`.

    Parameters
    ----------
    *operands
        ``r.ts, r.te, s.ts, s.te``, or the structs ``r, s``: columns or names, of types with a
        common one that has an order.
    delta
        The largest ``r.ts - s.ts``: a number, a timedelta, a column or its name; None: no bound.

    Returns
    -------
    Column
        BOOLEAN. NULL where an endpoint of the formula is NULL and no other part of it is false.

    Examples
    --------
    >>> pair = spark.sql("SELECT 2 AS rts, 6 AS rte, 1 AS sts, 4 AS ste")
    >>> pair.select(iseql_reverse_start_preceding("rts", "rte", "sts", "ste")).first()[0]
    True
    >>> pair.select(iseql_reverse_start_preceding("rts", "rte", "sts", "ste", delta=0)).first()[0]
    False
    """
    return call("iseql_reverse_start_preceding", operands, delta)


@overload
def iseql_end_following(
    r: ColumnOrName, s: ColumnOrName, /, *, epsilon: Parameter = None
) -> Column: ...
@overload
def iseql_end_following(
    r_ts: ColumnOrName,
    r_te: ColumnOrName,
    s_ts: ColumnOrName,
    s_te: ColumnOrName,
    /,
    *,
    epsilon: Parameter = None,
) -> Column: ...
def iseql_end_following(*operands: ColumnOrName, epsilon: Parameter = None) -> Column:
    """r ends after s or with it, and was already running when s ended.

    Formula: ``r.ts < s.te AND s.te <= r.te``.
    With ``epsilon``: ``r.te - s.te <= epsilon``.

        r       [-----------)   [2, 6)
        s    [--------)         [1, 4)

    With its operands swapped it is :func:`iseql_reverse_end_following`.

    Parameters
    ----------
    *operands
        ``r.ts, r.te, s.ts, s.te``, or the structs ``r, s``: columns or names, of types with a
        common one that has an order.
    epsilon
        The largest ``r.te - s.te``: a number, a timedelta, a column or its name; None: no bound.

    Returns
    -------
    Column
        BOOLEAN. NULL where an endpoint of the formula is NULL and no other part of it is false.

    Examples
    --------
    >>> pair = spark.sql("SELECT 2 AS rts, 6 AS rte, 1 AS sts, 4 AS ste")
    >>> pair.select(iseql_end_following("rts", "rte", "sts", "ste")).first()[0]
    True
    >>> pair.select(iseql_end_following("rts", "rte", "sts", "ste", epsilon=1)).first()[0]
    False
    """
    return call("iseql_end_following", operands, epsilon)


@overload
def iseql_reverse_end_following(
    r: ColumnOrName, s: ColumnOrName, /, *, epsilon: Parameter = None
) -> Column: ...
@overload
def iseql_reverse_end_following(
    r_ts: ColumnOrName,
    r_te: ColumnOrName,
    s_ts: ColumnOrName,
    s_te: ColumnOrName,
    /,
    *,
    epsilon: Parameter = None,
) -> Column: ...
def iseql_reverse_end_following(*operands: ColumnOrName, epsilon: Parameter = None) -> Column:
    """s ends after r or with it, and was already running when r ended.

    Formula: ``s.ts < r.te AND r.te <= s.te``.
    With ``epsilon``: ``s.te - r.te <= epsilon``.

        r    [--------)         [1, 4)
        s       [-----------)   [2, 6)

    With its operands swapped it is :func:`iseql_end_following`.

    Parameters
    ----------
    *operands
        ``r.ts, r.te, s.ts, s.te``, or the structs ``r, s``: columns or names, of types with a
        common one that has an order.
    epsilon
        The largest ``s.te - r.te``: a number, a timedelta, a column or its name; None: no bound.

    Returns
    -------
    Column
        BOOLEAN. NULL where an endpoint of the formula is NULL and no other part of it is false.

    Examples
    --------
    >>> pair = spark.sql("SELECT 1 AS rts, 4 AS rte, 2 AS sts, 6 AS ste")
    >>> pair.select(iseql_reverse_end_following("rts", "rte", "sts", "ste")).first()[0]
    True
    >>> pair.select(iseql_reverse_end_following("rts", "rte", "sts", "ste", epsilon=1)).first()[0]
    False
    """
    return call("iseql_reverse_end_following", operands, epsilon)


@overload
def iseql_before(r: ColumnOrName, s: ColumnOrName, /, *, delta: Parameter = None) -> Column: ...
@overload
def iseql_before(
    r_ts: ColumnOrName,
    r_te: ColumnOrName,
    s_ts: ColumnOrName,
    s_te: ColumnOrName,
    /,
    *,
    delta: Parameter = None,
) -> Column: ...
def iseql_before(*operands: ColumnOrName, delta: Parameter = None) -> Column:
    """r ends before s starts, or exactly where it starts.

    Formula: ``r.te <= s.ts``.
    With ``delta``: ``s.ts - r.te <= delta``.

        r    [-----)            [1, 3)
        s             [-----)   [4, 6)

    With its operands swapped it is :func:`iseql_after`.

    Parameters
    ----------
    *operands
        ``r.ts, r.te, s.ts, s.te``, or the structs ``r, s``: columns or names, of types with a
        common one that has an order.
    delta
        The largest ``s.ts - r.te``: a number, a timedelta, a column or its name; None: no bound.

    Returns
    -------
    Column
        BOOLEAN. NULL where an endpoint of the formula is NULL and no other part of it is false.

    Examples
    --------
    >>> pair = spark.sql("SELECT 1 AS rts, 3 AS rte, 4 AS sts, 6 AS ste")
    >>> pair.select(iseql_before("rts", "rte", "sts", "ste")).first()[0]
    True
    >>> pair.select(iseql_before("rts", "rte", "sts", "ste", delta=0)).first()[0]
    False
    """
    return call("iseql_before", operands, delta)


@overload
def iseql_after(r: ColumnOrName, s: ColumnOrName, /, *, delta: Parameter = None) -> Column: ...
@overload
def iseql_after(
    r_ts: ColumnOrName,
    r_te: ColumnOrName,
    s_ts: ColumnOrName,
    s_te: ColumnOrName,
    /,
    *,
    delta: Parameter = None,
) -> Column: ...
def iseql_after(*operands: ColumnOrName, delta: Parameter = None) -> Column:
    """r starts after s has ended, or exactly where it ends.

    Formula: ``s.te <= r.ts``.
    With ``delta``: ``r.ts - s.te <= delta``.

        r             [-----)   [4, 6)
        s    [-----)            [1, 3)

    With its operands swapped it is :func:`iseql_before`.

    Parameters
    ----------
    *operands
        ``r.ts, r.te, s.ts, s.te``, or the structs ``r, s``: columns or names, of types with a
        common one that has an order.
    delta
        The largest ``r.ts - s.te``: a number, a timedelta, a column or its name; None: no bound.

    Returns
    -------
    Column
        BOOLEAN. NULL where an endpoint of the formula is NULL and no other part of it is false.

    Examples
    --------
    >>> pair = spark.sql("SELECT 4 AS rts, 6 AS rte, 1 AS sts, 3 AS ste")
    >>> pair.select(iseql_after("rts", "rte", "sts", "ste")).first()[0]
    True
    >>> pair.select(iseql_after("rts", "rte", "sts", "ste", delta=0)).first()[0]
    False
    """
    return call("iseql_after", operands, delta)


@overload
def iseql_left_overlap(
    r: ColumnOrName, s: ColumnOrName, /, *, delta: Parameter = None, epsilon: Parameter = None
) -> Column: ...
@overload
def iseql_left_overlap(
    r_ts: ColumnOrName,
    r_te: ColumnOrName,
    s_ts: ColumnOrName,
    s_te: ColumnOrName,
    /,
    *,
    delta: Parameter = None,
    epsilon: Parameter = None,
) -> Column: ...
def iseql_left_overlap(
    *operands: ColumnOrName, delta: Parameter = None, epsilon: Parameter = None
) -> Column:
    """r starts before s or with it, and ends inside s or with it.

    Formula: ``r.ts <= s.ts AND s.ts < r.te AND r.te <= s.te``.
    With ``delta``: ``s.ts - r.ts <= delta``.
    With ``epsilon``: ``s.te - r.te <= epsilon``.

        r    [--------)         [1, 4)
        s       [-----------)   [2, 6)

    With its operands swapped it is :func:`iseql_right_overlap`.

    Parameters
    ----------
    *operands
        ``r.ts, r.te, s.ts, s.te``, or the structs ``r, s``: columns or names, of types with a
        common one that has an order.
    delta
        The largest ``s.ts - r.ts``: a number, a timedelta, a column or its name; None: no bound.
    epsilon
        The largest ``s.te - r.te``: a number, a timedelta, a column or its name; None: no bound.

    Returns
    -------
    Column
        BOOLEAN. NULL where an endpoint of the formula is NULL and no other part of it is false.

    Examples
    --------
    >>> pair = spark.sql("SELECT 1 AS rts, 4 AS rte, 2 AS sts, 6 AS ste")
    >>> pair.select(iseql_left_overlap("rts", "rte", "sts", "ste")).first()[0]
    True
    >>> pair.select(iseql_left_overlap("rts", "rte", "sts", "ste", delta=0)).first()[0]
    False
    >>> pair.select(iseql_left_overlap("rts", "rte", "sts", "ste", epsilon=1)).first()[0]
    False
    """
    return call("iseql_left_overlap", operands, delta, epsilon)


@overload
def iseql_right_overlap(
    r: ColumnOrName, s: ColumnOrName, /, *, delta: Parameter = None, epsilon: Parameter = None
) -> Column: ...
@overload
def iseql_right_overlap(
    r_ts: ColumnOrName,
    r_te: ColumnOrName,
    s_ts: ColumnOrName,
    s_te: ColumnOrName,
    /,
    *,
    delta: Parameter = None,
    epsilon: Parameter = None,
) -> Column: ...
def iseql_right_overlap(
    *operands: ColumnOrName, delta: Parameter = None, epsilon: Parameter = None
) -> Column:
    """s starts before r or with it, and ends inside r or with it.

    Formula: ``s.ts <= r.ts AND r.ts < s.te AND s.te <= r.te``.
    With ``delta``: ``r.ts - s.ts <= delta``.
    With ``epsilon``: ``r.te - s.te <= epsilon``.

        r       [-----------)   [2, 6)
        s    [--------)         [1, 4)

    With its operands swapped it is :func:`iseql_left_overlap`.

    Parameters
    ----------
    *operands
        ``r.ts, r.te, s.ts, s.te``, or the structs ``r, s``: columns or names, of types with a
        common one that has an order.
    delta
        The largest ``r.ts - s.ts``: a number, a timedelta, a column or its name; None: no bound.
    epsilon
        The largest ``r.te - s.te``: a number, a timedelta, a column or its name; None: no bound.

    Returns
    -------
    Column
        BOOLEAN. NULL where an endpoint of the formula is NULL and no other part of it is false.

    Examples
    --------
    >>> pair = spark.sql("SELECT 2 AS rts, 6 AS rte, 1 AS sts, 4 AS ste")
    >>> pair.select(iseql_right_overlap("rts", "rte", "sts", "ste")).first()[0]
    True
    >>> pair.select(iseql_right_overlap("rts", "rte", "sts", "ste", delta=0)).first()[0]
    False
    >>> pair.select(iseql_right_overlap("rts", "rte", "sts", "ste", epsilon=1)).first()[0]
    False
    """
    return call("iseql_right_overlap", operands, delta, epsilon)


@overload
def iseql_during(
    r: ColumnOrName, s: ColumnOrName, /, *, delta: Parameter = None, epsilon: Parameter = None
) -> Column: ...
@overload
def iseql_during(
    r_ts: ColumnOrName,
    r_te: ColumnOrName,
    s_ts: ColumnOrName,
    s_te: ColumnOrName,
    /,
    *,
    delta: Parameter = None,
    epsilon: Parameter = None,
) -> Column: ...
def iseql_during(
    *operands: ColumnOrName, delta: Parameter = None, epsilon: Parameter = None
) -> Column:
    """r lies inside s; their ends may coincide.

    Formula: ``s.ts <= r.ts AND r.te <= s.te``.
    With ``delta``: ``r.ts - s.ts <= delta``.
    With ``epsilon``: ``s.te - r.te <= epsilon``.

        r       [-----)         [2, 4)
        s    [--------------)   [1, 6)

    With its operands swapped it is :func:`iseql_reverse_during`.

    Parameters
    ----------
    *operands
        ``r.ts, r.te, s.ts, s.te``, or the structs ``r, s``: columns or names, of types with a
        common one that has an order.
    delta
        The largest ``r.ts - s.ts``: a number, a timedelta, a column or its name; None: no bound.
    epsilon
        The largest ``s.te - r.te``: a number, a timedelta, a column or its name; None: no bound.

    Returns
    -------
    Column
        BOOLEAN. NULL where an endpoint of the formula is NULL and no other part of it is false.

    Examples
    --------
    >>> pair = spark.sql("SELECT 2 AS rts, 4 AS rte, 1 AS sts, 6 AS ste")
    >>> pair.select(iseql_during("rts", "rte", "sts", "ste")).first()[0]
    True
    >>> pair.select(iseql_during("rts", "rte", "sts", "ste", delta=0)).first()[0]
    False
    >>> pair.select(iseql_during("rts", "rte", "sts", "ste", epsilon=1)).first()[0]
    False
    """
    return call("iseql_during", operands, delta, epsilon)


@overload
def iseql_reverse_during(
    r: ColumnOrName, s: ColumnOrName, /, *, delta: Parameter = None, epsilon: Parameter = None
) -> Column: ...
@overload
def iseql_reverse_during(
    r_ts: ColumnOrName,
    r_te: ColumnOrName,
    s_ts: ColumnOrName,
    s_te: ColumnOrName,
    /,
    *,
    delta: Parameter = None,
    epsilon: Parameter = None,
) -> Column: ...
def iseql_reverse_during(
    *operands: ColumnOrName, delta: Parameter = None, epsilon: Parameter = None
) -> Column:
    """s lies inside r; their ends may coincide.

    Formula: ``r.ts <= s.ts AND s.te <= r.te``.
    With ``delta``: ``s.ts - r.ts <= delta``.
    With ``epsilon``: ``r.te - s.te <= epsilon``.

        r    [--------------)   [1, 6)
        s       [-----)         [2, 4)

    With its operands swapped it is :func:`iseql_during`.

    Parameters
    ----------
    *operands
        ``r.ts, r.te, s.ts, s.te``, or the structs ``r, s``: columns or names, of types with a
        common one that has an order.
    delta
        The largest ``s.ts - r.ts``: a number, a timedelta, a column or its name; None: no bound.
    epsilon
        The largest ``r.te - s.te``: a number, a timedelta, a column or its name; None: no bound.

    Returns
    -------
    Column
        BOOLEAN. NULL where an endpoint of the formula is NULL and no other part of it is false.

    Examples
    --------
    >>> pair = spark.sql("SELECT 1 AS rts, 6 AS rte, 2 AS sts, 4 AS ste")
    >>> pair.select(iseql_reverse_during("rts", "rte", "sts", "ste")).first()[0]
    True
    >>> pair.select(iseql_reverse_during("rts", "rte", "sts", "ste", delta=0)).first()[0]
    False
    >>> pair.select(iseql_reverse_during("rts", "rte", "sts", "ste", epsilon=1)).first()[0]
    False
    """
    return call("iseql_reverse_during", operands, delta, epsilon)


@overload
def interval_intersects(r: ColumnOrName, s: ColumnOrName, /) -> Column: ...
@overload
def interval_intersects(
    r_ts: ColumnOrName,
    r_te: ColumnOrName,
    s_ts: ColumnOrName,
    s_te: ColumnOrName,
    /,
) -> Column: ...
def interval_intersects(*operands: ColumnOrName) -> Column:
    """The two share at least one point.

    Formula: ``r.ts < s.te AND s.ts < r.te``.

        r    [--------)         [1, 4)
        s       [-----------)   [2, 6)

    It is its own inverse.

    Parameters
    ----------
    *operands
        ``r.ts, r.te, s.ts, s.te``, or the structs ``r, s``: columns or names, of types with a
        common one that has an order.

    Returns
    -------
    Column
        BOOLEAN. NULL where an endpoint of the formula is NULL and no other part of it is false.

    Examples
    --------
    >>> pair = spark.sql("SELECT 1 AS rts, 4 AS rte, 2 AS sts, 6 AS ste")
    >>> pair.select(interval_intersects("rts", "rte", "sts", "ste")).first()[0]
    True
    """
    return call("interval_intersects", operands)
