"""The object store of drops, tables and reports is away for a while, or longer."""

import json
import os
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from evaluation_assets_tests.conftest import KEY
from evaluation_assets_tests.cut_connections import Network
from evaluation_assets_tests.model_judging import CLIPS, drop_of, judge
from evaluation_assets_tests.model_server import ModelServer, model_server
from evaluation_assets_tests.s3_server import s3_server

pytestmark = pytest.mark.slow

COUNT = 6
QUESTIONS = COUNT * (CLIPS + 3)


@pytest.fixture(scope="module")
def store() -> Iterator[int]:
    with s3_server() as port:
        bucket = f"http://127.0.0.1:{port}/evaluation"
        with urllib.request.urlopen(urllib.request.Request(bucket, method="PUT")):
            yield port


@pytest.fixture
def network(store: int) -> Network:
    return Network(store)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server(latency=0.5) as started:
        yield started


class Evaluation:
    """`evaluate` with a home in the store, and a ledger on this machine."""

    def __init__(self, folder: Path, network: Network, server: ModelServer) -> None:
        self.folder = folder
        self.ledger = f"sqlite:///{folder / 'ledger.sqlite'}"
        (folder / "first.jsonl").write_bytes(drop_of(COUNT))
        (folder / "panel.yaml").write_text(json.dumps({"judges": [judge(server, max_concurrency=4)]}))
        self.environment = os.environ | {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{network.port}",
            "AWS_ACCESS_KEY_ID": "tests",
            "AWS_SECRET_ACCESS_KEY": "tests",
            "AWS_DEFAULT_REGION": "us-east-1",
            "EVALUATION_LEDGER_URL": self.ledger,
            "TEST_KEY": KEY,
        }

    def start(self) -> subprocess.Popen[str]:
        """Start the command."""
        command = [sys.executable, "-m", "evaluation_assets.cli", "evaluate", "first.jsonl", "--panel", "panel.yaml"]
        command += ["--home", f"s3://evaluation/{self.folder.name}"]
        return subprocess.Popen(
            command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def replies(self) -> int:
        """Stored replies."""
        engine = sa.create_engine(self.ledger, poolclass=sa.NullPool)
        with engine.connect() as connection:
            return connection.execute(sa.text("SELECT count(*) FROM replies")).scalar_one()


def wait_for_requests(server: ModelServer, count: int, run: subprocess.Popen[str]) -> None:
    while len(server.requests(bodies=False)) < count:
        assert run.poll() is None, run.communicate()[0]
        time.sleep(0.05)


def asked(server: ModelServer) -> Counter[str]:
    return Counter(request.sha256 for request in server.requests(bodies=False))


def test_a_short_outage_of_the_store_is_survived(tmp_path: Path, network: Network, server: ModelServer) -> None:
    evaluation = Evaluation(tmp_path, network, server)
    run = evaluation.start()
    wait_for_requests(server, 8, run)
    network.cut()
    threading.Timer(3, network.mend).start()
    said, _ = run.communicate(timeout=300)
    assert run.returncode == 0, said
    assert len(asked(server)) == evaluation.replies() == QUESTIONS
    assert set(asked(server).values()) == {1}


def test_after_a_long_outage_of_the_store_the_same_command_goes_on_and_pays_nothing_twice(
    tmp_path: Path, network: Network, server: ModelServer
) -> None:
    evaluation = Evaluation(tmp_path, network, server)
    run = evaluation.start()
    wait_for_requests(server, 8, run)
    network.cut()
    said, _ = run.communicate(timeout=300)
    assert run.returncode == 1, said
    network.mend()
    again = evaluation.start()
    said, _ = again.communicate(timeout=300)
    assert again.returncode == 0, said
    assert len(asked(server)) == evaluation.replies() == QUESTIONS
    assert set(asked(server).values()) == {1}
