"""The prompts that a judge sent for verdicts which are in its ledger, made again word for word."""

import asyncio
from collections.abc import Iterable

from evaluation_assets.core.judging.dry_run import stopped_client
from evaluation_assets.core.judging.evaluators.collecting import CollectingEvaluator
from evaluation_assets.core.judging.evaluators.judge import EvaluatorJudge
from evaluation_assets.core.judging.evaluators.metrics import metric_of
from evaluation_assets.core.judging.judge import judge_chains
from evaluation_assets.core.judging.model_judge import ModelJudge, OpenJudge
from evaluation_assets.core.judging.questions import PendingVerdict
from evaluation_assets.core.judging.subjects import Chain
from evaluation_assets.core.models.client import Client
from evaluation_assets.core.models.ledger import Entry
from evaluation_assets.core.models.messages import Request


def recalled_requests(judge: ModelJudge | EvaluatorJudge, chains: Iterable[Chain]) -> dict[str, Request]:
    """The requests of a judge about the subjects of chains, by their keys in the ledger. No model is called.

    A key is the digest of the request, so a request under a verdict's key is the one that was sent. Requests that
    judge, rubrics or ledger give otherwise today are under other keys or missing.

    Raises:
        LedgerError: the ledger cannot be read.
        InvalidEvaluator: a metric of another package cannot be used.
    """
    asked = judge if isinstance(judge, ModelJudge) else judge.asked
    return {} if asked is None else asyncio.run(_recalled(judge, asked, chains))


async def _recalled(
    judge: ModelJudge | EvaluatorJudge, asked: ModelJudge, chains: Iterable[Chain]
) -> dict[str, Request]:
    with stopped_client(asked) as (client, ledger):
        if isinstance(judge, ModelJudge):
            recalling = _Recalling(judge, client, ledger.secret())
        else:
            model = OpenJudge(asked, client, ledger.secret())
            recalling = CollectingEvaluator(judge, metric_of(judge.evaluator), model)
        async for _ in judge_chains(recalling, judge.selection.chains(iter(chains))):
            pass
    return recalling.requests


class _Recalling(OpenJudge):
    """A model judge that looks up its replies, and keeps what it asked for them."""

    def __init__(self, description: ModelJudge, client: Client, secret: str) -> None:
        super().__init__(description, client, secret)
        self.requests: dict[str, Request] = {}

    def _is_final(self, entry: Entry) -> bool:
        """Every reply: a correction was asked for after the reply that it corrects."""
        return True

    async def _answer(self, request: Request, pending: PendingVerdict) -> Entry:
        entry = await super()._answer(request, pending)
        self.requests[pending.cost.keys[-1]] = request
        return entry
