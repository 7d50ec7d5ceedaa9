"""What each judge is asked: levels, presets, samples; quick verdicts of a real endpoint."""

import asyncio
import hashlib
import json
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.judging.fences import neutral
from evaluation_assets.core.judging.judge import Judgement, judge_chains
from evaluation_assets.core.judging.model_judge import ModelJudge
from evaluation_assets.core.judging.panel import InvalidPanel, JudgeSettings, judges_of, panel_of
from evaluation_assets.core.judging.pieces import Show
from evaluation_assets.core.judging.prompts import render, reply_schema
from evaluation_assets.core.judging.quick import quick_schema, read_quick_reply
from evaluation_assets.core.judging.replies import InvalidReply
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.judging.scorers import Scorers
from evaluation_assets.core.judging.selection import (
    EVERY_LEVEL,
    EVERYTHING,
    Selection,
    Selections,
    is_sampled,
    session_level,
)
from evaluation_assets.core.judging.subjects import Chain, clip_chain, trajectory_chain
from evaluation_assets.core.judging.verdict_rows import verdict_rows
from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.models.endpoints import endpoint_of
from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets.core.traces.formats.base import Record
from evaluation_assets.core.traces.formats.readers.tagged import trajectory_of
from evaluation_assets_tests.conftest import call
from evaluation_assets_tests.model_judging import judge
from evaluation_assets_tests.model_server import ModelServer

RUBRICS = load_rubrics()

PINNED = [["60a355c869d581de", "a8b96869dba8aaf9", "4d918cd4cdab5168"], ["5e1b1e05e5ea388f", "118d5ea286d31ef6"]]


def whole(task: str = "t") -> Chain:
    text = (
        call("one", f"result of {task}" if task != "t" else "result one")
        + call("two", "result two")
        + "<answer>4</answer>"
    )
    fields = {"task_id": task, "task_description": "How many?", "raw_response": text}
    trajectory = trajectory_of(Record("d.jsonl", 1, fields, orjson.dumps(fields)))
    return trajectory_chain(trajectory, clips_of(trajectory), RUBRICS)


def clips(task: str = "t") -> Chain:
    trajectory = whole(task).trajectory
    return clip_chain(trajectory, clips_of(trajectory), RUBRICS)


def test_without_a_choice_a_judge_is_asked_everything_and_its_comparability_key_stays() -> None:
    (plain,) = judges_of(panel_of({"judges": [{"name": "rules", "provider": "rules"}]}, "test"), "sqlite://")
    (full,) = judges_of(
        panel_of({"judges": [{"name": "rules", "provider": "rules", "preset": "full"}]}, "test"), "sqlite://"
    )
    assert plain.selection == full.selection == EVERYTHING
    chain = whole()
    assert EVERYTHING.chain(chain) is chain, "the very same questions"
    assert not [part for part in Scorers([plain], RUBRICS, 1).comparability({}) if part.startswith("selection")]
    assert Scorers([plain], RUBRICS, 1).comparability({}) == Scorers([full], RUBRICS, 1).comparability({})


def test_a_choice_is_part_of_the_comparability_key() -> None:
    data = {"name": "rules", "provider": "rules", "levels": ["trajectory", "clip"], "sample": 0.25}
    (chosen,) = judges_of(panel_of({"judges": [data]}, "test"), "sqlite://")
    key = Scorers([chosen], RUBRICS, 1).comparability({})
    assert key["selection of rules"] == "levels clip, trajectory; sample 0.25"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"levels": ["clip"], "preset": "standard"}, "remove levels or preset"),
        ({"preset": "quick"}, "makes no calls"),
        ({"levels": []}, "levels"),
        ({"levels": ["clips"]}, "levels"),
        ({"sample": 0}, "sample"),
        ({"sample": 1.5}, "sample"),
    ],
)
def test_choices_that_cannot_be_meant_are_refused(fields: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidPanel, match=said):
        panel_of({"judges": [{"name": "rules", "provider": "rules", **fields}]}, "panel.yaml")


def test_levels_that_are_not_chosen_are_not_asked() -> None:
    answers = Selection.of(["answer"], None, None)
    assert answers.chain(clips()) is None
    chosen = answers.chain(whole())
    assert chosen is not None and [subject.level for subject in chosen.subjects] == ["answer"]
    assert Selection.of(None, "standard", None).levels == {"clip", "category", "trajectory", "answer"}
    assert Selection.of(None, None, None).levels == set(EVERY_LEVEL)


@given(share=st.floats(0.05, 0.95), names=st.sets(st.text(min_size=1), min_size=400, max_size=400))
def test_samples_are_stable_nested_and_about_as_large_as_asked(share: float, names: set[str]) -> None:
    kept = {name for name in names if is_sampled(name, share)}
    assert kept == {name for name in names if is_sampled(name, share)}
    assert {name for name in names if is_sampled(name, share / 2)} <= kept
    assert all(is_sampled(name, 1.0) for name in names)


def test_a_sample_has_its_share_of_many_trajectories() -> None:
    kept = sum(is_sampled(f"trajectory {number}", 0.3) for number in range(10_000))
    assert 2850 <= kept <= 3150


def test_only_judges_that_are_to_be_asked_count_for_the_quorum() -> None:
    panel = Selections({"a": EVERYTHING, "b": Selection.of(["clip"], None, None), "c": Selection.of(None, None, 0.5)})
    sampled = next(str(n) for n in range(100) if is_sampled(str(n), 0.5))
    unsampled = next(str(n) for n in range(100) if not is_sampled(str(n), 0.5))
    names = ["a", "b", "c"]
    assert panel.judges(names, "clip", sampled) == names
    assert panel.judges(names, "trajectory", unsampled) == ["a"]
    assert panel.quorum(names, "trajectory", unsampled, 2) == 1
    assert panel.quorum(names, "clip", sampled, 2) == 2
    assert panel.quorum(["a"], "clip", sampled, 2) == 2, "a quorum that a panel cannot reach stays out of reach"
    of_sessions = panel.asker(["b", "c"], ("turn",))
    assert of_sessions(sampled) and not of_sessions(unsampled)
    assert not panel.asker(["b"], ("turn",))(sampled)


def test_subjects_of_sessions_have_their_level_in_their_name() -> None:
    found = [session_level(name) for name in ("session", "turn/0", "turn/0/interaction/1")]
    assert found == ["session", "turn", "interaction"]


def judged(server: ModelServer, tmp_path: Path, chains: list[Chain], **more: Any) -> tuple[ModelJudge, list[Judgement]]:
    own = JudgeSettings.model_validate(judge(server, **more))
    settings, connected, pricing = endpoint_of(own)
    made = ModelJudge(
        settings, connected, partial(Ledger, f"sqlite:///{tmp_path / 'l.sqlite'}"), pricing, 1, own.selection
    )

    async def run() -> list[Judgement]:
        async with made.opened("run", Budget()) as ready:
            chosen = made.selection.chains(chains)
            return [judgement async for some in judge_chains(ready, chosen) for judgement in some]

    return made, asyncio.run(run())


def test_quick_is_one_call_a_trajectory_and_a_verdict_on_its_answer(server: ModelServer, tmp_path: Path) -> None:
    chains = [chain for number in range(3) for chain in (clips(f"t{number}"), whole(f"t{number}"))]
    made, judgements = judged(server, tmp_path, chains, preset="quick")
    assert len(server.requests()) == len(judgements) == 3
    rows = [row for judgement in judgements for row in verdict_rows("d", made, judgement)]
    assert [row["subject"] for row in rows] == ["trajectory", "answer"] * 3
    of_answer = {criterion.key for criterion in RUBRICS.choose("answer").criteria}
    assert rows[1]["scores"] and set(rows[1]["scores"]) <= of_answer
    paid = [row["cost_usd"] for row in rows]
    assert paid[0] > 0 and paid[1] == 0, "the call is booked once"
    _, again = judged(server, tmp_path, chains, preset="quick")
    assert len(server.requests()) == 3 and all(judgement.verdict.from_ledger for judgement in again)


def test_probabilities_of_a_model_stand_in_its_verdicts_and_in_its_conversation(
    server: ModelServer, tmp_path: Path
) -> None:
    chain = clips()
    made, judgements = judged(server, tmp_path, [chain], probability=True)
    assert len(judgements) == len(chain.subjects) > 1
    for judgement in judgements:
        scored = [key for key, score in judgement.verdict.scores.items() if score is not None]
        (row,) = verdict_rows("d", made, judgement)
        assert row["probabilities"].keys() == judgement.verdict.scores.keys()
        assert scored and all(0 <= row["probabilities"][key] <= 1 for key in scored if row["probabilities"][key])
    bodies = [request.body for request in server.requests()]
    said = json.loads(bodies[-1]["messages"][2]["content"])
    first = judgements[0].verdict.probabilities or {}
    stated = {key: None if value is None else round(100 * value) for key, value in first.items()}
    assert {entry["criterion"]: entry["probability"] for entry in said["scores"]} == stated
    assert "probability" in bodies[0]["messages"][0]["content"]


def request_digests(chain: Chain, show: Show = neutral) -> list[str]:
    """Digests of all that is sent about the subjects of a chain."""
    earlier: list[Judgement] = []
    found: list[str] = []
    for subject in chain.subjects:
        rendered = render(subject, earlier, "fence", 100_000, None, show)
        turns = [(turn.role, turn.text) for turn in rendered.turns]
        asked = json.dumps([rendered.system, turns, reply_schema(subject.chain_rubrics)])
        found.append(hashlib.sha256(asked.encode()).hexdigest()[:16])
        scores = {criterion.key: 0.5 for criterion in subject.criteria}
        earlier.append(Judgement(subject, Verdict(outcome="scored", scores=scores, summary="s", reasoning="r")))
    return found


def test_the_requests_without_a_choice_are_byte_for_byte_what_they_were() -> None:
    assert [request_digests(EVERYTHING.chain(chain) or chain) for chain in (clips(), whole())] == PINNED


def _reply(**fields: object) -> str:
    subject = Selection.of(None, "quick", None).chain(whole())
    assert subject is not None
    one = subject.subjects[0]
    data = {
        "reasoning": "because",
        "scores": [{"criterion": each.key, "score": 7} for each in one.criteria],
        "answer_scores": [{"criterion": each.key, "score": 5} for each in one.answer_criteria],
        "wrong_pieces": [{"piece": 2, "problem": "searched twice"}],
        "summary": "done",
    }
    return json.dumps(data | fields)


def test_a_quick_reply_has_both_scales_and_the_steps_that_went_wrong() -> None:
    chain = Selection.of(None, "quick", None).chain(whole())
    assert chain is not None
    (subject,) = chain.subjects
    read = read_quick_reply(_reply(), subject)
    assert set(read.scores.values()) == {0.7}
    assert read.answer_scores is not None and set(read.answer_scores.values()) == {1.0}
    assert read.wrong_clips == {1: "searched twice"}
    beyond = [{"piece": 9, "problem": "?"}, {"piece": 1, "problem": "guessed"}, {"piece": 1, "problem": "again"}]
    assert read_quick_reply(_reply(wrong_pieces=beyond), subject).wrong_clips == {0: "guessed again"}
    assert quick_schema(subject)["required"] == ["reasoning", "scores", "answer_scores", "wrong_pieces", "summary"]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"wrong_pieces": None}, "must be a list"),
        ({"wrong_pieces": [{"piece": "2", "problem": "?"}]}, "piece and problem"),
        ({"answer_scores": []}, "no score for"),
        ({"summary": 1}, "must be texts"),
    ],
)
def test_invalid_quick_replies_are_no_verdicts(fields: dict[str, object], said: str) -> None:
    chain = Selection.of(None, "quick", None).chain(whole())
    assert chain is not None
    with pytest.raises(InvalidReply, match=said):
        read_quick_reply(_reply(**fields), chain.subjects[0])


def test_probabilities_are_asked_of_every_subject_and_of_the_answer_in_a_quick_reply() -> None:
    full, quick = (Selection.of(None, preset, None, probability=True) for preset in (None, "quick"))
    assert full.described() == "probability 1"
    chain, in_one_call = full.chain(whole()), quick.chain(whole())
    assert chain is not None and in_one_call is not None
    assert all(subject.asks_probability for subject in chain.subjects)
    (subject,) = in_one_call.subjects
    given = json.loads(_reply())
    for name, percent in (("scores", 80), ("answer_scores", 35)):
        given[name] = [entry | {"probability": percent} for entry in given[name]]
    jsonschema.validate(given, quick_schema(subject))
    read = read_quick_reply(json.dumps(given), subject)
    assert set((read.probabilities or {}).values()) == {0.8}
    assert set((read.answer_probabilities or {}).values()) == {0.35}
    with pytest.raises(InvalidReply, match="no probability for"):
        read_quick_reply(_reply(), subject)


def test_only_models_are_asked_for_probabilities() -> None:
    with pytest.raises(InvalidPanel, match="remove probability"):
        panel_of({"judges": [{"name": "rules", "provider": "rules", "probability": True}]}, "panel.yaml")
