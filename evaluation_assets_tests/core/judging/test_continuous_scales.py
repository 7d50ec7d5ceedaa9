"""Scales on which judges may give decimals."""

import asyncio
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from upath import UPath

from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.judging.judge import Judge, judge_chains
from evaluation_assets.core.judging.panel import judges_of, panel_of
from evaluation_assets.core.judging.prompts import reply_schema
from evaluation_assets.core.judging.replies import InvalidReply, evaluation_object, read_reply
from evaluation_assets.core.judging.rubrics.model import Criterion, InvalidRubric, Rubrics, Scale, load_rubrics
from evaluation_assets.core.judging.subjects import clip_chain
from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.models.budget import Budget
from evaluation_assets_tests.judging_alone import chains
from evaluation_assets_tests.model_server import ModelServer, rule
from evaluation_assets_tests.third_party import data

pytestmark = pytest.mark.usefixtures("_key")
UNIT = Scale(min=0, max=1, continuous=True)


@pytest.fixture
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", "any")


def rubrics_with(
    folder: Path, scale: dict[str, Any], anchors: dict[float, str], names: tuple[str, ...] = ("browser_use", "final")
) -> Rubrics:
    """The shipped rubrics, with one criterion on this scale for the clips of the drops here."""
    at = folder / "rubrics" / "clip"
    at.mkdir(parents=True)
    for name in names:
        criterion = {"key": "right", "question": "Is it right?", "anchors": anchors}
        rubric = {"name": name, "level": "clip", "version": 1, "description": "Look.", "scale": scale}
        (at / f"{name}.yaml").write_text(yaml.safe_dump(rubric | {"criteria": [criterion]}))
    return load_rubrics(UPath(folder / "rubrics"))


def judged(server: ModelServer, url: str, provider: str, rubrics: Rubrics, **more: Any) -> list[Verdict]:
    own = {"name": "one", "provider": provider, "model": "m", "base_url": server.openai_url, "api_key_env": "TEST_KEY"}
    (made,) = judges_of(panel_of({"judges": [own | {"price": {"input": 1, "output": 1}} | more]}, "test"), url)
    given = [clip_chain(chain.trajectory, clips_of(chain.trajectory), rubrics) for chain in chains(1)]

    async def work(judge: Judge) -> list[Verdict]:
        async with judge.opened("run", Budget()) as ready:
            return [judgement.verdict async for some in judge_chains(ready, iter(given)) for judgement in some]

    return asyncio.run(work(made))


def test_a_judge_is_asked_for_decimals_and_sees_its_own_again(url: str, models: ModelServer, tmp_path: Path) -> None:
    models.script(
        [rule("text", text=json.dumps({"reasoning": "r", "scores": {"right": 0.85}, "summary": "s"}), times=2)]
    )
    rubrics = rubrics_with(tmp_path, {"min": 0, "max": 1, "continuous": True}, {0: "No.", 1: "Yes."})
    verdicts = judged(models, url, "openai_compatible", rubrics)
    assert [verdict.scores for verdict in verdicts] == [{"right": pytest.approx(0.85)}] * 2
    first, second = models.requests()
    system = first.body["messages"][0]["content"]
    assert '"score" as a number on the scale' in system and 'scale="0 to 1, with decimals"' in system
    assert '"score":0.85' in second.body["messages"][2]["content"]


def test_whole_numbers_stay_the_default(url: str, models: ModelServer, tmp_path: Path) -> None:
    models.script([rule("text", text=json.dumps({"reasoning": "r", "scores": {"right": 0.85}, "summary": "s"}))])
    rubrics = rubrics_with(tmp_path, {"min": 0, "max": 1}, {0: "No.", 1: "Yes."})
    verdicts = judged(models, url, "openai_compatible", rubrics)
    assert {verdict.error_kind for verdict in verdicts} == {"out_of_range"}
    assert '"score" as a whole number on the scale' in models.requests()[0].body["messages"][0]["content"]


def test_the_schema_of_a_conversation_takes_what_each_of_its_rubrics_takes(tmp_path: Path) -> None:
    rubrics = rubrics_with(
        tmp_path, {"min": 0, "max": 1, "continuous": True}, {0: "No.", 1: "Yes."}, names=("browser_use",)
    )
    chosen = [rubrics.choose("clip", "browser_use"), rubrics.choose("clip", "final")]
    entries = [
        {"criterion": "right", "score": 0.85},
        {"criterion": chosen[1].criteria[0].key, "score": chosen[1].scale.max},
    ]
    schema = reply_schema(chosen)
    jsonschema.validate({"reasoning": "", "scores": entries, "summary": ""}, schema)
    whole = reply_schema(chosen[1:])
    assert whole["properties"]["scores"]["items"]["properties"]["score"]["type"] == ["integer", "null"]


@pytest.mark.parametrize("value", [-0.01, 1.01, float("nan"), float("inf"), True, "0.5"])
def test_what_is_not_on_the_scale_is_refused(value: object) -> None:
    criterion = Criterion(key="right", question="?", anchors={0: "No.", 1: "Yes."})
    with pytest.raises(InvalidReply):
        read_reply(json.dumps({"reasoning": "", "scores": {"right": value}, "summary": ""}), [criterion], UNIT)


@pytest.mark.parametrize(
    ("scale", "anchors", "why"),
    [
        ({"min": 0, "max": 1, "continuous": True, "aggregate": "majority"}, {0: "No.", 1: "Yes."}, "a majority needs"),
        ({"min": 0, "max": 2}, {0: "No.", 0.5: "Half.", 2: "Yes."}, "anchors must be on the scale"),
        ({"min": 0, "max": 1, "continuous": True}, {0: "No.", 1: "Yes.", 1.5: "More."}, "anchors must be on the scale"),
        ({"min": 5, "max": 5}, {5: "Yes."}, "min has to be less than max"),
        ({"min": 0, "max": 10**12}, {0: "No.", 10**12: "Yes."}, "more than 1000 points"),
    ],
)
def test_rubrics_that_cannot_be_meant_are_refused(
    tmp_path: Path, scale: dict[str, Any], anchors: dict[float, str], why: str
) -> None:
    with pytest.raises(InvalidRubric, match=why):
        rubrics_with(tmp_path, scale, anchors)


@pytest.mark.parametrize("provider", ["openai_decisions", "systemone"])
@pytest.mark.parametrize(
    ("anchors", "levels"),
    [
        ({0: "No.", 1: "Yes."}, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        ({0: "No.", 0.25: "A little.", 1: "Yes."}, [0, 0.25, 1]),
        ({place / 20: f"Point {place}." for place in range(21)}, [0, 0.1, 0.2, 0.35, 0.45, 0.55, 0.65, 0.8, 0.9, 1]),
    ],
)
def test_decision_models_choose_from_at_most_ten_levels_over_the_range(
    url: str, models: ModelServer, tmp_path: Path, provider: str, anchors: dict[float, str], levels: list[float]
) -> None:
    rubrics = rubrics_with(tmp_path, {"min": 0, "max": 1, "continuous": True}, anchors)
    for verdict in judged(models, url, provider, rubrics):
        assert verdict.outcome == "scored", verdict.error
        distribution = (verdict.distributions or {})["right"]
        assert [each.score for each in distribution] == pytest.approx(levels)
        expected = sum(each.score * each.probability for each in distribution)
        assert verdict.scores["right"] == pytest.approx(expected)


def _published(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            if isinstance(value.get("raw_response"), str):
                found.append(value)
            for each in value.values():
                collect(each)
        elif isinstance(value, list):
            for each in value:
                collect(each)

    for path in sorted(folder.glob("*.json")):
        collect(json.loads(path.read_text("utf-8")))
    return found


def _is_read(text: str, scale: Scale) -> bool:
    try:
        keys = evaluation_object(text)["scores"]
        criteria = [Criterion(key=key, question="?", anchors={0: "No.", scale.max: "Yes."}) for key in keys]
        return bool(read_reply(text, criteria, scale).scores)
    except InvalidReply:
        return False


def test_published_replies_with_decimals_are_read() -> None:
    """`data/model_evaluations` of github.com/Drip-Data/DataEva: each reply with the scores that its authors read."""
    folder = data("dataeva") / "model_evaluations"
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    replies = _published(folder)
    assert len(replies) == 69
    assert sum(_is_read(each["raw_response"], Scale(min=0, max=10)) for each in replies) <= 7
    assert sum(_is_read(each["raw_response"], UNIT) for each in replies) == 68, "one holds two that differ"
