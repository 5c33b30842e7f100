# SPDX-License-Identifier: Apache-2.0
"""One Spark session with the extension for all tests."""

from __future__ import annotations

import math
import os
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import pyspark
import pytest

import intervalsweep
from support.spark.comparison import SMALL_GROUPS, Both, configured
from support.spark.jvm import environment, quick_files
from support.spark.repeating import Recorder, command
from support.spark.session import MANY_QUERIES, session

RECORDER = pytest.StashKey[Recorder]()
# The least number of cases that run of a parametrized test: with Spark, and without.
LEAST, LEAST_WITHOUT_SPARK = 1, 2


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--share",
        type=float,
        default=1.0,
        help="run this share of the cases of each parametrized test, chosen at random",
    )
    parser.addoption("--share-seed", type=int, help="which cases these are")


def pytest_report_header(config: pytest.Config) -> str:
    share, seed = config.option.share, config.option.share_seed
    return f"cases: --share={share} --share-seed={seed}" if share < 1 else "cases: all"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keeps a share of the cases that `-m` selects; `make test-all` runs all of them."""
    cases = defaultdict(list)
    for item in items:
        cases[item.nodeid.partition("[")[0]].append(item)
    kept = set()
    for name, some in cases.items():
        least = LEAST if needs_spark(some[0]) else LEAST_WITHOUT_SPARK
        is_shared = some[0].get_closest_marker("every_case") is None
        kept.update(share_of(config, name, some, least) if is_shared else some)
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


Draw = Callable[[Iterable[Any], int], list[Any]]


@pytest.fixture
def drawn(request: pytest.FixtureRequest) -> Draw:
    """`drawn(items, 2)` returns a share of the items that a test loops over, at least two."""
    return partial(share_of, request.config, request.node.nodeid)


def share_of(config: pytest.Config, name: str, items: Iterable[Any], least: int) -> list[Any]:
    """Random items in their original order; the seed and the name determine the choice."""
    option, every = config.option, list(items)
    count = min(len(every), max(least, math.ceil(option.share * len(every))))
    rng = random.Random(f"{option.share_seed}/{name}")
    return [every[i] for i in sorted(rng.sample(range(len(every)), count))]


def needs_spark(item: pytest.Item) -> bool:
    return "spark" in getattr(item, "fixturenames", ())


def pytest_configure(config: pytest.Config) -> None:
    os.environ.update(environment())
    # Python functions in queries run in this environment. The Makefile sets the same.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if config.option.share_seed is None:
        given = getattr(config, "workerinput", {}).get("share_seed")
        config.option.share_seed = random.randrange(1 << 30) if given is None else given
    # Before 4.2, PySpark does not close the sockets of results: the garbage collector does.
    if pyspark.__version__ < "4.2":
        config.addinivalue_line("filterwarnings", "ignore:unclosed <socket:ResourceWarning")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Gives all processes of xdist the same seed, so that they choose the same cases."""
    node.workerinput["share_seed"] = node.config.option.share_seed


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Adds to a failure how to repeat it: the command, and the session's settings and queries."""
    report = yield
    recorder = item.config.stash.get(RECORDER, None)
    if report.failed:
        said = recorder.text() if recorder and needs_spark(item) else ""
        report.sections.append(("run it again", f"{command(item.nodeid)}\n{said}"))
    if recorder and call.when == "teardown":
        recorder.forget()
    return report


@pytest.fixture(scope="session")
def jar() -> str:
    """The built jar. A missing one ends the run: without it nothing would be tested."""
    try:
        return intervalsweep.jar_path()
    except RuntimeError as error:
        pytest.exit(str(error), returncode=3)


@pytest.fixture(scope="session")
def spark(
    jar: str, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Any]:
    """One Spark session with the extension for all tests of a process."""
    work = tmp_path_factory.mktemp("spark")
    settings = {
        "spark.driver.memory": "4g",
        "spark.local.dir": str(work / "local"),
        "spark.sql.warehouse.dir": str(work / "warehouse"),
        "spark.sql.shuffle.partitions": "4",
        # Small inputs must go through the workers, too. Tests of small groups reset this.
        SMALL_GROUPS: "0",
    }
    running = session("local[2]", MANY_QUERIES, quick_files(), settings)
    running.sparkContext.setLogLevel("ERROR")
    request.config.stash[RECORDER] = Recorder(running)
    yield running
    running.stop()


@pytest.fixture
def conf(spark: Any) -> Iterator[Callable[[dict[str, str | None]], None]]:
    """`conf({"spark.…": "…"})` changes settings until the end of the test."""
    with ExitStack() as blocks:
        yield lambda settings: blocks.enter_context(configured(spark, settings))


@pytest.fixture
def both(spark: Any) -> Both:
    return Both(spark)
