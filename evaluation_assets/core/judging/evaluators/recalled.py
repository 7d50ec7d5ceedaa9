"""The prompts that an evaluator sent for verdicts which are in its ledger, made again word for word."""

import asyncio
from collections.abc import Iterable

from evaluation_assets.core.judging.dry_run import stopped_client
from evaluation_assets.core.judging.evaluators.collecting import CollectingEvaluator
from evaluation_assets.core.judging.evaluators.judge import EvaluatorJudge
from evaluation_assets.core.judging.evaluators.metrics import metric_of
from evaluation_assets.core.judging.judge import judge_chains
from evaluation_assets.core.judging.model_judge import ModelJudge, OpenJudge
from evaluation_assets.core.judging.subjects import Chain
from evaluation_assets.core.models.messages import Request


def recalled_by_evaluator(judge: EvaluatorJudge, asked: ModelJudge, chains: Iterable[Chain]) -> dict[str, Request]:
    """The requests of an evaluator to its model about the subjects of chains, by their keys in the ledger.

    No model is called.

    Raises:
        LedgerError: the ledger cannot be read.
        InvalidEvaluator: the metric cannot be used.
    """
    return asyncio.run(_recalled(judge, asked, chains))


async def _recalled(judge: EvaluatorJudge, asked: ModelJudge, chains: Iterable[Chain]) -> dict[str, Request]:
    with stopped_client(asked) as (client, ledger):
        model = OpenJudge(asked, client, ledger.secret())
        recalling = CollectingEvaluator(judge, metric_of(judge.evaluator), model)
        async for _ in judge_chains(recalling, judge.selection.chains(iter(chains))):
            pass
    return {key: request for _, each in recalling.models for key, request in each.requests.items()}
