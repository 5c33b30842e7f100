# SPDX-License-Identifier: Apache-2.0
"""`make demo`: interval joins on real data, compared with Spark's own plan."""

from __future__ import annotations

import re
import sys
import time
from dataclasses import dataclass

from pyspark.sql import SparkSession
from run import examples, session

ENABLED = "spark.sql.intervalsweep.enabled"


@dataclass(frozen=True)
class Case:
    """A query on the views of an example, its known answer, and a smaller query for both plans."""

    example: str
    about: str
    sql: str
    answer: int
    slice_name: str
    slice_sql: str


CASES = [
    Case(
        example="exons_hotspots",
        about="438,694 exons and 198,621 DNase hotspots: which of them share a base of the genome?",
        sql="""\
SELECT count(*) FROM exons e JOIN hotspots h
  ON e.contig = h.contig
  AND INTERVAL_INTERSECTS(e.pos_start, e.pos_end, h.pos_start, h.pos_end)""",
        answer=54_246,
        slice_name="chr1 alone",
        slice_sql="""\
SELECT count(*) FROM exons e JOIN hotspots h
  ON e.contig = h.contig AND e.contig = 'chr1'
  AND INTERVAL_INTERSECTS(e.pos_start, e.pos_end, h.pos_start, h.pos_end)""",
    ),
    Case(
        example="file_histories",
        about="28,758 periods in which a file did not change: which intersect, without a key?",
        sql="""\
SELECT count(*) FROM history a JOIN history b
  ON INTERVAL_INTERSECTS(a.start, a.end, b.start, b.end)""",
        answer=172_522_486,
        slice_name="the same query",
        slice_sql="""\
SELECT count(*) FROM history a JOIN history b
  ON INTERVAL_INTERSECTS(a.start, a.end, b.start, b.end)""",
    ),
]


def run_case(spark: SparkSession, case: Case) -> bool:
    """Shows one case; returns True if plan and answers are right."""
    print(f"\n{case.about}\n\n{indented(case.sql)}\n")
    next(e for e in examples() if e.path.stem == case.example).make_views(spark)
    join = join_line(spark, case.sql)
    print(f"  plan    {join}")
    answer, seconds = timed(spark, case.sql)
    right = answer == case.answer
    print(f"  answer  {answer:,} pairs{'' if right else f' - WRONG, it is {case.answer:,}'}")
    _, again = timed(spark, case.sql)
    print(f"  time    {seconds:.1f} s including startup, {again:.1f} s the second time")

    swept, swept_seconds = timed(spark, case.slice_sql)
    spark.conf.set(ENABLED, "false")
    own_join = join_line(spark, case.slice_sql).split()[0]
    own, own_seconds = timed(spark, case.slice_sql)
    spark.conf.set(ENABLED, "true")
    print(
        f"  Spark   own plan, {own_join}, on {case.slice_name}: "
        f"{own_seconds:.1f} s, IntervalSweepJoin {swept_seconds:.1f} s, "
        f"{'the same answer' if own == swept else f'ANSWERS DIFFER: {own:,} and {swept:,}'}"
    )
    return right and own == swept and "IntervalSweepJoin" in join


def timed(spark: SparkSession, sql: str) -> tuple[int, float]:
    start = time.perf_counter()
    row = spark.sql(sql).first()
    assert row is not None
    return row[0], time.perf_counter() - start


def join_line(spark: SparkSession, sql: str) -> str:
    """The line of EXPLAIN that names the join, without column numbers."""
    text = str(spark.sql("EXPLAIN " + sql).first())
    joins = re.findall(r"\w*Join[^\n]*", text.replace("\\n", "\n"))
    return re.sub(r"#\d+L?", "", joins[0]) if joins else "no join"


def indented(text: str) -> str:
    return "\n".join("    " + line for line in text.splitlines())


def main() -> int:
    print("IntervalSweep on real data. Starting Spark ...", flush=True)
    spark = session()
    right = [run_case(spark, case) for case in CASES]
    spark.stop()
    if not all(right):
        print("\nThe demo failed: please report it, with all of the output above.")
        return 1
    print("""
What to try next
  python sql-examples/run.py --list        more examples, each a file of plain SQL
  make test                                the tests
  README.md                                your own data: spark-sql, spark-submit, Python""")
    return 0


if __name__ == "__main__":
    sys.exit(main())
