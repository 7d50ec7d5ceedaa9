"""Replies that hold what no table can, lie about what they took, or are no whole replies: every row is written."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from upath import UPath

from evaluation_assets.core.judging.judge import judge_chains
from evaluation_assets.core.judging.model_judge import ModelJudge
from evaluation_assets.core.judging.verdict_rows import verdict_rows
from evaluation_assets.core.lake.stored import Stored, Stream, batched, write
from evaluation_assets.core.lake.tables import CLIP_VERDICTS
from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets.core.models.messages import Reply
from evaluation_assets.core.models.stored_replies import packed
from evaluation_assets.core.traces.token_usage import TokenUsage
from evaluation_assets_tests.judging_alone import CLIPS, HEAD, Answer, Endpoint, chains, endpoint, judge_at

USAGE = {"prompt_tokens": 700, "completion_tokens": 60}
Row = dict[str, Any]


def evaluation(criteria: list[str], **more: object) -> str:
    scores = [{"criterion": key, "score": 7} for key in criteria]
    return json.dumps({"reasoning": "as seen", "scores": scores, "summary": "it ran"} | more)


def completion(content: object, usage: object = USAGE, finish: object = "stop", **more: object) -> bytes:
    message = {"role": "assistant", "content": content, **more}
    choice = {"message": message, "finish_reason": finish}
    return json.dumps({"choices": [choice], "usage": usage, "model": "m"}).encode()


def answering(body: Callable[[list[str]], bytes]) -> Answer:
    """Answers that are made from the criteria that the schema names."""

    async def answer(made: Endpoint, writer: asyncio.StreamWriter) -> None:
        schema = json.loads(made.bodies[-1])["response_format"]["json_schema"]["schema"]
        content = body(schema["properties"]["scores"]["items"]["properties"]["criterion"]["enum"])
        await made.send(
            writer, HEAD + f"content-length: {len(content)}\r\nconnection: close\r\n\r\n".encode() + content
        )

    return answer


async def rows_at(judge: ModelJudge, count: int, run: str = "run", budget: Budget | None = None) -> list[Row]:
    async with judge.opened(run, budget or Budget()) as ready:
        return [
            row
            async for some in judge_chains(ready, chains(count))
            for judgement in some
            for row in verdict_rows("d", judge, judgement)
        ]


def rows_of(
    body: Callable[[list[str]], bytes], url: str, between: Callable[[], object] = lambda: None, *, runs: int = 1
) -> list[Row]:
    """The verdict rows of one trajectory, of the last of some runs."""

    async def work() -> list[Row]:
        rows: list[Row] = []
        async with endpoint(answering(body)) as made:
            for number in range(runs):
                if number:
                    between()
                rows = await rows_at(judge_at(made.url, url, max_concurrency=1), 1, f"run {number}")
        return rows

    return asyncio.run(work())


def stored(rows: list[Row], folder: Path) -> list[Row]:
    """The rows as they are read back."""
    path = UPath(folder / "clip_verdicts.parquet")
    write(path, Stream(CLIP_VERDICTS, batched(rows, CLIP_VERDICTS)))
    return list(Stored(CLIP_VERDICTS, path).rows())


STRANGE = st.sampled_from(["\udfff", "\ud83d\ude00", "\ud800x", "\0", "ä"]) | st.text(max_size=5)
NUMBERS = st.sampled_from([-1, 0, 1.5, 10**18, 10**30, -(10**400), 1e30, float("nan"), float("inf"), True])
VALUES = st.recursive(
    st.none() | STRANGE | NUMBERS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(STRANGE, inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.slow
@given(
    summary=STRANGE,
    more=st.dictionaries(
        st.sampled_from(["reasoning", "summary", "scores", "probability"]) | STRANGE, VALUES, max_size=2
    ),
    usage=st.dictionaries(
        st.sampled_from(["prompt_tokens", "completion_tokens", "prompt_tokens_details", "cached_tokens"]), VALUES
    ),
    message=st.dictionaries(st.sampled_from(["reasoning_content", "refusal", "tool_calls"]), VALUES, max_size=1),
    model=VALUES,
)
@settings(max_examples=40, deadline=None)
def test_any_reply_gives_rows_that_are_written_and_read_back(
    tmp_path_factory: pytest.TempPathFactory, summary: str, more: Row, usage: Row, message: Row, model: object
) -> None:
    def body(criteria: list[str]) -> bytes:
        whole = json.loads(completion(evaluation(criteria, **({"summary": summary} | more)), usage, **message))
        return json.dumps(whole | {"model": model}).encode()

    folder = tmp_path_factory.mktemp("any")
    rows = rows_of(body, f"sqlite:///{folder / 'ledger.sqlite'}")
    assert len(rows) == CLIPS
    assert stored(rows, folder) == rows


@pytest.mark.parametrize("runs", [1, 2])
def test_lone_surrogates_are_replaced_also_in_replies_of_the_ledger(url: str, tmp_path: Path, runs: int) -> None:
    rows = rows_of(lambda criteria: completion(evaluation(criteria, summary="half \udfff of it")), url, runs=runs)
    for row in stored(rows, tmp_path):
        assert (row["outcome"], row["summary"], row["from_ledger"]) == ("scored", "half \ufffd of it", runs == 2)


def test_a_surrogate_outside_of_the_evaluation_fails_no_request(url: str, tmp_path: Path) -> None:
    rows = rows_of(lambda criteria: completion(f"\ud800 {evaluation(criteria)}", reasoning_content="\udfff"), url)
    assert [row["outcome"] for row in stored(rows, tmp_path)] == ["scored"] * CLIPS


def test_replies_that_were_stored_with_impossible_usage_are_read(url: str, tmp_path: Path) -> None:
    def poison() -> None:
        ledger = Ledger(url)
        with ledger.transaction() as connection:
            for key in connection.execute(sa.text("SELECT key FROM replies")).scalars().all():
                text = ledger.entries(key)[0].reply.text
                reply = Reply(text=text, finish="stop", usage=TokenUsage(input_tokens=10**30, output_tokens=5))
                poisoned = sa.text("UPDATE replies SET reply = :reply, cost_usd = 1e24 WHERE key = :key")
                connection.execute(poisoned, {"reply": packed(reply), "key": key})
        ledger.close()

    rows = stored(rows_of(lambda criteria: completion(evaluation(criteria)), url, poison, runs=2), tmp_path)
    assert {(row["outcome"], row["from_ledger"], row["input_tokens"], row["cost_usd"]) for row in rows} == {
        ("scored", True, None, None)
    }


@pytest.mark.parametrize(
    ("usage", "why"),
    [
        ({"prompt_tokens": -5, "completion_tokens": 60}, "a negative number of input tokens"),
        ({"prompt_tokens": 700, "completion_tokens": -1}, "a negative number of output tokens"),
        ({"prompt_tokens": 700.5, "completion_tokens": 60}, "no whole number of input tokens"),
        ({"prompt_tokens": "700", "completion_tokens": 60}, "no whole number of input tokens"),
        ({"prompt_tokens": 10**18, "completion_tokens": 60}, "more than 10000000 input tokens"),
        ({"prompt_tokens": 700, "completion_tokens": 1e30}, "more than 1000000 output tokens"),
        ({"prompt_tokens": 900_000, "completion_tokens": 60}, "900000 input tokens for a request that has at most"),
        (
            {"prompt_tokens": 2, "completion_tokens": 6, "prompt_tokens_details": {"cached_tokens": 3}},
            "3 cached tokens of 2 input tokens",
        ),
        ({"prompt_tokens": 2, "completion_tokens": 6, "prompt_cache_hit_tokens": 3}, "3 cached tokens of 2 input"),
    ],
)
def test_impossible_usage_is_unknown_and_the_verdict_says_why(
    url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, usage: Row, why: str
) -> None:
    rows = stored(rows_of(lambda criteria: completion(evaluation(criteria), usage), url), tmp_path)
    for row in rows:
        assert (row["outcome"], row["input_tokens"], row["output_tokens"]) == ("scored", None, None)
        assert row["cost_usd"] > 0.02, "the most that it can be"
        assert f"Tokens are unknown: the endpoint reports {why}" in row["reasoning"]
    assert caplog.text.count(why) == 1


def test_integral_floats_are_whole_numbers(url: str) -> None:
    usage = {"prompt_tokens": 700.0, "completion_tokens": 60.0}
    rows = rows_of(lambda criteria: completion(evaluation(criteria), usage), url)
    assert {(row["input_tokens"], row["output_tokens"]) for row in rows} == {(700, 60)}


@pytest.mark.parametrize(
    "body",
    [
        lambda criteria: completion(evaluation(criteria), {"prompt_tokens": -(10**6), "completion_tokens": -(10**6)}),
        lambda criteria: completion(evaluation(criteria), None),
        lambda criteria: b'{"choices": "none"}',
        lambda criteria: b"no JSON",
    ],
    ids=["negative", "unknown", "unreadable", "no JSON"],
)
def test_a_reply_without_believable_usage_counts_against_the_budget(
    url: str, body: Callable[[list[str]], bytes]
) -> None:
    budget = Budget(0.1)

    async def work() -> int:
        async with endpoint(answering(body)) as made:
            await rows_at(judge_at(made.url, url, max_concurrency=1), 20, budget=budget)
            return len(made.asked)

    asked = asyncio.run(work())
    assert 0 < budget.spent_usd <= 0.1
    assert asked < 10, "20 trajectories have 40 questions"
    ledger = Ledger(url)
    assert ledger.spent("run") == pytest.approx(budget.spent_usd), "another process of the run knows it too"
    ledger.close()


def test_a_reply_without_usage_is_one_call_of_the_budget(url: str) -> None:
    budget = Budget(10.0)
    rows = []

    async def work() -> int:
        async with endpoint(answering(lambda criteria: completion(evaluation(criteria), None))) as made:
            rows.extend(await rows_at(judge_at(made.url, url, max_concurrency=1), 1, budget=budget))
            return len(made.asked)

    assert budget.calls == 0
    assert asyncio.run(work()) == budget.calls == len(rows)


DRAFT = '{"reasoning": "a draft", "scores": [], "summary": ""}'


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        (
            lambda criteria: completion(evaluation(criteria).replace('"score": 7', '"score": 2, "score": 9')),
            "invalid_json",
            "two values to 'score'",
        ),
        (
            lambda criteria: completion(evaluation(criteria)[:-1] + ', "scores": []}'),
            "invalid_json",
            "two values to 'scores'",
        ),
        (lambda criteria: completion(evaluation(criteria), finish="error"), "server", "error in the middle"),
        (lambda criteria: completion(evaluation(criteria), finish="abort"), "server", "error in the middle"),
        (lambda criteria: completion(evaluation(criteria), finish="SAFETY"), "content_filter", "content filter"),
        (
            lambda criteria: completion(None, reasoning_content=f"{DRAFT} But wait,"),
            "invalid_json",
            "empty: the model returned only its reasoning",
        ),
        (lambda criteria: completion(""), "invalid_json", "the reply was empty."),
        (lambda criteria: completion("I cannot evaluate this."), "invalid_json", "not a JSON object"),
        (lambda criteria: completion(evaluation(criteria).replace('"', "'")), "invalid_json", "not a JSON object"),
        (lambda criteria: completion(evaluation(criteria)[:90]), "invalid_json", "not a JSON object"),
    ],
)
def test_what_is_no_whole_evaluation_fails_with_a_plain_reason(
    url: str, body: Callable[[list[str]], bytes], kind: str, words: str
) -> None:
    for row in rows_of(body, url):
        assert (row["outcome"], row["error_kind"]) == ("failed", kind)
        assert words in row["error"]
        assert set(row["scores"].values()) <= {None}


@pytest.mark.parametrize(
    "said",
    [
        lambda text: f"```json\n{text}\n```",
        lambda text: text.replace("as seen", 'it returned {x} and {\\"score\\": 1}'),
        lambda text: f"<think>A draft: {text.replace('7', '1')}</think>{text}",
        lambda text: f"A draft: {text.replace('7', '1')}</think>{text}",
        lambda text: text[:-1] + ', "summary": "it ran"}',
    ],
)
def test_forms_of_a_whole_evaluation_are_read(url: str, said: Callable[[str], str]) -> None:
    rows = rows_of(lambda criteria: completion(said(evaluation(criteria))), url)
    assert {row["outcome"] for row in rows} == {"scored"}
    assert {score for row in rows for score in row["scores"].values()} == {0.7}


def test_a_reply_that_scores_all_criteria_of_the_schema_is_read(url: str) -> None:
    rows = rows_of(lambda criteria: completion(evaluation(criteria)), url)
    first, last = rows
    assert {row["outcome"] for row in rows} == {"scored"}
    assert first["scores"].keys() != last["scores"].keys()
    (other, *_) = last["scores"].keys() - first["scores"].keys()
    assert "Ignored, because not asked for: " in first["reasoning"] and other in first["reasoning"]
