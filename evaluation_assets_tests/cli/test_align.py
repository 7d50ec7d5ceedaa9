"""`panel align`: what makes a judge agree better with people is adopted, and noise is not."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from evaluation_assets.core.judging.panel import load_panel
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.system.installation import Installation
from evaluation_assets_tests.conftest import command, record
from evaluation_assets_tests.http_server import Reply, Request, http_server

RUNS = 60
GOOD = re.compile(r"quality (\d+)")
"""What every run says of itself. People pass a run from 5 on."""

Judge = Callable[[int, Request], int]


def lenient(quality: int, request: Request) -> int:
    """Three points too many: runs of quality 3 and 4 pass, which people fail."""
    return min(10, quality + 3)


def mistaken(quality: int, request: Request) -> int:
    """Takes good for bad until it is shown an example."""
    right = "Example 1: people gave it" in request.body["messages"][0]["content"]
    return 9 if (quality >= 5) == right else 1


def noisy(quality: int, request: Request) -> int:
    """Any score, whatever it is asked."""
    return Random(json.dumps(request.body["messages"])).choice((1, 9))


@contextmanager
def judged_home(home: Path, judge: Judge, **fields: Any) -> Iterator[list[Request]]:
    """An installation with a judged and labelled drop, and the requests to its judge."""
    asked: list[Request] = []

    def answer(request: Request) -> Reply:
        asked.append(request)
        schema = request.body["response_format"]["json_schema"]["schema"]
        keys = schema["properties"]["scores"]["items"]["properties"]["criterion"]["enum"]
        quality = int(GOOD.findall(request.body["messages"][-1]["content"])[-1])
        scores = [{"criterion": key, "score": judge(quality, request)} for key in keys]
        said = json.dumps({"reasoning": "r", "scores": scores, "summary": "s"})
        choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        return Reply(body={"id": "1", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage})

    home.mkdir()
    with http_server(answer) as url:
        own = {"name": "one", "provider": "openai_compatible", "model": "m", "base_url": f"{url}/v1"}
        own |= {"levels": ["trajectory"], "price": {"input": 0, "output": 0}, **fields}
        (home / "panel.yaml").write_text(yaml.safe_dump({"judges": [own]}, sort_keys=False) + "# ours\n")
        runs = [(f"t{number}", number % 10) for number in range(RUNS)]
        lines = (
            record(name, f"<answer>Run {name}: the result has quality {quality}.</answer>") for name, quality in runs
        )
        (home / "runs.jsonl").write_bytes(b"".join(lines))
        done = command("evaluate", home / "runs.jsonl", "--yes", home=home)
        assert done.returncode == 0, done.stderr
        labels = [{"drop": "runs", "trajectory_id": name, "label": float(quality >= 5)} for name, quality in runs]
        (home / "labels").mkdir(exist_ok=True)
        (home / "labels" / "people.jsonl").write_text("\n".join(map(json.dumps, labels)))
        yield asked


def aligned(home: Path) -> dict[str, Any]:
    done = command("panel", "align", "one", "--format", "json", home=home)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def card(home: Path) -> dict[str, Any]:
    done = command("judges", "--format", "json", home=home)
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)
    return found


def test_the_map_of_a_lenient_judge_is_adopted(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with judged_home(home, lenient) as asked:
        before = len(asked)
        found = aligned(home)
        asked_with_examples = asked[before:]
        assert found["adopted"] == "map"
        none, mapped, _ = found["agreements"]
        assert none["kappa"] < 0.7 and mapped["kappa"] == 1
        assert none["bias_low"] > 0 and mapped["bias"] == 0
        assert len(asked_with_examples) == found["n_labels"], "as it is comes from the ledger"
        text = (home / "panel.yaml").read_text()
        assert text.endswith("# ours\n"), "comments stay"
        assert load_panel(Installation.at(str(home)).panel_file).judges[0].map
        paid = len(asked)
        assert command("evaluate", home / "runs.jsonl", "--yes", home=home).returncode == 0
        assert len(asked) == paid, "the map costs no call"
        own = card(home)
        assert own["adopted"] == "map" and own["kappa"] == 1
        assert [each["change"] for each in own["alignment"]] == ["none", "map", "examples"]
        again = aligned(home)
        assert again["adopted"] is None, "the judge as it is has the map now"


def test_examples_that_cure_a_judge_are_adopted(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with judged_home(home, mistaken) as asked:
        found = aligned(home)
        assert found["adopted"] == "examples"
        rubric = load_rubrics(Installation.at(str(home)).rubrics).choose("trajectory")
        assert rubric.version == 2 and 0 < len(rubric.examples) <= 4
        system = asked[-1].body["messages"][0]["content"]
        fence = re.findall(r"<(untrusted-\w+)>\n\[task\]", system)
        assert len(fence) == len(rubric.examples), "texts of agents stand in the fence"
        paid = len(asked)
        assert command("evaluate", home / "runs.jsonl", "--yes", home=home).returncode == 0
        assert 0 < len(asked) - paid < RUNS, "the half that decided is in the ledger"
        assert card(home)["kappa"] == 1


def test_nothing_is_adopted_for_noise(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with judged_home(home, noisy):
        panel = (home / "panel.yaml").read_text()
        found = aligned(home)
    assert found["adopted"] is None and "nothing" in found["written"]
    assert (home / "panel.yaml").read_text() == panel
    assert not list((home / "rubrics").rglob("*.yaml"))


def test_the_price_comes_first(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with judged_home(home, lenient, price={"input": 1e5, "output": 1e5}) as asked:
        before = len(asked)
        done = command("panel", "align", "one", "--dry-run", home=home)
        assert "60 labelled trajectories" in done.stdout and "expected $" in done.stdout, done.stderr
        refused = command("panel", "align", "one", home=home)
        assert refused.returncode == 2 and "is above ask_above_usd" in refused.stderr
        stopped = command("panel", "align", "one", "--budget", "0.01", home=home)
        assert stopped.returncode == 3 and "nothing is adopted" in stopped.stderr
        assert len(asked) == before


def test_too_few_labels_are_refused(tmp_path: Path) -> None:
    (tmp_path / "panel.yaml").write_text(json.dumps({"judges": [{"name": "one", "provider": "recorded"}]}))
    done = command("panel", "align", "one", home=tmp_path)
    assert done.returncode == 2 and "each half needs at least 20 of 8 tasks" in done.stderr


@pytest.mark.parametrize(
    ("judge", "why"), [("two", "no judge 'two' in the panel"), ("clips", "is not asked about whole trajectories")]
)
def test_judges_that_cannot_be_aligned_are_refused(tmp_path: Path, judge: str, why: str) -> None:
    judges = [{"name": "clips", "provider": "recorded", "levels": ["clip"]}]
    (tmp_path / "panel.yaml").write_text(json.dumps({"judges": judges}))
    done = command("panel", "align", judge, home=tmp_path)
    assert done.returncode == 2 and why in done.stderr
