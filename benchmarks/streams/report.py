# SPDX-License-Identifier: Apache-2.0
"""Writes the results of a run as a JSON file and as a Markdown table."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.machine import heading
from benchmarks.report import write_json
from benchmarks.streams.flink import EXACT

OURS = "ours"


@dataclass
class Report:
    """The results so far, written again after each run, so that an aborted suite has results."""

    file: Path
    options: dict[str, Any]
    heading: dict[str, Any] = field(default_factory=heading)
    workloads: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, workload: str, described: dict[str, Any], result: dict[str, Any]) -> None:
        entry = self.workloads.setdefault(workload, {**described, "runs": []})
        entry["runs"].append(result)
        found = {**self.heading, "options": self.options, "workloads": self.workloads}
        write_json(self.file, found)
        self.file.with_suffix(".md").write_text(table(found), encoding="utf-8")


def table(report: dict[str, Any]) -> str:
    """A Markdown table of thousands of events a second, by workload and plan."""
    workloads: dict[str, dict[str, Any]] = report["workloads"]
    plans = list(dict.fromkeys(run["plan"] for w in workloads.values() for run in w["runs"]))
    columns = ["workload", "events", *plans, f"{OURS} / {EXACT}", "peak MiB", "answers"]
    options = report["options"]
    lines = [
        f"{report['date']}, commit {report['commit']}, {report['machine']['cpu']}, "
        f"{options['cores']} cores. Thousands of events a second; in brackets what had not ended "
        f"within {options['cap']:g} s, of which it is at most what it took in.",
        "",
        "| " + " | ".join(columns) + " |",
        "|---|" + "--:|" * (len(plans) + 2) + "---|---|",
    ]
    lines += [row(name, workloads[name], plans) for name in workloads]
    return "\n".join(lines) + "\n"


def row(name: str, workload: dict[str, Any], plans: list[str]) -> str:
    runs = {run["plan"]: run for run in workload["runs"]}
    done = [runs[plan] for plan in plans if plan in runs]
    cells = [
        name,
        f"{workload['expected']['events']:,}",
        *(speed(runs.get(plan)) for plan in plans),
        ratio(runs.get(OURS), runs.get(EXACT)),
        ", ".join(f"{run['plan']} {run['peak MiB']:,}" for run in done),
        ", ".join(f"{run['plan']} {run.get('answer', run.get('error'))}" for run in done),
    ]
    return "| " + " | ".join(cells) + " |"


def speed(run: dict[str, Any] | None) -> str:
    if run is None or not run.get("events/s"):
        return "-"
    thousands = run["events/s"] / 1000
    text = f"{thousands:,.0f}" if thousands >= 100 else f"{thousands:.1f}"
    return text if run["complete"] else f"({text})"


def ratio(ours: dict[str, Any] | None, other: dict[str, Any] | None) -> str:
    """The speedup. It is a lower bound if the other has not ended, as its input rate counts."""
    if not (ours and other and ours.get("events/s") and other.get("events/s")):
        return "-"
    text = f"{ours['events/s'] / other['events/s']:.2f}"
    if not ours["complete"]:
        return f"({text})"
    return text if other["complete"] else f"> {text}"
