"""Judges and processes that share an endpoint keep its limits together, and none of them stops another."""

import asyncio
import multiprocessing
from collections import Counter
from collections.abc import Sequence

import pytest
import sqlalchemy as sa

from evaluation_assets.core.judging.panel import judges_of, panel_of
from evaluation_assets.core.lake.tables import CLIP_VERDICTS
from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.pipeline.verdicts import PanelRun
from evaluation_assets_tests.judging_alone import CLIPS, chains, work
from evaluation_assets_tests.model_server import ModelServer, model_server, rule

pytestmark = pytest.mark.slow


def most_within(seconds: float, at: Sequence[float]) -> int:
    """The most starts in any window of this length."""
    return max(sum(begin <= other < begin + seconds for other in at) for begin in at)


def outcomes_of(server: ModelServer, url: str, count: int, *judges: dict[str, object]) -> dict[str, Counter[str]]:
    known = {"provider": "openai_compatible", "model": "m", "base_url": server.openai_url}
    given = panel_of({"judges": [known | judge for judge in judges]}, "test")

    async def judged() -> dict[str, Counter[str]]:
        found = {}
        run = PanelRun(CLIP_VERDICTS, "drop", "run", Budget(), lambda _: None)
        async for done in run.judge(judges_of(given, url), lambda _: chains(count)):
            with done.verdicts:
                found[done.judge.name] = Counter(done.tally.outcomes)
        return found

    return asyncio.run(judged())


def test_three_judges_at_one_endpoint_keep_its_rate_together(models: ModelServer, url: str) -> None:
    judges = [{"name": name, "model": name, "requests_per_minute": 1200} for name in ("a", "b", "c")]
    found = outcomes_of(models, url, 20, *judges)
    assert all(outcomes["failed"] + outcomes["not_run"] == 0 for outcomes in found.values())
    at = [asked.arrived for asked in models.requests(bodies=False)]
    assert len(at) == 3 * 20 * CLIPS
    assert most_within(2.0, at) <= 40 + 6


def test_two_processes_together_keep_the_requests_a_minute(url: str) -> None:
    """Each has questions of its own: another model."""
    context = multiprocessing.get_context("spawn")
    with model_server() as server:
        given = ({"model": "a", "requests_per_minute": 600}, {"model": "b", "requests_per_minute": 600})
        workers = [context.Process(target=work, args=(server.openai_url, url, 15, more)) for more in given]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(120)
            assert worker.exitcode == 0
        asked = server.requests(bodies=True)
    assert Counter(each.body["model"] for each in asked) == {"a": 15 * CLIPS, "b": 15 * CLIPS}
    at = [each.arrived for each in asked]
    assert most_within(3.0, at) <= 30 + 5
    assert most_within(1.0, at) <= 10 + 4


def test_two_processes_learn_one_rate_from_the_refusals_of_their_endpoint(url: str) -> None:
    context = multiprocessing.get_context("spawn")
    with model_server(latency=0.3) as server:
        server.script({"rate_limit": {"requests_per_minute": 600, "burst": 5}})
        given = ({"model": "a"}, {"model": "b"})
        workers = [context.Process(target=work, args=(server.openai_url, url, 20, more)) for more in given]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(120)
            assert worker.exitcode == 0
        asked = server.requests(bodies=True)
    answered = Counter(each.body["model"] for each in asked if each.status == 200)
    assert answered == {"a": 20 * CLIPS, "b": 20 * CLIPS}
    with sa.create_engine(url, poolclass=sa.NullPool).connect() as connection:
        (learned,) = connection.execute(sa.text("SELECT per_second, is_measured, version FROM learned_rates")).all()
    assert learned.is_measured
    assert 5 <= learned.per_second <= 15, "of both together; the endpoint takes 10 a second"
    assert sum(each.status == 429 for each in asked) <= len(asked) / 2, "most of them at the beginning"


def test_a_model_that_fails_does_not_keep_the_slots_of_another_at_its_endpoint(models: ModelServer, url: str) -> None:
    models.script([rule("server_error", model="broken")])
    quick: dict[str, object] = {"max_concurrency": 2, "timeouts": {"first_backoff_s": 0.1}}
    found = outcomes_of(models, url, 10, {"name": "broken", "model": "broken"} | quick, {"name": "fine"} | quick)
    assert found["fine"]["failed"] + found["fine"]["not_run"] == 0
    assert found["broken"]["scored"] == 0
    log = models.requests()
    answered = [asked.arrived for asked in log if asked.status == 200]
    refused = [asked.arrived for asked in log if asked.status == 500]
    assert max(answered) < max(refused), "one was done before the other gave up"
