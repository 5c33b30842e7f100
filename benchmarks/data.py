# SPDX-License-Identifier: Apache-2.0
"""The tables of the benchmarks: two Parquet files, r and s, with columns id, k, ts, te, p."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

REAL = Path(__file__).resolve().parent.parent / "sql-examples" / "data"

Int64 = npt.NDArray[np.int64]


class Tables(Protocol):
    """The source of the rows of a workload."""

    def missing(self) -> str | None:
        """The reason why these tables cannot be made on this machine, or None."""

    def write(self, folder: Path, rows: int) -> None:
        """Writes `r.parquet` and `s.parquet`, with `rows` rows each unless their size is fixed."""


@dataclass(frozen=True)
class Synthetic:
    """Starts uniform over as many points as rows, exponential lengths.

    So an interval of mean length 100 contains a hundred starts of the other side. With keys, the
    mean length is divided by the probability that two rows share a key, so that `matches` stays
    the mean number of matches.
    """

    matches: float = 100
    keys: int = 1
    is_zipf: bool = False  # the n-th key has a share proportional to 1 / n
    long_share: float = 0  # the share of intervals as long as a tenth of all points
    grid: int = 1  # all endpoints are multiples of it, so that they tie

    def missing(self) -> None:
        return None

    def write(self, folder: Path, rows: int) -> None:
        for seed, side in enumerate("rs"):
            random = np.random.default_rng((seed, rows))
            start = random.integers(0, rows, rows) // self.grid * self.grid
            length = np.ceil(self._lengths(random, rows) / self.grid).astype(np.int64) * self.grid
            keys = random.choice(self.keys, rows, p=self._shares())
            _write(folder / f"{side}.parquet", keys, start, start + length)

    def _shares(self) -> npt.NDArray[np.float64]:
        weights = np.arange(1, self.keys + 1, dtype=np.float64) ** (-1 if self.is_zipf else 0)
        shares: npt.NDArray[np.float64] = weights / weights.sum()
        return shares

    def _lengths(self, random: np.random.Generator, rows: int) -> npt.NDArray[np.float64]:
        """Positive lengths, some of them long."""
        mean = self.matches / np.square(self._shares()).sum()
        is_long = random.random(rows) < self.long_share
        return np.where(is_long, rows / 10, 1 + random.exponential(mean, rows))


@dataclass(frozen=True)
class LongAndShort:
    """One long interval r for fifty short s; each r spans a twentieth of all points."""

    def missing(self) -> None:
        return None

    def write(self, folder: Path, rows: int) -> None:
        for seed, (side, count, mean) in enumerate((("r", rows // 50, rows / 20), ("s", rows, 10))):
            random = np.random.default_rng((seed, rows))
            start = random.integers(0, rows, count)
            length = 1 + random.exponential(mean, count).astype(np.int64)
            _write(folder / f"{side}.parquet", np.zeros(count, np.int64), start, start + length)


@dataclass(frozen=True)
class Genome:
    """Exons and the DNase hotspots of fetal brain, with the contig as the key."""

    def missing(self) -> str | None:
        return _missing("exons", "fbrain")

    def write(self, folder: Path, rows: int) -> None:
        for side, name in (("r", "exons"), ("s", "fbrain")):
            table = pq.read_table(REAL / name)
            start, end = (_int64(table[column]) for column in ("pos_start", "pos_end"))
            _write(folder / f"{side}.parquet", table["contig"], start, end)


@dataclass(frozen=True)
class Histories:
    """The periods in which the files of a repository did not change, as both r and s."""

    repository: str

    @property
    def _file(self) -> str:
        return f"{self.repository}_file_history.csv.gz"

    def missing(self) -> str | None:
        return _missing(self._file)

    def write(self, folder: Path, rows: int) -> None:
        table = pyarrow.csv.read_csv(REAL / self._file)
        for side in "rs":
            start, end = _int64(table["start"]), _int64(table["end"])
            _write(folder / f"{side}.parquet", table["key"], start, end)


def rows_of(folder: Path) -> tuple[int, int]:
    """The number of rows of r and of s."""
    r, s = (pq.read_metadata(folder / f"{side}.parquet").num_rows for side in "rs")
    return r, s


def typical_length(folder: Path) -> int:
    """The median length of the intervals of both sides, at least 1."""
    tables = [pq.read_table(folder / f"{side}.parquet", columns=["ts", "te"]) for side in "rs"]
    lengths = [_int64(table["te"]) - _int64(table["ts"]) for table in tables]
    return max(1, int(np.median(np.concatenate(lengths))))


def _write(file: Path, keys: Any, start: Int64, end: Int64) -> None:
    ids = np.arange(len(start))
    columns = {"id": ids, "k": keys, "ts": start, "te": end, "p": ids * 7919 % 1000}
    pq.write_table(pa.table(columns), file, row_group_size=max(1, len(start) // 4))


def _int64(column: Any) -> Int64:
    return np.asarray(column.to_numpy(), dtype=np.int64)


def _missing(*names: str) -> str | None:
    absent = [name for name in names if not (REAL / name).exists()]
    return f"sql-examples/data/{absent[0]} is not there" if absent else None
