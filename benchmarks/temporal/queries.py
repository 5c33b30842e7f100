# SPDX-License-Identifier: Apache-2.0
"""The queries of the comparison: as a plain query in `sequenced`, and hand-written.

All return one row of sums over time, which are the same wherever periods of equal rows are cut.
"""

from __future__ import annotations

from dataclasses import dataclass

# Sums over all periods: their lengths, and the lengths times the counts `c` and the sums `s`.
SUMS = "SELECT sum(te - ts) AS t, sum((te - ts) * c) AS c, sum((te - ts) * s) AS s FROM ({})"
LENGTHS = "SELECT count(*) AS n, sum(te - ts) AS t, sum((te - ts) * v) AS v FROM ({})"
PAIRS = "SELECT count(*) AS n, sum(te - ts) AS t, sum(v + w) AS v FROM ({})"


@dataclass(frozen=True)
class Query:
    """A query; `goal` is the wanted speedup over DuckDB and over Spark."""

    title: str
    sequenced: str
    by_hand: str
    goal: tuple[float, float]

    def texts(self) -> dict[str, str]:
        """The text for each system."""
        return {"sequenced": self.sequenced, "DuckDB": self.by_hand, "Spark": self.by_hand}


def _sequenced(query: str) -> str:
    return f"SELECT * FROM sequenced(TABLE({query}))"


def changes(rows: str, keys: str, value: str) -> str:
    """SQL for the counts c and sums s of a value over time by keys: running totals of changes."""
    of, by = (f"{keys}, ", f"PARTITION BY {keys} ") if keys else ("", "")
    return (
        f"WITH e AS (SELECT {of}ts AS t, 1 AS c, {value} AS s FROM {rows} a "
        f"UNION ALL SELECT {of}te, -1, -({value}) FROM {rows} b), "
        f"d AS (SELECT {of}t, sum(c) AS c, sum(s) AS s FROM e GROUP BY {of}t) "
        f"SELECT * FROM (SELECT {of}t AS ts, lead(t) OVER ({by}ORDER BY t) AS te, "
        f"sum(c) OVER ({by}ORDER BY t) AS c, sum(s) OVER ({by}ORDER BY t) AS s FROM d) "
        "WHERE c > 0"
    )


# At each instant a value has as many rows as r has more than s. The n-th start of a row is paired
# with the n-th end.
_EXCEPT = """
WITH e AS (SELECT v, ts AS t, 1 AS a, 0 AS b FROM r UNION ALL SELECT v, te, -1, 0 FROM r
  UNION ALL SELECT w, ts, 0, 1 FROM s UNION ALL SELECT w, te, 0, -1 FROM s),
d AS (SELECT v, t, sum(a) AS a, sum(b) AS b FROM e GROUP BY v, t),
m AS (SELECT v, t, greatest(sum(a) OVER (PARTITION BY v ORDER BY t)
  - sum(b) OVER (PARTITION BY v ORDER BY t), 0) AS m FROM d),
c AS (SELECT v, t, m - lag(m, 1, 0) OVER (PARTITION BY v ORDER BY t) AS c FROM m),
n AS (SELECT v, t, c, sum(greatest(c, 0)) OVER (PARTITION BY v ORDER BY t) AS up,
  sum(greatest(-c, 0)) OVER (PARTITION BY v ORDER BY t) AS down FROM c WHERE c <> 0),
starts AS (SELECT v, t AS ts, {up} AS k FROM n WHERE c > 0),
ends AS (SELECT v, t AS te, {down} AS k FROM n WHERE c < 0)
SELECT v, ts, te FROM starts JOIN ends USING (v, k)"""


def _except(series: str) -> str:
    return _EXCEPT.format(
        up=series.format("up - c + 1", "up"), down=series.format("down + c + 1", "down")
    )


_ISLANDS = """
SELECT v, min(ts) AS ts, max(te) AS te FROM (
  SELECT v, ts, te, sum(CASE WHEN ts <= before THEN 0 ELSE 1 END)
    OVER (PARTITION BY v ORDER BY ts, te ROWS UNBOUNDED PRECEDING) AS island
  FROM (SELECT v, ts, te, max(te) OVER (PARTITION BY v ORDER BY ts, te
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM r))
GROUP BY v, island"""


@dataclass(frozen=True)
class TwoTexts(Query):
    """A query that is spelled differently in DuckDB."""

    duckdb: str = ""

    def texts(self) -> dict[str, str]:
        """The text for each system."""
        return {**super().texts(), "DuckDB": self.duckdb}


QUERIES = [
    Query(
        "count and sum by 1,000 keys",
        SUMS.format(
            _sequenced("SELECT k, count(*) AS c, sum(v) AS s FROM r_valid GROUP BY k")
            + " WHERE c > 0"
        ),
        SUMS.format(changes("r", "k", "v")),
        (2.5, 5.0),
    ),
    Query(
        "count and sum of all",
        SUMS.format(_sequenced("SELECT count(*) AS c, sum(v) AS s FROM r_valid") + " WHERE c > 0"),
        SUMS.format(changes("r", "", "v")),
        (1.0, 4.0),
    ),
    TwoTexts(
        "EXCEPT ALL of 1,000 values",
        LENGTHS.format(_sequenced("SELECT v FROM r_valid EXCEPT ALL SELECT w FROM s_valid")),
        LENGTHS.format(_except("explode(sequence({}, {}))")),
        (4.0, 8.0),
        duckdb=LENGTHS.format(_except("unnest(generate_series(({})::BIGINT, ({})::BIGINT))")),
    ),
    Query(
        "DISTINCT of 1,000 values",
        LENGTHS.format(_sequenced("SELECT DISTINCT v FROM r_valid")),
        LENGTHS.format(_ISLANDS),
        (1.5, 8.0),
    ),
]

# The join of histories, the equivalent interval join (both use a sweep), and the left join.
JOINS = {
    "join": PAIRS.format(
        _sequenced("SELECT r_valid.v, s_valid.w FROM r_valid JOIN s_valid USING (k)")
    ),
    "the interval join by hand": PAIRS.format(
        "SELECT v, w, greatest(r.ts, s.ts) AS ts, least(r.te, s.te) AS te FROM r JOIN s "
        "ON r.k = s.k AND INTERVAL_INTERSECTS(r.ts, r.te, s.ts, s.te)"
    ),
    "left join": PAIRS.format(
        _sequenced("SELECT r_valid.v, s_valid.w FROM r_valid LEFT JOIN s_valid USING (k)")
    ),
}
