"""Evaluators that keep what they ask: for dry runs, and to show the prompts behind verdicts."""

from evaluation_assets.core.judging.evaluators.asked_model import AskedModel
from evaluation_assets.core.judging.evaluators.judge import EvaluatorJudge, OpenEvaluator
from evaluation_assets.core.judging.evaluators.metrics import Metric
from evaluation_assets.core.judging.model_judge import OpenJudge
from evaluation_assets.core.judging.subjects import Subject
from evaluation_assets.core.models.cost import Cost
from evaluation_assets.core.models.messages import Request


class CollectingEvaluator(OpenEvaluator):
    """Keeps the models of verdicts, which know what was not answered."""

    def __init__(self, description: EvaluatorJudge, metric: Metric, model: OpenJudge) -> None:
        super().__init__(description, metric, model)
        self.models: list[tuple[str, AskedModel]] = []

    def asked_model(
        self, model: OpenJudge, subject: Subject, sample: int, cost: Cost, *, asks_again: bool = False
    ) -> AskedModel:
        made = super().asked_model(model, subject, sample, cost, asks_again=asks_again)
        self.models.append((subject.level, made))
        return made

    @property
    def requests(self) -> dict[str, Request]:
        """What was asked, by key in the ledger."""
        return {key: request for _, model in self.models for key, request in model.requests.items()}
