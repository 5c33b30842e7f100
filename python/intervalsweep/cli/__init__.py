# SPDX-License-Identifier: Apache-2.0
"""The command `intervalsweep`: check the installation, run a demo, explain the joins of a file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from intervalsweep._errors import IntervalSweepError
from intervalsweep._version import __version__
from intervalsweep.session import jar_path


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit code, 0 for success."""
    given = _parser().parse_args(arguments)
    try:
        return _run(given)
    except IntervalSweepError as error:
        print(error, file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="intervalsweep", description="Interval joins for Spark.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("doctor", help="check the installation and print how to fix it")
    commands.add_parser("demo", help="run a small interval join: plan, answer, Spark's own plan")
    explain = commands.add_parser("explain", help="show for each join of an SQL file how it runs")
    explain.add_argument("file", type=Path, help="SQL; queries are planned and not executed")
    explain.add_argument(
        "--conf", action="append", default=[], metavar="KEY=VALUE", help="a setting of Spark"
    )
    jar = commands.add_parser("jar", help="print the path of the jar, for --jars")
    jar.add_argument(
        "--spark", help="the version of Spark, such as 4.2; default: the installed one"
    )
    return parser


def _run(given: argparse.Namespace) -> int:
    # Imported here, so that `intervalsweep jar --spark 4.2` needs no other packages.
    if given.command == "doctor":
        from intervalsweep.cli.doctor import doctor

        return doctor()
    if given.command == "demo":
        from intervalsweep.cli.demo import demo

        return demo()
    if given.command == "explain":
        from intervalsweep.cli.explain import explain

        return explain(given.file, given.conf)
    print(jar_path(given.spark))
    return 0
