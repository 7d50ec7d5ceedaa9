"""Model judges in real runs, with the real SDKs, against a local model server."""

import json
import os
import re
import signal
import subprocess
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml
from upath import UPath

import evaluation_assets
from evaluation_assets.core.judging import progress
from evaluation_assets.core.judging.model_judge import ModelJudge
from evaluation_assets.core.judging.panel import InvalidPanel, judges_of, load_panel, panel_of
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.definitions import build_definitions
from evaluation_assets.defs.names import COVERAGE, EVALUATE
from evaluation_assets.runs.jobs import instance_of
from evaluation_assets_tests.conftest import KEY, call, record
from evaluation_assets_tests.forked_commands import Forked, forked_command, start_command
from evaluation_assets_tests.model_judging import CLIPS, Judged, drop_of, installed, judge
from evaluation_assets_tests.model_server import ModelServer, model_server, rule


@pytest.fixture
def judged(tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer) -> Judged:
    """An installation with one judge."""
    return installed(tmp_path, instance, judge(server))


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_every_subject_gets_a_verdict(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer, protocol: str
) -> None:
    judged = installed(tmp_path, instance, judge(server, protocol=protocol))
    judged.drop("d", drop_of(4))
    assert judged.run("d").success
    assert set(judged.outcomes()) <= {("scored", None), ("abstained", None)}
    assert len(judged.verdicts()) == 4 * CLIPS
    for row in judged.verdicts():
        assert row["input_tokens"] > 0 and row["output_tokens"] > 0 and row["cost_usd"] > 0
        assert row["summary"] and row["reasoning"] and row["ledger_key"]
        assert all(score is None or 0 <= score <= 1 for score in row["scores"].values())
        assert row["share_seen"] == 1.0
    assert len(server.requests()) == sum(judged.outcomes().values())


@pytest.mark.parametrize("provider", ["openai_decisions", "systemone"])
def test_decision_models_give_distributions_and_their_means_are_averaged_and_reported(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer, provider: str
) -> None:
    writes = judge(server, "writes")
    judged = installed(tmp_path, instance, judge(server, "decides", provider=provider), writes)
    judged.drop("d", drop_of(2))
    result = judged.run("d")
    assert result.success
    rows = [row for level in ("clip", "category", "trajectory") for row in judged.verdicts(level, "decides")]
    assert len(judged.verdicts("clip", "decides")) == 2 * CLIPS
    for row in rows:
        assert (row["outcome"], row["summary"], row["reasoning"], row["probabilities"]) == ("scored", None, None, None)
        assert row["scores"].keys() == row["distributions"].keys() == row["entropies"].keys()
        for key, distribution in row["distributions"].items():
            assert sum(each["probability"] for each in distribution) == pytest.approx(1)
            expected = sum(each["score"] * each["probability"] for each in distribution)
            assert row["scores"][key] == pytest.approx(expected)
            assert 0 < row["entropies"][key] <= 1
        assert row["input_tokens"] > 0 and row["cost_usd"] > 0 and row["ledger_key"] and row["served_model"]
    assert all(row["distributions"] is None for row in judged.verdicts("clip", "writes"))
    scores = {
        (name, row["trajectory_id"], row["clip_index"]): row["scores"]
        for name in ("decides", "writes")
        for row in judged.verdicts("clip", name)
    }
    averaged = judged.rows("d", "clip_scores")
    assert averaged
    for row in averaged:
        place = (row["trajectory_id"], row["clip_index"])
        given = [scores[name, *place][row["criterion"]] for name in ("decides", "writes")]
        known = [score for score in given if score is not None]
        assert row["mean"] == pytest.approx(sum(known) / len(known))
    report = json.loads((tmp_path / "reports" / "d" / "report.json").read_text())
    assert {each["judge"]: each["shortfall"] for each in report["judges"]} == {"decides": None, "writes": None}
    server.reset()
    assert judged.run("d").success
    assert server.requests() == [], "paid answers are kept"


@pytest.mark.parametrize("covers", [False, True])
def test_files_of_judges_have_raw_replies_and_the_length_of_prompts(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer, covers: bool
) -> None:
    criteria = load_rubrics().choose("clip", "browser_use").criteria
    scores = {criterion.key: 5 for criterion in criteria}
    said = json.dumps({"reasoning": "ada@example.org asked", "scores": scores, "summary": "s"})
    server.script([rule("text", contains="Piece 1, a tool call", text=said, times=1)])
    at = Installation.at(str(tmp_path))
    judges = [judge(server), {"name": "rules", "provider": "rules"}]
    redaction = {"redaction": {"email": True}, "redact_reports": True} if covers else {}
    judged = Judged(at, build_definitions(at, panel_of({"judges": judges} | redaction, "test")), instance)
    judged.drop("d", drop_of(1))
    judged.run("d")
    files = {path.name: json.loads(path.read_text()) for path in (at.reports("d") / "model_evaluations").iterdir()}
    own, rules = (
        next(each for name, each in files.items() if name.startswith(prefix)) for prefix in ("openai", "rules")
    )
    by_prompt = {sum(len(each["content"]) for each in asked.body["messages"]): asked for asked in server.requests()}
    verdicts = judged.verdicts()
    for row, each in zip(verdicts, own["evaluations"], strict=True):
        assert each["evaluation_input"]["prompt_length"] == row["prompt_length"] > 0
        assert row["prompt_length"] in by_prompt
        assert json.loads(each["evaluation_output"]["raw_response"])["scores"]
    whole = json.dumps(own, ensure_ascii=False)
    assert ("ada@example.org" in whole) == (not covers)
    for each in rules["evaluations"]:
        assert each["evaluation_input"]["prompt_length"] is None and each["evaluation_output"]["raw_response"] is None


def test_what_a_judge_adds_on_an_answer_is_kept_with_its_reasoning(judged: Judged, server: ModelServer) -> None:
    scores = dict.fromkeys(("accuracy", "completeness", "reasoning_quality", "conciseness"), 4)
    added = {"strengths": ["short"], "weaknesses": ["no source"], "verdict": "good"}
    said = json.dumps({"reasoning": "r", "scores": scores, "summary": "s"} | added)
    server.script([rule("text", contains="The final answer alone", text=said)])
    judged.drop("d", drop_of(1))
    assert judged.run("d").success
    (row,) = [row for row in judged.verdicts("trajectory") if row["subject"] == "answer"]
    assert row["reasoning"] == "r\nStrengths: short\nWeaknesses: no source\nVerdict: good"


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_verdicts_name_the_model_that_answered(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer, protocol: str
) -> None:
    judged = installed(tmp_path, instance, judge(server, protocol=protocol))

    def served() -> set[str | None]:
        levels = ("clip", "category", "trajectory")
        return {row["served_model"] for level in levels for row in judged.verdicts(level)}

    server.script([{"serves": {"model": "m-2026-08-07", "system_fingerprint": "fp_1"}}])
    judged.drop("d", drop_of(1))
    assert judged.run("d").success
    first = {"openai": "m-2026-08-07 fp_1", "anthropic": "m-2026-08-07"}[protocol]
    assert served() == {first}
    server.script([{"serves": {"model": "m-2026-09-09", "system_fingerprint": None}}])
    assert judged.run("d").success
    assert served() == {first}, "the ledger knows who answered"
    server.script([{"serves": {"model": 7}}])
    judged.drop("d", drop_of(1, "again"))
    assert judged.run("d").success
    assert served() == {None}
    assert set(judged.outcomes()) <= {("scored", None), ("abstained", None)}


def test_an_unchanged_drop_makes_no_call_and_a_changed_record_only_its_own(judged: Judged, server: ModelServer) -> None:
    lines = drop_of(6).splitlines(keepends=True)
    judged.drop("d", b"".join(lines))
    assert judged.run("d").success
    first = judged.verdicts()
    server.reset()
    assert judged.run("d").success
    assert server.requests() == []
    assert all(row["from_ledger"] for row in judged.verdicts())
    assert [row["scores"] for row in judged.verdicts()] == [row["scores"] for row in first]
    lines[2] = lines[2].replace(b"found by 2", b"found again")
    judged.drop("d", b"".join(lines))
    assert judged.run("d").success
    own = CLIPS + 1 + 2  # its clips, its one category, the trajectory and the answer
    assert len(server.requests()) == own


def test_a_new_judge_makes_only_its_own_calls(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer
) -> None:
    judged = installed(tmp_path, instance, judge(server))
    judged.drop("d", drop_of(2))
    assert judged.run("d").success
    server.reset()
    both = installed(tmp_path, instance, judge(server), judge(server, "two", model="other"))
    assert both.run("d").success
    assert len(both.verdicts("clip", "two")) == 2 * CLIPS
    assert all(row["from_ledger"] for row in both.verdicts("clip", "one"))
    assert {asked.body["model"] for asked in server.requests()} == {"other"}


def test_a_judge_that_repeats_itself_gives_verdicts_side_by_side_and_has_one_voice(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer
) -> None:
    judged = installed(tmp_path, instance, judge(server))
    judged.drop("d", drop_of(2))
    assert judged.run("d").success
    once = len(server.requests())
    server.reset()
    full_marks = {"reasoning": "all of it", "scores": dict.fromkeys(_asked_of_the_end(judged), 10), "summary": "fine"}
    server.script([rule("text", contains="The end of the work", text=json.dumps(full_marks), times=2)])
    thrice = installed(tmp_path, instance, judge(server, repeats=3))
    assert thrice.run("d").success
    rows = thrice.verdicts()
    assert [(row["clip_index"], row["sample"]) for row in rows[: 3 * CLIPS]] == [
        (clip, sample) for clip in range(CLIPS) for sample in range(3)
    ]
    assert len(rows) == 2 * CLIPS * 3
    assert {row["sample"] for row in rows if row["from_ledger"]} == {0}  # said before it repeated itself
    assert len(server.requests()) <= 3 * once - 2 * CLIPS
    scores = thrice.rows("d", "clip_scores")
    assert {(row["n_judges"], row["n_scored"]) for row in scores if row["mean"] is not None} == {(1, 1)}
    for row in scores:
        own = [
            verdict["scores"][row["criterion"]]
            for verdict in rows
            if (verdict["trajectory_id"], verdict["clip_index"]) == (row["trajectory_id"], row["clip_index"])
        ]
        known = [score for score in own if score is not None]
        assert row["mean"] == (pytest.approx(sum(known) / len(known)) if known else None)
    retested = [row for row in thrice.rows("d", "panel_reliability") if row["level"] == "clip"]
    # The last piece is asked other criteria. Which sample the server leaves a criterion out of depends on their order.
    scored = Counter(
        (criterion, row["trajectory_id"], row["clip_index"])
        for row in rows
        for criterion, score in row["scores"].items()
        if score is not None
    )
    again = Counter(criterion for (criterion, *_), times in scored.items() if times > 1)
    assert {row["criterion"]: row["n_retested"] for row in retested if row["n_retested"]} == again
    assert max(row["retest_std"] for row in retested) > 0
    server.reset()
    assert thrice.run("d").success
    assert server.requests() == []


def test_a_judge_that_says_the_same_every_time_is_not_repeated() -> None:
    with pytest.raises(InvalidPanel, match="remove repeats"):
        panel_of({"judges": [{"name": "rules", "provider": "rules", "repeats": 2}]}, "panel.yaml")


def _asked_of_the_end(judged: Judged) -> list[str]:
    return list(judged.verdicts()[CLIPS - 1]["scores"])


def test_clips_of_a_trajectory_are_judged_in_order_and_the_prompt_grows(judged: Judged, server: ModelServer) -> None:
    judged.drop("d", drop_of(1))
    assert judged.run("d").success
    conversations = [asked.body["messages"] for asked in server.requests()][:CLIPS]
    for earlier, later in pairwise(conversations):
        assert later[: len(earlier)] == earlier
        assert later[len(earlier)]["role"] == "assistant"


PROTOCOLS = ["openai", "anthropic"]


FAULTS_THAT_PASS: list[tuple[str, dict[str, Any]]] = [
    ("rate_limited", {"times": 3, "retry_after": 0.05}),
    ("rate_limited", {"times": 3}),
    ("overloaded", {"times": 2}),
    ("server_error", {"times": 2}),
    ("unavailable", {"times": 2}),
    ("drop", {"times": 2}),
    ("truncated_body", {"times": 2}),
    ("other_body", {"times": 2}),
    ("invalid_json", {"times": 1}),
    ("empty", {"times": 1}),
    ("out_of_range", {"times": 1, "property": "score"}),
    ("missing", {"times": 1, "property": "summary"}),
    ("prose", {}),
    ("fenced", {}),
    ("trailing_comma", {}),
]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_faults_that_pass_end_in_scores(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer, protocol: str
) -> None:
    """One trajectory has each of the faults."""
    server.script([rule(kind, contains=f"found by {n} ", **fault) for n, (kind, fault) in enumerate(FAULTS_THAT_PASS)])
    judged = installed(tmp_path, instance, judge(server, protocol=protocol))
    judged.drop("d", drop_of(len(FAULTS_THAT_PASS)))
    assert judged.run("d").success
    assert set(judged.outcomes()) <= {("scored", None), ("abstained", None)}
    met = Counter(asked.fault for asked in server.requests(bodies=False))
    for kind, fault in FAULTS_THAT_PASS:
        assert met[kind] >= fault.get("times", 1), kind


FAULTS_THAT_FAIL: list[tuple[str, dict[str, Any], str]] = [
    ("invalid_json", {}, "invalid_json"),
    ("empty", {}, "invalid_json"),
    ("out_of_range", {"property": "score"}, "out_of_range"),
    ("text", {"text": '{"reasoning": "r", "scores": [], "summary": "s"}'}, "missing_criterion"),
    ("text", {"text": '{"scores": {"code_correctness": 10}}'}, "missing_criterion"),
    ("length", {}, "truncated"),
    ("refusal", {}, "refusal"),
    ("content_filter", {}, "content_filter"),
    ("context_length", {}, "context_length"),
    ("bad_request", {}, "server"),
]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_fails_is_failed_with_its_kind_and_without_a_score(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer, protocol: str
) -> None:
    """One trajectory has each of the faults, from its second clip on."""
    faults = enumerate(FAULTS_THAT_FAIL)
    server.script([rule(kind, contains=f"found by {n} 1", times=3, **fault) for n, (kind, fault, _) in faults])
    judged = installed(tmp_path, instance, judge(server, protocol=protocol))
    judged.drop("d", drop_of(len(FAULTS_THAT_FAIL)))
    judged.run("d")
    tasks = {row["trajectory_id"]: row["task_id"] for row in judged.rows("d", "preprocessed_trajectories")}
    verdicts = {f"t{n}": list[dict[str, Any]]() for n in range(len(FAULTS_THAT_FAIL))}
    for row in judged.verdicts():
        verdicts[tasks[row["trajectory_id"]]].append(row)
    scores = judged.rows("d", "clip_scores")
    scored = {(row["trajectory_id"], row["clip_index"]) for row in scores if row["mean"] is not None}
    for n, (kind, _, ends) in enumerate(FAULTS_THAT_FAIL):
        if (protocol, kind) == ("anthropic", "content_filter"):
            ends = "refusal"  # the protocol has no other word for it
        rows = verdicts[f"t{n}"]
        failed = [row for row in rows if row["outcome"] == "failed"]
        assert {row["error_kind"] for row in failed} == {ends}, kind
        assert all(row["scores"] and set(row["scores"].values()) == {None} for row in failed), "asked, without a score"
        assert {row["clip_index"] for row in rows} == set(range(CLIPS))
        assert not scored & {(row["trajectory_id"], row["clip_index"]) for row in failed}


FAULTS_OF_THE_ENDPOINT = {
    "wrong_key": "auth",
    "forbidden": "auth",
    "not_found": "not_found",
    "payment_required": "quota",
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_no_request_can_mend_stops_the_judge_and_says_what_to_do(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer, protocol: str
) -> None:
    """One judge has each of the faults."""
    server.script([rule(kind, model=kind) for kind in FAULTS_OF_THE_ENDPOINT])
    rules: dict[str, object] = {"name": "rules", "provider": "rules"}
    stopped = [judge(server, kind, protocol, model=kind, max_concurrency=2) for kind in FAULTS_OF_THE_ENDPOINT]
    judged = installed(tmp_path, instance, *stopped, rules)
    judged.drop("d", drop_of(20))
    result = judged.run("d")
    checks = {check.check_name for check in result.get_asset_check_evaluations() if check.blocking and not check.passed}
    assert checks == {"judges_answered"}, "the panel goes on with the others, and the run does not pass in silence"
    assert {row["outcome"] for row in judged.verdicts(name="rules")} <= {"scored", "abstained"}
    asked = Counter(each.body["model"] for each in server.requests())
    for kind, ends in FAULTS_OF_THE_ENDPOINT.items():
        outcomes = judged.outcomes(kind)
        assert {error for _, error in outcomes} == {ends}
        assert {outcome for outcome, _ in outcomes} == {"failed", "not_run"}
        assert asked[kind] <= 3 * 2 + 3, "not one request a clip"
        everything = json.dumps([judged.verdicts(level, kind) for level in ("clip", "category", "trajectory")])
        assert KEY not in everything


@pytest.mark.parametrize("provider", ["openai_compatible", "deepseek", "kimi", "anthropic_compatible"])
def test_a_fraction_is_asked_again_and_earlier_replies_stand_as_they_are_asked_for(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer, provider: str
) -> None:
    url = server.anthropic_url if provider.startswith("anthropic") else server.openai_url
    judged = installed(tmp_path, instance, judge(server, provider=provider, base_url=url))
    judged.drop("d", drop_of(1))
    assert judged.run("d").success
    copied = {"reasoning": "r", "scores": dict.fromkeys(judged.verdicts()[1]["scores"], 0.8), "summary": "s"}
    server.reset()
    server.script([rule("text", contains="found by 0 0", text=json.dumps(copied), times=1)])
    judged.drop("d", drop_of(1).replace(b"found by 0", b"found by 0 0"))
    assert judged.run("d").success
    assert 0.08 not in [score for row in judged.verdicts() for score in row["scores"].values()]
    turns = [asked.body["messages"] for asked in server.requests()]
    said = [message["content"] for messages in turns for message in messages]
    texts = [part if isinstance(part, str) else part[0]["text"] for part in said]
    assert any("is 0.8; it has to be a whole number from 0 to 10, or null" in text for text in texts)
    replies = [json.loads(text) for text in texts if text.startswith('{"reasoning"')]
    own = [reply for reply in replies if isinstance(reply["scores"], list)]
    assert len(own) >= CLIPS - 1
    for reply in own:
        assert list(reply) == ["reasoning", "scores", "summary"]
        assert all(entry["score"] is None or isinstance(entry["score"], int) for entry in reply["scores"])


def test_a_failed_clip_does_not_break_the_chain(judged: Judged, server: ModelServer) -> None:
    server.script([rule("refusal", contains="Piece 1,", times=1)])
    judged.drop("d", drop_of(1))
    judged.run("d")
    first, *others = [row["outcome"] for row in judged.verdicts()]
    assert first == "failed"
    assert "failed" not in others
    assert '{"evaluation":"missing"}' in [turn["content"] for turn in server.requests()[1].body["messages"]]


def test_a_later_run_asks_again_only_for_what_is_not_scored(judged: Judged, server: ModelServer) -> None:
    server.script([rule("invalid_json", contains="The end of the work", times=2)])
    judged.drop("d", drop_of(1))
    judged.run("d")
    assert [row["outcome"] for row in judged.verdicts()][-1] == "failed"
    server.reset()
    server.script([])
    judged.run("d")
    assert [row["from_ledger"] for row in judged.verdicts()] == [True, True, False]
    assert [row["outcome"] for row in judged.verdicts()][-1] == "scored"


def test_a_clip_that_is_scored_late_has_the_clips_after_it_judged_again(judged: Judged, server: ModelServer) -> None:
    server.script([rule("invalid_json", contains="Piece 1,", times=2)])
    judged.drop("d", drop_of(1))
    judged.run("d")
    assert judged.verdicts()[0]["outcome"] == "failed"
    judged.run("d")
    assert [row["from_ledger"] for row in judged.verdicts()] == [False, False, False]
    judged.run("d")
    assert [row["from_ledger"] for row in judged.verdicts()] == [True, True, True]


def test_an_endpoint_that_takes_a_third_of_the_requests_loses_no_verdict(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer
) -> None:
    server.script({"rate_limit": {"requests_per_minute": 6000, "burst": 5}})
    judged = installed(tmp_path, instance, judge(server, max_concurrency=64))
    judged.drop("d", drop_of(40))
    assert judged.run("d").success
    assert {outcome for outcome, _ in judged.outcomes()} <= {"scored", "abstained"}
    assert 429 in {asked.status for asked in server.requests(bodies=False)}


def test_tokens_per_minute_are_kept(tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer) -> None:
    per_second = 50_000
    judged = installed(tmp_path, instance, judge(server, tokens_per_minute=60 * per_second))
    judged.drop("d", drop_of(6))
    assert judged.run("d", job="evaluate").success
    clips = [asked for asked in server.requests() if "Piece" in str(asked.body) or "The end" in str(asked.body)]
    used = sum(row["input_tokens"] + row["output_tokens"] for row in judged.verdicts())
    at_once = 2 * used / len(clips) + 0.05 * per_second
    assert (clips[-1].arrived - clips[0].arrived) * per_second >= used - at_once


def test_no_request_is_longer_than_the_panel_allows(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer
) -> None:
    most = 6_000
    judged = installed(tmp_path, instance, judge(server, max_input_tokens=most))
    text = "".join(call(f"q{number}", "much was found " * 500) for number in range(6)) + "<answer>4</answer>"
    judged.drop("d", record("t", text))
    assert judged.run("d").success
    assert {outcome for outcome, _ in judged.outcomes()} <= {"scored", "abstained"}
    assert all(row["input_tokens"] <= most for row in judged.verdicts())
    shares = [row["share_seen"] for row in judged.verdicts()]
    assert 0 < shares[-1] < shares[0] < 1


def test_a_text_with_more_tokens_than_its_bytes_let_expect_is_asked_about_in_a_shorter_window(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer
) -> None:
    server.script([rule("context_length", contains="needle")])
    judged = installed(tmp_path, instance, judge(server, max_input_tokens=6_000))
    judged.drop("d", record("t", f"<think>{'0123 ' * 1000} needle {'4567 ' * 1000}</think><answer>4</answer>"))
    assert judged.run("d").success
    assert {row["outcome"] for row in judged.verdicts()} <= {"scored", "abstained"}
    assert 0 < judged.verdicts()[0]["share_seen"] < 1
    assert {asked.status for asked in server.requests(bodies=False)} == {200, 400}


def test_what_is_too_long_even_when_cut_is_not_sent(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer
) -> None:
    judged = installed(tmp_path, instance, judge(server, max_input_tokens=500))
    judged.drop("d", drop_of(1))
    judged.run("d")
    assert set(judged.outcomes()) == {("failed", "context_length")}
    assert "raise max_input_tokens" in judged.verdicts()[0]["error"]
    assert server.requests() == []


@pytest.mark.parametrize(
    ("settings", "most"),
    [
        ({"provider": "anthropic", "model": "claude-haiku-5-5"}, 100_000 - 2000),
        ({"provider": "anthropic", "model": "claude-opus-5-5"}, 160_000 - 2000),
        ({"provider": "anthropic", "model": "claude-haiku-5-5", "max_input_tokens": 150_000}, 150_000),
        ({"provider": "anthropic", "model": "nobody-knows-it"}, 160_000 - 2000),
    ],
)
def test_prompts_stay_below_the_length_from_which_every_token_costs_more(settings: dict, most: int) -> None:
    (made,) = judges_of(panel_of({"judges": [{"name": "one"} | settings]}, "test"), "sqlite://")
    assert isinstance(made, ModelJudge)
    assert made.settings.max_input_tokens == most


def test_random_faults_lose_nothing_and_invent_nothing(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer
) -> None:
    kinds = ("server_error", "rate_limited", "drop", "invalid_json", "out_of_range", "prose", "length", "refusal")
    server.script([rule(kind, rate=0.012) for kind in kinds])
    judged = installed(tmp_path, instance, judge(server, max_concurrency=32))
    judged.drop("d", drop_of(60))
    judged.run("d")
    outcomes = judged.outcomes()
    assert sum(outcomes.values()) == 60 * (CLIPS + 1 + 2)
    assert {outcome for outcome, _ in outcomes} <= {"scored", "abstained", "failed"}
    assert {kind for outcome, kind in outcomes if outcome == "failed"} <= {"truncated", "refusal", "invalid_json"}
    for row in judged.verdicts():
        assert row["outcome"] != "failed" or set(row["scores"].values()) == {None}


def test_a_trajectory_whose_clips_all_failed_leaves_the_others_scored_and_reported(
    judged: Judged, server: ModelServer
) -> None:
    server.script([rule("refusal", contains="found by 1")])
    judged.drop("d", drop_of(4))
    result = judged.run("d")
    assert [event.step_key for event in result.get_step_failure_events()] == ["evaluate_drop"]
    rows = judged.rows("d", "clip_scores")
    assert len({row["trajectory_id"] for row in rows}) == 4, "what failed stays in the denominator"
    scored = {row["trajectory_id"] for row in rows if row["mean"] is not None}
    assert scored == {row["trajectory_id"] for row in judged.verdicts() if row["outcome"] == "scored"}
    assert len(scored) == 3
    assert (judged.home.reports("d") / "report.json").exists()


def test_an_internal_error_is_in_the_log_of_the_run_and_in_the_verdicts_without_the_key(
    tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def defective(*_: object, **__: object) -> None:
        raise ValueError(f"a header with {KEY}")

    monkeypatch.setattr("evaluation_assets.core.judging.prompts.read_reply", defective)
    (tmp_path / "dagster").mkdir()
    shipped = yaml.safe_load((Path(evaluation_assets.__file__).parent / "dagster.yaml").read_text())
    logs = {"python_logs": shipped["python_logs"]}
    with dg.DagsterInstance.local_temp(str(tmp_path / "dagster"), overrides=logs) as instance:
        judged = installed(tmp_path / "home", instance, judge(server))
        judged.drop("d", drop_of(1))
        result = judged.run("d")
        said = [entry.user_message for entry in instance.all_logs(result.run_id)]
    assert judged.outcomes() == {("failed", "internal"): CLIPS + 1 + 2}
    assert {row["error"] for row in judged.verdicts()} == {"ValueError: a header with [masked]"}
    (traceback, *_) = [line for line in said if "Traceback" in line]
    assert "in defective" in traceback and "ValueError: a header with [masked]" in traceback
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


def test_a_spent_budget_leaves_a_report(tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer) -> None:
    judged = installed(tmp_path, instance, judge(server, max_concurrency=4))
    judged.drop("d", drop_of(8))
    result = judged.run("d", ops={"evaluate_drop": {"config": {"budget_usd": 0.02}}})
    assert judged.outcomes()[("not_run", "budget")] > 0
    failed = [check for check in result.get_asset_check_evaluations() if check.check_name == COVERAGE]
    assert any(not check.passed and "Raise the budget and re-run" in str(check.description) for check in failed)
    assert len({row["trajectory_id"] for row in judged.rows("d", "trajectory_scores")}) == 8
    assert (judged.home.reports("d") / "report.json").exists()


def test_the_budget_stops_cleanly_keeps_what_is_paid_and_goes_on(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer
) -> None:
    judged = installed(tmp_path, instance, judge(server, max_concurrency=1, max_output_tokens=300))
    judged.drop("d", drop_of(10))
    config = {"evaluate_drop": {"config": {"budget_usd": 0.02}}}
    judged.run("d", ops=config)
    assert judged.outcomes()[("not_run", "budget")] > 0
    paid = sum(row["cost_usd"] or 0 for level in ("clip", "category", "trajectory") for row in judged.verdicts(level))
    assert 0.01 < paid <= 0.02
    asked = len(server.requests())
    judged.run("d")
    assert ("not_run", "budget") not in judged.outcomes()
    bodies = Counter(request.sha256 for request in server.requests())
    assert max(bodies.values()) == 1, "nothing was paid twice"
    assert len(bodies) > asked


def run_in_a_process(home: Path, drop: Path, panel: Path) -> Forked:
    arguments = ["evaluate", str(drop), "--home", str(home), "--panel", str(panel), "--quiet"]
    return start_command(arguments, os.environ)


@pytest.mark.slow
def test_a_killed_run_pays_again_only_for_what_was_in_flight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    in_flight = 8
    with model_server(latency=0.05) as server:
        panel = tmp_path / "panel.yaml"
        panel.write_text(json.dumps({"judges": [judge(server, max_concurrency=in_flight)]}))
        drop = tmp_path / "d.jsonl"
        drop.write_bytes(drop_of(90))
        first = run_in_a_process(tmp_path / "home", drop, panel)
        while len(server.requests(bodies=False)) < 120:
            assert first.poll() is None, "it ended before it was killed"
            time.sleep(0.05)
        first.send_signal(signal.SIGKILL)
        first.wait()
        assert run_in_a_process(tmp_path / "home", drop, panel).wait(300) == 0
        asked = Counter(request.sha256 for request in server.requests(bodies=False))
    assert len(asked) == 90 * (CLIPS + 1 + 2)
    assert sum(count - 1 for count in asked.values()) <= in_flight


def test_two_processes_on_the_same_drop_never_pay_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    with model_server(latency=0.02) as server:
        panel = tmp_path / "panel.yaml"
        panel.write_text(json.dumps({"judges": [judge(server)]}))
        (tmp_path / "a").mkdir()
        (tmp_path / "b").mkdir()
        for folder in ("a", "b"):
            (tmp_path / folder / "d.jsonl").write_bytes(drop_of(20))
        monkeypatch.setenv("EVALUATION_LEDGER_URL", f"sqlite:///{tmp_path / 'shared.sqlite'}")
        both = [run_in_a_process(tmp_path / f"home-{name}", tmp_path / name / "d.jsonl", panel) for name in "ab"]
        assert [process.wait(300) for process in both] == [0, 0]
        asked = Counter(request.sha256 for request in server.requests(bodies=False))
    assert set(asked.values()) == {1}
    assert len(asked) == 20 * (CLIPS + 1 + 2)


@pytest.mark.slow
def test_the_command_beside_a_run_of_the_sensor_waits_and_pays_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    at = Installation.at(str(tmp_path / "home"))
    with model_server(latency=0.2) as server:
        at.drops.mkdir(parents=True)
        drop = Path(at.drops.path) / "d.jsonl"
        drop.write_bytes(drop_of(10))
        panel = tmp_path / "panel.yaml"
        panel.write_text(json.dumps({"judges": [judge(server, max_concurrency=2)]}))
        with instance_of(at) as instance:
            command = run_in_a_process(tmp_path / "home", drop, panel)
            while not server.requests(bodies=False):
                assert command.poll() is None
                time.sleep(0.05)
            job = build_definitions(at, load_panel(UPath(panel))).resolve_job_def(EVALUATE)
            result = job.execute_in_process(instance=instance, partition_key="d")
            assert result.success
            assert "d: waiting for another run of this drop" in [
                entry.user_message for entry in instance.all_logs(result.run_id)
            ]
            assert command.wait(60) == 0, "it was done before the other began"
        asked = Counter(request.sha256 for request in server.requests(bodies=False))
    assert set(asked.values()) == {1}
    assert len(asked) == 10 * (CLIPS + 1 + 2)


def cli(*arguments: str | Path, answers: str = "") -> subprocess.CompletedProcess[str]:
    return forked_command([*map(str, arguments)], dict(os.environ), answers)


def test_the_panel_is_made_listed_and_tried(tmp_path: Path, server: ModelServer) -> None:
    asked = ["openai_compatible", "m", "mine", server.openai_url, "TEST_KEY", "", "full", "n", "n"]
    made = cli("panel", "init", "--home", tmp_path, answers="\n".join(asked) + "\n")
    assert made.returncode == 0, made.stderr
    written = (tmp_path / "panel.yaml").read_text()
    assert "TEST_KEY" in written and KEY not in written
    listed = cli("panel", "list", "--home", tmp_path)
    assert "TEST_KEY is set" in listed.stdout
    tried = cli("panel", "test", "--home", tmp_path)
    assert tried.returncode == 0, tried.stdout
    assert "mine: ok" in tried.stdout
    server.script([rule("wrong_key")])
    refused = cli("panel", "test", "--home", tmp_path)
    assert refused.returncode == 1
    assert "check TEST_KEY" in refused.stdout
    assert KEY not in made.stdout + listed.stdout + tried.stdout + refused.stdout + refused.stderr


def test_the_budget_of_a_command_is_exit_status_3(tmp_path: Path, server: ModelServer) -> None:
    (tmp_path / "panel.yaml").write_text(json.dumps({"judges": [judge(server, max_concurrency=1)]}))
    (tmp_path / "d.jsonl").write_bytes(drop_of(10))
    arguments = ["evaluate", tmp_path / "d.jsonl", "--home", tmp_path / "home", "--panel", tmp_path / "panel.yaml"]
    stopped = cli(*arguments, "--budget", "0.01")
    assert stopped.returncode == 3
    assert "the budget is spent" in stopped.stderr
    assert cli(*arguments).returncode == 0


def test_progress_tells_how_far_how_fast_for_how_much(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "LOG_SECONDS", 0.0)
    judged = installed(tmp_path, instance, judge(server, max_concurrency=1))
    judged.drop("d", drop_of(6))
    result = judged.run("d")
    said = [entry.user_message for entry in instance.all_logs(result.run_id) if "from the ledger" in entry.user_message]
    first = next(line for line in said if f" of {6 * CLIPS} verdicts" in line)
    assert re.fullmatch(
        rf"one: \d+ of {6 * CLIPS} verdicts, [\d.]+/s, ~\d+ (s|min) left, \$[\d.]+, "
        r"(\d+% of the input cached, )?0 from the ledger",
        first,
    )
