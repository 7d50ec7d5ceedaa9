"""Metrics of agentevals that need no reference trajectory."""

# pyright: reportMissingImports=false
# It is installed with an extra, which the environment of the tests lacks.

from collections.abc import Mapping
from typing import Any

from agentevals.trajectory.llm import TRAJECTORY_ACCURACY_PROMPT, create_async_trajectory_llm_as_judge

from evaluation_assets.core.judging.evaluators.adapters.openevals import asking_judge
from evaluation_assets.core.judging.evaluators.metrics import Metric
from evaluation_assets.core.judging.evaluators.packages import InvalidEvaluator

_PROMPTS = {"trajectory_accuracy": TRAJECTORY_ACCURACY_PROMPT, "trajectory_llm_as_judge": None}


def metric(name: str, arguments: Mapping[str, Any]) -> Metric:
    """The metric of this name.

    Raises:
        InvalidEvaluator: there is none, or it does not take the arguments.
    """
    if name not in _PROMPTS:
        raise InvalidEvaluator(
            f"agentevals has no metric {name} that needs no reference trajectory; choose one of: {', '.join(_PROMPTS)}"
        )
    prompt = _PROMPTS[name] or arguments.get("prompt")
    if not isinstance(prompt, str):
        raise InvalidEvaluator(f"agentevals:{name} needs arguments: prompt")
    rest = {key: value for key, value in arguments.items() if _PROMPTS[name] or key != "prompt"}
    return Metric(asking_judge(f"agentevals:{name}", create_async_trajectory_llm_as_judge, prompt, rest))
