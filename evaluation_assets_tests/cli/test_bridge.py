"""`panel bridge`: what an old and a new judge both scored links the drops before the change with those after it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets_tests.conftest import command, record
from evaluation_assets_tests.http_server import Reply, Request, http_server

TASKS = 12
MORE_OF_NEW = 2
"""Points of ten that the new judge gives more."""


class Judges:
    """A server of models: `old` gives the points that stand in an answer, others `MORE_OF_NEW` more."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.url = ""

    def __call__(self, request: Request) -> Reply:
        model = request.body["model"]
        self.asked.append(model)
        texts = " ".join(message["content"] for message in request.body["messages"])
        points = int(re.findall(r"worth (\d)", texts)[-1]) + (0 if model == "old" else MORE_OF_NEW)
        schema = request.body["response_format"]["json_schema"]["schema"]
        keys = schema["properties"]["scores"]["items"]["properties"]["criterion"]["enum"]
        if "correctness" in keys or max(filter(None, _points(schema))) == 5:
            points //= 2
        scores = [{"criterion": key, "score": points} for key in keys]
        said = json.dumps({"reasoning": "r", "scores": scores, "summary": "s"})
        choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        return Reply(body={"id": "1", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage})

    def panel(self, home: Path, *names: str, price: float = 0.0) -> None:
        """Make these judges the panel."""
        own = {"provider": "openai_compatible", "base_url": f"{self.url}/v1", "max_concurrency": 4}
        own |= {"price": {"input": price, "output": price}, "preset": "standard"}
        judges = [own | {"name": name, "model": name} for name in names]
        home.mkdir(exist_ok=True)
        (home / "panel.yaml").write_text(json.dumps({"judges": judges}))


def _points(schema: dict[str, Any]) -> list[int | None]:
    return schema["properties"]["scores"]["items"]["properties"]["score"]["enum"]


def runs(less: int = 0, tasks: int = TASKS) -> bytes:
    """Runs that are worth 3 to 7 points, or `less`."""
    worth = [3 + number % 5 - less for number in range(tasks)]
    return b"".join(
        record(f"t{number}", f"<think>why</think><answer>worth {points}</answer>")
        for number, points in enumerate(worth)
    )


def evaluate(home: Path, name: str, content: bytes) -> None:
    file = home.parent / f"in_{name}" / "support" / f"{name}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    done = command("evaluate", file.parent.parent, "--yes", "--quiet", home=home)
    assert done.returncode in (0, 1), done.stderr


@pytest.fixture(scope="module")
def judges() -> Iterator[Judges]:
    judges = Judges()
    with http_server(judges) as url:
        judges.url = url
        yield judges


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, judges: Judges) -> Path:
    """An installation whose baseline the old judge scored, and whose panel is the new one."""
    home = tmp_path_factory.mktemp("bridge") / "home"
    judges.panel(home, "old")
    evaluate(home, "base", runs())
    assert command("baseline", "promote", "support/base", home=home).returncode == 0
    judges.panel(home, "new")
    return home


def gate(home: Path, drop: str) -> dict[str, Any]:
    done = command("gate", drop, "--format", "json", home=home)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def test_a_bridge_links_gate_and_history(home: Path, judges: Judges) -> None:
    evaluate(home, "same", runs())
    assert gate(home, "support/same")["verdict"] == "incomparable"

    before = len(judges.asked)
    made = command("panel", "bridge", "old", "new", "--format", "json", home=home)
    assert made.returncode == 0, made.stderr
    assert len(judges.asked) == before, "replies about the same runs are in the ledger"
    bridge = json.loads(made.stdout)
    assert bridge["offsets"]["overall"]["mean"] == pytest.approx(MORE_OF_NEW / 10)
    assert bridge["offsets"]["overall"]["n_tasks"] == TASKS and bridge["asked"] == ["new"]

    linked = gate(home, "support/same")
    assert linked["verdict"] == "pass", linked["reasons"]
    (overall,) = [each for each in linked["metrics"] if each["metric"] == "overall"]
    assert overall["current"] == pytest.approx(overall["baseline"])
    assert linked["comparability"]["differs"] == {} and linked["comparability"]["linked"]["new"] == "new"
    text = command("gate", "support/same", home=home).stdout
    assert "linked: old to new, by 12 runs that both scored; subtracted: +0.200" in text

    evaluate(home, "worse", runs(less=2))
    assert gate(home, "support/worse")["verdict"] == "fail"
