# SPDX-License-Identifier: Apache-2.0
"""Compares libraries that join intervals without Spark, from Arrow tables to a table of pairs.

    python -m benchmarks.studies.peers [--data FOLDER] [--rows 1000000] [--memory 8]
        [--output FOLDER]

There are two cases: exons with DNase hotspots by contig, and `--rows` synthetic intervals a side of
mean length 100 with about 200 matches each. The input columns are contig, start, end and id; the
output columns are the ids of the pairs, and others if the library cannot leave them out. Each
library runs in a separate process, which is killed if it takes more than `--memory` GiB. The time
is the best of at least four runs and at least two seconds. Measuring stops after half a minute;
imports do not count.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks import data, machine
from benchmarks.processes import resident
from benchmarks.report import write_json

ENDS = ("start", "end")
NAMES = ["contig", "start", "end"]
Join = Callable[[Any, Any], Any]


def sweep_pairs() -> Join:
    from intervalsweep import arrow

    def run(left: Any, right: Any) -> Any:  # the id of a row is its number
        return arrow.pairs(left, right, on=ENDS, by="contig").rename_columns(["id", "id_right"])

    return run


def sweep_join() -> Join:
    from intervalsweep import arrow

    return lambda left, right: arrow.join(
        left, right, on=ENDS, by="contig", columns=["id", "id_right"]
    )


def ncls() -> Join:
    """NCLS has no contigs, so there is one structure for each contig."""
    from ncls import NCLS

    def run(left: Any, right: Any) -> Any:
        pairs = []
        for contig in pc.unique(left.column("contig")):
            sides = [side.filter(pc.equal(side.column("contig"), contig)) for side in (left, right)]
            (start, end, ids), other = (
                [np.ascontiguousarray(side.column(name)) for name in (*ENDS, "id")]
                for side in sides
            )
            if other[0].size:
                pairs.append(NCLS(*other).all_overlaps_both(start, end, ids))
        ids, other_ids = (np.concatenate(column) for column in zip(*pairs, strict=True))
        return pa.table({"id": ids, "id_right": other_ids})

    return run


def bioframe() -> Join:
    import bioframe

    def run(left: Any, right: Any) -> Any:
        found = bioframe.overlap(
            left.to_pandas(), right.to_pandas(), how="inner", cols1=NAMES, cols2=NAMES,
            return_input=False, return_index=True,
        )  # fmt: skip
        found.columns = ["id", "id_right"]
        return pa.Table.from_pandas(found, preserve_index=False)

    return run


def pyranges() -> Join:
    import pandas
    import pyranges1

    def side(table: Any) -> Any:
        names = {"contig": "Chromosome", "start": "Start", "end": "End"}
        return pyranges1.PyRanges(pandas.DataFrame(table.to_pandas().rename(columns=names)))

    def run(left: Any, right: Any) -> Any:
        found = side(left).join_overlaps(side(right), suffix="_right")
        return pa.table({name: found[name].to_numpy() for name in ("id", "id_right")})

    return run


def polars_bio() -> Join:
    import polars
    import polars_bio

    polars_bio.set_option("datafusion.execution.target_partitions", str(os.cpu_count()))

    def run(left: Any, right: Any) -> Any:
        frames = []
        for table in (left, right):
            frame = polars.from_arrow(table).lazy()
            frame.config_meta.set(coordinate_system_zero_based=True)
            frames.append(frame)
        found = polars_bio.overlap(*frames, cols1=NAMES, cols2=NAMES, suffixes=("", "_right"))
        return found.select("id", "id_right").collect(engine="streaming").to_arrow()

    return run


PEERS: dict[str, tuple[str, Callable[[], Join]]] = {
    "intervalsweep.arrow.pairs": ("intervalsweep", sweep_pairs),
    "intervalsweep.arrow.join": ("intervalsweep", sweep_join),
    "NCLS": ("ncls", ncls),
    "bioframe": ("bioframe", bioframe),
    "pyranges1": ("pyranges1", pyranges),
    "polars-bio": ("polars-bio", polars_bio),
}


def genome(folder: Path, rows: int) -> tuple[Any, Any]:
    left, right = (pq.read_table(folder / name) for name in ("exons", "fbrain"))
    sides = [
        _table(side.column("contig").cast(pa.string()), side.column("pos_start"), side.column(
            "pos_end"))
        for side in (left, right)
    ]  # fmt: skip
    return sides[0], sides[1]


def synthetic(folder: Path, rows: int) -> tuple[Any, Any]:
    sides = []
    for seed in (1, 2):
        random = np.random.default_rng((seed, rows))
        start = random.integers(0, rows, rows)
        end = start + 1 + random.exponential(100, rows).astype(np.int64)
        sides.append(_table(pa.array(["1"] * rows), pa.chunked_array([start]), end))
    return sides[0], sides[1]


def _table(contig: Any, start: Any, end: Any) -> Any:
    columns = [pa.chunked_array([np.asarray(ends, np.int64)]) for ends in (start, end)]
    ids = pa.chunked_array([np.arange(len(columns[0]))])
    return pa.table(dict(zip((*NAMES, "id"), (contig, *columns, ids), strict=True)))


CASES = {"exons x fbrain": genome, "synthetic": synthetic}


def measure(name: str, case: str, folder: Path, rows: int, pipe: Connection) -> None:
    """Measures in a separate process; sends seconds, the number of pairs and sums of ids."""
    try:
        join = PEERS[name][1]()
        tables = CASES[case](folder, rows)
        seconds: list[float] = []
        while len(seconds) < 4 or sum(seconds) < 2:
            begun = time.perf_counter()
            found = join(*tables)
            seconds.append(time.perf_counter() - begun)
            ids = (found.column(column) for column in ("id", "id_right"))
            answer = (found.num_rows, *(pc.sum(column).as_py() for column in ids))
            del found
            if sum(seconds) > 30:
                break
        pipe.send({"seconds": min(seconds), "answer": answer})
    except Exception as error:  # report every failure of a library
        pipe.send({"why_not": f"{type(error).__name__}: {str(error)[:100]}"})


def run(name: str, case: str, options: argparse.Namespace) -> dict[str, Any]:
    """Measures a library, and its peak resident memory."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(
        target=measure, args=(name, case, options.data, options.rows, theirs), daemon=True
    )
    process.start()
    theirs.close()
    peak = 0
    try:
        while not ours.poll(0.05):
            peak = max(peak, resident(process.pid or 0))
            if peak > options.memory * 2**30:
                process.kill()
                return {"why_not": f"more than {options.memory:g} GiB"}
        return {**ours.recv(), "peak_mib": peak >> 20}
    except EOFError:
        return {"why_not": "its process has ended"}
    finally:
        process.join()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies.peers", description=__doc__)
    add = parser.add_argument
    add("--data", type=Path, default=data.REAL, help="folder of the real data (sql-examples/data)")
    add("--rows", type=int, default=1_000_000, help="synthetic intervals a side (%(default)s)")
    add("--memory", type=float, default=8, help="GiB that a library may take (%(default)s)")
    add("--output", type=Path, help="folder for peers.json")
    options = parser.parse_args()
    report: dict[str, Any] = {**machine.heading(), "rows": options.rows, "cases": {}}
    for case in CASES:
        found = report["cases"][case] = {}
        for name, (package, _) in PEERS.items():
            found[name] = {"version": _version(package), **run(name, case, options)}
            if (
                "answer" in found[name]
                and found[name]["answer"] != found[next(iter(PEERS))]["answer"]
            ):
                found[name]["why_not"] = "another answer"
            print(case, name, found[name], flush=True)
    if options.output:
        write_json(options.output / "peers.json", report)


def _version(package: str) -> str:
    if package == "intervalsweep":
        return machine.versions(["intervalsweep"])["intervalsweep"]
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


if __name__ == "__main__":
    main()
