# SPDX-License-Identifier: Apache-2.0
"""Compares histories of sets with PostgreSQL's multiranges, which have union and difference.

Installs PostgreSQL once from pip, below `target/`, and starts a server that listens only on a
socket in a temporary folder. PostgreSQL's tables are loaded and analyzed beforehand; ours are
Parquet files.

python -m benchmarks.temporal.postgres [--rows 1000000] [--runs 5]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeAlias

from pyarrow import csv, parquet

from benchmarks.adapter import Limits
from benchmarks.temporal.__main__ import OURS, Systems, timed, write
from benchmarks.temporal.queries import LENGTHS

Ask: TypeAlias = Callable[[str], tuple[str, ...]]

VENV = Path("target/benchmarks/postgres").resolve()
PACKAGE = "pgserver==0.1.*"
# The server runs until its input ends.
SERVER = """
import sys, pgserver
server = pgserver.get_server(sys.argv[1], cleanup_mode="delete")
print(server.get_uri(), pgserver._commands.POSTGRES_BIN_PATH / "psql", flush=True)
sys.stdin.read()
server.cleanup()
"""
SETTINGS = "-c work_mem=1GB -c max_parallel_workers_per_gather=2 -c jit=on"
SETS = {
    "DISTINCT": (
        "SELECT * FROM sequenced(TABLE(SELECT DISTINCT v FROM r_valid))",
        "SELECT v, unnest(range_agg(int8range(ts, te))) AS x FROM r GROUP BY v",
    ),
    "EXCEPT": (
        "SELECT * FROM sequenced(TABLE(SELECT v FROM r_valid EXCEPT SELECT w FROM s_valid))",
        "SELECT v, unnest(a - coalesce(b, '{}')) AS x FROM "
        "(SELECT v, range_agg(int8range(ts, te)) AS a FROM r GROUP BY v) r LEFT JOIN "
        "(SELECT w, range_agg(int8range(ts, te)) AS b FROM s GROUP BY w) s ON w = v",
    ),
}


def main() -> None:
    """Measures both queries and prints the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    install()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write(folder, arguments.rows)
        systems = Systems(folder, Limits(2, "4g", folder))
        with server() as ask:
            load(folder, ask)
            for title, (ours, ranges) in SETS.items():
                parts = f"SELECT v, lower(x) AS ts, upper(x) AS te FROM ({ranges}) AS ranges"
                ways: dict[str, Callable[[], tuple[object, ...]]] = {
                    OURS: partial(systems.swept, LENGTHS.format(ours)),
                    "PostgreSQL": partial(ask, LENGTHS.format(parts) + " AS parts"),
                }
                took = timed(arguments.runs, ways)
                own, other = took.values()
                print(f"{title}: {own:.2f} s, PostgreSQL {other:.2f} s, {other / own:.2f} x")
        systems.spark.stop()


@contextmanager
def server() -> Iterator[Ask]:
    """Runs a server; yields a function that answers a query."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        program = [str(VENV / "bin/python"), "-W", "ignore", "-c", SERVER, f"{folder}/data"]
        with subprocess.Popen(
            program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            uri, psql = process.stdout.readline().split()

            def ask(query: str) -> tuple[str, ...]:
                command = [psql, uri, "-v", "ON_ERROR_STOP=1", "-qtAF,", "-c", query]
                options = {"PGOPTIONS": SETTINGS}
                done = subprocess.run(
                    command, check=True, capture_output=True, text=True, env=options
                )
                return tuple(done.stdout.strip().split(","))

            yield ask
            process.communicate()


def load(folder: Path, ask: Ask) -> None:
    for name, value in (("r", "v"), ("s", "w")):
        file = folder / f"{name}.csv"
        csv.write_csv(parquet.read_table(folder / f"{name}.parquet"), file)
        ask(f"CREATE TABLE {name} (k int8, {value} int8, ts int8, te int8)")
        ask(f"\\copy {name} FROM '{file}' CSV HEADER")
        ask(f"VACUUM ANALYZE {name}")


def install() -> None:
    if not VENV.exists():
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
        subprocess.run([str(VENV / "bin/pip"), "install", "--quiet", PACKAGE], check=True)


if __name__ == "__main__":
    main()
