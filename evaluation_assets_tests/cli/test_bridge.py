"""`panel bridge`: what an old and a new judge both scored links the drops before the change with those after it."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.system.installation import Installation
from evaluation_assets_tests.conftest import command, record
from evaluation_assets_tests.http_server import Reply, Request, http_server
from evaluation_assets_tests.recomputed.figures import differing

TASKS = 10
MORE_OF_NEW = 2
"""Points of ten that new models give more."""


class Judges:
    """A server of models: `old` gives the points that stand in an answer, others more, `moody` to every second."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.url = ""
        self.fails = False

    def __call__(self, request: Request) -> Reply:
        model = request.body["model"]
        self.asked.append(model)
        if self.fails:
            return Reply(status=400, body={"error": {"message": "no"}})
        points = int(re.findall(r"worth (\d)", request.body["messages"][-1]["content"])[-1])
        points += 0 if model == "old" or (model == "moody" and points % 2) else MORE_OF_NEW
        schema = request.body["response_format"]["json_schema"]["schema"]
        keys = schema["properties"]["scores"]["items"]["properties"]["criterion"]["enum"]
        scores = [{"criterion": key, "score": points} for key in keys]
        said = json.dumps({"reasoning": "r", "scores": scores, "summary": "s"})
        choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        return Reply(body={"id": "1", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage})

    def panel(self, home: Path, *names: str, model: str | None = None, price: float = 0.0) -> None:
        """Make judges of these names the panel; their models have the same names, or `model`."""
        own = {"provider": "openai_compatible", "base_url": f"{self.url}/v1", "max_concurrency": 4}
        own |= {"price": {"input": price, "output": price}, "levels": ["clip"]}
        judges = [own | {"name": name, "model": model or name} for name in names]
        home.mkdir(exist_ok=True)
        (home / "panel.yaml").write_text(json.dumps({"judges": judges}))
        (home / "gate.yaml").write_text("canaries: {enabled: false}\n")


def runs(less: int = 0, tasks: int = TASKS) -> bytes:
    """Runs that are worth 3 to 7 points, or `less`."""
    worth = [3 + number % 5 - less for number in range(tasks)]
    return b"".join(
        record(f"t{number}", f"<think>as {number}</think><answer>worth {points}</answer>")
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
def before(tmp_path_factory: pytest.TempPathFactory, judges: Judges) -> Path:
    """An installation whose baseline the judge `old` scored."""
    home = tmp_path_factory.mktemp("bridge") / "home"
    judges.panel(home, "old")
    evaluate(home, "base", runs())
    assert command("baseline", "promote", "support/base", home=home).returncode == 0
    return home


@pytest.fixture
def home(before: Path, tmp_path: Path, judges: Judges) -> Path:
    """A copy of it, whose panel is the judge `new`."""
    home = tmp_path / "home"
    shutil.copytree(before, home)
    judges.panel(home, "new")
    judges.fails = False
    judges.asked.clear()
    return home


def gate(home: Path, drop: str) -> dict[str, Any]:
    done = command("gate", drop, "--format", "json", home=home)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def bridge(home: Path, *arguments: str) -> dict[str, Any]:
    done = command("panel", "bridge", *arguments, "--format", "json", home=home)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def refused(home: Path, *arguments: str, status: int = 2) -> str:
    done = command("panel", "bridge", *arguments, home=home)
    assert done.returncode == status, done.stdout + done.stderr
    assert not list(home.glob("bridges/*"))
    return done.stderr


@pytest.mark.slow
def test_a_bridge_links_the_gate_and_the_history(home: Path, judges: Judges) -> None:
    made = bridge(home, "old", "new")
    assert judges.asked == ["new"] * TASKS, "only the new judge is asked, once about each run"
    offset = made["offsets"]["overall"]
    assert offset["mean"] == pytest.approx(MORE_OF_NEW / 10) and offset["n_tasks"] == TASKS
    assert made["file"] == str(home / "bridges" / "support.json") and made["tasks_needed"] == {}
    bridge(home, "old", "new")
    assert len(judges.asked) == TASKS, "and never twice"

    evaluate(home, "same", runs())
    assert len(judges.asked) == TASKS, "an evaluation of the same runs has the replies, too"
    linked = gate(home, "support/same")
    assert linked["verdict"] == "pass", linked["reasons"]
    (overall,) = [each for each in linked["metrics"] if each["metric"] == "overall"]
    assert overall["current"] == pytest.approx(overall["baseline"])
    assert linked["comparability"]["differs"] == {} and linked["comparability"]["linked"]["new"] == "new"
    said = command("gate", "support/same", home=home).stdout
    assert f"linked: old to new, by {TASKS} runs that both scored; subtracted: +0.200" in said

    report = json.loads((home / "reports" / "support" / "same" / "report.json").read_text())
    (trend,) = [each for each in report["history"] if each["metric"] == "overall"]
    first, second = trend["points"]
    assert (first["subtracted"], second["breaks"]) == (None, False)
    assert second["subtracted"]["mean"] == pytest.approx(0.2) and second["mean"] == pytest.approx(first["mean"])
    page = (home / "reports" / "support" / "same" / "report.html").read_text()
    assert 'class="link"' in page and "linked: old to new" in page
    assert f"old to new, by {TASKS} runs" in (home / "reports" / "support" / "same" / "report.md").read_text()
    assert differing(Installation.at(str(home)), "support/same") == {}


def test_a_model_that_changed_under_the_same_name_is_linked_and_a_worse_agent_fails(home: Path, judges: Judges) -> None:
    judges.panel(home, "old", model="m-2")
    made = bridge(home, "old", "old")
    assert set(made["differs"]) == {"judge old"} and judges.asked == ["m-2"] * TASKS
    evaluate(home, "worse", runs(less=2))
    outcome = gate(home, "support/worse")
    (overall,) = [each for each in outcome["metrics"] if each["metric"] == "overall"]
    assert outcome["verdict"] == "fail" and overall["difference"] == pytest.approx(-0.2)


def test_a_rubric_that_changed_is_linked(home: Path, judges: Judges) -> None:
    judges.panel(home, "old")
    rubric = home / "rubrics" / "clip" / "final.yaml"
    rubric.parent.mkdir(parents=True)
    criterion = {"key": "task_completion", "question": "Is it done?", "anchors": {0: "no", 10: "yes"}}
    known = {"name": "final", "level": "clip", "version": 2, "description": "d", "applies_to": ["final", "submission"]}
    rubric.write_text(json.dumps({**known, "scale": {"min": 0, "max": 10}, "criteria": [criterion]}))
    made = bridge(home, "old", "old")
    assert set(made["differs"]) == {"rubric clip/final"} and made["asked"] == ["old"]
    assert set(made["offsets"]) == {"overall"} and made["offsets"]["overall"]["mean"] == pytest.approx(0)


def test_nothing_is_asked_where_both_have_scored(home: Path, judges: Judges) -> None:
    judges.panel(home, "old", "new")
    evaluate(home, "both", runs())
    judges.asked.clear()
    judges.fails = True
    (home / "ledger.sqlite").unlink()
    made = bridge(home, "old", "new")
    assert judges.asked == [] and made["asked"] == [] and made["drops"] == ["support/both"]
    assert made["offsets"]["overall"]["mean"] == pytest.approx(0.1), "from the mean of both to the new one"


def test_the_price_comes_first(home: Path, judges: Judges) -> None:
    judges.panel(home, "new", price=1000.0)
    dry = command("panel", "bridge", "old", "new", "--dry-run", "--sample", "8", home=home)
    assert dry.returncode == 0 and "judge new: 8 new calls, expected $" in dry.stdout
    assert "is above ask_above_usd" in refused(home, "old", "new")
    assert judges.asked == []
    stopped = refused(home, "old", "new", "--budget", "0.001", status=3)
    assert "no bridge was made. Replies are kept" in stopped


def test_too_little_overlap_is_refused_with_the_number_needed(home: Path, judges: Judges) -> None:
    said = refused(home, "old", "new", "--sample", "5", status=1)
    assert "only 5 tasks in 5 runs that old scored; at least 8 needed" in said and judges.asked == []
    judges.panel(home, "moody")
    (home / "gate.yaml").write_text("{gate: {max_undetected: 0.05}, canaries: {enabled: false}}\n")
    said = refused(home, "old", "moody", status=1)
    assert "too few tasks with scores of both; needed: overall about 29 tasks" in said
    judges.panel(home, "new")
    judges.fails = True
    assert "no run has scores of both" in refused(home, "old", "new", status=1), "a failure is no score"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("nobody", "new"), "no drop of a suite has scores of 'nobody'; judges with scores: old"),
        (("old", "nobody"), "no judge 'nobody' in the panel; choose one of: new"),
        (("old", "new", "--suite", "other"), "no drop of suite 'other' was evaluated; evaluated suites: s"),
    ],
)
def test_what_cannot_be_linked_is_refused(home: Path, arguments: tuple[str, ...], why: str) -> None:
    status = 1 if "in the panel" in why else 2
    assert why in refused(home, *arguments, status=status)


def test_an_unchanged_judge_and_other_changes_are_refused(home: Path, judges: Judges) -> None:
    judges.panel(home, "old")
    assert "nothing changed" in refused(home, "old", "old", status=1)
    own = json.loads((home / "panel.yaml").read_text())
    rules = {"name": "rules", "provider": "rules"}
    (home / "panel.yaml").write_text(json.dumps({"quorum": 2, "judges": [*own["judges"], rules]}))
    assert "quorum also differs in support/base" in refused(home, "old", "rules", status=1)
