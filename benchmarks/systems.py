# SPDX-License-Identifier: Apache-2.0
"""The systems that are compared, each behind the same small adapter.

All systems get the same number of cores. Each gets the spelling of the query that suits it best;
README.md says which and why.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.adapter import Answer, Case, Limits, Run, System, UnsupportedError, integers
from benchmarks.overlaps import PolarsBio
from benchmarks.workloads import starts_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ENABLED = "spark.sql.intervalsweep.enabled"
BROADCAST = "spark.sql.autoBroadcastJoinThreshold"
AGGREGATE_RUNS = "spark.sql.intervalsweep.aggregateRuns"
EXECUTOR_MEBIBYTES = 2048


@dataclass(frozen=True)
class Entry:
    """A system's title, the packages whose versions are reported, and its start function."""

    title: str
    packages: tuple[str, ...]
    start: Callable[[Limits], System]
    is_tuned: bool = False

    @property
    def compiles_as_it_runs(self) -> bool:
        """True for systems on Java, which get faster for a dozen runs."""
        return "pyspark" in self.packages


def spark_session(limits: Limits, **settings: str) -> SparkSession:
    """A local session with the extension; its files stay in the scratch folder."""
    import pyspark
    from pyspark.sql import SparkSession

    import intervalsweep

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    scratch = str(limits.scratch)
    master = f"local[{limits.cores}]"
    if limits.executors:
        os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).resolve().parent)
        master = f"local-cluster[{limits.executors},1,{EXECUTOR_MEBIBYTES}]"
    all_settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": limits.heap,
        "spark.executor.memory": f"{EXECUTOR_MEBIBYTES}m",
        "spark.pyspark.python": sys.executable,
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={scratch}",
        "spark.local.dir": scratch,
        "spark.sql.shuffle.partitions": str(limits.partitions or 2 * limits.cores),
        **settings,
    }
    builder = SparkSession.builder.master(master)
    for key, value in all_settings.items():
        builder = builder.config(key, value)
    spark = intervalsweep.configure(builder).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def name_tables(spark: SparkSession, folder: Path) -> None:
    """Creates the views r and s over the files of a workload."""
    for side in "rs":
        spark.read.parquet(f"{folder}/{side}.parquet").createOrReplaceTempView(side)


class SparkSystem:
    """Spark with the extension, or with Spark's own plans."""

    def __init__(self, limits: Limits, is_swept: bool, **settings: str) -> None:
        self.is_swept = is_swept
        enabled = {ENABLED: "true" if is_swept else "false"}
        self.spark = spark_session(limits, **enabled, **settings)

    def prepare(self, case: Case) -> Run:
        return self.query(case, case.workload.sql("r", "s", case.workload.on(self.is_swept)))

    def query(self, case: Case, text: str) -> Run:
        name_tables(self.spark, case.folder)
        return lambda: integers(self.spark.sql(text).collect()[0])


class BinnedSpark(SparkSystem):
    """Spark with hand-written bins: each interval is copied to all bins it touches; bins are a key.

    If each match has the start of one side in the interval of the other, only the other side is
    copied. If either side may start first, a pair counts in the bin of the later start only.
    """

    def prepare(self, case: Case) -> Run:
        workload, width = case.workload, case.width
        if workload.join != "inner":
            raise UnsupportedError("bins by hand make inner joins only")
        side = starts_in(workload.formula)
        if side is None:
            raise UnsupportedError("matches need not share a bin, or are found by an equality")
        tables = []
        for name in "rs":
            bins = f"ts div {width}"
            if side in (name, "both"):
                bins = f"explode(sequence({bins}, greatest(ts, te - 1) div {width}))"
            tables.append(f"(SELECT *, {bins} AS bin FROM {name})")
        on = f"r.bin = s.bin AND {workload.on()}"
        if side == "both":
            on += f" AND r.bin = greatest(r.ts, s.ts) div {width}"
        return self.query(case, workload.sql(tables[0], tables[1], on))


class DuckDB:
    """DuckDB, which reads the files in the query."""

    def __init__(self, limits: Limits) -> None:
        import duckdb

        self.connection = duckdb.connect(config={"threads": limits.cores})

    def prepare(self, case: Case) -> Run:
        r, s = (f"'{case.file(side)}'" for side in "rs")
        text = case.workload.sql(r, s, case.workload.on(), semi="SEMI JOIN")
        return lambda: integers(self.connection.execute(text).fetchall()[0])


class Polars:
    """Polars' SQL on lazy scans, with the streaming engine."""

    def __init__(self, limits: Limits) -> None:
        os.environ["POLARS_MAX_THREADS"] = str(limits.cores)
        import polars

        self.polars = polars

    def prepare(self, case: Case) -> Run:
        text = case.workload.sql("r", "s", case.workload.on(), semi=None)
        tables = {side: self.polars.scan_parquet(case.file(side)) for side in "rs"}

        def run() -> Answer:
            frame = self.polars.SQLContext(tables).execute(text)
            return integers(frame.collect(engine="streaming").row(0))

        return run


class ClickHouse:
    """ClickHouse in this process, through chdb."""

    def __init__(self, limits: Limits) -> None:
        from chdb import session

        self.session = session.Session(str(limits.scratch / "clickhouse"))
        self.settings = f"SETTINGS max_threads = {limits.cores}, join_use_nulls = 1"

    def prepare(self, case: Case) -> Run:
        r, s = (f"file('{case.file(side)}', Parquet)" for side in "rs")
        text = f"{case.workload.sql(r, s, case.workload.on())} {self.settings}"

        def run() -> Answer:
            values = str(self.session.query(text, "TabSeparated")).split()
            return integers(values)

        return run


class DataFusion:
    """DataFusion, through its Python package."""

    def __init__(self, limits: Limits) -> None:
        import datafusion

        self.datafusion = datafusion
        self.cores = limits.cores

    def prepare(self, case: Case) -> Run:
        text = case.workload.sql("r_file", "s_file", case.workload.on())
        config = self.datafusion.SessionConfig().with_target_partitions(self.cores)
        context = self.datafusion.SessionContext(config)
        for side in "rs":
            context.register_parquet(f"{side}_file", case.file(side))

        def run() -> Answer:
            batches = context.sql(text).collect()
            return integers(column[0].as_py() for column in batches[0].columns)

        return run


SPARK = ("pyspark",)
SWEEP = ("intervalsweep", *SPARK, "pyarrow", "numba", "numpy")
SYSTEMS = {
    "intervalsweep": Entry("IntervalSweep", SWEEP, lambda limits: SparkSystem(limits, True)),
    "intervalsweep-pairs": Entry(
        "IntervalSweep, all pairs made",
        SWEEP,
        lambda limits: SparkSystem(limits, True, **{AGGREGATE_RUNS: "false"}),
    ),
    "intervalsweep-broadcast": Entry(
        "IntervalSweep, broadcast",
        SWEEP,
        lambda limits: SparkSystem(limits, True, **{BROADCAST: "1g"}),
    ),
    "intervalsweep-distributed": Entry(
        "IntervalSweep, distributed",
        SWEEP,
        lambda limits: SparkSystem(limits, True, **{BROADCAST: "-1"}),
    ),
    "intervalsweep-distributed-pairs": Entry(
        "IntervalSweep, distributed, all pairs made",
        SWEEP,
        lambda limits: SparkSystem(limits, True, **{BROADCAST: "-1", AGGREGATE_RUNS: "false"}),
    ),
    "spark": Entry("Spark alone", SPARK, lambda limits: SparkSystem(limits, False)),
    "spark-bins": Entry(
        "Spark, hand-written bins", SPARK, lambda limits: BinnedSpark(limits, False), is_tuned=True
    ),
    "duckdb": Entry("DuckDB", ("duckdb",), DuckDB),
    "polars": Entry("Polars", ("polars",), Polars),
    "clickhouse": Entry("ClickHouse", ("chdb", "chdb-core"), ClickHouse),
    "datafusion": Entry("DataFusion", ("datafusion",), DataFusion),
    "polars-bio": Entry("polars-bio", ("polars-bio",), PolarsBio),
}
ON_REQUEST = (
    "intervalsweep-broadcast",
    "intervalsweep-distributed",
    "intervalsweep-distributed-pairs",
)
FULL = tuple(name for name in SYSTEMS if name not in ON_REQUEST)
# Ten minutes are too short for two more systems. DataFusion compares all pairs.
HEADLINE = tuple(name for name in FULL if name not in ("intervalsweep-pairs", "datafusion"))
