# SPDX-License-Identifier: Apache-2.0
"""The signatures of the table functions, and the documentation that their implementations share.

`intervalsweep.arrow` and `intervalsweep.dataframe` have the same functions with the same arguments.
`TableFunctions` declares each of them once. The decorator `implements` gives a function of one of
the modules the declared signature, and puts the declared documentation before its own. Type
checkers and editors see the declared signature.

An argument has the same meaning in every function: see `COMMON`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from textwrap import indent
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Literal,
    ParamSpec,
    Protocol,
    TypeAlias,
    TypeVar,
)

from intervalsweep._arguments import signature_of, with_signature
from intervalsweep._errors import ArgumentError
from intervalsweep._sql.calls import Parameter
from intervalsweep._sql.relation_names import RelationName
from intervalsweep.columns import Ends, Keys

if TYPE_CHECKING:
    from typing import Never

# A table, and the result as a table of the same library.
Frame = TypeVar("Frame")
# The other table of a function of two tables.
OtherFrame = TypeVar("OtherFrame", contravariant=True)
# One or several columns of one table.
Names: TypeAlias = "str | Sequence[str]"
Distance: TypeAlias = "timedelta | float | Decimal | str | None"

How: TypeAlias = Literal["inner", "left", "right", "full", "semi", "anti"]
LookUpHow: TypeAlias = Literal["left", "inner"]
# The join types in all words of PySpark.
JoinWord: TypeAlias = Literal[
    "inner",
    "left",
    "leftouter",
    "left_outer",
    "right",
    "rightouter",
    "right_outer",
    "full",
    "outer",
    "fullouter",
    "full_outer",
    "semi",
    "leftsemi",
    "left_semi",
    "anti",
    "leftanti",
    "left_anti",
]
LookUpWord: TypeAlias = Literal["left", "leftouter", "left_outer", "inner"]
Direction: TypeAlias = Literal["backward", "forward"]
NearestDirection: TypeAlias = Literal["both", "backward", "forward"]
Closed: TypeAlias = Literal["both", "left", "right", "neither"]
HistoryEmit: TypeAlias = Literal["final", "early"]
Nulls: TypeAlias = Literal["unbounded", "drop", "error"]
# The least part of the left interval, or of each, that an overlap covers.
Fraction: TypeAlias = "float | tuple[float | None, float | None] | None"
Emit: TypeAlias = Literal["final", "eager"]

_Declared = ParamSpec("_Declared")
_Result = TypeVar("_Result")

# The arguments that have the same meaning in every function.
COMMON = {
    ("on", "left_on", "right_on"): """\
The columns of start and end: a pair of names, or the name of one struct column with two fields.
In `as_of_join` and `window_union`, the name of one column of instants. `left_on` and `right_on`
replace `on` for one side. The columns contain numbers, dates, timestamps or, without Spark,
durations. Without Spark, one column may also contain the intervals of pandas: they are read, and
returned, with their `closed`. Between whole numbers and dates, an open interval such as (3, 5) has
the single value 4; next to floating-point numbers it has all numbers between.""",
    ("by",): """\
Equality keys: names of columns that both sides have, or pairs of a left and a right name. A NULL
key matches nothing. In functions of one table: names of its columns, and NULL equals NULL. On Spark
also columns without a computation, such as ``F.col("k")``, and names are found without case.""",
    ("delta", "epsilon", "within", "min_overlap", "gap", "tolerance", "max_distance"): """\
A distance: between timestamps and durations a timedelta, a ``numpy.timedelta64`` or a text such as
``"10 minutes"``; between dates also a number of days; between numbers a number. None means no
limit. Distances and lengths in results are numbers: of days for dates, and for timestamps and
durations in the unit of their type, which on Spark is the microsecond.""",
    ("nulls",): """\
The meaning of a NULL endpoint: ``unbounded``, the interval has no start or no end; ``drop`` the
row; or ``error``. It is NULL in results, too.""",
    ("columns",): """\
The names of the wanted columns of the result, in this order. None means all columns.""",
    ("suffix",): """\
The text that is appended to the name of a right column if the left side has a column with that
name.""",
}

# The errors of every function.
RAISES = """\
Raises
------
ArgumentError
    If an argument has an unknown value, a distance is negative, or an input is not a table.
ColumnError
    If a column does not exist, or two columns of the result would have the same name.
EndpointTypeError
    If endpoints or keys have no common type, or a distance does not fit their type.
EndpointValueError
    If an endpoint, a distance or a sum exceeds 64 bits (only in `intervalsweep.arrow`).
SetupError
    If the Spark session does not have IntervalSweep (only in `intervalsweep.dataframe`).
"""


class TableFunctions(Protocol[Frame, OtherFrame]):
    """The table functions, declared as methods of their module."""

    def join(
        self,
        left: Frame,
        right: OtherFrame,
        relation: RelationName = "interval_intersects",
        *,
        on: Ends = ("ts", "te"),
        left_on: Ends | None = None,
        right_on: Ends | None = None,
        by: Keys | str = (),
        how: JoinWord = "inner",
        delta: Parameter = None,
        epsilon: Parameter = None,
        within: Distance = None,
        min_overlap: Distance = None,
        min_fraction: Fraction = None,
        overlap: tuple[str, str] | None = None,
        columns: Sequence[str] | None = None,
        suffix: str = "_right",
    ) -> Frame:
        """Join the rows whose intervals are in a relation, such as ``"allen_overlaps"``.

        In the relation, ``r`` is the left side and ``s`` the right side. See
        :mod:`intervalsweep.functions` for the relations.

        Parameters
        ----------
        how
            ``inner``, ``left``, ``right``, ``full``, ``semi`` or ``anti``, or another word of
            PySpark for one of them, such as ``left_outer`` or ``leftsemi``.
        delta, epsilon
            The parameters of the relation: distances. On Spark also the name of a column of the
            left side.
        within
            The largest distance of two intervals that match without overlapping: those that meet
            have the distance 0. Only with ``interval_intersects``.
        min_overlap
            The least length of the time that both intervals share.
        min_fraction
            The least part of the left interval that the right one overlaps, such as 0.5; or a pair
            with the part of each, so that ``(0.5, 0.5)`` is reciprocal.
        overlap
            The names of two columns of the result with the start and the end of the time that both
            intervals share: ``("overlap_start", "overlap_end")``. They are NULL if there is none.

        Returns
        -------
        A table of the same kind as `left`
            All columns of the left side, then those of the right side. A key with the same name on
            both sides appears once. A right column gets the `suffix` if the left side has a column
            of that name. Semi and anti joins return only the columns of the left side.
        """

    def count_matches(
        self,
        left: Frame,
        right: OtherFrame,
        relation: RelationName = "interval_intersects",
        *,
        on: Ends = ("ts", "te"),
        left_on: Ends | None = None,
        right_on: Ends | None = None,
        by: Keys | str = (),
        delta: Parameter = None,
        epsilon: Parameter = None,
        within: Distance = None,
        min_overlap: Distance = None,
        min_fraction: Fraction = None,
        count: str = "count",
    ) -> Frame:
        """Return the left table with the number of matches of each row, in the column `count`.

        The relation and its parameters are those of :func:`join`. The pairs are counted, not built.

        Returns
        -------
        A table of the same kind as `left`
            All rows and columns of the left side, and the column `count`, a 64-bit integer. It is 0
            for a row without a match.
        """

    def nearest(
        self,
        left: Frame,
        right: OtherFrame,
        *,
        on: Ends = ("ts", "te"),
        left_on: Ends | None = None,
        right_on: Ends | None = None,
        by: Keys | str = (),
        k: int = 1,
        direction: NearestDirection = "both",
        overlapping: bool = True,
        max_distance: Distance = None,
        how: LookUpWord = "left",
        columns: Sequence[str] | None = None,
        suffix: str = "_right",
        distance: str = "distance",
    ) -> Frame:
        """Join each row with the row of the right side whose interval is nearest, or with `k` rows.

            right   [----)              [------)         distance to the first interval: 2,
            left            [-----)                      to the second: 3
                         ..2       ...3

        Parameters
        ----------
        k
            How many rows are found for each left row, at most.
        direction
            ``backward`` leaves out the rows that start at the end of the left row or after it,
            ``forward`` those that end at its start or before it.
        overlapping
            False leaves out the rows that share an instant with the left row. With `k` > 1 they are
            all listed to find some of them.
        max_distance
            The largest distance at which a row is found.
        how
            ``left`` keeps the left rows for which no row is found, ``inner`` drops them.

        Returns
        -------
        A table of the same kind as `left`
            `k` rows or fewer for each left row; at least one with ``how="left"``. The columns are
            named as in :func:`join`. The column `distance` is
            ``greatest(0, s.ts - r.te, r.ts - s.te)``, which is 0 if the intervals overlap or meet.
            If several rows are equally near, the result has any of them. An interval with a NULL
            endpoint or key, or with its end before its start, matches no row.
        """

    def as_of_join(
        self,
        left: Frame,
        right: OtherFrame,
        *,
        on: str = "ts",
        left_on: str | None = None,
        right_on: str | None = None,
        by: Keys | str = (),
        direction: Direction = "backward",
        tolerance: Any = None,
        how: LookUpWord = "left",
        columns: Sequence[str] | None = None,
        suffix: str = "_right",
    ) -> Frame:
        """Join each row with the latest row of the right side that is not later.

            right     s1        s2         s3          backward: l1 with s1, l2 with s2
            left          l1         l2                forward:  l1 with s2, l2 with s3
                  ------------------------------> on

        Parameters
        ----------
        direction
            ``backward``, or ``forward`` for the earliest row that is not earlier.
        tolerance
            The largest distance between the two rows. On Spark also the name of a column of the
            left side.
        how
            ``left`` keeps the left rows for which no row is found, ``inner`` drops them.

        Returns
        -------
        A table of the same kind as `left`
            One row for each left row, or fewer with ``how="inner"``. The columns are named as in
            :func:`join`. A row with a NULL instant or key matches no row.
        """

    def window_union(
        self,
        /,
        base: Frame,
        probe: OtherFrame,
        *,
        aggs: Mapping[str, Any] | None = None,
        on: str = "ts",
        base_on: str | None = None,
        probe_on: str | None = None,
        by: Keys | str = (),
        pre: Any = None,
        fol: Any = 0,
        max_rows: int | None = None,
        emit: Emit = "final",
        **named: Any,
    ) -> Frame:
        """Return each row of `base` with aggregates over a window of `probe`: features of events.

            probe   p1   p2           p3   p4          window of b1: p1 and p2
            base             b1                b2      window of b2: p3 and p4
                    [...pre...]       [...pre...]      both ends of a window belong to it

        Parameters
        ----------
        aggs
            The aggregates over the rows of `probe` in the window, by the name of the result column:
            ``count(*)``, or ``count``, ``sum``, ``avg``, ``min``, ``max``, ``first``, ``last`` or
            ``list`` of a column, such as ``{"s": "sum(v)"}``. On Spark any SQL aggregate, also as a
            column. Other named arguments are aggregates, too: ``s="sum(v)"``. ``first`` and
            ``last`` are by time; among rows of the same instant they take any. ``list``
            contains the values that are not NULL.
        base_on, probe_on
            Replace `on` for one side.
        pre, fol
            How far the window reaches back and ahead: distances as in :func:`join`, and 0 in any
            type. Negative values are allowed: with ``pre=10, fol=-5`` the window ends 5 before the
            row. None means no limit.
        max_rows
            The most rows of a window: those that are last by time. None means all rows.
        emit
            ``final`` returns each row of `base` once; on streams, when its window can no longer
            change. ``eager`` returns the row immediately, again whenever a row arrives in its
            window, and a last time when the window can no longer change; write such a stream in
            update mode. Over tables, and for a stream's rows over a table, ``eager`` returns each
            row once, with revision 1.

        Returns
        -------
        A table of the same kind as `base`
            All rows and columns of `base`, and the aggregates. With ``emit="eager"`` also
            `revision`, which counts from 1, and `is_final`. If the window has no rows, or the
            instant or the key is NULL, counts are 0, lists are empty and other aggregates are NULL.
        """

    def coverage(
        self,
        left: Frame,
        right: OtherFrame,
        *,
        on: Ends = ("ts", "te"),
        left_on: Ends | None = None,
        right_on: Ends | None = None,
        by: Keys | str = (),
        covered: str = "covered",
    ) -> Frame:
        """Return how much of each interval the intervals of the right side cover.

            left    [-----------)             covered: 7 of 12
            right     [---)  [-----)          overlapping intervals count once
                       [--)

        Returns
        -------
        A table of the same kind as `left`
            The rows of the left side with the column `covered`, a number in the unit of the
            endpoints. It is 0 for an interval that is empty or ends before it starts, and NULL for
            an interval with a NULL endpoint.
        """

    def subtract(
        self,
        left: Frame,
        right: OtherFrame,
        *,
        on: Ends = ("ts", "te"),
        left_on: Ends | None = None,
        right_on: Ends | None = None,
        by: Keys | str = (),
    ) -> Frame:
        """Return the parts of each interval that no interval of the right side covers.

            left    [-----------------)
            right     [---)    [--)
                    [-)   [----)  [---)       three rows

        Returns
        -------
        A table of the same kind as `left`
            The columns of the left side, with the start and end of the part. A row that is covered
            completely is dropped, as is a row whose interval is empty, ends before it starts or has
            a NULL endpoint. A row with a NULL key stays whole.
        """

    def merge(
        self,
        data: Frame,
        *,
        on: Ends = ("ts", "te"),
        by: Names = (),
        gap: Distance = None,
        count: str = "count",
        nulls: Nulls = "unbounded",
    ) -> Frame:
        """Merge intervals that overlap, meet, or are no more than `gap` apart.

            [-----)  [--)                     count 1, 1, 2
                [------)     [----)
            ------------------------
            [----------)     [----)           count 3, 1

        Returns
        -------
        A table of the same kind
            The columns `by`, the columns of the interval, and `count`, the number of merged
            intervals. Intervals that are empty or end before they start are left out.
        """

    def cluster(
        self,
        data: Frame,
        *,
        on: Ends = ("ts", "te"),
        by: Names = (),
        gap: Distance = None,
        cluster: str = "cluster",
        nulls: Nulls = "unbounded",
    ) -> Frame:
        """Number the rows by the merged interval that they belong to; see :func:`merge`.

            [-----)  [--)                     1, 1, 2
                [------)     [----)           1, 2

        Returns
        -------
        A table of the same kind
            All rows and columns, and the column `cluster`: 1, 2, ... by start, for each key. It is
            NULL for the intervals that :func:`merge` leaves out.
        """

    def split(
        self,
        data: Frame,
        *,
        on: Ends = ("ts", "te"),
        by: Names = (),
        count: str = "count",
        nulls: Nulls = "unbounded",
    ) -> Frame:
        """Split the time at every start and end, and count the intervals that cover each part.

            [---------)
                [---------)
            ----------------
            [--)[----)[---)                   count 1, 2, 1

        Returns
        -------
        A table of the same kind
            The columns `by`, the columns of the interval, and `count`, which is at least 1. The
            results are disjoint. Intervals that :func:`merge` leaves out are left out here, too.
        """

    def complement(
        self,
        data: Frame,
        *,
        on: Ends = ("ts", "te"),
        by: Names = (),
        within: tuple[Any, Any] | None = None,
        nulls: Nulls = "unbounded",
    ) -> Frame:
        """Return the gaps between the first start and the last end that no interval covers.

            [---)     [----)      [--)
            ---------------------------
                 [---)      [----)

        Parameters
        ----------
        within
            A start and an end that replace the first start and the last end as limits of the gaps.
            Keys without any interval have no rows in the result.

        Returns
        -------
        A table of the same kind
            The columns `by`, and the columns of the interval.
        """

    def until_next(
        self,
        data: Frame,
        *,
        on: str = "ts",
        by: Names = (),
        order: Names = (),
        deleted: str | None = None,
        end: str = "te",
    ) -> Frame:
        """Turn events or a log of changes into periods: each row lasts until the next of its key.

            a   e1    e2         e3           [e1)  [--e2----)[--e3 ...
            b      e4      e5(deleted)             [--e4--)

        Parameters
        ----------
        on
            The column of instants.
        order
            Columns that order the rows of a key at the same instant: only the last of them is
            returned. Without `order` all of them are returned, with the same period.
        deleted
            A column of booleans. A row for which it is true ends the period before, and has no
            period itself.
        end
            The name of the column with the ends.

        Returns
        -------
        A table of the same kind
            The rows with their columns, and the column `end`: the next later instant of the key. It
            is NULL for the last one: the row is valid until further notice. Rows with a NULL
            instant are left out.
        """

    def half_open(
        self,
        data: Frame,
        start: str,
        end: str | None = None,
        *,
        closed: Closed = "left",
        step: Distance = None,
        unbounded_end: bool = False,
        names: tuple[str, str] = ("ts", "te"),
    ) -> Frame:
        """Add the two columns of a half-open interval, or replace them.

            closed ends     [1, 5]        both ends belong     -> [1, 6)      closed="both"
            no end yet      [1, NULL)     until further notice -> [1, max)    unbounded_end=True
            an instant      5             a point in time      -> [5, 6)      end=None

        Parameters
        ----------
        start, end
            The names of the columns of start and end. Without `end` the interval is the instant
            `start`.
        closed
            The endpoints that belong to the interval: ``left`` (as in `validtime`), ``right``,
            ``both`` or ``neither``. An instant without `end` always belongs. An endpoint is moved
            by the smallest step of its type: 1 for whole numbers, a day for dates, the last digit
            for decimals, and for timestamps and durations the unit of their type, which on Spark is
            the microsecond. Floating-point numbers have no smallest step,
            so only ``left`` works for them. Moving an endpoint past the end of its type is an
            error; a closed end at the end of the year 9999 means no end and becomes NULL.
        step
            How far a closed end is from the next start, such as one second for ends at 23:59:59:
            ends are moved by this distance instead of the smallest step.
        unbounded_end
            If true, a NULL end means until further notice and is replaced: by the largest number of
            its type, by infinity for floating-point numbers, and for dates and timestamps by
            31 December 9999 (its first moment, or the last moment of the type if that is earlier).
            If false, NULL stays NULL. Functions of one table read it as no end; such an interval
            has no match in joins, as in SQL.
        names
            The names of the two columns of the result.

        Returns
        -------
        A table of the same kind
            All rows and columns, and the two columns `names`.
        """


class ArrowFunctions(TableFunctions[Frame, OtherFrame], Protocol[Frame, OtherFrame]):
    """The table functions, and those that need row numbers, which Spark's tables do not have."""

    def pairs(
        self,
        left: Frame,
        right: OtherFrame,
        relation: RelationName = "interval_intersects",
        *,
        on: Ends = ("ts", "te"),
        left_on: Ends | None = None,
        right_on: Ends | None = None,
        by: Keys | str = (),
        delta: Parameter = None,
        epsilon: Parameter = None,
        within: Distance = None,
        min_overlap: Distance = None,
        min_fraction: Fraction = None,
    ) -> Frame:
        """Return the row numbers of all matches: the columns `left` and `right`, from 0.

        The relation, its parameters and the matches are those of :func:`join`. The pairs come in no
        particular order. A pair takes eight bytes.
        """


def revision_columns(emit: Emit) -> dict[str, str]:
    """Return the additional columns of an eager window union, with their SQL functions."""
    if emit == "final":
        return {}
    return {"revision": "window_revision()", "is_final": "window_is_final()"}


def named_aggregates(aggs: Mapping[str, Any] | None, named: Mapping[str, Any]) -> dict[str, Any]:
    """Return all aggregates by their names. Raises ArgumentError if there is none."""
    if aggs is not None and not isinstance(aggs, Mapping):
        raise ArgumentError(f"`aggs` must be a dict, such as {{'s': 'sum(v)'}}; got {aggs!r}.")
    twice = sorted({*(aggs or {})} & {*named})
    if twice:
        raise ArgumentError(f"{twice[0]} is in `aggs` and a named argument: give it once.")
    found = {**(aggs or {}), **named}
    if not found:
        raise ArgumentError("window_union needs an aggregate, such as aggs={'s': 'sum(v)'}.")
    return found


def implements(
    declared: Callable[Concatenate[Never, _Declared], _Result],
) -> Callable[[Callable[..., Any]], Callable[_Declared, _Result]]:
    """Give a function the signature and the documentation of a method of `TableFunctions`.

    The function receives its arguments as with `has_signature_of`.
    """

    def decorate(function: Callable[..., Any]) -> Callable[_Declared, _Result]:
        signature = signature_of(function, declared, is_method=True)
        implementation: Callable[_Declared, _Result] = with_signature(function, signature)
        shared, own = (inspect.cleandoc(one.__doc__ or "") for one in (declared, function))
        implementation.__doc__ = f"{shared}\n\n{_common(signature)}{RAISES}\n{own}\n"
        return implementation

    return decorate


def _common(signature: inspect.Signature) -> str:
    """Return the section on the arguments that have the same meaning in every function."""
    has = signature.parameters
    told = {", ".join(name for name in names if name in has): COMMON[names] for names in COMMON}
    parts = [f"{names}\n{indent(text, '    ')}\n" for names, text in told.items() if names]
    title = "Common arguments"
    return "\n".join([title, "-" * len(title), *parts, ""]) if parts else ""
