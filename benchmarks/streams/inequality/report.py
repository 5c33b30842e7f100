# SPDX-License-Identifier: Apache-2.0
"""Formats the lines of a run as a Markdown table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from benchmarks.streams.inequality.cases import DUCKDB
from benchmarks.streams.inequality.peers import PEERS

TITLES = {
    "intervalsweep": "IntervalSweep",
    "intervalsweep, counts": "IntervalSweep, counts",
    **{name: peer.title for name, peer in PEERS.items()},
    DUCKDB: "DuckDB, one window in batch",
}
HEAD = (
    "| query | pairs a row | | probes a second | pairs a second | insertion, us a row "
    "| complete | MiB |\n|---|--:|---|--:|--:|--:|--:|--:|"
)


def markdown(results: dict[str, Any]) -> str:
    options, machine = results["options"], results["machine"]
    window = options["window"]
    about = (
        f"Windows of {window['length']:,} rows, slide {window['slide']:,}, micro-batches of "
        f"{window['batch']:,} rows a stream; {machine['cpu']}, IntervalSweep on "
        f"{options['cores']} cores, the others on one; {results['date']}, commit "
        f"{results['commit']}."
    )
    return "\n".join([about, "", HEAD, *_rows(results["lines"]), ""])


def _rows(lines: Iterable[dict[str, Any]]) -> Iterator[str]:
    for line in lines:
        if why_not := line.get("why_not"):
            cells = [f"wrong: {why_not}" if "pairs" in line else why_not, "", "", "", ""]
        else:
            cells = [
                _number(line, "probes/s"),
                _number(line, "pairs/s"),
                _number(line, "insertion, us/row", 2),
                f"{line['completeness']:g}" if "completeness" in line else "",
                _memory(line),
            ]
        about = (line["query"].upper(), f"{line['rate']:g}", TITLES[line["system"]])
        yield "| " + " | ".join((*about, *cells)) + " |"


def _number(line: dict[str, Any], name: str, digits: int = 0) -> str:
    return f"{line[name]:,.{digits}f}" if name in line else ""


def _memory(line: dict[str, Any]) -> str:
    parts = [str(line[name]) for name in ("spark, MiB", "workers, MiB") if name in line]
    return " + ".join(parts)
