"""A model that only gives replies that nobody can use is not asked for all of them."""

import asyncio

import pytest

from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.models.unusable_replies import MOST_UNUSABLE
from evaluation_assets_tests.judging_alone import CLIPS, chains, judge_at, verdicts
from evaluation_assets_tests.model_server import ModelServer, rule

ALL = 40
GOOD = {"scored", "abstained"}


def not_run(found: list[Verdict]) -> set[tuple[str | None, str | None]]:
    return {(verdict.error_kind, verdict.error) for verdict in found if verdict.outcome == "not_run"}


@pytest.mark.parametrize("workers", [1, 16])
def test_a_model_without_a_usable_reply_is_not_asked_for_all(url: str, models: ModelServer, workers: int) -> None:
    models.script([rule("out_of_range")])
    judge = judge_at(models.openai_url, url, max_concurrency=workers)
    found = asyncio.run(verdicts(judge, chains(ALL)))
    assert MOST_UNUSABLE <= len(models.requests(bodies=False)) < MOST_UNUSABLE + workers
    ((kind, error),) = not_run(found)
    assert kind == "out_of_range"
    assert str(error).startswith("none of 10 replies could be used; for example, the score of ")
    assert len(found) == ALL * CLIPS

    models.reset()
    assert {verdict.outcome for verdict in asyncio.run(verdicts(judge, chains(ALL, first=ALL)))} == {"not_run"}
    assert models.requests() == [], "nor at the next level"

    models.script([rule("out_of_range")])
    asyncio.run(verdicts(judge, chains(ALL, first=2 * ALL), "another run"))
    assert len(models.requests(bodies=False)) <= workers, "another run of the process tries once"


def test_a_re_run_asks_again(url: str, models: ModelServer) -> None:
    models.script([rule("out_of_range")])
    asyncio.run(verdicts(judge_at(models.openai_url, url), chains(ALL)))
    models.script([])
    found = asyncio.run(verdicts(judge_at(models.openai_url, url), chains(ALL), "another run"))
    assert not not_run(found)
    assert sum(verdict.outcome in GOOD for verdict in found) > ALL


@pytest.mark.parametrize("after", [0, 2 * MOST_UNUSABLE])
def test_a_usable_reply_lets_it_go_on(url: str, models: ModelServer, after: int) -> None:
    models.script([rule("out_of_range", contains=f"question {number}", after=after) for number in range(1, 20)])
    found = asyncio.run(verdicts(judge_at(models.openai_url, url, max_concurrency=1), chains(20)))
    assert not not_run(found)


@pytest.mark.parametrize("fault", ["refusal", "rate_limited", "bad_request"])
def test_what_is_the_question_or_is_tried_again_does_not_count(url: str, models: ModelServer, fault: str) -> None:
    models.script([rule(fault, times=2 * MOST_UNUSABLE)])
    found = asyncio.run(verdicts(judge_at(models.openai_url, url), chains(ALL)))
    assert not not_run(found)
