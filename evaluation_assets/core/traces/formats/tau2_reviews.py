"""Verdicts of models in tau2-bench results: natural-language assertions, reviews, authentication.

The fields are those of `tau2.data_model.simulation` 1.0.1. What judges only the simulated user is no verdict about the
agent; it is stored in the labels.
"""

from collections.abc import Iterator

from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.trajectories.model import JsonObject
from evaluation_assets.core.traces.trajectories.recorded import RecordedVerdict, labelled, verdict_on_run

_ABOUT_THE_USER = ("user_only_review", "hallucination_check", "hallucination_retries_used")


def review_labels(simulation: Fields, reward_info: Fields) -> JsonObject:
    """The labels of a simulation that hold the verdicts of models."""
    verdicts = [*_assertions(reward_info), *_review(simulation), *_authentication(simulation)]
    return {**labelled(verdicts), **simulation.short(*_ABOUT_THE_USER)}


def _assertions(reward_info: Fields) -> Iterator[RecordedVerdict]:
    """What a model says about each assertion of the task."""
    checks = [
        (name, met, check.text("justification"))
        for check in reward_info.objects("nl_assertions")
        if (name := check.text("nl_assertion")) is not None and (met := check.flag("met")) is not None
    ]
    if checks:
        yield verdict_on_run(
            judge="nl_assertions",
            scores={name: float(met) for name, met, _ in checks},
            verdict="pass" if all(met for _, met, _ in checks) else "fail",
            reasoning="\n".join(f"{name}: {why}" for name, _, why in checks if why) or None,
        )


def _review(simulation: Fields) -> Iterator[RecordedVerdict]:
    """The review of the whole conversation, without the errors of the simulated user."""
    review = simulation.object("review")
    failed = review.flag("agent_error")
    review.set_aside("user_error", "critical_user_error", "has_errors", "cost")
    errors = []
    for error in review.objects("errors"):
        source, why = error.text("source"), error.text("reasoning")
        error.rest()
        if source == "agent" and why is not None:
            errors.append(why)
    if failed is not None:
        yield verdict_on_run(
            judge="review",
            verdict="fail" if failed else "pass",
            summary=review.text("summary"),
            reasoning="\n".join(errors) or None,
        )


def _authentication(simulation: Fields) -> Iterator[RecordedVerdict]:
    outcome = simulation.object("auth_classification")
    outcome.set_aside("cost")
    status = outcome.text("status")
    if status is not None:
        yield verdict_on_run(
            judge="auth_classification",
            verdict=status,
            reasoning=outcome.text("reasoning"),
        )
