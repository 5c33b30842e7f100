# SPDX-License-Identifier: Apache-2.0
"""Spark Connect: a server with the extension, and clients without a JVM and py4j."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.spark.applications import run
from support.spark.servers import connect_server

# A client with PySpark as `pip install pyspark-client` installs it: without py4j and the modules
# that need it. The client runs the programs that it reads, and writes a line for each: its output,
# and its error.
CLIENT = """
import contextlib, io, json, sys, traceback
from importlib.abc import MetaPathFinder

class OnlyConnect(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "py4j" or name.startswith("pyspark.core"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, OnlyConnect())

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.functions import lit
from pyspark.util import is_remote_only
import intervalsweep
from intervalsweep import IntervalSweepError
from intervalsweep import dataframe as isd
from intervalsweep import functions as isf

assert is_remote_only() and "py4j" not in sys.modules
spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
r = spark.sql("SELECT id AS ts, id + 10 AS te FROM range(100)")
s = spark.sql("SELECT id AS sts, id + 5 AS ste FROM range(100)")

def message(attempt):
    try:
        attempt()
    except Exception as error:
        return type(error).__name__ + " " + str(error)
    raise AssertionError("there was no error")

for program in json.load(sys.stdin):
    out, failure = io.StringIO(), ""
    with contextlib.redirect_stdout(out):
        try:
            exec(program, dict(globals()))
        except Exception:
            failure = traceback.format_exc()
    print(json.dumps([out.getvalue().splitlines(), failure]))
"""


Answers = dict[str, tuple[list[str], str]]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with connect_server(tmp_path_factory.mktemp("connect")) as address:
        yield address


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory, server: str) -> Answers:
    """The answers of one client, which runs the programs of all tests that are not extended."""
    programs = (FUNCTIONS, HISTORIES, REPORTS, ERRORS)
    return ask(tmp_path_factory.mktemp("client"), server, *programs)


def ask(folder: Path, server: str, *programs: str) -> Answers:
    script = folder / "client.py"
    script.write_text(CLIENT, encoding="utf-8")
    typed = json.dumps(programs)
    done = run(folder, [sys.executable, str(script), server], typed=typed)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-6000:]}"
    return dict(zip(programs, map(json.loads, done.stdout.splitlines()), strict=True))


def printed(answers: Answers, program: str) -> list[str]:
    lines, failure = answers[program]
    assert not failure, failure
    return lines


FUNCTIONS = """
joined = r.join(s, isf.allen_overlaps(r.ts, r.te, s.sts, s.ste))
joined.explain()
print(joined.count())
print(r.join(s, isf.allen_overlaps("ts", "te", "sts", "ste")).count())
print(r.join(s, isf.iseql_left_overlap("ts", "te", "sts", "ste", epsilon=0)).count())
"""


def test_functions_are_swept(answers: Answers) -> None:
    *plan, by_columns, by_names, with_parameter = printed(answers, FUNCTIONS)
    assert "IntervalSweepJoin Inner" in "".join(plan)
    assert (by_columns, by_names, with_parameter) == ("370", "370", "95")


HELPERS = """
few = isd.half_open(r.where("ts < 3"), "ts", "te", closed="right")
few = few.selectExpr("*", "ts % 1 AS k")
print(isd.join(few, few, "interval_intersects", by="k", how="full").count())
print(isd.nearest(few, s, right_on=("sts", "ste")).select("distance").distinct().count())
print(isd.as_of_join(few, few, on="ts", by="k", tolerance=1, how="inner").count())
print([tuple(row) for row in isd.merge(few, by="k", gap=1).collect()])
print(isd.split(few).count(), isd.complement(few, within=(0, 20)).count())
print(isd.coverage(few, few, by="k").where("covered = te - ts").count())
counted = isd.window_union(few, few, by=few.k, pre=1, n="count(*)")
print([row.n for row in counted.orderBy("ts").collect()])
"""


@pytest.mark.extended
def test_helpers_for_dataframes(tmp_path: Path, server: str) -> None:
    lines = ["9", "1", "3", "[(0, 1, 13, 3)]", "5 2", "3", "[1, 2, 2]"]
    assert printed(ask(tmp_path, server, HELPERS), HELPERS) == lines


HISTORIES = """
from intervalsweep import temporal
few = temporal.valid(r.where("ts < 3").selectExpr("ts % 2 AS k", "ts", "te"), "ts", "te")
counts = temporal.sequenced(
    spark, "SELECT k, count(*) AS n FROM f WHERE string(k) <> '{' GROUP BY k", f=few
)
print(sorted(map(tuple, counts.collect())))
left = few.where("k = 0").except_all(few.where("k = 0").window(3))
print(sorted(map(tuple, left.period(0, 10).frame.collect())), left.columns)
print(few.left_join(s.selectExpr("ste AS k", "sts"), "K").at(2).frame.count())
print(few.where(sf.col("k") == 0).agg(n=sf.count("*")).at(2).frame.collect()[0].n)
tens = few.resample(10, by="K", period=(1, 30)).agg(c="covered", most=("max", "k"))
print(sorted((k, a, b, round(c, 3), most) for k, a, b, c, most in tens.collect()))
"""


def test_histories(answers: Answers) -> None:
    assert printed(answers, HISTORIES) == [
        "[(0, 1, 0, 2), (0, 1, 10, 12), (0, 2, 2, 10), (1, 1, 1, 11)]",
        "[(0, 3, 10), (0, 5, 10)] ['k']",
        "3",
        "2",
        "[(0, 0, 10, 1.7, 0), (0, 10, 20, 0.2, 0), (1, 0, 10, 0.9, 1), (1, 10, 20, 0.1, 1)]",
    ]


REPORTS = """
same = spark.sql("SELECT id AS ts, id + 5 AS te FROM range(100)")
twice_named = r.join(same, isf.allen_overlaps(r.ts, r.te, same.ts, same.te))
for frame in (twice_named, r.join(s, r.ts == s.sts)):
    (report,) = intervalsweep.why_not(frame)
    print((report.swept, report.reason, report.join_type))
print(spark.catalog.listTables())
"""


def test_reports_on_joins(answers: Answers) -> None:
    swept, left, views = map(ast.literal_eval, printed(answers, REPORTS))
    assert swept == (True, None, "INNER")
    assert left == (False, "OnlyEqualities", "INNER")
    assert views == []


ERRORS = """
wrong = {
    "relation": lambda: isd.join(r, s, "allen_overlap"),
    "column": lambda: isd.join(r, s, "allen_overlaps"),
    "parameter": lambda: isd.join(r, r, "iseql_before", delta=-1).count(),
    "type": lambda: r.select(isf.allen_meets("ts", "te", "ts", lit(b"x"))).show(),
    "configure": lambda: intervalsweep.configure(SparkSession.builder.remote("sc://x")),
    "register": lambda: intervalsweep.register(spark),
}
print({what: message(attempt) for what, attempt in wrong.items()})
"""


def test_errors(answers: Answers) -> None:
    (line,) = printed(answers, ERRORS)
    messages = ast.literal_eval(line)
    assert messages["relation"].startswith(
        "ArgumentError Unknown relation 'allen_overlap'. Did you mean "
    )
    assert messages["column"].startswith(
        "ColumnError The right side has no column ts. Did you mean sts?"
    )
    assert messages["parameter"].startswith("ArgumentError `delta` must not be negative; got -1")
    assert "DATATYPE_MISMATCH.DATA_DIFF_TYPES" in messages["type"]
    for what in ("configure", "register"):
        assert messages[what].startswith("SetupError ")
        assert "start the server with --jars" in messages[what]
