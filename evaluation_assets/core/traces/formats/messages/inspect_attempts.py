"""Attempts at an Inspect AI sample that failed and were retried (`retry_on_error`), which the trajectory lacks.

The log keeps the error of each, and its events since the last request to a model.
"""

from dataclasses import dataclass

from evaluation_assets.core.traces.formats.messages.inspect_messages import usage_in
from evaluation_assets.core.traces.formats.transcript import one_line
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields, ignore_rest
from evaluation_assets.core.traces.trajectories.model import Usage


@dataclass(frozen=True, slots=True)
class FailedAttempts:
    """Why the earlier attempts failed, and the usage of their last requests."""

    errors: tuple[str, ...]
    usages: tuple[Usage, ...]


def failed_attempts(sample: Fields, unmapped: UnmappedFields) -> FailedAttempts:
    """The failed attempts of a sample."""
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
