# SPDX-License-Identifier: Apache-2.0
"""The commands of `docs/install.md` that need no network run as they are on the page.

`tests/project/test_installed_wheel.py` installs the wheel.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from intervalsweep import _requirements
from support.spark.applications import SPARK_HOME, run

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
QUERY = "SELECT count(*) FROM range(9) a JOIN range(9) b ON INTERVAL_INTERSECTS"
QUERY += "(a.id, a.id + 2, b.id, b.id + 2)"


def command(title: str) -> str:
    """The call of spark-sql below a title, for the Spark of the tests."""
    (section,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    (found,) = re.findall(r"^spark-sql .*?(?=^```)", section, re.MULTILINE | re.DOTALL)
    series = _requirements.series_of(_requirements.check_spark())
    return re.sub(r"spark4\.\d_", f"spark{series}_", found.strip())


@pytest.mark.extended
@pytest.mark.parametrize("title", ["Only the jar", "--packages with a local repository"])
def test_spark_sql_runs_as_on_the_page(tmp_path: Path, title: str) -> None:
    settings = tmp_path / "ivysettings.xml"
    settings.write_text("<ivysettings/>", encoding="utf-8")
    more = {
        "spark.jars.ivySettings": settings,
        "spark.jars.ivy": tmp_path / "ivy",
        "spark.sql.warehouse.dir": tmp_path / "warehouse",
        "spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:derby:memory:x;create=true",
    }
    options = " ".join(f"--conf '{name}={value}'" for name, value in more.items())
    path = f"{SPARK_HOME / 'bin'}:/usr/local/bin:/usr/bin:/bin"
    text = f'export PATH="{path}:$PATH"; {command(title)} {options} -e "{QUERY}; EXPLAIN {QUERY}"'
    done = run(ROOT, ["bash", "-c", text], SPARK_HOME=str(SPARK_HOME), PYTHONPATH="")
    assert done.returncode == 0, done.stderr[-4000:]
    assert "25" in done.stdout.splitlines()
    assert "IntervalSweepJoin Inner" in done.stdout
