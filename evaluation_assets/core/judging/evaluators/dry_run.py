"""What an evaluator would have to ask: the first questions of its verdicts that are not in the ledger."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from evaluation_assets.core.judging.dry_run import DryRun, stopped_client
from evaluation_assets.core.judging.evaluators.collecting import CollectingEvaluator
from evaluation_assets.core.judging.evaluators.judge import EvaluatorJudge
from evaluation_assets.core.judging.evaluators.metrics import metric_of
from evaluation_assets.core.judging.judge import Judgement
from evaluation_assets.core.judging.model_judge import ModelJudge
from evaluation_assets.core.judging.quotes import Question, question_bytes, reply_tokens
from evaluation_assets.core.judging.subjects import Subject
from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.models.budget import request_tokens
from evaluation_assets.core.models.client import Client
from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets.core.models.messages import Request


@contextmanager
def evaluator_dry_run(judge: EvaluatorJudge, asked: ModelJudge) -> Iterator[DryRun]:
    """The judge with its ledger and without connections: it collects what it would ask `asked`, its model.

    Raises:
        InvalidEvaluator: the metric cannot be used.
    """
    with stopped_client(asked) as (client, ledger):
        yield _EvaluatorDryRun(judge, asked, client, ledger)


class _EvaluatorDryRun(DryRun):
    """Runs the metric until it asks what the ledger cannot answer. Later questions depend on the replies."""

    def __init__(self, judge: EvaluatorJudge, asked: ModelJudge, client: Client, ledger: Ledger) -> None:
        super().__init__(asked, client, ledger)
        self._evaluator = CollectingEvaluator(judge, metric_of(judge.evaluator), self)
        self._seen: set[str] = set()

    async def judge(self, subject: Subject, earlier: Sequence[Judgement], sample: int = 0) -> Verdict:
        """The verdict of the ledger, else one that was not run."""
        verdict = await self._evaluator.judge(subject, earlier, sample)
        self.known[subject.level] += verdict.from_ledger
        for level, model in self._evaluator.models:
            self.questions += [_question(level, model.requests[key]) for key in model.unanswered - self._seen]
            self._seen |= model.unanswered
        self._evaluator.models.clear()
        return verdict


def _question(level: str, request: Request) -> Question:
    size, most = question_bytes(request, request.turns), request_tokens(request)
    return Question(level=level, size=size, shared=0, most_input=most, reply=reply_tokens(1))
