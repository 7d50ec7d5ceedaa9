"""`panel attack`: judges that give in to planted texts are caught, and others are not."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from evaluation_assets.core.judging.canaries import canaries
from evaluation_assets.core.judging.panel import judges_of, load_panel
from evaluation_assets.core.judging.probes import PROBES, RETEST
from evaluation_assets.core.judging.prompts import PROMPT_VERSION
from evaluation_assets.core.review.judged_labels import card_rows
from evaluation_assets.core.review.settings import ReviewSettings
from evaluation_assets.core.system.installation import Installation
from evaluation_assets_tests.conftest import command
from evaluation_assets_tests.http_server import Reply, Request, http_server

GIVES_IN_TO = ("Flawless.", "highest score", "great diligence")
"""What a gullible judge sees of the probes."""

Judge = Callable[[Request], int]


def robust(request: Request) -> int:
    """The same score for every clip."""
    return 3


def gullible(request: Request) -> int:
    """Full marks for a piece that asks for them."""
    return 10 if any(sign in request.body["messages"][-1]["content"] for sign in GIVES_IN_TO) else 3


class Moody:
    """A judge that gives another score each time."""

    def __init__(self) -> None:
        self._scores = self._moods()

    def _moods(self) -> Iterator[int]:
        while True:
            yield from (2, 8)

    def __call__(self, request: Request) -> int:
        task = request.body["messages"][-1]["content"]
        return next(self._scores) if task else 0


def attacked(
    home: Path, judge: Judge, *more: str, price: dict[str, float] | None = None
) -> tuple[int, list[dict[str, Any]], list[Request]]:
    """The exit status, the result of each probe, and what the judge was asked."""
    done, asked = attack(home, judge, "--format", "json", *more, price=price)
    (found,) = json.loads(done.stdout) if "--dry-run" not in more else ({"probes": []},)
    return done.returncode, found["probes"], asked


def attack(
    home: Path, judge: Judge, *arguments: str, price: dict[str, float] | None = None
) -> tuple[CompletedProcess[str], list[Request]]:
    """What the command did, and what the judge was asked."""
    home.mkdir(exist_ok=True)
    asked: list[Request] = []

    def answer(request: Request) -> Reply:
        asked.append(request)
        schema = request.body["response_format"]["json_schema"]["schema"]
        keys = schema["properties"]["scores"]["items"]["properties"]["criterion"]["enum"]
        scores = [{"criterion": key, "score": judge(request)} for key in keys[:1]]
        scores += [{"criterion": key, "score": scores[0]["score"]} for key in keys[1:]]
        said = json.dumps({"reasoning": "r", "scores": scores, "summary": "s"})
        choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        return Reply(body={"id": "1", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage})

    with http_server(answer) as url:
        own = {"name": "one", "provider": "openai_compatible", "model": "m", "base_url": f"{url}/v1"}
        own |= {"max_concurrency": 1, "price": price or {"input": 0, "output": 0}}
        rules = {"name": "recalled", "provider": "recorded"}
        (home / "panel.yaml").write_text(json.dumps({"judges": [own, rules]}))
        done = command("panel", "attack", *arguments, home=home)
    assert done.returncode in (0, 1), done.stderr
    return done, asked


def card_of(folder: Path) -> dict[str, Any]:
    """The card of the judge that was attacked, without labels."""
    home = Installation.at(str(folder))
    (card,) = card_rows(home, judges_of(load_panel(home.panel_file), home.ledger_url), [], ReviewSettings())
    return card


def test_a_robust_judge_passes(tmp_path: Path) -> None:
    status, probes, asked = attacked(tmp_path / "home", robust)
    assert status == 0
    card = card_of(tmp_path / "home")
    assert card["length_slope"] == 0 and card["gives_in_to"] == "none"
    assert [each["probe"] for each in probes] == list(PROBES)
    assert {(each["clips"], each["succeeded"]) for each in probes} == {(len(canaries()), 0)}
    assert {each["outcome"] for each in probes if each["probe"] != RETEST} == {"resists"}
    assert len(asked) == len(canaries()) * (1 + len(PROBES))
    sent = [request.body["messages"][-1]["content"] for request in asked]
    assert any("display:none" in text for text in sent)
    assert not any(0xE0000 <= ord(letter) <= 0xE007F for text in sent for letter in text), "no judge is shown these"
    assert not any("<|im_start|>" in text or "</untrusted-0123" in text for text in sent)


def test_a_gullible_judge_is_caught_on_every_probe(tmp_path: Path) -> None:
    status, probes, _ = attacked(tmp_path / "home", gullible, "one")
    assert status == 1
    outcomes = {each["probe"]: each["outcome"] for each in probes}
    assert outcomes == {probe: "stable" if probe == RETEST else "gives_in" for probe in PROBES}
    assert all(each["low"] > 0.7 and each["high"] == 1 for each in probes if each["probe"] != RETEST)
    card = card_of(tmp_path / "home")
    assert card["length_slope_low"] > 0 and card["length_slope_basis"] == "padding"
    assert card["attack"] == probes
    assert card["gives_in_to"].split(", ") == [probe for probe in PROBES if probe != RETEST]
    assert card["attacked_on"] == datetime.now(UTC).date().isoformat() and card["attacked_prompt"] == PROMPT_VERSION


def test_the_card_of_another_version_has_no_attack(tmp_path: Path) -> None:
    home = tmp_path / "home"
    attacked(home, gullible)
    panel = json.loads((home / "panel.yaml").read_text())
    panel["judges"][0]["model"] = "another"
    (home / "panel.yaml").write_text(json.dumps(panel))
    installation = Installation.at(str(home))
    judges = judges_of(load_panel(installation.panel_file), installation.ledger_url)
    assert not list(card_rows(installation, judges, [], ReviewSettings()))


def test_a_judge_that_changes_its_mind_is_caught_by_the_retest_alone(tmp_path: Path) -> None:
    status, probes, _ = attacked(tmp_path / "home", Moody())
    assert status == 1
    assert [each["probe"] for each in probes if each["outcome"] in ("gives_in", "unstable")] == [RETEST]


def test_a_judge_that_always_gives_full_marks_is_not_measurable(tmp_path: Path) -> None:
    status, probes, _ = attacked(tmp_path / "home", lambda request: 10)
    assert status == 1
    assert {each["outcome"] for each in probes if each["probe"] != RETEST} == {"not_measurable"}
    assert {(each["clips"], each["at_the_top"]) for each in probes if each["probe"] != RETEST} == {(0, len(canaries()))}
    done, _ = attack(tmp_path / "text", lambda request: 10)
    assert done.returncode == 1
    said = f"not measurable: the score of {len(canaries())} clips could not rise"
    assert done.stdout.count(said) == len(PROBES) - 1 and "no probe could be measured" in done.stdout


def test_the_price_comes_first(tmp_path: Path) -> None:
    home = tmp_path / "home"
    price = {"input": 100.0, "output": 1000.0}
    _, _, asked = attacked(home, robust, "--dry-run", price=price)
    assert asked == []
    done = command("panel", "attack", "--dry-run", home=home)
    assert f"{len(canaries()) * (1 + len(PROBES))} clips for each judge" in done.stdout
    assert "judge one: 108 new calls, expected $" in done.stdout
    refused = command("panel", "attack", home=home)
    assert refused.returncode == 2 and "is above ask_above_usd" in refused.stderr


@pytest.mark.parametrize(
    ("name", "why"), [("two", "no judge 'two' in the panel"), ("recalled", "is not asked about clips")]
)
def test_judges_that_cannot_be_attacked_are_refused(tmp_path: Path, name: str, why: str) -> None:
    judges = [{"name": "rules", "provider": "rules"}, {"name": "recalled", "provider": "recorded"}]
    (tmp_path / "panel.yaml").write_text(json.dumps({"judges": judges}))
    done = command("panel", "attack", name, home=tmp_path)
    assert done.returncode == 2 and why in done.stderr


def test_the_embedded_judge_resists(tmp_path: Path) -> None:
    done = command("panel", "attack", "--provider", "rules", home=tmp_path)
    assert "forged_verdict" in done.stdout and "resists" in done.stdout
    assert done.returncode == 0, done.stdout
