"""`panel align`: what makes a judge agree better with people is adopted, and noise is not."""

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from upath import UPath

from evaluation_assets.core.judging.panel import load_panel
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.review.alignment import decides
from evaluation_assets.core.system.installation import Installation
from evaluation_assets_tests.conftest import command, record
from evaluation_assets_tests.http_server import Reply, Request, http_server

RUNS = 60
GOOD = re.compile(r"quality (\d+)")
"""What every run says of itself. People pass a run from 5 on."""


def lenient(quality: int, request: Request) -> int:
    """Three points too many: runs of quality 3 and 4 pass, which people fail."""
    return min(10, quality + 3)


def mistaken(quality: int, request: Request) -> int:
    """Takes good for bad until it is shown an example."""
    right = "Example 1: people gave it" in request.body["messages"][0]["content"]
    return 9 if (quality >= 5) == right else 1


def noisy(quality: int, request: Request) -> int:
    """Any score, whatever it is asked, and the same in each installation, which has a fence of its own."""
    return Random(re.sub(r"untrusted-\w+", "", json.dumps(request.body["messages"]))).choice((1, 9))


JUDGES = {judge.__name__: judge for judge in (lenient, mistaken, noisy)}


@dataclass
class Judged:
    """An installation with a judged and labelled drop, and the requests to its judges."""

    home: Path
    asked: list[Request]

    @property
    def panel(self) -> Path:
        return self.home / "panel.yaml"

    def align(self, judge: str) -> dict[str, Any]:
        done = command("panel", "align", judge, "--format", "json", home=self.home)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def evaluate(self) -> list[Request]:
        """What the judges were asked."""
        before = len(self.asked)
        done = command("evaluate", self.home / "runs.jsonl", "--yes", home=self.home)
        assert done.returncode == 0, done.stderr
        return self.asked[before:]

    def cards(self) -> dict[str, dict[str, Any]]:
        done = command("judges", "--format", "json", home=self.home)
        assert done.returncode == 0, done.stderr
        return {card["judge"]: card for card in json.loads(done.stdout)}


def run(name: str, quality: int) -> tuple[str, str]:
    """A run, whose answer is twice as long for each point of quality from 0 or 5 up."""
    return name, f"<answer>{f'Run {name}: the result has quality {quality}.':<{64 * 2 ** (quality % 5)}}#</answer>"


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judged]:
    home, asked = tmp_path_factory.mktemp("aligned") / "home", []

    def answer(request: Request) -> Reply:
        asked.append(request)
        schema = request.body["response_format"]["json_schema"]["schema"]
        keys = schema["properties"]["scores"]["items"]["properties"]["criterion"]["enum"]
        quality = int(GOOD.findall(request.body["messages"][-1]["content"])[-1])
        score = JUDGES[request.body["model"]](quality, request)
        said = json.dumps(
            {"reasoning": "r", "scores": [{"criterion": key, "score": score} for key in keys], "summary": "s"}
        )
        choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        return Reply(body={"id": "1", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage})

    (home / "labels").mkdir(parents=True)
    with http_server(answer) as url:
        common = {"provider": "openai_compatible", "base_url": f"{url}/v1", "levels": ["trajectory"]}
        judges = [{"name": name, "model": name, **common, "price": {"input": 0, "output": 0}} for name in JUDGES]
        (home / "panel.yaml").write_text(yaml.safe_dump({"judges": judges}, sort_keys=False) + "# ours\n")
        runs = [(f"t{number}", number % 10) for number in range(RUNS)]
        (home / "runs.jsonl").write_bytes(b"".join(record(*run(*each)) for each in runs))
        labels = [{"drop": "runs", "trajectory_id": name, "label": float(quality >= 5)} for name, quality in runs]
        (home / "labels" / "people.jsonl").write_text("\n".join(map(json.dumps, labels)))
        judged = Judged(home, asked)
        assert len(judged.evaluate()) == RUNS * len(JUDGES)
        yield judged


@pytest.fixture
def judged(evaluated: Judged, tmp_path: Path) -> Judged:
    shutil.copytree(evaluated.home, tmp_path / "home")
    return Judged(tmp_path / "home", evaluated.asked)


def test_the_card_has_the_length_bias_on_labelled_answers(judged: Judged) -> None:
    """Each doubling is 0.1 more of runs that fail, and 0.05 of those that pass, which soon have full marks."""
    card = judged.cards()["lenient"]
    assert card["length_slope_basis"] == "labels"
    assert card["length_slope"] == pytest.approx(0.075, abs=0.002)
    assert 0.05 < card["length_slope_low"] < card["length_slope"] < card["length_slope_high"] < 0.1


@pytest.mark.slow
def test_the_map_of_a_lenient_judge_is_adopted(judged: Judged) -> None:
    before = len(judged.asked)
    found = judged.align("lenient")
    assert found["adopted"] == "map"
    none, mapped, _ = found["agreements"]
    assert none["kappa"] < 0.7 and mapped["kappa"] == 1
    assert none["bias_low"] > 0 and mapped["bias"] == 0
    assert len(judged.asked) - before == found["n_labels"], "as it is comes from the ledger"
    assert judged.panel.read_text().endswith("# ours\n"), "comments stay"
    assert load_panel(UPath(judged.panel)).judges[0].map
    assert judged.evaluate() == [], "the map costs no call"
    card = judged.cards()["lenient"]
    assert card["adopted"] == "map" and card["kappa"] == 1
    assert card["n_labels"] == found["n_labels"], "labels that the map was made from do not count"
    assert [each["change"] for each in card["alignment"]] == ["none", "map", "examples"]


@pytest.mark.slow
def test_examples_that_cure_a_judge_are_adopted(judged: Judged) -> None:
    found = judged.align("mistaken")
    assert found["adopted"] == "examples" and "lenient, noisy are shown them too" in found["written"]
    rubric = load_rubrics(Installation.at(str(judged.home)).rubrics).choose("trajectory")
    assert rubric.version == 2 and 0 < len(rubric.examples) <= 4
    shown = re.findall(r"Run (t\d+)", " ".join(example.work for example in rubric.examples))
    assert shown and not any(decides(task) for task in shown), "no example is from the half that decides"
    system = judged.asked[-1].body["messages"][0]["content"]
    fence = re.findall(r"<(untrusted-\w+)>\n\[task\]", system)
    assert len(fence) == len(rubric.examples), "texts of agents stand in the fence"
    of_judges = Counter(request.body["model"] for request in judged.evaluate())
    assert of_judges == {"lenient": RUNS, "noisy": RUNS, "mistaken": RUNS - found["n_labels"]}, "nothing is paid twice"


def test_nothing_is_adopted_for_noise(judged: Judged) -> None:
    panel = judged.panel.read_text()
    found = judged.align("noisy")
    assert found["adopted"] is None and "nothing" in found["written"]
    assert judged.panel.read_text() == panel
    assert not list((judged.home / "rubrics").rglob("*.yaml"))


def test_the_price_comes_first(judged: Judged) -> None:
    panel = yaml.safe_load(judged.panel.read_text())
    panel["judges"][0]["price"] = {"input": 1e5, "output": 1e5}
    judged.panel.write_text(yaml.safe_dump(panel))
    before = len(judged.asked)
    done = command("panel", "align", "lenient", "--dry-run", home=judged.home)
    assert "60 labelled runs" in done.stdout and "expected $" in done.stdout, done.stderr
    refused = command("panel", "align", "lenient", home=judged.home)
    assert refused.returncode == 2 and "is above ask_above_usd" in refused.stderr
    stopped = command("panel", "align", "lenient", "--budget", "0.01", home=judged.home)
    assert stopped.returncode == 3 and "nothing is adopted" in stopped.stderr
    assert len(judged.asked) == before


def test_a_judge_that_is_shown_its_scores_of_clips_must_have_judged_them(judged: Judged) -> None:
    panel = yaml.safe_load(judged.panel.read_text())
    panel["judges"].append(panel["judges"][0] | {"name": "later", "levels": ["clip", "trajectory"]})
    judged.panel.write_text(yaml.safe_dump(panel))
    done = command("panel", "align", "later", home=judged.home)
    assert done.returncode == 2 and "run evaluation-assets evaluate runs --judge later" in done.stderr


def test_without_labels_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "panel.yaml").write_text(json.dumps({"judges": [{"name": "one", "provider": "recorded"}]}))
    done = command("panel", "align", "one", home=tmp_path)
    assert done.returncode == 2 and "labels of other criteria do not count here. Label about 40" in done.stderr
    assert f"review DROP --home {tmp_path}" in done.stderr


@pytest.mark.parametrize(
    ("judge", "why"), [("two", "no judge 'two' in the panel"), ("clips", "is not asked about whole runs")]
)
def test_judges_that_cannot_be_aligned_are_refused(tmp_path: Path, judge: str, why: str) -> None:
    judges = [{"name": "clips", "provider": "recorded", "levels": ["clip"]}]
    (tmp_path / "panel.yaml").write_text(json.dumps({"judges": judges}))
    done = command("panel", "align", judge, home=tmp_path)
    assert done.returncode == 2 and why in done.stderr
