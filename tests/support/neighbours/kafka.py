# SPDX-License-Identifier: Apache-2.0
"""A Kafka broker in KRaft mode, one process on the loopback address, which ends with the block."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.neighbours.maven import jars
from support.spark.processes import eventually

BROKER = "org.apache.kafka:kafka_2.13:3.9.1"
CONNECTOR = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0"
CLUSTER = "4L6g3nShT-eMCtK--X86sw"
PROPERTIES = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{broker}
controller.listener.names=CONTROLLER
log.dirs={logs}
num.partitions=2
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
"""


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@contextmanager
def kafka(folder: Path) -> Iterator[str]:
    """Starts a broker; yields the address for clients."""
    path = os.pathsep.join(map(str, jars(BROKER, without=["none"])))
    broker, controller = free_port(), free_port()
    settings = folder / "server.properties"
    settings.write_text(
        PROPERTIES.format(broker=broker, controller=controller, logs=folder / "logs")
    )
    java = ["java", "-Xmx512m", "-cp", path]
    form = ["kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", str(settings)]
    subprocess.run([*java, *form], check=True, capture_output=True)
    log = (folder / "kafka.log").open("wb")
    with (
        log,
        subprocess.Popen([*java, "kafka.Kafka", str(settings)], stdout=log, stderr=log) as server,
    ):
        try:
            assert eventually(lambda: _listens(broker), 90), (folder / "kafka.log").read_text()
            yield f"127.0.0.1:{broker}"
        finally:
            server.terminate()
            server.wait(60)


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0
