# SPDX-License-Identifier: Apache-2.0
"""`temporal_resample`: sums and means over buckets, compared with sums over small slices."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException, PySparkException

from intervalsweep import table_functions, temporal
from intervalsweep.arrow import temporal as isat
from support.docs.examples import run_example
from support.spark.comparison import bag, configured

EPOCH = datetime(1970, 1, 1)
DAY, MONTH = "'DAY'", "'MONTH'"
PRICES = """VALUES ('tea', 3, DATE '2024-01-01', DATE '2024-06-11'),
  ('tea', 4, DATE '2024-06-11', NULL), ('cup', 9, DATE '2024-06-01', DATE '2024-09-01'),
  ('pot', NULL, DATE '2024-06-01', DATE '2024-07-01') AS t(product, price, ts, te)"""

Row = tuple[Any, Any, Any, Any]
# The bucket of a slice, by the time that the clock shows and by the slice's number.
BucketOf = Callable[[datetime, int], Any]


def cut(table: str, every: str, more: str = "") -> str:
    return f"temporal_resample(TABLE({table}), {every}, ts => 'ts', te => 'te'{more})"


def days(local: datetime) -> int:
    return (local - EPOCH).days


UNITS: dict[str, BucketOf] = {
    "'DAY'": lambda local, n: days(local),
    "'3 days'": lambda local, n: days(local) // 3,
    "'WEEK'": lambda local, n: (days(local) - 4) // 7,
    "INTERVAL '2' MONTH": lambda local, n: (local.year * 12 + local.month - 1) // 2,
    "'MONTH'": lambda local, n: (local.year, local.month),
    "'QUARTER'": lambda local, n: (local.year, (local.month - 1) // 3),
    "'YEAR'": lambda local, n: local.year,
    "INTERVAL '3' DAY": lambda local, n: n // 72,
}  # fmt: skip


class Kind:
    """A type of periods. Its instants are numbers of slices: hours, or days for dates."""

    def __init__(self, name: str, zone: str) -> None:
        self.name, self.zone = name, ZoneInfo(zone if name == "TIMESTAMP" else "UTC")
        self.size = timedelta(hours=1)

    def local(self, n: int) -> datetime:
        """The time that the clock shows at a slice's start."""
        at = (EPOCH + n * self.size).replace(tzinfo=timezone.utc)
        return at.astimezone(self.zone).replace(tzinfo=None)

    def literal(self, n: int | None) -> str:
        if n is None:
            return f"CAST(NULL AS {self.name})"
        text = (EPOCH + n * self.size).isoformat(" ")
        if self.name == "DATE":
            return f"DATE '{text[:10]}'"
        return f"{self.name} '{text}{'Z' if self.name == 'TIMESTAMP' else ''}'"

    def number(self, column: str) -> str:
        """SQL for the number of the slice that begins at an instant."""
        if self.name == "TIMESTAMP":
            return f"unix_micros({column}) / 3600e6"
        if self.name == "DATE":
            return f"unix_date({column}) * 24"
        return f"unix_date(CAST({column} AS DATE)) * 24 + hour({column})"


def generated(first: int, last: int, step: int, seed: int) -> list[Row]:
    """Rows with ties, NULLs, and empty and reversed periods."""
    some = random.Random(seed)
    instants = [None, *range(first, last, step)]
    rows = [
        (some.choice("abb"), some.choice([None, 1, 2, 30]), *some.choices(instants, k=2))
        for _ in range(25)
    ]
    return rows + rows[:3]


def sums(
    rows: list[Row], start: int, end: int, bucket: Callable[[int], Any], step: int
) -> dict[Any, tuple[Any, ...]]:
    """For each key and bucket: its start, sum, mean and covered part, slice by slice."""
    sizes: Counter[Any] = Counter()
    begins: dict[Any, int] = {}
    # Buckets at the border of the period are as long as other ones.
    for n in range(start - 9000, end + 9000, step):
        sizes[bucket(n)] += 1
        begins.setdefault(bucket(n), n)
    found: dict[Any, list[int]] = defaultdict(lambda: [0, 0, 0])
    for key, price, ts, te in rows:
        low = start if ts is None else max(ts, start)
        high = end if te is None else min(te, end)
        for n in range(low, high, step):
            one = found[key, bucket(n)]
            one[0] += 1
            if price is not None:
                one[1] += 1
                one[2] += price
    return {
        (key, begins[at]): (
            total / sizes[at] if known else None,
            total / known if known else None,
            covered / sizes[at],
        )
        for (key, at), (covered, known, total) in found.items()
    }


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", ["DATE", "TIMESTAMP", "TIMESTAMP_NTZ"])
@pytest.mark.parametrize(
    ("zone", "year"),
    [
        ("UTC", 2024),
        ("Europe/Berlin", 2024),
        ("America/New_York", 2023),
        ("Asia/Tokyo", 1969),
        # The clock changes at midnight, by an hour.
        ("America/Sao_Paulo", 2018),
        # The day 2011-12-30 does not exist.
        ("Pacific/Apia", 2011),
    ],
)
def test_sums_and_means_over_slices(spark: Any, unit: str, name: str, zone: str, year: int) -> None:
    kind = Kind(name, zone)
    step = 24 if name == "DATE" else 1
    first = days(datetime(year, 1, 20)) * 24
    rows = generated(first, first + 24 * 365, step * 7, seed=len(unit) + year)
    start, end = first + 24 * 11 + step, first + 24 * 350 + 5 * step
    values = ", ".join(
        f"('{key}', {'NULL' if price is None else price}, {kind.literal(ts)}, {kind.literal(te)})"
        for key, price, ts, te in rows
    )
    table = (
        "SELECT key, CAST(price AS INT) AS price, ts, te "
        f"FROM VALUES {values} AS t(key, price, ts, te)"
    )
    more = f", period => array({kind.literal(start)}, {kind.literal(end)})"
    query = (
        f"SELECT key, {kind.number('bucket_start')} AS at, sum(price * share), "
        "sum(price * share) / sum(share) FILTER (WHERE price IS NOT NULL), sum(share), "
        "count_if(ts < bucket_start OR te > bucket_end OR ts >= te) "
        f"FROM {cut(table, unit, more)} GROUP BY key, bucket_start"
    )
    with configured(spark, {"spark.sql.session.timeZone": zone}):
        got = {(row[0], int(row[1])): row[2:] for row in spark.sql(query).collect()}
    expected = sums(rows, start, end, lambda n: UNITS[unit](kind.local(n), n), step)
    assert expected.keys() == got.keys()
    assert len(expected) > 2 or unit == "'YEAR'"
    for where, wanted in expected.items():
        assert got[where][:3] == pytest.approx(wanted), where
        assert got[where][3] == 0


@pytest.mark.parametrize(
    ("kind", "scale"), [("INT", 1), ("SMALLINT", 1), ("BIGINT", 1), ("DECIMAL(6, 2)", 4)]
)
@pytest.mark.parametrize(("every", "origin"), [(7, 0), (5, 3), (1, 0), (1000, -20)])
def test_numbers(spark: Any, kind: str, scale: int, every: int, origin: int) -> None:
    rows = generated(-60, 60, 7, seed=every)

    def end(n: int | None) -> str:
        return f"CAST({'NULL' if n is None else n / scale} AS {kind})"

    values = ", ".join(
        f"('{key}', {'NULL' if price is None else price}, {end(ts)}, {end(te)})"
        for key, price, ts, te in rows
    )
    table = f"SELECT * FROM VALUES {values} AS t(key, price, ts, te)"
    more = (
        f", origin => {origin / scale}BD, period => array({-50 / scale}BD, {49 / scale}BD)"
        if scale > 1
        else f", origin => {origin}, period => array(-50, 49)"
    )
    length = f"{every / scale}BD" if scale > 1 else every
    query = (
        f"SELECT key, bucket_start * {scale}, sum(price * share), "
        "sum(price * share) / sum(share) FILTER (WHERE price IS NOT NULL), sum(share) "
        f"FROM {cut(table, length, more)} GROUP BY key, bucket_start"
    )
    got = {(row[0], int(row[1])): tuple(row[2:]) for row in spark.sql(query).collect()}
    expected = sums(rows, -50, 49, lambda n: (n - origin) // every, 1)
    wanted = {
        (key, (at - origin) // every * every + origin): v for (key, at), v in expected.items()
    }
    assert wanted.keys() == got.keys()
    for where, one in wanted.items():
        assert got[where] == pytest.approx(one), where


def test_a_day_of_23_hours(spark: Any) -> None:
    table = "SELECT TIMESTAMP '2024-03-31 12:00:00' AS ts, TIMESTAMP '2024-04-01 12:00:00' AS te"
    query = f"SELECT share FROM {cut(table, DAY)} ORDER BY ts"
    with configured(spark, {"spark.sql.session.timeZone": "Europe/Berlin"}):
        assert [row.share for row in spark.sql(query).collect()] == [12 / 23, 12 / 24]


def test_a_clock_that_is_set_back_across_midnight(spark: Any) -> None:
    # At 00:01 on 2006-10-29 the clock was set back to 23:01 on the day before.
    table = (
        "SELECT TIMESTAMP '2006-10-28 00:00:00' AS ts, TIMESTAMP '2006-10-31 00:00:00' AS te "
        "UNION ALL SELECT TIMESTAMP '2006-10-29 02:40:00Z', TIMESTAMP '2006-10-29 02:50:00Z'"
    )
    query = (
        "SELECT CAST(unix_micros(bucket_start) / 3600e6 AS DECIMAL(9, 1)), "
        f"CAST(sum(share) AS DECIMAL(4, 3)) FROM {cut(table, DAY)} "
        "GROUP BY bucket_start ORDER BY 1"
    )
    with configured(spark, {"spark.sql.session.timeZone": "America/St_Johns"}):
        got = [(float(at), float(share)) for at, share in spark.sql(query).collect()]
    first = (datetime(2006, 10, 28, 2, 30) - EPOCH).total_seconds() / 3600
    assert got == [(first, 1), (first + 24, 1 + round(1 / 150, 3)), (first + 49, 1)]


@pytest.mark.parametrize(
    ("origin", "starts"),
    [
        (", origin => DATE '2023-12-25'", ["2023-12-25", "2024-01-25", "2024-02-25"]),
        (", origin => '2020-12-31'", ["2023-12-31", "2024-01-31", "2024-02-29"]),
        (", origin => '2030-12-31'", ["2023-12-31", "2024-01-31", "2024-02-29"]),
    ],
)
def test_months_from_a_day(spark: Any, origin: str, starts: list[str]) -> None:
    table = "SELECT DATE '2024-01-10' AS ts, DATE '2024-03-02' AS te"
    call = cut(table, MONTH, origin)
    got = spark.sql(f"SELECT string(bucket_start) FROM {call} ORDER BY 1").collect()
    assert [row[0] for row in got] == starts


@pytest.mark.parametrize(
    ("table", "every", "expected"),
    [
        ("SELECT 100Y AS ts, 120Y AS te", "100", [(100, None, 0.2)]),
        ("SELECT -128Y AS ts, -90Y AS te", "100", [(None, -100, 0.28), (-100, 0, 0.1)]),
        ("SELECT 99.5BD AS ts, 99.7BD AS te", "10", [(90, None, 0.02)]),
        ("SELECT -9223372036854775807L AS ts, -9223372036854775799L AS te",
         "4611686018427387904L", [(None, -(2**62), 2**-59)]),
        ("SELECT -9223372036854775807L AS ts, 9223372036854775806L AS te",
         "9223372036854775807L", [(-(2**63) + 1, 0, 1.0), (0, None, 1.0)]),
        ("SELECT DATE '2024-01-01' AS ts, DATE '+5881580-07-10' AS te",
         "INTERVAL '100000000' MONTH", [(date(1970, 1, 1), None, 2**-32)]),
    ],
)  # fmt: skip
def test_edges_that_the_type_does_not_have(
    spark: Any, table: str, every: str, expected: list[Any]
) -> None:
    call = cut(table, every)
    got = spark.sql(f"SELECT bucket_start, bucket_end, share FROM {call} ORDER BY ts").collect()
    for row, (start, end, share) in zip(got, expected, strict=True):
        assert (row[0], row[1]) == (start, end)
        assert row[2] == pytest.approx(share, rel=1e-2)


def test_rows_are_made_one_by_one(spark: Any) -> None:
    days_of_50_years = "SELECT DATE '1974-01-01' AS ts, DATE '2024-01-01' AS te FROM range(20)"
    call = cut(days_of_50_years, DAY)
    assert spark.sql(f"SELECT count(*), sum(share) FROM {call}").first() == (365240, 365240.0)
    years = "SELECT TIMESTAMP '2000-01-01' AS ts, TIMESTAMP '2024-01-01' AS te"
    endless = cut(
        years,
        "INTERVAL '0.000001' SECOND",
        ", max_buckets => 9000000000000000000",
    )
    assert len(spark.sql(f"SELECT * FROM {endless} LIMIT 3").collect()) == 3


def test_views_and_adaptive_execution(spark: Any) -> None:
    call = cut(
        f"SELECT * FROM {PRICES}",
        MONTH,
        ", period => array(DATE '2024-05-01', DATE '2024-08-01')",
    )
    query = (
        "SELECT product, bucket_start, sum(price * share) / sum(share) AS mean, sum(share) AS c "
        "FROM {} GROUP BY product, bucket_start"
    )
    expected = bag(
        [
            ("tea", date(2024, 5, 1), 3.0, 1.0),
            ("tea", date(2024, 6, 1), 3 * (10 / 30) + 4 * (20 / 30), 1.0),
            ("tea", date(2024, 7, 1), 4.0, 1.0),
            ("cup", date(2024, 6, 1), 9.0, 1.0),
            ("cup", date(2024, 7, 1), 9.0, 1.0),
            ("pot", date(2024, 6, 1), None, 1.0),
        ]
    )
    spark.sql(f"CREATE OR REPLACE TEMP VIEW months AS SELECT * FROM {call}")
    for adaptive in ("true", "false"):
        with configured(spark, {"spark.sql.adaptive.enabled": adaptive}):
            for source in (call, "months"):
                assert bag(map(tuple, spark.sql(query.format(source)).collect())) == expected
    history = (
        "SELECT * FROM sequenced(TABLE(SELECT product, price FROM validtime(TABLE(SELECT * FROM "
        f"{PRICES}), 'ts', 'te')), period => array(DATE '2024-05-01', DATE '2024-08-01'))"
    )
    of_sequenced = cut(history, MONTH)
    assert bag(map(tuple, spark.sql(query.format(of_sequenced)).collect())) == expected


def test_the_result_of_python_is_that_of_sql(spark: Any) -> None:
    prices = temporal.valid(spark.sql(f"SELECT * FROM {PRICES}"), "ts", "te")
    period = (date(2024, 5, 1), date(2024, 8, 1))
    months = prices.resample("month", by="product", period=period)
    got = months.agg(
        mean=("avg", "price"),
        total=("sum", "PRICE"),
        least=("min", "price"),
        most=("max", "price"),
        first=("first", "price"),
        last=("last", "price"),
        covered="covered",
        n="count",
    )
    assert got.columns[:4] == ["product", "bucket_start", "bucket_end", "mean"]
    rows = {(row.product, row.bucket_start.month): tuple(row)[3:] for row in got.collect()}
    mean = pytest.approx(3 / 3 + 4 * 2 / 3)
    assert rows["tea", 6] == (mean, mean, 3, 4, 3, 4, pytest.approx(1), 2)
    assert rows["tea", 7] == (4, 4, 4, 4, 4, 4, 1, 1)
    assert rows["pot", 6] == (None, None, None, None, None, None, 1, 1)
    assert len(rows) == 6
    pieces = months.frame
    assert pieces.columns == ["product", "price", "ts", "te", "bucket_start", "bucket_end", "share"]
    call = cut(
        f"SELECT * FROM {PRICES}",
        MONTH,
        ", period => array('2024-05-01', '2024-08-01')",
    )
    assert bag(map(tuple, pieces.collect())) == bag(
        map(tuple, spark.sql(f"SELECT * FROM {call}").collect())
    )
    total = prices.period(*period).resample("QUARTER", names=("f", "t", "part"))
    assert total.agg(c="covered").columns == ["f", "t", "c"]


def test_the_result_of_arrow_is_that_of_sql(spark: Any) -> None:
    for kind, every, bounds in (
        ("INT", 7, (-50, 49)),
        ("DECIMAL(5, 1)", 2, (-50, 49)),
        ("TIMESTAMP", timedelta(hours=36), (datetime(1969, 11, 1), datetime(1970, 2, 1))),
        ("DATE", 10, (date(1969, 11, 1), date(1970, 2, 1))),
    ):
        cast = "timestamp_seconds({0} * 86400)" if kind == "TIMESTAMP" else f"CAST({{0}} AS {kind})"
        cast = "date_from_unix_date({0})" if kind == "DATE" else cast
        values = ", ".join(
            str(row).replace("None", "NULL") for row in generated(-60, 60, 7, seed=3)
        )
        frame = spark.sql(
            f"SELECT key, price, {cast.format('ts')} AS ts, {cast.format('te')} AS te "
            f"FROM VALUES {values} AS t(key, price, ts, te)"
        )
        expected = table_functions.temporal_resample(
            frame, every, ts="ts", te="te", period=bounds, origin=bounds[0]
        )
        got = isat.resample(frame.toArrow(), every, period=bounds, origin=bounds[0])
        assert got.column_names == expected.columns
        rows = expected.toArrow().to_pylist()
        assert bag(tuple(row.values()) for row in rows) == bag(
            tuple(row.values()) for row in got.to_pylist()
        )
        assert len(rows) > 20


@pytest.mark.parametrize(
    ("every", "more", "message"),
    [
        ("'MONTH'", "", r"SEQUENCED\.LENGTH\] A period without a start or an end"),
        ("'MONTH'", ", period => array(DATE '2024-01-01', NULL)", "A period without a start"),
        ("'FORTNIGHT'", "", r"LENGTH\] every is 'FORTNIGHT'"),
        ("0", "", "a length of more than 0"),
        ("NULL", "", "temporal_resample needs every"),
        ("'DAY'", ", period => array(DATE '2000-01-01', DATE '9999-12-31')",
         r"A period has \d+ buckets, and max_buckets is 1000000"),
        ("'DAY'", ", period => array('2024-01-01', '2024-12-01'), max_buckets => 30",
         r"A period has \d+ buckets, and max_buckets is 30"),
        ("'DAY'", ", max_buckets => 0", "`max_buckets` of temporal_resample must be a whole"),
        ("'DAY'", ", max_buckets => 'x'", "`max_buckets` of temporal_resample must be a whole"),
        ("'DAY'", ", period => array('2025-01-01', '2024-01-01')",
         "`period` of temporal_resample must be array"),
        ("'DAY'", ", origin => NULL", "`origin` of temporal_resample must be a value"),
        ("'DAY'", ", names => array('a', 'b')", "`names` of temporal_resample must be three names"),
        ("'DAY'", ", names => array('a', 'PRICE', 'c')", "got 'PRICE', which is a column already"),
        ("'DAY'", ", names => array('a', 'b', 'A')", "got 'A', which is a column already"),
    ],
)  # fmt: skip
def test_errors(spark: Any, every: str, more: str, message: str) -> None:
    call = cut(f"SELECT * FROM {PRICES}", every, more)
    with pytest.raises(PySparkException, match=message):
        spark.sql(f"SELECT * FROM {call}").collect()


def test_it_is_called_alone(spark: Any) -> None:
    marked = f"SELECT * FROM validtime(TABLE(SELECT * FROM {PRICES}), 'ts', 'te')"
    for call, message in (
        (f"temporal_resample(TABLE({marked}), 'MONTH')", "call it on the result of sequenced"),
        (f"sequenced(TABLE(SELECT * FROM temporal_resample(TABLE({marked}), 'MONTH')))",
         "call it on the result of sequenced"),
        (f"temporal_resample(TABLE(SELECT * FROM {PRICES}), 'MONTH')",
         "`ts` of temporal_resample must be the name"),
        ("temporal_resample(TABLE(SELECT 1.0D AS ts, 2.0D AS te), 1, ts => 'ts', te => 'te')",
         r"SEQUENCED\.LENGTH"),
    ):  # fmt: skip
        with pytest.raises(AnalysisException, match=message):
            spark.sql(f"SELECT * FROM {call}")


def test_errors_of_python(spark: Any) -> None:
    prices = temporal.valid(spark.sql(f"SELECT * FROM {PRICES}"), "ts", "te")
    months = prices.resample("MONTH", by=["product"], period=("2024-05-01", "2024-08-01"))
    for made, message in (
        (lambda: prices.at(date(2024, 1, 1)).resample("MONTH"), r"without at\(\)"),
        (lambda: prices.shown_as(closed="both").resample("MONTH"), r"without at\(\)"),
        (lambda: prices.resample("MONTH", by="prodct"), "product"),
        (lambda: prices.resample("MONTH", period=["2024-05-01"]), "must be a tuple of two"),
        (lambda: months.agg(), "must not be empty"),
        (lambda: months.agg(x="sum"), '`x` must be "covered", "count", or a pair'),
        (lambda: months.agg(x=("price", "avg")), "one of avg, sum, min, max, first, last"),
        (lambda: months.agg(x=("avg", "prize")), "price"),
        (lambda: months.agg(product=("avg", "price")), "product"),
    ):
        with pytest.raises(Exception, match=message) as caught:
            made()
        assert type(caught.value).__module__ == "intervalsweep._errors"


def test_no_rows(spark: Any) -> None:
    frame = spark.sql(f"SELECT * FROM {PRICES}").where("false")
    prices = temporal.valid(frame, "ts", "te")
    assert prices.resample("MONTH").agg(mean=("avg", "price")).collect() == []
    assert isat.resample(frame.toArrow(), 1).num_rows == 0


def test_the_examples(spark: Any) -> None:
    assert run_example(table_functions.temporal_resample, spark=spark)
    assert run_example(temporal.Resampled, spark=spark, temporal=temporal)
    assert run_example(isat.resample, pa=pa)
