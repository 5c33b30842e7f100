# SPDX-License-Identifier: Apache-2.0
"""Runs polars-bio, which joins half-open intervals that overlap, but no other inequalities."""

from __future__ import annotations

import os
import re
import threading
from typing import Any

from benchmarks.adapter import Answer, Case, Limits, Run, UnsupportedError, integers
from benchmarks.workloads import INTERSECTS, STARTS_IN, starts_in

NAMES = ["contig", "start", "end"]
HOLDS = ("s.ts <= r.ts", "r.ts < s.te")  # the inverse of STARTS_IN


class PolarsBio:
    """Expresses "a start lies in an interval" as an overlap with an interval of length 1.

    Further comparisons are a filter over the pairs, so queries without pairs cannot have them.
    """

    def __init__(self, limits: Limits) -> None:
        os.environ["POLARS_MAX_THREADS"] = str(limits.cores)
        import polars
        import tqdm

        # The progress bar uses a lock between processes, which a killed process would leave behind.
        tqdm.tqdm.set_lock(threading.RLock())
        import polars_bio

        self.polars, self.bio = polars, polars_bio
        polars_bio.set_option("datafusion.execution.target_partitions", str(limits.cores))

    def prepare(self, case: Case) -> Run:
        workload = case.workload
        side = starts_in(workload.formula)
        if side is None:
            raise UnsupportedError("it joins intervals that overlap")
        if workload.join == "inner" and not workload.group:
            return lambda: self._pairs(case, *self._sides(case, side))
        if workload.formula in (INTERSECTS, STARTS_IN, HOLDS):
            if workload.join == "semi":
                return lambda: self._left_rows(*self._sides(case, side))
            if workload.join == "left" and workload.group == "r.id":
                return lambda: self._counts(*self._sides(case, side))
        raise UnsupportedError("it has inner joins, left rows that overlap, and their counts")

    def _pairs(self, case: Case, r: Any, s: Any) -> Answer:
        column = self.polars.col
        pairs = self.bio.overlap(r, s, cols1=NAMES, cols2=NAMES, suffixes=("_r", "_s"))
        if case.workload.formula not in (INTERSECTS, STARTS_IN, HOLDS):
            pairs = pairs.filter(*map(self._comparison, case.workload.formula))
        return self._row(pairs, self.polars.len(), (column("p_r") + column("p_s")).sum())

    def _left_rows(self, r: Any, s: Any) -> Answer:
        form = {"overlap_output": "left", "distinct_output": True}
        rows = self.bio.overlap(r, s, cols1=NAMES, cols2=NAMES, **form)
        return self._row(rows, self.polars.len(), self.polars.col("p").sum())

    def _counts(self, r: Any, s: Any) -> Answer:
        count, key = self.polars.col("count"), self.polars.col("id")
        rows = self.bio.count_overlaps(r, s, cols1=NAMES, cols2=NAMES)
        weighted = (count * (key % 1000)).sum().alias("weighted")
        return self._row(rows, self.polars.len(), count.sum(), weighted)

    def _row(self, frame: Any, *aggregates: Any) -> Answer:
        return integers(frame.select(*aggregates).collect(engine="streaming").row(0))

    def _sides(self, case: Case, starts_in_side: str) -> tuple[Any, Any]:
        r, s = (self._side(case, name, starts_in_side in (name, "both")) for name in "rs")
        return r, s

    def _side(self, case: Case, name: str, is_whole: bool) -> Any:
        """The intervals of a table or, unless `is_whole`, intervals of length 1 at their starts."""
        column, frame = self.polars.col, self.polars.scan_parquet(case.file(name))
        contig = column("k").cast(str) if case.workload.is_keyed else self.polars.lit("all")
        end = column("te") if is_whole else column("ts") + 1
        frame = frame.select("id", "ts", "te", "p", contig=contig, start="ts", end=end)
        frame.config_meta.set(coordinate_system_zero_based=True)
        return frame

    def _comparison(self, text: str) -> Any:
        """A comparison such as `r.ts < s.te`, over the columns of pairs, ts_r and te_s."""
        return self.polars.sql_expr(re.sub(r"\b([rs])\.(\w+)", r"\2_\1", text))
