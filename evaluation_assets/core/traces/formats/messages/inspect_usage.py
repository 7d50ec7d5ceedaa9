"""What an Inspect AI log counts: tokens of a sample, those of failed attempts at it, and totals of all samples."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluation_assets.core.traces.formats.messages.inspect_messages import usage_in
from evaluation_assets.core.traces.formats.transcript import one_line, total
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields, ignore_rest
from evaluation_assets.core.traces.formats.untyped import at, first_text, object_in, objects_in
from evaluation_assets.core.traces.formats.usage import confirm, usage
from evaluation_assets.core.traces.trajectories.model import JsonObject, Usage

_GRADER = "grader"
"""The role in which the scorers of Inspect ask a model."""


def agents_usage(sample: Fields, about: JsonObject, *, is_graded: bool) -> Usage | None:
    """What the sample counts by model and role, without its graders.

    It is unknown if a model graded the sample, and which one is not said.
    """
    recorded, roles = sample.object("model_usage"), sample.object("role_usage")
    models = {name: usage_in(recorded.object(name)) for name in recorded.rest()}
    grader = usage_in(roles.object(_GRADER)) if _GRADER in roles else None
    graders = _graders(about)
    agents = {name: used for name, used in models.items() if name not in graders}
    if len(agents) < len(models):
        return total(agents.values())
    if grader is not None:
        return _less(total(agents.values()), grader)
    return None if is_graded else total(agents.values())


def _graders(about: JsonObject) -> set[str]:
    """The models that only grade, by their role and by the options of the scorers."""
    options = [at(scorer, "options") for scorer in objects_in(about.get("scorers"))]
    names = [first_text(at(about.get("model_roles"), _GRADER), "model"), *(_name(at(one, "model")) for one in options)]
    return {name for name in names if name is not None} - {first_text(about, "model")}


def _name(model: Any) -> str | None:
    return model if isinstance(model, str) else first_text(model, "model")


def _less(whole: Usage | None, part: Usage) -> Usage | None:
    if whole is None:
        return None
    names = ("input_tokens", "output_tokens", "cost_usd", "cached_tokens", "cache_write_tokens")
    left: Mapping[str, Any] = {
        name: None if (all_of := getattr(whole, name)) is None else all_of - (getattr(part, name) or 0)
        for name in names
    }
    return usage(**left)


@dataclass(frozen=True, slots=True)
class FailedAttempts:
    """Why attempts failed that were retried (`retry_on_error`), and the usage of their last requests.

    The log keeps the error of each, and its events since the last request to a model.
    """

    errors: tuple[str, ...]
    usages: tuple[Usage, ...]


def failed_attempts(sample: Fields, unmapped: UnmappedFields) -> FailedAttempts:
    """The failed attempts at a sample, which the trajectory lacks."""
    errors: list[str] = []
    usages: list[Usage] = []
    for attempt in sample.objects("error_retries"):
        errors.append(one_line(attempt.text("message")) or "error")
        attempt.set_aside("traceback", "traceback_ansi")
        for event in attempt.objects("events"):
            output = event.object("output")
            if event.text("event") == "model" and (used := usage_in(output.object("usage"))) is not None:
                usages.append(used)
            ignore_rest(output, event)
    if errors:
        unmapped.note("failed_attempt", "error_retries", len(errors))
    return FailedAttempts(tuple(errors), tuple(usages))


@dataclass(slots=True)
class ReadSamples:
    """Samples of a log, those without an error, and the usage of all; unknown after a retry, which is in no sample."""

    samples: int = 0
    completed: int = 0
    usage: Usage | None = None
    is_usage_known: bool = True

    def add(self, sample: Any) -> None:
        """Count a sample, `None` for one that cannot be parsed."""
        used = _usage(at(sample, "model_usage"))
        self.samples += 1
        self.completed += sample is not None and not at(sample, "error")
        self.usage = total((self.usage, used))
        self.is_usage_known = self.is_usage_known and used is not None and not at(sample, "error_retries")


def confirm_log(log: JsonObject, read: ReadSamples, unmapped: UnmappedFields) -> None:
    """Compare the totals of a log with what was read of its samples, and note if the evaluation did not finish."""
    stated, results, about = unmapped.stated, Fields(object_in(log.get("results"))), Fields(object_in(log.get("eval")))
    if isinstance(status := log.get("status"), str) and status != "success":
        unmapped.note("unfinished", status)
    samples = results.whole("total_samples")
    stated.compare("sample", _planned(about) if samples is None else samples, read.samples)
    completed = results.whole("completed_samples")  # some versions count samples that were scored after an error
    known = None if completed is None else min(max(completed, read.completed), read.samples)
    stated.compare("completed sample", completed, known)
    if read.is_usage_known:
        confirm(stated, _usage(object_in(log.get("stats")).get("model_usage")), read.usage)


def _planned(about: Fields) -> int | None:
    """Samples of the dataset in all epochs; unknown where only some of them were to be run."""
    config = about.object("config")
    if "limit" in config or "sample_id" in config:
        return None
    samples = about.object("dataset").whole("samples")
    return None if samples is None else samples * (config.whole("epochs") or 1)


def _usage(models: Any) -> Usage | None:
    return total(usage_in(Fields(used)) for used in object_in(models).values() if isinstance(used, dict))
