# SPDX-License-Identifier: Apache-2.0
"""What the functions for tables mean: said once, for `intervalsweep.arrow` and `.dataframe`.

Both modules have these functions, with these arguments; `documented` puts what is said here before
the examples of theirs, and a test compares the signatures. One function is in `arrow` alone:
`pairs`, since the rows of a Spark DataFrame have no numbers.

An argument of one name means one thing everywhere: `COMMON`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from textwrap import indent
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from intervalsweep._relation_names import RelationName
from intervalsweep.columns import Ends, Keys

# A table of any library; what comes back is of the same kind.
Frame = TypeVar("Frame")
# The columns of one table.
Names: TypeAlias = "str | Sequence[str]"
Distance: TypeAlias = "timedelta | float | Decimal | None"

How: TypeAlias = Literal["inner", "left", "right", "full", "semi", "anti"]
LookUpHow: TypeAlias = Literal["left", "inner"]
Direction: TypeAlias = Literal["backward", "forward"]
Closed: TypeAlias = Literal["both", "left", "right", "neither"]
Emit: TypeAlias = Literal["final", "eager"]

_F = TypeVar("_F", bound=Callable[..., Any])

COMMON = {
    ("on", "left_on", "right_on"): """\
The columns that say when, on both sides or on one: the names of start and end, or the name of one
struct of the two; of an instant, as in `as_of_join`, the name of its column. They are numbers,
dates, timestamps or, without Spark, durations.""",
    ("by",): """\
Equality keys: names that both sides have, or pairs of names, that on the left and that on the
right. NULL matches nothing. In functions of one table: columns of it, and NULL equals NULL.""",
    ("delta", "epsilon", "gap", "tolerance", "max_distance"): """\
A distance: a timedelta, or a number in the unit of the column, as distances and lengths come back:
days of dates; of timestamps and durations the unit of their type, which on Spark is the
microsecond. None is no bound.""",
    ("columns",): """\
The columns of the result that are wanted, by the names that they have there, in this order.""",
    ("suffix",): """\
What a column of the right side has behind its name where the left side has that name too.""",
}


class TableFunctions(Protocol):
    """The functions, as if they were methods of their module."""

    def join(
        self,
        left: Frame,
        right: Any,
        relation: RelationName = "interval_intersects",
        *,
        on: Ends = ("ts", "te"),
        left_on: Ends | None = None,
        right_on: Ends | None = None,
        by: Keys | str = (),
        how: How = "inner",
        delta: Any = None,
        epsilon: Any = None,
        columns: Sequence[str] | None = None,
        suffix: str = "_right",
    ) -> Frame:
        """Join the rows whose intervals are in a relation, such as ``"allen_overlaps"``.

        The operands of the relation are ``r``, the left side, and ``s``, the right one; see
        :mod:`intervalsweep.functions` for the relations.

        Parameters
        ----------
        how
            ``inner``, ``left``, ``right``, ``full``, ``semi`` or ``anti``.
        delta, epsilon
            The parameters of the relation: distances; on Spark also the name of a column of the
            left side.

        Returns
        -------
        A table of the left one's kind
            All columns of the left side under their names, then those of the right side. A key of
            one name is there once. A column of the right side whose name the left side has too gets
            the `suffix`. Semi and anti joins have the columns of the left side alone.
        """

    def count_matches(
        self,
        left: Frame,
        right: Any,
        relation: RelationName = "interval_intersects",
        *,
        on: Ends = ("ts", "te"),
        left_on: Ends | None = None,
        right_on: Ends | None = None,
        by: Keys | str = (),
        delta: Any = None,
        epsilon: Any = None,
        count: str = "count",
    ) -> Frame:
        """Return the left table with the number of matches of each row, in the column `count`.

        The relation and its parameters are as of :func:`join`. No pair is made.
        """

    def nearest(
        self,
        left: Frame,
        right: Any,
        *,
        on: Ends = ("ts", "te"),
        left_on: Ends | None = None,
        right_on: Ends | None = None,
        by: Keys | str = (),
        max_distance: Distance = None,
        how: LookUpHow = "left",
        columns: Sequence[str] | None = None,
        suffix: str = "_right",
        distance: str = "distance",
    ) -> Frame:
        """Join each row with the one of the right side whose interval is nearest.

            right   [----)              [------)         distance of l1 from the left one: 2,
            left            [-----)                      from the right one: 3
                         ..2       ...3

        Parameters
        ----------
        max_distance
            What is farther away is not found.
        how
            ``left`` keeps rows for which there is none, ``inner`` does not.

        Returns
        -------
        A table of the left one's kind
            As many rows as the left side has, or fewer, named as by :func:`join`; and the column
            `distance`: ``greatest(0, s.ts - r.te, r.ts - s.te)``. It is 0 where the two overlap or
            meet. Of several that are equally near it is one. An interval with a NULL end or key, or
            that ends before it starts, finds nothing and is not found.
        """

    def as_of_join(
        self,
        left: Frame,
        right: Any,
        *,
        on: str = "ts",
        left_on: str | None = None,
        right_on: str | None = None,
        by: Keys | str = (),
        direction: Direction = "backward",
        tolerance: Any = None,
        how: LookUpHow = "left",
        columns: Sequence[str] | None = None,
        suffix: str = "_right",
    ) -> Frame:
        """Join each row with the latest row of the right side that is not later than it.

            right     s1        s2         s3          backward: l1 with s1, l2 with s2
            left          l1         l2                forward:  l1 with s2, l2 with s3
                  ------------------------------> on

        Parameters
        ----------
        direction
            ``backward``; or ``forward``, for the earliest row that is not earlier.
        tolerance
            The largest distance between the two; on Spark also the name of a column of the left
            side.
        how
            ``left`` keeps rows for which there is none, ``inner`` does not.

        Returns
        -------
        A table of the left one's kind
            As many rows as the left side has, or fewer, named as by :func:`join`. A NULL instant or
            key finds nothing and is not found.
        """

    def window_union(
        self,
        base: Frame,
        probe: Any,
        *,
        aggs: Mapping[str, str],
        on: str = "ts",
        base_on: str | None = None,
        probe_on: str | None = None,
        by: Keys | str = (),
        pre: Any = None,
        fol: Any = 0,
        emit: Emit = "final",
    ) -> Frame:
        """Return each row of `base` with aggregates over a window of `probe`: features of events.

            probe   p1   p2        p3   p4         b1: of p1 and p2, all from pre before it
            base             b1            b2      b2: of p3 and p4
                      [..pre..]     [..pre..]      to fol after it, both ends included

        Parameters
        ----------
        aggs
            What is asked of the rows of `probe` in the window, by the name of its column in the
            result: ``count(*)``, or ``count``, ``sum``, ``avg``, ``min``, ``max``, ``first``,
            ``last`` or ``list`` of a column, such as ``{"s": "sum(v)"}``; on Spark any aggregate of
            SQL. ``first`` and ``last`` are by time, of several rows of one instant any. ``list``
            has the values that are not NULL.
        base_on, probe_on
            As `on`, for one side.
        pre, fol
            How far the window reaches back and ahead: a timedelta, or a number in the unit of the
            column, also negative: ``pre=10, fol=-5`` ends 5 before the row. None is no bound.
        emit
            ``final``: each row of `base` once; of streams, when its window can no longer change.
            ``eager``: at once, again whenever a row arrives in its window, and a last time when it
            can no longer change; such a stream is written in update mode. Of tables and of a
            stream's rows over a table each row is there once, with revision 1.

        Returns
        -------
        A table of the base's kind
            All rows and columns of `base`, and the aggregates; with ``emit="eager"`` then
            `revision`, which counts from 1, and `is_final`. Where the window has no row, and for a
            NULL instant or key, counts are 0, lists are empty and other aggregates NULL.
        """

    def coverage(
        self,
        left: Frame,
        right: Any,
        *,
        on: Ends = ("ts", "te"),
        left_on: Ends | None = None,
        right_on: Ends | None = None,
        by: Keys | str = (),
        covered: str = "covered",
    ) -> Frame:
        """Return how much of each interval is held by some interval of the right side.

            left    [-----------)             covered 7 of 12: what the right side has twice
            right     [---)  [-----)          counts once
                       [--)

        Returns
        -------
        A table of the left one's kind
            The rows of the left side with the column `covered`, a number. It is 0 for an interval
            that is empty or ends before it starts, NULL for one with a NULL end.
        """

    def subtract(
        self,
        left: Frame,
        right: Any,
        *,
        on: Ends = ("ts", "te"),
        left_on: Ends | None = None,
        right_on: Ends | None = None,
        by: Keys | str = (),
    ) -> Frame:
        """Return of each interval the parts that no interval of the right side holds.

            left    [-----------------)
            right     [---)    [--)
                    [-)   [----)  [---)       three rows

        Returns
        -------
        A table of the left one's kind
            The columns of the left side; start and end are those of the part. A row of which
            nothing is left has none, and neither has one that is empty, ends before it starts or
            has a NULL end. A row with a NULL key stays whole.
        """

    def merge(
        self,
        data: Frame,
        *,
        on: Ends = ("ts", "te"),
        by: Names = (),
        gap: Distance = None,
        count: str = "count",
    ) -> Frame:
        """Merge intervals that overlap or meet (or are no more than `gap` apart) into one.

            [-----)  [--)                     count 1, 1, 2
                [------)     [----)
            ------------------------
            [----------)     [----)           count 3, 1

        Returns
        -------
        A table of the same kind
            The columns `by`, the interval as it is in the table, and `count`, the number of
            intervals that were merged. Those that are empty, end before they start or have a NULL
            end take no part.
        """

    def cluster(
        self,
        data: Frame,
        *,
        on: Ends = ("ts", "te"),
        by: Names = (),
        gap: Distance = None,
        cluster: str = "cluster",
    ) -> Frame:
        """Number the rows by the interval that :func:`merge` would make of them.

            [-----)  [--)                     1, 1, 2
                [------)     [----)           1, 2

        Returns
        -------
        A table of the same kind
            All rows and columns, and the column `cluster`: 1, 2, ... by start, within equal keys.
            It is NULL for intervals that take no part in :func:`merge`.
        """

    def split(
        self, data: Frame, *, on: Ends = ("ts", "te"), by: Names = (), count: str = "count"
    ) -> Frame:
        """Split the time at every start and end: disjoint intervals, with how many hold each.

            [---------)
                [---------)
            ----------------
            [--)[----)[---)                   count 1, 2, 1

        Returns
        -------
        A table of the same kind
            The columns `by`, the interval as it is in the table, and `count`, which is never 0.
            Which intervals take part is as of :func:`merge`.
        """

    def complement(
        self,
        data: Frame,
        *,
        on: Ends = ("ts", "te"),
        by: Names = (),
        within: tuple[Any, Any] | None = None,
    ) -> Frame:
        """Return the gaps: what no interval holds, between the first start and the last end.

            [---)     [----)      [--)
            ---------------------------
                 [---)      [----)

        Parameters
        ----------
        within
            A start and an end, between which the gaps are to be, instead of the first start and the
            last end. Keys without any interval have no row here.

        Returns
        -------
        A table of the same kind
            The columns `by`, and the interval as it is in the table.
        """

    def half_open(
        self,
        data: Frame,
        start: str,
        end: str | None = None,
        *,
        closed: Closed = "both",
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
            The columns that say when. Without `end` the interval is the instant `start`, alone.
        closed
            Which ends belong to the interval: ``both``, ``left``, ``right`` or ``neither``. An end
            is moved by the smallest step of its type: 1 for whole numbers, a day for dates, the
            unit of their type for timestamps and durations, which on Spark is the microsecond, the
            last digit for decimals. Floating-point numbers have no such step: there ``left`` alone
            is possible. What is moved past the end of its type is an error.
        unbounded_end
            A NULL end means until further notice. It becomes the largest number of its type,
            infinity for floating-point numbers, 31 December 9999 (its first moment, or the last
            moment of the type if that is before) for dates and timestamps. Without it NULL stays
            NULL, and such an interval matches nothing.
        names
            The names of the two columns.
        """


class RowFunctions(Protocol):
    """What needs rows that have numbers."""

    def pairs(
        self,
        left: Frame,
        right: Any,
        relation: RelationName = "interval_intersects",
        *,
        on: Ends = ("ts", "te"),
        left_on: Ends | None = None,
        right_on: Ends | None = None,
        by: Keys | str = (),
        delta: Any = None,
        epsilon: Any = None,
    ) -> Frame:
        """Return the row numbers of all matches: the columns `left` and `right`, from 0.

        The relation and its parameters are as of :func:`join`; so are the matches, which come in no
        special order. A pair takes eight bytes.
        """


def revision_columns(emit: Emit) -> dict[str, str]:
    """What an eager window union returns beside its aggregates, and the SQL functions of it."""
    if emit == "final":
        return {}
    return {"revision": "window_revision()", "is_final": "window_is_final()"}


def documented(function: _F) -> _F:
    """Put what the contract says of a function before its own docstring."""
    name = function.__name__
    said = getattr(TableFunctions, name, None) or getattr(RowFunctions, name)
    own, shared = (inspect.cleandoc(one.__doc__ or "") for one in (function, said))
    function.__doc__ = f"{shared}\n\n{_common(function)}{own}\n"
    return function


def _common(function: Callable[..., Any]) -> str:
    """What its arguments mean that mean the same everywhere."""
    has = inspect.signature(function).parameters
    told = {", ".join(name for name in names if name in has): COMMON[names] for names in COMMON}
    parts = [f"{names}\n{indent(text, '    ')}\n" for names, text in told.items() if names]
    title = "Arguments as everywhere"
    return "\n".join([title, "-" * len(title), *parts, ""]) if parts else ""
