# SPDX-License-Identifier: Apache-2.0
"""The benchmark suite runs, compares answers and reports. Tests do not check times."""

from __future__ import annotations

import json
import multiprocessing
import platform
import sys
from itertools import count, product
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from benchmarks import goals, suite
from benchmarks.adapter import Answer, Case, Limits
from benchmarks.data import Synthetic
from benchmarks.goals import GOALS, MILLION, Results
from benchmarks.papers.__main__ import main as draw_figures
from benchmarks.processes import NoTimeError, Ran, Running
from benchmarks.report import Report, write_json
from benchmarks.studies import growth, kernels, peers
from benchmarks.studies.costs import Cost, predict
from benchmarks.studies.growth import known, lengths, slope
from benchmarks.studies.overheads import slopes
from benchmarks.studies.scaling import ONE, TWO
from benchmarks.suite import CaseResult, Measured, Measurement, Options, check
from benchmarks.workloads import Workload, starts_in, workloads
from support.spark.applications import PACKAGES, run
from support.spark.comparison import Both

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.extended
def test_suite_runs_and_reports(jar: str, tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="DuckDB is not installed: make bench installs it")
    systems = ["--systems", "intervalsweep", "duckdb"]
    size = ["--sizes", "1000", "--runs", "2", "--heap", "1g", "--limit", "100", "--warm-up", "0.1"]
    program = [sys.executable, "-m", "benchmarks", "--only", "anchor", "zipf-10-left"]
    command = [*program, *systems, *size, "--output", "results"]
    done = run(tmp_path, command, PYTHONPATH=f"{ROOT}:{PACKAGES}")
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"

    text = (tmp_path / "results" / "results.json").read_text(encoding="utf-8")
    table = (tmp_path / "results" / "results.md").read_text(encoding="utf-8")
    results = json.loads(text)
    assert [case["workload"] for case in results["cases"]] == ["anchor", "zipf-10-left"]
    for case in results["cases"]:
        sweep, duck = case["systems"]
        assert sweep["answer"] == duck["answer"]
        assert case["is_confirmed"]
        assert sweep["answer"][0] >= 1000
        assert len(sweep["seconds"]) == len(duck["seconds"]) == 2
        assert sum(sweep["unmeasured"]) >= 0.1
        assert duck["unmeasured"] == []
        assert sweep["peak"] > duck["peak"] > 0
    assert results["options"]["warm_up"] == 0.1
    assert "before them 0.1 s of unmeasured runs of systems on Java" in table
    assert "| workload | rows a side | IntervalSweep | DuckDB |" in table
    assert "| anchor | 1,000 |" in table
    for private in (platform.node(), str(tmp_path), str(ROOT), str(Path.home()) + "/"):
        assert private not in text + table

    file = tmp_path / "results" / "results.json"
    assert json.loads(json.dumps(Report.read(file).as_json())) == results
    cases = results["cases"]
    left_out = cases[1] | {"systems": [], "why_not": "the time was up"}
    write_json(file, results | {"cases": [cases[0], left_out]})
    same = [*program, *systems, *size, "--resume", "results"]
    assert run(tmp_path, same, PYTHONPATH=f"{ROOT}:{PACKAGES}").returncode == 0
    again = json.loads(file.read_text(encoding="utf-8"))["cases"]
    assert again[0] == cases[0]
    assert again[1]["workload"] == "zipf-10-left"
    assert again[1]["systems"][0]["answer"] == cases[1]["systems"][0]["answer"]
    assert [len(case["systems"]) for case in again] == [2, 2]


def test_results_of_other_options_are_not_resumed(tmp_path: Path) -> None:
    write_json(tmp_path / "results.json", report(runs=3).as_json())
    assert Report.read(tmp_path / "results.json").differences(report(runs=3)) == []
    command = [sys.executable, "-m", "benchmarks", "--runs", "4", "--resume", "."]
    done = run(tmp_path, command, PYTHONPATH=f"{ROOT}:{PACKAGES}")
    assert done.returncode == 1
    assert "options: " in done.stderr
    assert "runs=4" in done.stderr
    (tmp_path / "results.json").unlink()
    missing = run(tmp_path, command, PYTHONPATH=f"{ROOT}:{PACKAGES}")
    assert "--resume: there is no results.json" in missing.stderr


def report(runs: int) -> Report:
    options = Options(("duckdb",), 1, "1g", runs, limit=10, warm_up=5)
    return Report("2026-11-22", "abc", {}, {}, options)


def test_system_that_was_too_slow_is_not_tried_when_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    anchor, *_, join = (each for each in workloads() if each.name in ("anchor", "join-left"))
    slow = Measured("duckdb", why_not="> 5 s")
    known = [CaseResult(anchor, (100, 100), [slow])]
    asked = []

    def measure(workload: Workload, rows: int, options: Options) -> CaseResult:
        asked.append((workload.name, rows, options.systems))
        return CaseResult(workload, (rows, rows), [Measured(name) for name in options.systems])

    monkeypatch.setattr(suite, "_measure", measure)
    options = Options(("duckdb", "polars"), 1, "1g", 1, limit=5)
    cases = [(anchor, 100), (anchor, 1000), (join, 10), (join, 100)]
    found = list(suite.run(cases, options, known=known))
    both, other = ("duckdb", "polars"), ("polars",)
    assert asked == [("anchor", 1000, other), ("join-left", 10, both), ("join-left", 100, other)]
    assert found[0].systems[0].why_not == "not tried: > 5 s with 100 rows of anchor"


class Fake:
    """A system whose runs all take the same time, and which repeats its last answer."""

    peak = 0

    def __init__(self, seconds: float, *answers: Answer) -> None:
        self.seconds, self.answers = seconds, list(answers)

    def wait_until_started(self, limit: float) -> None:
        pass

    def ask(self, case: Case, limit: float) -> Ran:
        return Ran(self.seconds, self.answers.pop(0) if self.answers[1:] else self.answers[0])


def measured_of(name: str, fake: Fake, folder: Path, warm_up: float, runs: int = 3) -> Measured:
    Synthetic().write(folder, 100)
    options = Options((name,), 1, "1g", runs, limit=10, warm_up=warm_up)
    (measured,) = Measurement(Case(workloads()[0], folder), {name: fake}, options).measure()
    return measured


@pytest.mark.parametrize("name", ["intervalsweep", "spark", "spark-bins"])
@pytest.mark.parametrize(("seconds", "runs"), [(1, 5), (2, 3), (0.125, 20)])
def test_what_compiles_as_it_runs_is_warmed_up(
    name: str, seconds: float, runs: int, tmp_path: Path
) -> None:
    measured = measured_of(name, Fake(seconds, (7,)), tmp_path, warm_up=5)
    assert measured.unmeasured == [seconds] * runs, "with those that tune the bins"
    assert measured.seconds == [seconds] * 3


@pytest.mark.parametrize(("name", "warm_up"), [("duckdb", 5), ("polars", 5), ("intervalsweep", 0)])
def test_others_are_not_warmed_up(name: str, warm_up: float, tmp_path: Path) -> None:
    measured = measured_of(name, Fake(1, (7,)), tmp_path, warm_up)
    assert measured.unmeasured == []
    assert measured.seconds == [1] * 3


def test_wrong_answer_while_warming_up_has_no_time(tmp_path: Path) -> None:
    measured = measured_of("intervalsweep", Fake(1, (7,), (7,), (8,), (7,)), tmp_path, warm_up=5)
    assert measured.is_wrong
    assert measured.why_not == "answers (7,), then (8,)"
    assert measured.median is None


def test_answer_unlike_others_has_no_time() -> None:
    measured = [Measured("any", [1.0], answer=(answer,)) for answer in (7, 8, 7)]
    check(measured)
    assert [each.median for each in measured] == [1.0, None, 1.0]
    assert [each.is_wrong for each in measured] == [False, True, False]


def test_two_different_answers_have_no_time() -> None:
    measured = [Measured("any", [1.0], answer=(answer,)) for answer in (7, 8)]
    check(measured)
    assert [each.median for each in measured] == [None, None]


def test_system_that_is_too_slow_is_killed(tmp_path: Path) -> None:
    running = Running("polars", Limits(1, "1g", tmp_path))
    assert Path(f"/proc/{running.pid}").exists()
    with pytest.raises(NoTimeError, match="not started after 0 s"):
        running.wait_until_started(0)
    assert not Path(f"/proc/{running.pid}").exists()


def test_goals_and_growth_follow_from_results(tmp_path: Path) -> None:
    """Ten times the pairs take a hundred times the time; ours is five times as fast as a peer."""
    names = {"anchor": 10**8, "length-1000": 10**9, "length-10000": 10**10}
    cases = []
    for n, (name, pairs) in enumerate(names.items()):
        seconds = {"intervalsweep": 100.0**n, "duckdb": 600.0, "polars": 500.0}
        systems = [
            {"system": system, "median": median, "peak": 7, "answer": [pairs], "why_not": None}
            for system, median in seconds.items()
        ]
        cases.append({"workload": name, "rows": [10**6, 10**6], "systems": systems})
    file = tmp_path / "results.json"
    machine = {"machine": {"cpu": "a"}, "date": "2026-01-31"}
    write_json(file, machine | {"cases": cases})
    scaling, peers = tmp_path / "scaling.json", tmp_path / "peers.json"
    settings = [{"setting": each, "median": 6 / each.cores} for each in (ONE, TWO)]
    write_json(scaling, machine | {"settings": settings})
    seconds = {"intervalsweep.arrow.join": 2, "NCLS": 14, "pyranges1": 15}
    libraries: dict[str, Any] = {name: {"seconds": each} for name, each in seconds.items()}
    libraries["bioframe"] = {"why_not": "more than 8 GiB"}
    write_json(peers, machine | {"cases": {"synthetic": libraries}})
    lines = {"runs": [["a", 6.0], ["b", 1.0]], "LazyJoinByS": [["a", 2.0], ["b", 4.0]]}
    panel = {"title": "any", "y": "seconds", "lines": lines | {"iseql-cpp": [["a", 3], ["b", 4]]}}
    write_json(
        tmp_path / "real.json", machine | {"panels": [panel, panel | {"title": "b", "lines": {}}]}
    )
    results = Results([file, scaling, peers, tmp_path / "real.json"])
    assert results.speedup("length-1000", MILLION) == 5
    rows = {goal.about: goal.row(results) for goal in GOALS}
    assert rows["10^9 pairs aggregated: times faster than the fastest peer"].endswith("5.00 | no |")
    growth_of_time = rows["10^10 pairs aggregated: seconds, relative to 10^8 pairs"]
    assert growth_of_time.endswith("10000.00 | no |")
    assert rows["two cores: times faster than one"].endswith("2.00 | yes |")
    assert rows["199 million pairs, Arrow to Arrow"].endswith("7.00 | yes |")
    kernel = rows["kernel alone, real data: times faster than the papers' C++"]
    assert kernel.endswith("0.50 | no |"), "the product does not ship LazyJoinByS"
    assert sum("not measured" in row for row in rows.values()) == len(rows) - 5
    points = list(known(results, lengths(results), "intervalsweep", "pairs", "median"))
    assert len(points) == 3
    assert slope(points) == pytest.approx(2)


def test_ratios_are_of_systems_that_ran_in_turn(tmp_path: Path) -> None:
    """A later file without a peer ran at another time, so it does not change the ratios."""
    files = []
    runs: list[dict[str, float]] = [{"": 1, "-broadcast": 2}, {"": 3}]
    for n, ours in enumerate(runs):
        known = {f"intervalsweep{system}": seconds for system, seconds in ours.items()}
        medians = known if n else known | {"spark": 8}
        systems = [
            {"system": system, "median": median, "peak": median, "answer": [9], "why_not": None}
            for system, median in medians.items()
        ]
        files.append(tmp_path / f"{n}.json")
        case = {"workload": "anchor", "rows": [MILLION], "systems": systems}
        write_json(files[-1], {"machine": {"cpu": "a"}, "cases": [case]})
    results = Results(files)
    assert results.figure("anchor", MILLION) == 3
    assert results.speedup("anchor", MILLION) == 8
    assert results.speedup("anchor", MILLION, "intervalsweep-broadcast") == 4
    assert goals.against("spark", "anchor", MILLION, "peak")(results) == 1 / 8
    with pytest.raises(KeyError, match="anchor of 5 rows"):
        results.speedup("anchor", 5)


@pytest.mark.parametrize("module", [goals, growth])
def test_results_that_do_not_compare_are_refused(
    module: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    files = [tmp_path / f"{cpu}.json" for cpu in "ab"]
    for file in files:
        write_json(file, {"machine": {"cpu": file.stem}, "date": "2026-01-31"})
    for names, message in (
        (files, "results of several machines do not compare: ['a', 'b']"),
        ([tmp_path / "c.json"], "No such file or directory"),
    ):
        monkeypatch.setattr("sys.argv", [module.__name__, *map(str, names)])
        with pytest.raises(SystemExit):
            module.main()
        assert message in capsys.readouterr().err


def test_costs_predict_what_grows_in_proportion(capsys: pytest.CaptureFixture[str]) -> None:
    """A run takes 0.2 s, and 0.5 s for each million rows, during which two cores are busy."""
    sizes = [100_000, MILLION, 4 * MILLION]
    costs = [Cost(n, 0.2 + n / 2e6, n / 1.25e6, n / 5e6, 24 * n, 0, 0, 0) for n in sizes]
    predict(costs, cores=2)
    said = capsys.readouterr().out
    assert "fixed 0.20 s; a million rows a side 1.00 processor seconds; use 1.00" in said
    assert "4,000,000 rows: 2.20 s predicted, 2.20 s measured" in said
    assert "6 s of computing, 2 s of shuffling" in said


def test_tasks_and_groups_cost_what_more_of_them_take_longer() -> None:
    assert slopes((4, 404), [[1.0, 2.0], [1.4, 2.8]]) == pytest.approx([0.001, 0.002])


@pytest.mark.extended
def test_functions_stand_for_the_formulas_of_workloads(
    spark: Any, both: Both, tmp_path: Path
) -> None:
    Synthetic().write(tmp_path, 250)
    for side in "rs":
        spark.read.parquet(f"{tmp_path}/{side}.parquet").createOrReplaceTempView(side)
    ids = "SELECT r.id, s.id FROM r JOIN s ON "
    of_functions = [each for each in workloads() if each.relation and not each.is_keyed]
    found = {each.name: both(ids + each.on(True), ids + each.on(), None) for each in of_functions}
    assert sum(name.endswith("-within") for name in found) == 5
    assert all(found[name] > 0 for name in found if name != "allen-equals")


def test_side_that_bins_copy_holds_the_others_start() -> None:
    some = [(start, end) for start, end in product(range(6), repeat=2) if start < end]
    found = set()
    for formula in {workload.formula for workload in workloads()}:
        side = starts_in(formula)
        found.add(side)
        for (r_start, r_end), (s_start, s_end) in product(some, repeat=2):
            text = " and ".join(formula).replace(" = ", " == ").replace(".", "_")
            row = {"r_ts": r_start, "r_te": r_end, "s_ts": s_start, "s_te": s_end}
            if side and eval(text, row):
                later = {"r": s_start, "s": r_start, "both": max(r_start, s_start)}[side]
                assert side == "s" or r_start <= later < r_end
                assert side == "r" or s_start <= later < s_end
    assert found == {"r", "s", "both", None}


@pytest.mark.parametrize("rows", [500, 5_000])
def test_kernels_are_measured_on_fewer_than_a_million_rows(
    rows: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """With few rows, boxes must not be wider than the range of the points."""
    kernels.main(rows)
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith(f"{rows:,} boxes of {min(rows, 1000):,} candidates")
    assert int(lines[-1].split()[-3].replace(",", "")) > rows, "candidates"


@pytest.mark.extended
def test_papers_figures_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["getnext", "abstractions"]
    arguments = ["--quick", "--figure", *names, "--output", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["papers", *arguments])
    draw_figures()
    for name in names:
        text = (tmp_path / f"{name}.json").read_text(encoding="utf-8")
        (panel,) = json.loads(text)["panels"]
        lines = panel["lines"].values()
        assert lines
        assert all(value > 0 for points in lines for _, value in points)
        assert platform.node() not in text


@pytest.mark.filterwarnings("ignore")
def test_peers_that_are_installed_find_the_same_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each reading advances the clock by a second, so four runs take at least the two seconds.
    clock = SimpleNamespace(perf_counter=count().__next__)
    monkeypatch.setattr(peers, "time", clock)
    r, s = peers.synthetic(tmp_path, 500)
    (start, end), (other_start, other_end) = (
        [side.column(name).to_numpy() for name in ("start", "end")] for side in (r, s)
    )
    rows, others = ((start[:, None] < other_end) & (other_start < end[:, None])).nonzero()
    assert rows.size > 500
    measured = 0
    for name in peers.PEERS:
        ours, theirs = multiprocessing.Pipe(duplex=False)
        peers.measure(name, "synthetic", tmp_path, 500, theirs)
        found = ours.recv()
        if "ModuleNotFoundError" not in found.get("why_not", ""):
            assert found["answer"] == (rows.size, rows.sum(), others.sum()), name
            measured += 1
    assert measured >= 2
