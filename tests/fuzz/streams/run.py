# SPDX-License-Identifier: Apache-2.0
"""Runs random streams; some are stopped or killed, and restarted."""

from __future__ import annotations

import random
import shutil
import tempfile
import traceback
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzz import loop
from fuzz.command import in_memory, main
from support.streams import streaming_process
from support.streams.arrivals import QUICKLY

# The number of stateful operators of a stream is one of these. A user's query has one or two; many
# in one query compare more of them in the same time.
OPERATORS = (1, 2, 4, 12)
# One case in this number is killed. Kills are slow: Spark starts and plans the streams each time.
KILLED = 100
KILLED_AT_ONCE = 12
KILLS = 3


@dataclass
class Totals(loop.Totals):
    """Counts of what the streams of a run covered; each stream operator counts as a query."""

    streams: int = 0
    rows: int = 0
    eager: int = 0
    restarted: int = 0
    killed: int = 0
    kills: int = 0

    def __str__(self) -> str:
        return (
            f"{self.queries} operators in {self.streams} streams, {self.rows} rows, "
            f"{self.eager} streams eager, {self.restarted} restarted, "
            f"{self.killed} killed by {self.kills} kills; {len(self.programs)} differ"
        )


@dataclass
class Stream(ABC):
    """A case: rows in order of arrival, and a query over them with several stream operators."""

    spark: Any
    rng: random.Random
    folder: Path
    totals: Totals
    operators: int

    def __post_init__(self) -> None:
        self.make()
        self.totals.streams += 1
        self.totals.queries += self.outputs

    @property
    def outputs(self) -> int:
        """The number of results that the stream writes, each of one stream operator or more."""
        return self.operators

    @abstractmethod
    def make(self) -> None:
        """Generates the rows and the query."""

    @abstractmethod
    def compare(self) -> None:
        """Runs the stream to its end; fails if rows differ from the expected ones."""

    @abstractmethod
    def describe(self) -> None:
        """Writes a description for the process that runs the stream."""

    @abstractmethod
    def end(self) -> None:
        """
        Adds a row to each side and runs the stream again. A restarted stream has no micro-batch
        without rows, which would emit the last rows; they wait for the next row of each side.
        """

    @abstractmethod
    def compare_written(self) -> None:
        """Compares the files of the sink with the expected rows."""


def stream_main(
    streams: type[Stream],
    *,
    command: str,
    says: str | None,
    cases: int,
    of_killed: int,
    killed: int = KILLED,
    operators: tuple[int, ...] = OPERATORS,
) -> int:
    """
    The command line of a run. One case in `killed` is killed; `of_killed` is the number of
    operators of its streams.
    """

    def run(spark: Any, seed: int, cases: int, _programs: Path, say: loop.Say) -> Totals:
        for key, value in QUICKLY.items():
            spark.conf.set(key, value)
        spark.conf.set("spark.sql.session.timeZone", "UTC")
        totals = Totals()

        def one(number: int) -> None:
            number += seed
            folder, rng = Path(tempfile.mkdtemp(dir=in_memory())), random.Random(number)
            try:
                if number % killed == killed - 1:
                    some = [folder / str(i) for i in range(KILLED_AT_ONCE)]
                    made = [streams(spark, rng, f, totals, of_killed) for f in some]
                    compare_killed(made, rng, totals)
                else:
                    streams(spark, rng, folder, totals, rng.choice(operators)).compare()
            except Exception:
                totals.programs.append(f"{command} CASES=1 SEED={number}")
                error = traceback.format_exc(limit=-3)
                say(f"seed {number}: {error[:2000]} ... {error[2000:][-4000:]}")
            finally:
                shutil.rmtree(folder, ignore_errors=True)

        loop.run_cases(one, totals, cases, say)
        return totals

    return main(
        run,
        lambda totals: not totals.rows,
        command=command,
        says=says,
        cases=cases,
        many_files=True,
    )


def compare_killed(streams: list[Stream], rng: random.Random, totals: Totals) -> None:
    """Runs streams together in a process that is killed again and again; compares their rows."""
    for stream in streams:
        stream.describe()
    folders = [stream.folder for stream in streams]
    totals.kills += streaming_process.run_and_kill(folders, rng, KILLS)
    totals.killed += len(streams)
    for stream in streams:
        stream.end()
        stream.compare_written()
