# SPDX-License-Identifier: Apache-2.0
"""The distance and the overlap of the two intervals of a pair, as columns."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql import types as st

from intervalsweep._distances import Months, refuse_months
from intervalsweep._overlaps import Overlap
from intervalsweep._sql.calls import as_column
from intervalsweep.dataframe.boundary_events import length
from intervalsweep.dataframe.interval_columns import (
    Interval,
    as_number,
    as_parameter,
    common_type,
)

_LARGEST = (1 << 63) - 1


class Ends:
    """The starts and ends of the two intervals of a pair, in their common type."""

    def __init__(
        self,
        left: DataFrame,
        right: DataFrame,
        ours: Interval,
        theirs: Interval,
        of_right: Callable[[str], Column],
    ) -> None:
        self._frames = [(left, ours.of()[0]), (right, theirs.of()[0])]
        self._ours, self._theirs = ours.of(), theirs.ends(of_right)

    def are_within(self, within: Any) -> Column:
        """Return whether the distance of the intervals is at most a limit, in one sweep."""
        kind = common_type(self._frames)
        limit = as_parameter("within", within, kind)
        if isinstance(limit, Months):
            raise refuse_months("within", within)
        (ts, te), (s_ts, s_te) = self._ours, self._theirs
        return (s_ts <= _later(te, limit, kind)) & (ts <= _later(s_te, limit, kind))

    def overlap_enough(self, asked: Overlap) -> Column:
        """Return whether the overlap has the least length, and is the least part of each."""
        kind = common_type(self._frames)
        (ts, te), (s_ts, s_te) = (
            [one.cast(kind) for one in ends] for ends in (self._ours, self._theirs)
        )
        size = length(sf.least(te, s_te), sf.greatest(ts, s_ts), kind)
        enough = ts.isNotNull() & te.isNotNull() & s_ts.isNotNull() & s_te.isNotNull()
        if asked.least is not None:
            enough = enough & (size >= sf.lit(as_number("min_overlap", asked.least, kind)))
        for fraction, whole in zip(
            asked.fractions, (length(te, ts, kind), length(s_te, s_ts, kind)), strict=True
        ):
            if fraction is not None:
                # A quotient is rounded once, so that 7 of 100 is 0.07; a product might not be.
                part = size.cast("double") / whole.cast("double")
                enough = enough & sf.when(whole == 0, True).otherwise(part >= fraction)
        return enough

    def shared(self) -> tuple[Column, Column]:
        """Return start and end of the time that both intervals share; NULL if there is none."""
        (ts, te), (s_ts, s_te) = self._ours, self._theirs
        start, end = sf.greatest(ts, s_ts), sf.least(te, s_te)
        # greatest and least ignore NULL, which an unmatched row has on one side.
        known = ts.isNotNull() & te.isNotNull() & s_ts.isNotNull() & s_te.isNotNull()
        return sf.when(known & (start < end), start), sf.when(known & (start < end), end)


def _later(end: Column, limit: Any, kind: st.DataType) -> Column:
    """Return an end plus a limit; for whole numbers and decimals at most the largest one.

    The sum has the type of the ends, so that one sweep serves both comparisons.
    """
    if isinstance(kind, st.DecimalType):
        # Between ends of this scale, a limit between two digits is the same as the lower digit.
        digit = Decimal(1).scaleb(-kind.scale)
        lower = Decimal(limit) // digit * digit
        most = sf.lit(Decimal(10**kind.precision - 1).scaleb(-kind.scale)).cast(kind)
        later = sf.coalesce(sf.try_add(end, sf.lit(lower)).try_cast(kind), most)
        return sf.when(end.isNotNull(), later)
    if not isinstance(kind, st.IntegralType):
        return end + as_column(limit)
    later = sf.coalesce(sf.try_add(end.cast("bigint"), sf.lit(limit)), sf.lit(_LARGEST))
    return sf.when(end.isNotNull(), later)
