"""Ask judges by themselves, outside of an evaluation: what the questions cost, then the questions."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from evaluation_assets.core.judging.judge import Judge, Judgement, judge_chains
from evaluation_assets.core.judging.panel import WITHOUT_MODEL
from evaluation_assets.core.judging.quotes import Quote, in_batches, in_total
from evaluation_assets.core.judging.subjects import Chain
from evaluation_assets.core.models.budget import Budget

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from evaluation_assets.core.judging.dry_run import DryRun
    from evaluation_assets.core.judging.model_judge import ModelJudge

# SQLAlchemy and httpx take 0.3 s to import, and some judges need neither.
# ruff: noqa: PLC0415

_T = TypeVar("_T")

Step = Callable[[], object]
"""Called for each chain that was judged."""

Ask = Callable[[Judge, Step], Awaitable[_T]]
"""Asks an open judge all questions."""


async def judge_all(ready: Judge, chains: Iterable[Chain], step: Step) -> AsyncIterator[list[Judgement]]:
    """What an open judge says about each chain."""
    async for judgements in judge_chains(ready, chains):
        yield judgements
        step()


def answer_of(judge: Judge, ask: Ask[_T], budget: Budget, step: Step = lambda: None) -> _T:
    """Open a judge and ask it."""

    async def opened() -> _T:
        async with judge.opened(uuid.uuid4().hex, budget) as ready:
            return await ask(ready, step)

    return asyncio.run(opened())


def quote_of(judge: Judge, ask: Ask[object]) -> Quote | None:
    """What the questions cost that the ledger does not answer; `None` for a judge that asks no model.

    Questions that depend on replies are those after the replies that are expected.
    """
    model = model_of(judge)
    if model is None:
        return None

    async def priced() -> Quote:
        with dry_run_of(judge, model) as ready:
            await ask(ready, lambda: None)
            quotes = ready.priced(ready.questions)
        return in_batches(quotes) if model.in_batches else in_total(quotes.values())

    return asyncio.run(priced())


def model_of(judge: Judge) -> "ModelJudge | None":
    """The model that a judge asks."""
    if judge.provider in WITHOUT_MODEL:
        return None
    from evaluation_assets.core.judging.evaluators.judge import EvaluatorJudge
    from evaluation_assets.core.judging.model_judge import ModelJudge

    model = judge.asked if isinstance(judge, EvaluatorJudge) else judge
    return model if isinstance(model, ModelJudge) else None


def dry_run_of(judge: Judge, model: "ModelJudge") -> "AbstractContextManager[DryRun]":
    """The dry run of a judge that asks this model."""
    from evaluation_assets.core.judging.dry_run import dry_run
    from evaluation_assets.core.judging.evaluators.dry_run import evaluator_dry_run
    from evaluation_assets.core.judging.evaluators.judge import EvaluatorJudge

    return evaluator_dry_run(judge, model) if isinstance(judge, EvaluatorJudge) else dry_run(model)
