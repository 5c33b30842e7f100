# SPDX-License-Identifier: Apache-2.0
"""Queries of window unions: each row of `base` with aggregates over a window of `probe`."""

from __future__ import annotations

WINDOW = "probe.ts BETWEEN base.ts - 3 AND base.ts + 1"
KEYED = f"probe.k = base.k AND {WINDOW}"


def lateral(
    what: str,
    condition: str = KEYED,
    more: str = "",
    *,
    join: str = "LEFT JOIN",
    on: str | None = None,
    of: str = "probe",
) -> str:
    """A FROM clause: `{base}`, a placeholder, with the aggregates of a window."""
    on = on or ("true" if join == "LEFT JOIN" else "")
    subquery = f"SELECT {what} FROM {of} WHERE {condition} {more}"
    return f"{{base}} {join} LATERAL ({subquery}) w {on and 'ON ' + on}"


COUNT, BOTH = "count(*) c", "count(*) c, sum(v) s"
SIMPLE = f"{BOTH}, avg(v) a, min(v) lo, max(v) hi"
RENAMED = """(SELECT v + 1 y, z, kk FROM
    (SELECT *, ts * 2 z, k kk FROM probe WHERE v > 1) p WHERE z >= base.ts * 2 - 6) q"""
ANY = """sort_array(collect_list(v)) l, count(DISTINCT v) u, count(*) FILTER (WHERE v > 3) f,
    bool_or(v > 3) b, count_if(v > 3) i, max_by(ts, v * 100 + ts) y, any_value(probe.k) e,
    median(v) m"""
NOT_NULL = """sum(coalesce(v, 7)) s, count(coalesce(v, 7)) c, max(1) one, count(1) n,
    count(v, x) two"""
QUERIES = {
    "keyed": lateral(SIMPLE),
    "keyless": lateral(BOTH, WINDOW),
    "inner": lateral("count(*) c, max(v) m", join="JOIN"),
    "cross": lateral("count(*) c, min(k) m", join="CROSS JOIN"),
    "comma": lateral(COUNT, join=","),
    "flipped": lateral(
        "count(v) c", "base.ts >= probe.ts AND base.k = probe.k AND probe.ts + 3 > base.ts"
    ),
    "tables joined by a comma": lateral(
        "count(*) c, sum(probe.v * names.f) s",
        f"names.k = probe.k AND {KEYED}",
        of="probe, names",
    ),
    "subqueries and columns": lateral(
        "sum(y) s, count(*) c", "kk = base.k AND z <= base.ts * 2", of=RENAMED
    ),
    "not NULL of NULL": lateral(NOT_NULL),
    "any function": lateral(ANY),
    "having, left": lateral(BOTH, more="HAVING count(*) > 2"),
    "having, inner": lateral(BOTH, more="HAVING sum(v) > base.v", join="JOIN"),
    "on, left": lateral(BOTH, on="w.s > base.v"),
    "residual": lateral(BOTH, f"{KEYED} AND (probe.v + base.v) % 3 = 1"),
    "two axes": lateral(SIMPLE, f"{KEYED} AND probe.v < base.v"),
    "a double key": lateral(BOTH, f"probe.d = base.d AND {WINDOW}"),
    "a key that is NULL": lateral(BOTH, f"probe.k <=> base.k AND {WINDOW}"),
    "behind": lateral(BOTH, "probe.k = base.k AND probe.ts BETWEEN base.ts - 9 AND base.ts - 4"),
    "nowhere": lateral(BOTH, "probe.k = base.k AND probe.ts BETWEEN base.ts + 4 AND base.ts - 4"),
    "timestamps": lateral(
        "count(*) c, max(probe.at) l",
        "probe.k = base.k AND probe.at BETWEEN base.at - INTERVAL 3 MINUTES AND base.at",
    ),
    "dates": lateral(
        "count(*) c, min(probe.day) l",
        "probe.n = base.n AND probe.day BETWEEN base.day - INTERVAL 3 DAYS AND base.day",
    ),
    "doubles": lateral(
        "count(*) c, max(x) l, sum(x) s",
        "probe.n = base.n AND probe.x BETWEEN base.x - 0.5D AND base.x",
    ),
    "decimals": lateral(
        "sum(CAST(v AS DECIMAL(9, 2))) s, avg(CAST(v AS DECIMAL(9, 2))) a, count(v) c"
    ),
    "a function": lateral(
        BOTH,
        "probe.k = base.k AND INTERVAL_INTERSECTS(base.ts, base.ts + 3, probe.ts, probe.ts + 1)",
    ),
    "itself": lateral(BOTH, "b.k = base.k AND b.ts BETWEEN base.ts - 3 AND base.ts", of="base b"),
}
