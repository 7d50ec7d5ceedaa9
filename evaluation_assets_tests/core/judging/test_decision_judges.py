"""Decision models as judges: what they are asked, and what becomes of their answers."""

import asyncio
import json
import logging
import math
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from openai import AsyncOpenAI
from openai.types import Decision
from upath import UPath

from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.judging.judge import Judge, judge_chains
from evaluation_assets.core.judging.model_judge import ModelJudge
from evaluation_assets.core.judging.panel import judges_of, panel_of
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.judging.shortfall import Answers
from evaluation_assets.core.judging.storable import NotStorable, storable
from evaluation_assets.core.judging.subjects import Chain, clip_chain, trajectory_chain
from evaluation_assets.core.judging.verdict_rows import verdict_rows
from evaluation_assets.core.judging.verdicts import ScoreProbability, Verdict
from evaluation_assets.core.lake.stored import Stored, Stream, batched, write
from evaluation_assets.core.lake.tables import CLIP_VERDICTS
from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.models.messages import DecisionQuestion, Request
from evaluation_assets.core.models.providers.openai_decisions import OpenAIDecisions
from evaluation_assets_tests.judging_alone import CLIPS, HEAD, Answer, Endpoint, chains, endpoint
from evaluation_assets_tests.model_server import ModelServer, rule

Row = dict[str, Any]
KEY = "key-of-a-decision-model-0123456789"
PROVIDERS = ("openai_decisions", "systemone")

pytestmark = pytest.mark.usefixtures("_key")


@pytest.fixture
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)


def judge(base_url: str, url: str, provider: str, **more: Any) -> ModelJudge:
    own = {"name": "one", "provider": provider, "model": "m", "base_url": base_url, "api_key_env": "TEST_KEY"}
    own |= {"timeouts": {"first_backoff_s": 0.01}, "price": {"input": 1.0, "output": 0.0}, "max_concurrency": 1}
    (made,) = judges_of(panel_of({"judges": [own | more]}, "test"), url)
    assert isinstance(made, ModelJudge)
    return made


async def rows_at(made: Judge, run: str = "run", given: Iterable[Chain] | None = None) -> list[Row]:
    async with made.opened(run, Budget()) as ready:
        return [
            row
            async for some in judge_chains(ready, iter(chains(1) if given is None else given))
            for judgement in some
            for row in verdict_rows("d", made, judgement)
        ]


def rows_of(models: ModelServer, url: str, provider: str, run: str = "run", **more: Any) -> list[Row]:
    return asyncio.run(rows_at(judge(models.openai_url, url, provider, **more), run))


def stored(rows: list[Row], folder: Path) -> list[Row]:
    """The rows as they are read back."""
    path = UPath(folder / "clip_verdicts.parquet")
    write(path, Stream(CLIP_VERDICTS, batched(rows, CLIP_VERDICTS)))
    return list(Stored(CLIP_VERDICTS, path).rows())


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_expected_score_is_stored_with_the_distribution_and_without_reasons(
    url: str, models: ModelServer, tmp_path: Path, provider: str
) -> None:
    rows = stored(rows_of(models, url, provider), tmp_path)
    assert len(rows) == CLIPS
    rubrics = {rubric.version_name: rubric for rubric in load_rubrics().of_level("clip")}
    for row in rows:
        rubric = rubrics[row["rubric_version"]]
        assert (row["outcome"], row["summary"], row["reasoning"], row["probabilities"]) == ("scored", None, None, None)
        assert row["scores"].keys() == row["distributions"].keys() == row["entropies"].keys()
        assert row["input_tokens"] > 0 and row["cost_usd"] == pytest.approx(row["input_tokens"] / 1e6)
        for criterion in rubric.criteria:
            if criterion.key not in row["scores"]:
                continue
            own = row["distributions"][criterion.key]
            assert [each["score"] for each in own] == sorted(map(rubric.scale.to_share, criterion.anchors))
            shares = [each["probability"] for each in own]
            assert sum(shares) == pytest.approx(1)
            expected = sum(each["score"] * each["probability"] for each in own)
            assert row["scores"][criterion.key] == pytest.approx(expected)
            entropy = -sum(share * math.log(share) for share in shares) / math.log(len(shares))
            assert row["entropies"][criterion.key] == pytest.approx(entropy)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_same_questions_are_not_asked_again(url: str, models: ModelServer, provider: str) -> None:
    first = rows_of(models, url, provider)
    assert [asked.path for asked in models.requests()] == [
        {"openai_decisions": "/v1/decisions", "systemone": "/v1/systemone"}[provider]
    ] * CLIPS
    models.reset()
    again = rows_of(models, url, provider, run="another run")
    assert models.requests() == []
    assert [row["from_ledger"] for row in again] == [True] * CLIPS
    assert [row["distributions"] for row in again] == [row["distributions"] for row in first]


def test_the_real_sdk_sends_the_same_and_reads_the_same(url: str, models: ModelServer) -> None:
    row, *_ = rows_of(models, url, "openai_decisions")
    sent = models.requests()[0].body

    async def ask() -> Decision:
        async with AsyncOpenAI(api_key="k", base_url=models.openai_url, max_retries=0) as client:
            return await client.decisions.create(**sent)

    answers = asyncio.run(ask()).answers
    assert models.requests()[-1].body == sent
    assert [answer.name for answer in answers] == list(row["distributions"])
    for answer in answers:
        assert answer.type == "score"
        probabilities = [each["probability"] for each in row["distributions"][answer.name or ""]]
        assert [each.probability for each in answer.probabilities] == pytest.approx(probabilities)


def test_the_sdk_of_typesafe_sends_the_same_and_reads_the_same(url: str, models: ModelServer) -> None:
    sdk = pytest.importorskip("typesafe_sdk", reason="typesafe-sdk is not installed")
    row, *_ = rows_of(models, url, "systemone")
    sent = models.requests()[0].body
    questions = {
        name: sdk.Score(instructions=asked["instructions"], criteria=asked["criteria"])
        for name, asked in sent["questions"].items()
    }
    with sdk.TypeSafeClient(api_key=KEY, model=sent["model"], base_url=models.openai_url.removesuffix("/v1")) as client:
        answers = client.system_one(state=sent["state"], questions=questions).answers
    assert models.requests()[-1].path == "/v1/systemone" and models.requests()[-1].body == sent
    assert list(answers) == list(row["distributions"])
    for name, own in row["distributions"].items():
        assert list(answers[name].probabilities.values()) == pytest.approx([each["probability"] for each in own])


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_the_agent_wrote_is_evidence_and_not_a_question(url: str, models: ModelServer, provider: str) -> None:
    rows_of(models, url, provider)
    for asked in models.requests():
        questions = json.dumps(asked.body["questions"])
        assert "question 0" not in questions and "result 0" not in questions
        assert "question 0" in json.dumps(asked.body)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_second_clip_is_asked_about_in_one_conversation_with_the_scores_of_the_first(
    url: str, models: ModelServer, provider: str
) -> None:
    first, _ = rows_of(models, url, provider)
    sent = models.requests()[1].body
    if provider == "systemone":
        system, turns = sent["state"]["system"], sent["state"]["messages"]
    else:
        (system, *turns) = sent["input"]
        assert system["role"] == "system"
        system = system["content"]
    rubrics = {rubric.name: rubric for rubric in load_rubrics().of_level("clip")}
    assert "You judge what an AI agent did on a task." in system
    assert all(f'<rubric name="{name}">\n{rubrics[name].description}' in system for name in ("browser_use", "final"))
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
    own = json.loads(turns[1]["content"])["scores"]
    assert own.keys() == first["scores"].keys()
    for key, points in own.items():
        assert points / 10 == pytest.approx(first["scores"][key], abs=0.0501), "in whole points"
    (fence,) = re.findall(r"Text between the markers <(untrusted-[0-9a-f]{20})> and </\1>", system)
    shown = "\n".join(turn["content"] for turn in turns)
    outside, count = re.subn(f"<{fence}>\n.*?\n</{fence}>", "", shown, flags=re.DOTALL)
    assert count == 3, "the task, the first clip and the second"
    for text in ("How many?", "look for", "browser_search_google", "question 0", "result 0", "<answer>0"):
        assert text in shown and text not in outside and text not in system


def test_what_does_not_fit_the_state_of_32_000_tokens_is_cut_and_said(url: str, models: ModelServer) -> None:
    (long,) = chains(1, result="0123456789 " * 32_000)
    clip, _ = asyncio.run(rows_at(judge(models.openai_url, url, "systemone"), given=[long]))
    assert clip["outcome"] == "scored" and 0 < clip["share_seen"] < 0.5
    assert len(json.dumps(models.requests()[0].body)) < 3 * 32_000, "three bytes a token"


def test_a_question_that_is_refused_has_no_score(url: str, models: ModelServer, tmp_path: Path) -> None:
    first = next(iter(rows_of(models, url, "openai_decisions")[0]["scores"]))
    models.script([rule("refusal", property=first)])
    row, *_ = stored(rows_of(models, f"{url}.other", "openai_decisions"), tmp_path)
    assert row["outcome"] == "scored"
    assert row["scores"][first] is None and first not in row["distributions"]
    assert sum(score is not None for score in row["scores"].values()) == len(row["scores"]) - 1
    assert row["reasoning"] == f"The model refused to answer: {first}."


def test_a_model_that_refuses_everything_abstains_and_is_not_asked_again(url: str, models: ModelServer) -> None:
    models.script([rule("refusal")])
    rows = rows_of(models, url, "openai_decisions")
    assert {(row["outcome"], row["error_kind"]) for row in rows} == {("abstained", None)}
    assert all(row["reasoning"].startswith("The model refused to answer: ") for row in rows)
    assert all(set(row["scores"].values()) == {None} for row in rows)
    assert len(models.requests()) == CLIPS


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("kind", ["rate_limited", "server_error", "drop", "truncated_body", "other_body"])
def test_faults_that_pass_end_in_scores(url: str, models: ModelServer, provider: str, kind: str) -> None:
    models.script([rule(kind, times=2)])
    rows = rows_of(models, url, provider)
    assert {row["outcome"] for row in rows} == {"scored"}
    assert len(models.requests()) == CLIPS + 2


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("kind", "ends", "words"),
    [
        ("rate_limited", "rate_limit", "Too many requests."),
        ("server_error", "server", "The server had an error."),
        ("bad_request", "server", "the server says: The request is not valid."),
        ("wrong_key", "auth", "check TEST_KEY"),
        ("payment_required", "quota", "no credit"),
        ("not_found", "not_found", "check model and base_url"),
        ("context_length", "context_length", "too long"),
        ("missing", "missing_criterion", "no answer for"),
        ("out_of_range", "out_of_range", "is not a number from 0 to 1"),
    ],
)
def test_what_fails_is_failed_with_its_kind_and_without_a_score(
    url: str, models: ModelServer, provider: str, kind: str, ends: str, words: str
) -> None:
    models.script([rule(kind)])
    rows = rows_of(models, url, provider, timeouts={"first_backoff_s": 0.001, "outage_s": 0.2})
    assert {row["outcome"] for row in rows} <= {"failed", "not_run"}
    assert rows[0]["error_kind"] == ends, rows[0]["error"]
    assert words in rows[0]["error"]
    assert all(set(row["scores"].values()) == {None} and row["distributions"] is None for row in rows)
    assert KEY not in json.dumps(rows)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_answers_that_nobody_asked_for_are_ignored_and_named(url: str, models: ModelServer, provider: str) -> None:
    models.script([rule("extra")])
    for row in rows_of(models, url, provider):
        assert row["outcome"] == "scored" and "surprise" not in row["scores"]
        assert row["reasoning"] == "Ignored, because not asked for: surprise."


# Other questions than scores


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_scale_of_two_numbers_is_a_yes_or_a_no_and_categories_are_a_choice(
    url: str, models: ModelServer, tmp_path: Path, provider: str
) -> None:
    folder = tmp_path / "rubrics" / "clip"
    folder.mkdir(parents=True)
    for name, scale, anchors in (
        ("browser_use", {"min": 0, "max": 1}, {0: "It is not.", 1: "It is."}),
        ("final", {"min": 0, "max": 2, "aggregate": "majority"}, {0: "Red.", 1: "Green.", 2: "Blue."}),
    ):
        criterion = {"key": "right", "question": "Is it?", "anchors": anchors}
        rubric = {"name": name, "level": "clip", "version": 1, "description": "Look.", "scale": scale}
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(rubric | {"criteria": [criterion]}))
    rubrics = load_rubrics(UPath(tmp_path / "rubrics"))
    given = [clip_chain(chain.trajectory, clips_of(chain.trajectory), rubrics) for chain in chains(1)]
    made = judge(models.openai_url, url, provider)
    yes, colour = stored(asyncio.run(rows_at(made, given=given)), tmp_path)
    kinds = {"openai_decisions": ["predicate", "choice"], "systemone": ["noul", "choice"]}[provider]
    asked = [request.body["questions"] for request in models.requests()]
    assert [(each[0] if isinstance(each, list) else each["right"])["type"] for each in asked] == kinds
    no, likely = yes["distributions"]["right"]
    assert (no["score"], likely["score"]) == (0.0, 1.0)
    assert yes["scores"]["right"] == likely["probability"] == pytest.approx(1 - no["probability"])
    most = max(colour["distributions"]["right"], key=lambda each: each["probability"])
    assert colour["scores"]["right"] == most["score"], "categories have no mean"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_trajectory_and_its_answer_are_asked_about_in_one_call(
    url: str, models: ModelServer, tmp_path: Path, provider: str
) -> None:
    rubrics = load_rubrics()
    given = [trajectory_chain(chain.trajectory, clips_of(chain.trajectory), rubrics) for chain in chains(1)]
    made = judge(models.openai_url, url, provider, preset="quick")
    chosen = made.selection.chain(given[0])
    assert chosen is not None
    whole, answer = asyncio.run(rows_at(made, given=[chosen]))
    assert len(models.requests()) == 1
    assert (whole["subject"], answer["subject"]) == ("trajectory", "answer")
    for row in (whole, answer):
        assert (row["outcome"], row["reasoning"]) == ("scored", None)
        assert row["scores"].keys() == row["distributions"].keys() == row["entropies"].keys()


@pytest.mark.parametrize("usage", [{"input_tokens": 70, "output_tokens": 0}, None])
def test_tokens_of_a_call_are_unknown_in_both_of_its_verdicts_or_in_none(
    url: str, models: ModelServer, usage: Row | None
) -> None:
    models.script([{"serves": {"usage": usage}}])
    rubrics = load_rubrics()
    made = judge(models.openai_url, url, "systemone", preset="quick", price=None)
    (chain,) = (trajectory_chain(chain.trajectory, clips_of(chain.trajectory), rubrics) for chain in chains(1))
    chosen = made.selection.chain(chain)
    assert chosen is not None
    whole, answer = asyncio.run(rows_at(made, given=[chosen]))
    taken = [[row[name] for name in ("input_tokens", "output_tokens", "cost_usd")] for row in (whole, answer)]
    assert taken == ([[None] * 3] * 2 if usage is None else [[70, 0, None], [0, 0, None]])


# Answers that no model server gives


LEVELS = {"0": 0.1, "1": 0.2, "2": 0.0, "3": 0.0, "4": 0.7}
Change = Callable[[Row], object]


def answering(change: Change, whole: Change = lambda body: body) -> Answer:
    """System One answers to score questions, each changed."""

    async def answer(made: Endpoint, writer: asyncio.StreamWriter) -> None:
        names = json.loads(made.bodies[-1])["questions"]
        answers = {name: change({"type": "score", "probabilities": LEVELS, "score": 1.6}) for name in names}
        body = whole({"model": "m", "answers": answers, "usage": {"input_tokens": 700, "output_tokens": 9}})
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        await made.send(
            writer, HEAD + f"content-length: {len(content)}\r\nconnection: close\r\n\r\n".encode() + content
        )

    return answer


def answered(url: str, change: Change = lambda each: each, whole: Change = lambda body: body) -> list[Row]:
    async def work() -> list[Row]:
        async with endpoint(answering(change, whole)) as made:
            patience = {"first_backoff_s": 0.001, "outage_s": 0.1}
            return await rows_at(judge(made.url, url, "systemone", timeouts=patience))

    return asyncio.run(work())


def with_levels(**levels: Any) -> Change:
    return lambda each: each | {"probabilities": LEVELS | levels}


def test_scores_are_figured_out_from_the_levels_of_the_scale(url: str, tmp_path: Path) -> None:
    for row in stored(answered(url), tmp_path):
        for key, own in row["distributions"].items():
            assert [each["probability"] for each in own] == pytest.approx([0.1, 0.2, 0, 0, 0.7])
            scores = [each["score"] for each in own]
            assert row["scores"][key] == pytest.approx(0.2 * scores[1] + 0.7)


def test_rounded_probabilities_are_made_to_sum_to_one(url: str, tmp_path: Path) -> None:
    for row in stored(answered(url, with_levels(**{"4": 0.72})), tmp_path):
        for own in row["distributions"].values():
            assert sum(each["probability"] for each in own) == pytest.approx(1)


def test_what_arithmetic_is_off_by_is_no_fault(url: str, tmp_path: Path) -> None:
    certain = with_levels(**{"0": -6e-8, "1": 0.0, "4": 1.00000012})
    for row in stored(answered(url, certain), tmp_path):
        assert row["outcome"] == "scored"
        for own in row["distributions"].values():
            assert [each["probability"] for each in own] == [0, 0, 0, 0, 1]


def test_a_level_with_two_probabilities_is_no_answer() -> None:
    levels = [{"label": label, "probability": 0.5} for label in ("0", "1", "1")]
    answer = {"answers": [{"type": "score", "name": "a", "probabilities": levels}]}
    asked = (DecisionQuestion(name="a", kind="score", instructions="?", options=()),)
    request = Request(system="", turns=(), schema=None, max_output_tokens=1, cache_key="", questions=asked)
    with pytest.raises(ValueError, match="two probabilities"):
        object.__new__(OpenAIDecisions).answered(answer, request)


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        (with_levels(**{"4": 0.5}), "out_of_range", "add up to 0.8, not to 1"),
        (with_levels(**{"4": float("nan")}), "out_of_range", "is not a number from 0 to 1"),
        (with_levels(**{"4": float("inf")}), "out_of_range", "is not a number from 0 to 1"),
        (with_levels(**{"1": -0.2}), "out_of_range", "is not a number from 0 to 1"),
        (with_levels(**{"4": 10**400}), "server", "unreadable response"),
        (with_levels(**{"9": 0.0}), "invalid_json", "is not about the points"),
        (with_levels(**{"\ud800": 0.0}), "invalid_json", "is not about the points"),
        (lambda each: each | {"probabilities": {"0": 1.0}}, "invalid_json", "is not about the points"),
        (lambda each: each | {"probabilities": [0.1, 0.9]}, "server", "unreadable response"),
        (with_levels(**{"4": "0.7"}), "server", "unreadable response"),
        (lambda each: {"type": "noul", "noul": 0.5}, "invalid_json", "is not about the points"),
        (lambda each: {"type": "refusal"}, "server", "unreadable response"),
        (lambda each: None, "server", "unreadable response"),
    ],
)
def test_an_answer_that_is_no_distribution_gives_no_score(url: str, change: Change, kind: str, words: str) -> None:
    rows = answered(url, change)
    assert rows[0]["error_kind"] == kind and words in rows[0]["error"], rows[0]["error"]
    for row in rows:  # an endpoint whose every answer is unreadable is given up
        assert (
            row["outcome"] in ("failed", "not_run")
            and set(row["scores"].values()) == {None}
            and row["distributions"] is None
        )


@pytest.mark.parametrize(
    "whole",
    [
        lambda body: b"no JSON",
        lambda body: b'{"answers": {',
        lambda body: b"[" * 100_000,
        lambda body: [],
        lambda body: None,
        lambda body: body | {"answers": None},
        lambda body: body | {"answers": list(body["answers"].values())},
    ],
)
def test_a_body_of_another_shape_fails_with_a_plain_reason(url: str, whole: Change) -> None:
    rows = answered(url, whole=whole)
    assert {row["outcome"] for row in rows} <= {"failed", "not_run"}
    assert rows[0]["error_kind"] == "server" and "unreadable response" in rows[0]["error"]


@pytest.mark.parametrize(
    ("usage", "why"),
    [
        ({"input_tokens": 10**18, "output_tokens": 1}, "more than 10000000 input tokens"),
        ({"input_tokens": 900_000, "output_tokens": 1}, "for a request that has at most"),
        ({"input_tokens": -1, "output_tokens": 1}, "a negative number of input tokens"),
        ({"input_tokens": float("nan"), "output_tokens": 1}, "no whole number of input tokens"),
    ],
)
def test_usage_that_cannot_be_is_unknown_and_counts_as_the_most(url: str, tmp_path: Path, usage: Row, why: str) -> None:
    for row in stored(answered(url, whole=lambda body: body | {"usage": usage}), tmp_path):
        assert (row["outcome"], row["input_tokens"]) == ("scored", None)
        assert 0 < row["cost_usd"] < 0.01, "what such a request can cost"
        assert why in row["reasoning"]


@pytest.mark.parametrize(("error", "kind"), [({"code": 401}, "auth"), ({"message": "unknown"}, "server")])
def test_an_error_with_http_200_is_what_it_says_and_not_paid(url: str, error: Row, kind: str) -> None:
    rows = answered(url, whole=lambda body: {"error": error})
    assert (rows[0]["outcome"], rows[0]["error_kind"], rows[0]["cost_usd"]) in (
        ("failed", kind, None),
        ("not_run", kind, None),
    )


@pytest.mark.parametrize("usage", [None, "much", [], 7])
def test_usage_that_is_missing_fails_no_verdict(url: str, usage: object) -> None:
    rows = answered(url, whole=lambda body: body | {"usage": usage})
    assert {(row["outcome"], row["input_tokens"]) for row in rows} == {("scored", None)}


@pytest.mark.parametrize("given", [float("nan"), float("inf"), 10**400, "0.5", None])
def test_a_distribution_that_no_table_can_hold_is_refused(given: Any) -> None:
    own = {"c": [ScoreProbability(0.0, given)]}
    for verdict in (Verdict(outcome="scored", distributions=own), Verdict(outcome="scored", answer_distributions=own)):
        with pytest.raises(NotStorable, match="the distribution of 'c' is not a number"):
            storable(verdict)


def test_the_name_of_a_distribution_is_made_well_formed() -> None:
    made = storable(Verdict(outcome="scored", distributions={"\ud800": [ScoreProbability(0, 1)]}))
    assert made.distributions == {"\ufffd": (ScoreProbability(0.0, 1.0),)}


def test_tables_without_distributions_are_read(tmp_path: Path) -> None:
    path = UPath(tmp_path / "clip_verdicts.parquet")
    row = dict.fromkeys(CLIP_VERDICTS.schema.names) | {"drop": "d", "scores": {"c": 1.0}}
    (batch,) = batched([row], CLIP_VERDICTS)
    older = pa.Table.from_batches([batch]).drop_columns(["distributions", "entropies"])
    pq.write_table(older, str(path))
    columns = ["drop", "scores", "distributions", "entropies"]
    read = {"drop": "d", "scores": {"c": 1.0}, "distributions": None, "entropies": None}
    assert list(Stored(CLIP_VERDICTS, path).rows(columns)) == [read]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_refused_key_is_the_cause_although_another_request_got_no_answer(url: str, provider: str) -> None:
    both_are_asked, gone = asyncio.Event(), asyncio.Event()

    class Stops(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "gives no replies" in record.getMessage():
                gone.set()

    async def answer(made: Endpoint, writer: asyncio.StreamWriter) -> None:
        if len(made.asked) == 1:
            await both_are_asked.wait()
            return  # hangs up: with this patience the endpoint counts as dead
        both_are_asked.set()
        await gone.wait()
        body = b'{"error": {"message": "no such key"}}'
        head = b"HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\nconnection: close\r\n"
        await made.send(writer, head + f"content-length: {len(body)}\r\n\r\n".encode() + body)

    async def work() -> list[Row]:
        async with endpoint(answer) as made:
            patience = {"first_backoff_s": 0.01, "outage_s": 1e-6}
            one = judge(made.url, url, provider, timeouts=patience, max_concurrency=2)
            return await rows_at(one, given=chains(2))

    logger, stops = logging.getLogger("evaluation_assets.core.models.client"), Stops()
    logger.addHandler(stops)
    try:
        rows = asyncio.run(work())
    finally:
        logger.removeHandler(stops)
    assert [row["error_kind"] for row in rows].count("auth") == 2, [row["error"] for row in rows]
    assert "the key was refused (401): check TEST_KEY" in str(Answers.of(rows).shortfall("one"))
