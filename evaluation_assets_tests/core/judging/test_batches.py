"""Judges that ask in batches, with the real SDKs and the model server's batches of both protocols."""

import asyncio
import multiprocessing
import os
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import nullcontext
from unittest.mock import AsyncMock, Mock

import pytest
from anthropic.types.messages import MessageBatch
from openai.types import Batch
from pydantic import ValidationError

from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.judging.asking import dry_run_of
from evaluation_assets.core.judging.judge import judge_chains
from evaluation_assets.core.judging.model_judge import ModelJudge
from evaluation_assets.core.judging.panel import JudgeSettings, judges_of, panel_of
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.judging.subjects import Chain, trajectory_chain
from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.models.errors import ProviderError
from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets.core.models.providers.anthropic_batches import AnthropicBatches
from evaluation_assets.core.models.providers.base import BatchGone, BatchItem
from evaluation_assets.core.models.providers.openai_batches import OpenAIBatches
from evaluation_assets.core.models.unusable_replies import MOST_UNUSABLE
from evaluation_assets_tests.judging_alone import chains
from evaluation_assets_tests.model_server import ModelServer, rule

PROTOCOLS = pytest.mark.parametrize("protocol", ["openai", "anthropic"])
SUBJECTS = 2
"""Of a trajectory: itself and its answer."""


def judge(server: ModelServer, url: str, protocol: str = "openai", **more: object) -> ModelJudge:
    address = server.openai_url if protocol == "openai" else server.anthropic_url
    known = {"name": "one", "provider": f"{protocol}_compatible", "model": "m", "base_url": address, "mode": "batch"}
    known |= {"price": {"input": 1.0, "output": 10.0}, "timeouts": {"first_backoff_s": 0.01, "batch_poll_s": 0.05}}
    (made,) = judges_of(panel_of({"judges": [known | more]}, "test"), url)
    assert isinstance(made, ModelJudge)
    return made


def whole(count: int) -> Iterator[Chain]:
    for chain in chains(count):
        yield trajectory_chain(chain.trajectory, clips_of(chain.trajectory), load_rubrics())


def judged(
    by: ModelJudge,
    count: int = 4,
    budget: Budget | None = None,
    run: str = "run",
    of: Callable[[int], Iterator[Chain]] = whole,
) -> list[Verdict]:
    async def work() -> list[Verdict]:
        async with by.opened(run, budget or Budget()) as ready:
            return [each.verdict async for some in judge_chains(ready, of(count)) for each in some]

    return asyncio.run(work())


def submitted(server: ModelServer) -> int:
    """How many batches the server has."""
    return sum(asked.path.endswith("/batches") and asked.status == 200 for asked in server.requests(bodies=False))


def one_by_one(server: ModelServer) -> int:
    return sum(asked.path.endswith(("/completions", "/messages")) for asked in server.requests(bodies=False))


@PROTOCOLS
def test_independent_subjects_are_asked_in_batches_at_half_the_price(
    models: ModelServer, url: str, protocol: str
) -> None:
    models.script([{"batch_polls": 2}])
    found = judged(judge(models, url, protocol))
    assert {verdict.outcome for verdict in found} <= {"scored", "abstained"}
    assert submitted(models) == SUBJECTS, "one for the trajectories, one for the answers"
    assert one_by_one(models) == 0
    assert not any(verdict.from_ledger for verdict in found)
    for usage in (verdict.usage for verdict in found):
        usual = (usage.input_tokens or 0) * 1.0 + (usage.output_tokens or 0) * 10.0
        assert usage.cost_usd == pytest.approx(usual / 1e6 / 2)
    ledger = Ledger(url)
    assert ledger.spent("run") == pytest.approx(sum(verdict.usage.cost_usd or 0.0 for verdict in found))
    ledger.close()


@PROTOCOLS
def test_a_rerun_asks_nothing_again_in_either_mode(models: ModelServer, url: str, protocol: str) -> None:
    judged(judge(models, url, protocol))
    models.reset()
    for mode in ("batch", "interactive"):
        assert all(verdict.from_ledger for verdict in judged(judge(models, url, protocol, mode=mode), run=mode))
    assert models.requests() == []


@PROTOCOLS
def test_what_expires_or_fails_in_a_batch_is_asked_by_itself(models: ModelServer, url: str, protocol: str) -> None:
    models.script([rule("expired", path="batch", times=1), rule("server_error", path="batch", times=1)])
    found = judged(judge(models, url, protocol))
    assert {verdict.outcome for verdict in found} <= {"scored", "abstained"}
    assert one_by_one(models) == 2
    costs = Counter(round((verdict.usage.cost_usd or 0.0) * 1e6) for verdict in found)
    assert len(costs) > 1


@PROTOCOLS
def test_invalid_replies_of_a_batch_are_put_right(models: ModelServer, url: str, protocol: str) -> None:
    models.script([rule("invalid_json", path="batch", times=1), rule("length", path="batch", times=1)])
    found = judged(judge(models, url, protocol))
    assert {verdict.outcome for verdict in found} <= {"scored", "abstained"}
    assert one_by_one(models) == 2
    assert sum(verdict.attempts == 2 for verdict in found) == 2


def test_a_judge_that_was_given_up_submits_no_batch(models: ModelServer, url: str) -> None:
    models.script([rule("invalid_json", path="batch"), rule("invalid_json", path="/v1/chat")])
    one = judge(models, url)
    judged(one, count=2 * MOST_UNUSABLE)
    models.reset()
    assert {verdict.outcome for verdict in judged(one, count=3 * MOST_UNUSABLE)} <= {"failed", "not_run"}
    assert submitted(models) == 0 == one_by_one(models)


def test_clips_of_a_conversation_are_not_asked_in_batches(models: ModelServer, url: str) -> None:
    judged(judge(models, url), of=chains)
    assert submitted(models) == 0
    assert one_by_one(models) > 0


def test_an_endpoint_without_batches_is_asked_one_by_one(models: ModelServer, url: str) -> None:
    models.script([rule("not_found", path="/v1/batches")])
    found = judged(judge(models, url))
    assert {verdict.outcome for verdict in found} <= {"scored", "abstained"}
    assert one_by_one(models) == len(found)


def test_a_batch_that_cannot_be_read_is_not_asked_again(models: ModelServer, url: str) -> None:
    models.script([rule("wrong_key", path="/v1/batches/")])
    found = judged(judge(models, url))
    assert {(verdict.outcome, verdict.error_kind) for verdict in found} == {("not_run", "unavailable")}
    assert "re-run later" in str(found[0].error)
    models.script([])
    found = judged(judge(models, url))
    assert {verdict.outcome for verdict in found} <= {"scored", "abstained"}
    assert one_by_one(models) == 0
    assert submitted(models) == SUBJECTS, "the first batch was read, the second is the answers'"


def test_what_is_in_a_batch_is_not_asked_one_by_one_by_another_mode(models: ModelServer, url: str) -> None:
    models.script([rule("wrong_key", path="/v1/batches/")])
    judged(judge(models, url))
    models.script([])
    found = judged(judge(models, url, mode="interactive"))
    assert {verdict.outcome for verdict in found} <= {"scored", "abstained"}
    assert one_by_one(models) == len(found) / SUBJECTS, "the answers, which were in no batch"
    assert submitted(models) == 1


@pytest.mark.parametrize("mode", ["batch", "interactive"])
def test_what_is_in_a_batch_is_not_quoted_again(models: ModelServer, url: str, mode: str) -> None:
    models.script([rule("wrong_key", path="/v1/batches/")])
    judged(judge(models, url))

    async def work() -> tuple[int, set[str]]:
        asked = judge(models, url, mode=mode)
        with dry_run_of(asked, asked) as ready:
            async for _ in judge_chains(ready, whole(4)):
                pass
            return ready.known["trajectory"], {question.level for question in ready.questions}

    assert asyncio.run(work()) == (4, {"answer"})


def test_a_batch_that_the_endpoint_forgot_is_asked_again(models: ModelServer, url: str) -> None:
    models.script([rule("wrong_key", path="/v1/batches/")])
    judged(judge(models, url))
    models.script([])
    models.reset()
    found = judged(judge(models, url))
    assert {verdict.outcome for verdict in found} <= {"scored", "abstained"}
    assert one_by_one(models) == 4


@PROTOCOLS
def test_a_batch_whose_results_are_deleted_is_asked_again(models: ModelServer, url: str, protocol: str) -> None:
    path = {"openai": "/v1/files/output", "anthropic": "/anthropic/v1/messages/batches/msgbatch_1/results"}[protocol]
    models.script([rule("not_found", path=path)])
    found = judged(judge(models, url, protocol))
    assert {verdict.outcome for verdict in found} <= {"scored", "abstained"}
    assert one_by_one(models) >= 4


def test_an_archived_batch_is_gone() -> None:
    about = {"id": "b", "type": "message_batch", "processing_status": "ended", "results_url": None}
    about |= {"created_at": "2026-01-01T00:00:00Z", "expires_at": "2026-01-02T00:00:00Z"}
    counts = {"processing": 0, "succeeded": 1, "errored": 0, "canceled": 0, "expired": 0}
    archived = MessageBatch.model_validate(about | {"request_counts": counts})
    client = Mock(messages=Mock(batches=Mock(retrieve=AsyncMock(return_value=archived))))
    with pytest.raises(BatchGone):
        asyncio.run(AnthropicBatches(client, Mock(), nullcontext).state("b"))


@pytest.mark.parametrize("answer", ["<html>", [], None])
def test_what_is_no_state_of_a_batch_is_an_unreadable_answer(answer: object) -> None:
    client = Mock(batches=Mock(retrieve=AsyncMock(return_value=answer)))
    with pytest.raises(ValueError, match=r"Expecting value|Batch"):
        asyncio.run(OpenAIBatches(client, Mock(), nullcontext).state("b"))


def test_a_batch_of_an_unknown_status_is_not_waited_for_without_end() -> None:
    odd = Mock(spec=Batch, status="on holiday")
    client = Mock(batches=Mock(retrieve=AsyncMock(return_value=odd)))
    with pytest.raises(ProviderError, match="on holiday"):
        asyncio.run(OpenAIBatches(client, Mock(), nullcontext).state("b"))


def test_a_budget_holds_in_batches(models: ModelServer, url: str) -> None:
    found = judged(judge(models, url, max_output_tokens=500), 12, budget := Budget(0.012))
    assert budget.spent_usd <= 0.012
    assert {verdict.error_kind for verdict in found} == {None, "budget"}
    assert submitted(models) > 1, "as much at a time as there is room for"


def agree(found: list[Verdict], url: str, budget: Budget, run: str = "run") -> None:
    """Rows, the budget and the ledger have the same cost and number of calls."""
    ledger = Ledger(url)
    new = [verdict for verdict in found if not verdict.from_ledger]
    assert sum(verdict.usage.cost_usd or 0.0 for verdict in new) == pytest.approx(budget.spent_usd)
    assert ledger.spent(run) == pytest.approx(budget.spent_usd)
    assert sum(verdict.attempts for verdict in new) == budget.calls == ledger.calls(run)
    ledger.close()


@PROTOCOLS
@pytest.mark.parametrize("limit", [None, 1.0])
def test_a_reply_of_a_batch_without_usage_is_paid_once(
    models: ModelServer, url: str, protocol: str, limit: float | None
) -> None:
    models.script([rule("no_usage", path="batch", times=1)])
    found = judged(judge(models, url, protocol), budget=(budget := Budget(limit)))
    assert [verdict.usage.input_tokens for verdict in found].count(None) == 1
    agree(found, url, budget)


def test_equal_questions_of_a_batch_are_paid_once(models: ModelServer, url: str) -> None:
    def twice(count: int) -> Iterator[Chain]:
        yield from whole(count)
        yield from whole(count)

    found = judged(judge(models, url), 2, budget := Budget(), of=twice)
    assert sum(verdict.from_ledger for verdict in found) == len(found) / 2
    assert budget.calls == len(found) / 2
    agree(found, url, budget)


@PROTOCOLS
@pytest.mark.parametrize("damage", ["broken_line", "without_name", "no_reply"])
def test_an_item_of_a_batch_that_cannot_be_read_fails_alone_and_is_paid(
    models: ModelServer, url: str, protocol: str, damage: str
) -> None:
    models.script([rule(damage, path="batch", times=1)])
    found = judged(judge(models, url, protocol), budget=(budget := Budget(1.0)))
    failed = [verdict for verdict in found if verdict.outcome == "failed"]
    assert [(verdict.error_kind, verdict.attempts) for verdict in failed] == [("server", 1)]
    assert "cannot be read" in str(failed[0].error) and failed[0].usage.cost_usd
    assert {verdict.outcome for verdict in found} <= {"scored", "abstained", "failed"}
    assert one_by_one(models) == 0
    agree(found, url, budget)
    models.script([])
    found = judged(judge(models, url, protocol), run="later")
    assert {verdict.outcome for verdict in found} <= {"scored", "abstained"}
    assert sum(not verdict.from_ledger for verdict in found) == 1


def test_results_that_break_off_are_read_again(models: ModelServer, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole_results, read = OpenAIBatches.results, Counter[str]()

    async def cut_at_first(batches: OpenAIBatches, batch: str) -> AsyncIterator[tuple[str | None, BatchItem]]:
        read[batch] += 1
        given = 0
        async for name, item in whole_results(batches, batch):
            given += 1
            if given == 2 and read[batch] == 1:
                yield None, None
                return
            yield name, item

    monkeypatch.setattr(OpenAIBatches, "results", cut_at_first)
    found = judged(judge(models, url))
    assert {verdict.outcome for verdict in found} <= {"scored", "abstained"}
    assert [*read.values()] == [2, 2] and one_by_one(models) == 0


def test_only_providers_with_batches_take_the_mode() -> None:
    JudgeSettings.model_validate({"name": "one", "provider": "anthropic", "mode": "batch"})
    with pytest.raises(ValidationError, match="has no mode: batch"):
        JudgeSettings.model_validate({"name": "one", "provider": "deepseek", "mode": "batch"})


def wait_in_a_process(address: str, url: str) -> None:
    known = {"name": "one", "provider": "openai_compatible", "model": "m", "base_url": address, "mode": "batch"}
    (made,) = judges_of(panel_of({"judges": [known | {"timeouts": {"batch_poll_s": 0.05}}]}, "test"), url)
    assert isinstance(made, ModelJudge)
    judged(made, run="killed")


@pytest.mark.slow
def test_a_killed_process_leaves_its_batch_to_the_next_one(models: ModelServer, url: str) -> None:
    models.script([{"batch_polls": 10**9}])
    victim = multiprocessing.get_context("spawn").Process(target=wait_in_a_process, args=(models.openai_url, url))
    victim.start()
    while not any("/batches/" in asked.path for asked in models.requests(bodies=False)):
        time.sleep(0.05)
    assert victim.pid is not None
    os.kill(victim.pid, signal.SIGKILL)
    victim.join()
    models.script([])
    found = judged(judge(models, url))
    assert {verdict.outcome for verdict in found} <= {"scored", "abstained"}
    assert submitted(models) == SUBJECTS, "the killed process's batch of trajectories, and one of answers"
    assert one_by_one(models) == 0
