"""The evaluator of another package that a judge uses, as panel.yaml names it."""

import re
from typing import Any, Literal

from pydantic import Field, field_validator

from evaluation_assets.core.judging.rubrics.model import METRIC_NAMES
from evaluation_assets.core.system.configuration import Section

Package = Literal["autoevals", "openevals", "agentevals", "deepeval", "inspect", "mlflow"]


class EvaluatorSettings(Section):
    """A metric of another package.

    Attributes:
        package: The package, which an extra installs.
        metric: Name of the metric in the package, for instance `Factuality`.
        arguments: Arguments of the metric: those of its constructor, and values in its prompt.
        criterion: Name of its score. `null`: that of the package and the metric, for instance `autoevals_factuality`.
        lower_is_better: `true` stores 1 minus the score. `null`: as known of the package's metrics.
    """

    package: Package
    metric: str = Field(min_length=1)
    arguments: dict[str, Any] = Field(default_factory=dict)
    criterion: str | None = Field(default=None, pattern=r"^[a-z][a-z0-9_]*$")
    lower_is_better: bool | None = None

    @field_validator("criterion")
    @classmethod
    def _is_no_metric(cls, name: str | None) -> str | None:
        if name in METRIC_NAMES:
            raise ValueError("a metric has this name; choose another one")
        return name

    @property
    def criterion_name(self) -> str:
        """The name of the score."""
        return self.criterion or f"{self.package}_{snake_case(self.metric)}"

    @property
    def name(self) -> str:
        """The metric with its package, for instance `autoevals:Factuality`."""
        return f"{self.package}:{self.metric}"


def snake_case(name: str) -> str:
    """`AnswerRelevancy` and `answer-relevancy` as `answer_relevancy`."""
    parts = re.sub(r"([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])", r"\1\3_\2", name)
    return re.sub(r"[^a-z0-9]+", "_", parts.lower()).strip("_")
