# SPDX-License-Identifier: Apache-2.0
"""Spark's own servers that run during a test: a standalone cluster, a Connect server."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from support.spark.applications import SPARK_HOME, by_conf, clean_environment
from support.spark.processes import eventually

DEPLOY = "org.apache.spark.deploy"
CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"
# Two addresses of this machine, which Spark takes for two hosts.
HOSTS = ("127.0.0.1", "127.0.0.2")


@contextmanager
def spark_class(folder: Path, name: str, *arguments: str, **env: str) -> Iterator[Path]:
    """Runs one of Spark's classes until the block ends; yields the file with its output."""
    file = folder / f"{name}.log"
    with file.open("wb") as log:
        process = subprocess.Popen(
            ["bash", str(SPARK_HOME / "bin" / "spark-class"), *arguments],
            cwd=folder,
            env=clean_environment(SPARK_HOME=str(SPARK_HOME), **env),
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield file
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)


@contextmanager
def standalone_cluster(folder: Path, **env: str) -> Iterator[str]:
    """Starts a master, and a worker with one core on each host; yields the master's address."""
    ports = ("--port", "0", "--webui-port", "0")
    limits = ("--cores", "1", "--memory", "1g", "--work-dir", str(folder / "work"))
    with ExitStack() as running:

        def started(name: str, host: str, *arguments: str) -> Path:
            command = (f"{DEPLOY}.{name}", "--host", host, *ports, *arguments)
            return running.enter_context(
                spark_class(folder, f"{name}-{host}", *command, SPARK_LOCAL_IP=host, **env)
            )

        log = started("master.Master", HOSTS[0])
        assert eventually(lambda: "I have been elected leader" in log.read_text(), 60)
        (address,) = set(re.findall(r"spark://127\.0\.0\.1:\d+", log.read_text()))
        for host in HOSTS:
            started("worker.Worker", host, *limits, address)
        assert eventually(lambda: log.read_text().count("Registering worker") == 2, 60)
        yield address


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """Starts a Spark Connect server with the extension; yields the address for clients."""
    settings = {
        "spark.connect.grpc.binding.address": HOSTS[0],
        "spark.connect.grpc.binding.port": "0",
        "spark.pyspark.python": sys.executable,
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
    }
    conf = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
    submit = [f"{DEPLOY}.SparkSubmit", "--class", CONNECT, "--master", "local[2]", *conf]
    command = [*submit, *by_conf(), "spark-internal"]
    with spark_class(folder, "connect", *command, PYTHONPATH="") as log:
        started = re.compile(r"Spark Connect server started at: .*?(\d+)$", re.MULTILINE)
        assert eventually(lambda: started.search(log.read_text()), 120), log.read_text()[-4000:]
        (port,) = started.findall(log.read_text())
        yield f"sc://{HOSTS[0]}:{port}"
