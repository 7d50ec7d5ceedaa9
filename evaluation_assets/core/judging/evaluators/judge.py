"""A metric of another package as a judge of the panel."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from evaluation_assets.core.judging.defects import without_secrets
from evaluation_assets.core.judging.evaluators.asked_model import AskedModel, NoModel, NotOffered
from evaluation_assets.core.judging.evaluators.case import CASE_VERSION, Case, case_of, shown
from evaluation_assets.core.judging.evaluators.metrics import Metric, metric_of
from evaluation_assets.core.judging.evaluators.packages import InvalidEvaluator, installed_version
from evaluation_assets.core.judging.evaluators.reasons import NoScore
from evaluation_assets.core.judging.evaluators.settings import EvaluatorSettings
from evaluation_assets.core.judging.judge import Judge, Judgement, OpenedJudge
from evaluation_assets.core.judging.model_judge import ModelJudge, OpenJudge
from evaluation_assets.core.judging.own.checks import InvalidResult, scores_of
from evaluation_assets.core.judging.replies import InvalidReply
from evaluation_assets.core.judging.selection import Selection
from evaluation_assets.core.judging.subjects import Subject
from evaluation_assets.core.judging.verdict_cost import with_cost
from evaluation_assets.core.judging.verdicts import FailureKind, Outcome, Verdict
from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.models.cost import Cost
from evaluation_assets.core.models.errors import ProviderError, Stopped
from evaluation_assets.core.models.json_text import dumped
from evaluation_assets.core.models.providers.sdk_errors import with_variable
from evaluation_assets.core.models.redaction.redactor import NotRedacted
from evaluation_assets.core.traces.trajectories.identity import digest

LONGEST_ERROR = 2000
"""Characters of the message of an exception in a verdict."""

LONGEST_REASON = 20_000
"""Characters of the reasoning of a verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorJudge:
    """Calls a metric of another package with the texts of every subject.

    What the metric asks of a model is asked of `asked`, a model of the panel; with `None` the metric has no model.
    A metric that raises, or returns no score, gives a `failed` verdict. `timeout_s` limits metrics without a model;
    else each question has its own time.
    """

    name: str
    evaluator: EvaluatorSettings
    asked: ModelJudge | None
    selection: Selection
    provider: str
    chains_in_flight: int
    timeout_s: float
    samples: int = 1

    @property
    def model(self) -> str:
        """The metric, and the model that it asks."""
        return self.evaluator.name if self.asked is None else f"{self.evaluator.name} {self.asked.model}"

    @property
    def key_variable(self) -> str | None:
        """The variable that holds the key of the model."""
        return None if self.asked is None else self.asked.key_variable

    @property
    def version(self) -> str:
        """Changes with the version of the package, the metric, its arguments, and the model and its settings."""
        own = self.evaluator
        return digest(
            CASE_VERSION,
            own.name,
            installed_version(own.package),
            dumped(own.arguments, sort_keys=True).decode(),
            own.criterion_name,
            str(own.lower_is_better),
            "" if self.asked is None else self.asked.version,
        )

    @asynccontextmanager
    async def opened(self, run: str, budget: Budget) -> AsyncIterator[Judge]:
        """The judge with its metric, and with open connections if it asks a model."""
        try:
            metric = metric_of(self.evaluator)
        except InvalidEvaluator as problem:
            yield OpenEvaluator(self, str(problem), None)
            return
        if self.asked is None:
            yield OpenEvaluator(self, metric, None)
            return
        async with self.asked.opened(run, budget) as model:
            yield OpenEvaluator(self, metric, model)

    async def judge(self, subject: Subject, earlier: Sequence[Judgement], sample: int = 0) -> Verdict:
        raise RuntimeError("an evaluator judges inside `opened` only")


class OpenEvaluator(OpenedJudge):
    """An evaluator at work. `metric` is the reason where there is none."""

    def __init__(self, description: EvaluatorJudge, metric: Metric | str, model: Judge | None) -> None:
        super().__init__(description)
        self._timeout_s = description.timeout_s
        self._evaluator = description.evaluator.name
        self._criterion = description.evaluator.criterion_name
        self._metric = metric
        self._model = model

    async def judge(self, subject: Subject, earlier: Sequence[Judgement], sample: int = 0) -> Verdict:
        """The verdict on a subject; whatever goes wrong is in it."""
        if isinstance(self._metric, str):
            return self._without_score("internal", self._metric)
        case = case_of(subject)
        if self._model is None:
            return await self._scored(self._metric, case, NoModel(), Cost(), self._timeout_s)
        if not isinstance(self._model, OpenJudge):  # there is no ledger: its verdict says why
            return await self._model.judge(subject, [], sample)
        try:
            case = shown(case, self._model.shown(subject))
        except NotRedacted as problem:
            return self._without_score("redaction", str(problem))
        cost = Cost()
        model = self.asked_model(self._model, subject, sample, cost)
        verdict = await self._scored(self._metric, case, model, cost, None)
        if verdict.outcome != "failed" or model.problem is not None or not model.recalled:
            return verdict
        # The metric can make nothing of a stored reply: without asking again it would fail forever.
        model = self.asked_model(self._model, subject, sample, cost, asks_again=True)
        return await self._scored(self._metric, case, model, cost, None)

    def asked_model(
        self, model: OpenJudge, subject: Subject, sample: int, cost: Cost, *, asks_again: bool = False
    ) -> AskedModel:
        """The model for the questions of one verdict."""
        return AskedModel(model.client, model.settings, cost, sample, later=subject.later, asks_again=asks_again)

    async def _scored(
        self, metric: Metric, case: Case, model: AskedModel | NoModel, cost: Cost, timeout_s: float | None
    ) -> Verdict:
        try:
            score = await asyncio.wait_for(metric.score(case, model), timeout_s)
            if model.problem is not None:  # a package may have caught it, and made a score of it
                return self._failed(model.problem, cost)
            (scored,) = scores_of(score, self._criterion)
        except Exception as problem:  # noqa: BLE001  # a metric may raise anything
            return self._failed(model.problem or problem, cost)
        value, reason = scored.value, scored.reason or ""
        if value is not None and metric.lower_is_better:
            value, reason = 1 - value, f"{reason}\n{value:g} of the metric, where lower is better".strip()
        outcome: Outcome = "abstained" if value is None else "scored"
        reasoning = without_secrets(reason)[:LONGEST_REASON] or None
        return _verdict(cost, outcome, {self._criterion: value}, reasoning=reasoning)

    def _failed(self, problem: Exception, cost: Cost) -> Verdict:
        outcome, kind = _kind_of(problem)
        said = str(problem)
        if not isinstance(problem, _SAID_FOR_USERS):
            said = f"{self._evaluator} raised {type(problem).__name__}: {said}"
        if isinstance(problem, TimeoutError) and not said:
            said = f"the metric gave no result in {self._timeout_s:g} s"
        said = with_variable(said, self.key_variable)
        return _verdict(cost, outcome, {self._criterion: None}, kind=kind, error=without_secrets(said)[:LONGEST_ERROR])

    def _without_score(self, kind: FailureKind, error: str) -> Verdict:
        return _verdict(Cost(), "failed", {self._criterion: None}, kind=kind, error=error)


_SAID_FOR_USERS = (ProviderError, Stopped, InvalidReply, InvalidResult, NotOffered, NoScore, TimeoutError)


def _kind_of(problem: Exception) -> tuple[Outcome, FailureKind]:
    if isinstance(problem, Stopped):
        return "not_run", problem.kind
    if isinstance(problem, ProviderError | InvalidReply):
        return "failed", problem.kind
    if isinstance(problem, InvalidResult):
        return "failed", "out_of_range"
    if isinstance(problem, NoScore):
        return "failed", "missing_criterion"
    return "failed", "timeout" if isinstance(problem, TimeoutError) else "internal"


def _verdict(
    cost: Cost,
    outcome: Outcome,
    scores: Mapping[str, float | None],
    *,
    reasoning: str | None = None,
    kind: FailureKind | None = None,
    error: str | None = None,
) -> Verdict:
    verdict = Verdict(
        outcome=outcome,
        scores=scores,
        reasoning=reasoning,
        error_kind=kind,
        error=error,
    )
    return with_cost(verdict, cost)
