"""How a run ended, in the words of its record: whether it succeeded, what broke it, what stopped it.

    {"messages": [...], "result": "PASS"}
    {"messages": [...], "status": "error", "error": {"type": "ReadTimeout", "message": "no reply"}}

`success` and `failed` in a status are no outcome: programs mean by them that a run came to its end, or that its task
was solved.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from evaluation_assets.core.traces.formats.outcome_words import TESTED, VERDICTS
from evaluation_assets.core.traces.formats.pauses import error_of_run
from evaluation_assets.core.traces.formats.stated import OUTCOME
from evaluation_assets.core.traces.formats.transcript import one_line
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import first_text, list_in, object_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

LIMIT = re.compile(r"recursion|max(?:imum)?[ _]?(?:iteration|step|turn)", re.IGNORECASE)
"""What the error of a run says that was stopped at a limit of its framework. Any other error broke the run."""

VERDICT_FIELDS = (
    "result", "outcome", "verdict", "test_result", "test_status", "grade", "evaluation", "evaluation_result",
    "eval_result", "final_result", "final_outcome", "task_result", "task_outcome", "label",
)  # fmt: skip
_LABEL = VERDICT_FIELDS[-1]
_STATES = (
    "status", "run_status", "final_status", "exit_status", "exit_reason", "termination", "end_reason", "stopped_by",
    "finish_reason",
)  # fmt: skip
"""Fields that say what a run came to, and how it stopped."""
_ERRORS = ("error", "exception", "error_message", "failure_reason")
_STOPPED = ("truncated", "timed_out", "max_turns_reached", "max_steps_reached", "max_iterations_reached")
_MET = ("errors", "exceptions")
"""Errors that broke a run, and those that it met, which say nothing of its end."""
_MESSAGES = ("message", "msg", "detail", "description", "error", "type", "code", "name")
_BROKEN = frozenset("error errored crash crashed exception aborted".split())
_BEFORE = r"(?:[ _-](?:setup|startup|start|build|creation|reset))?"
_OF_HARNESS = re.compile(
    r"(?:infra(?:structure)?|docker|container|sandbox|pod|harness|grader|evaluator|verifier|environment|env|vm)"
    rf"{_BEFORE}[ _-]?(?<!nment)(?:error|failure|failed|crash(?:ed)?|evicted)\b"
    rf"|environment{_BEFORE}[ _-](?:error|failure|failed|crash(?:ed)?)\b",
    re.IGNORECASE,
)
"""How words begin that say that not the agent failed, but what ran or graded it."""
_REASONS = ("termination_reason", "terminationReason", "stop_reason", "error_type", "errorType")
_MOST_WORDS = 3
_NO_ERROR = frozenset(("", "none", "null", "false", "no", "n/a", "ok", "no error"))

_LIMITS = frozenset(
    "max_steps max_step max_turns max_iterations max_errors step_limit turn_limit iteration_limit time_limit timeout "
    "timed_out context_length_exceeded context_window_exceeded model_context_window_exceeded too_many_errors "
    "max_steps_error".split()
)
"""Stop reasons that mean a run was cut off by a limit."""

_TRUNCATIONS = frozenset("length max_tokens max_output_tokens max_completion_tokens max_tokens_exceeded".split())
"""Stop reasons that mean a reply was cut off at its token limit. Its text is the answer so far."""

_REFUSALS = frozenset(
    "refusal content_filter content_filtered content-filter guardrail_intervened safety recitation blocklist "
    "prohibited_content spii".split()
)
"""Stop reasons that mean the model or its provider refused to answer."""


@dataclass(frozen=True, slots=True)
class Ending:
    """What a record says in words of the end of its run. `said` has the words, by field."""

    success: bool | None = None
    cut_off: bool = False
    truncated: bool = False
    failure: str | None = None
    said: JsonObject = field(default_factory=dict)


def ending_of(fields: Fields, success: bool | None) -> Ending:
    """How the run of a record ended, whose other fields say whether it was a `success`.

    A run whose outcome is known was not broken, whatever error it had: unless it failed where not the agent did.
    """
    said = {key: word for key in _STATES if (word := _word(fields.peek(key)))} | _verdicts_in(fields)
    fields.set_aside(*said)
    tested = [TESTED[word.lower()] for word in said.values() if word.lower() in TESTED]
    fields.stated.agree(f"{OUTCOME} (its verdict in words)", success, *tested)
    verdicts = (VERDICTS.get(said[key].lower()) for key in VERDICT_FIELDS if key in said)
    success = next((each for each in (success, *tested, *verdicts) if each is not None), None)
    error = _error_in(fields)
    said |= {key: errors for key in _MET if (errors := _told_in(fields, key)) is not None}
    reasons = (error, *said.values(), *(fields.peek(key) for key in _REASONS))
    words = (each for each in reasons if isinstance(each, str) and _OF_HARNESS.match(each.strip()))
    harness = None if success else next(words, None)
    success = success if harness is None else None
    broken = error or harness or next((word for word in said.values() if word.lower() in _BROKEN), None)
    broken = broken or ("error" if fields.flag("is_error", "isError") else None)
    stopped = (
        fields.flag(*_STOPPED) is True
        or any(map(is_limit, said.values()))
        or (broken is not None and LIMIT.search(broken) is not None)
    )
    truncated = any(map(is_truncation, said.values()))
    failure = broken if success is None and not stopped and not truncated else None
    if error is not None and failure is None:
        said["error"] = error
    return Ending(success, stopped, truncated, failure, said)


def verdict_in(fields: Fields) -> bool | None:
    """Whether a run succeeded, by the verdict of an object that grades it."""
    said = _verdicts_in(fields)
    fields.set_aside(*said)
    return next((verdict for word in said.values() if (verdict := VERDICTS.get(word.lower())) is not None), None)


def is_verdict(text: str) -> bool:
    """Whether a text says no more than what a run came to."""
    word = text.strip().lower()
    return word in VERDICTS or word in _BROKEN


def is_limit(reason: Any) -> bool:
    """Whether this stop reason means that the run was cut off."""
    return _is_among(_LIMITS, reason)


def is_truncation(reason: Any) -> bool:
    """Whether this stop reason means that a reply was cut off at its token limit."""
    return _is_among(_TRUNCATIONS, reason)


def is_refusal(reason: Any) -> bool:
    """Whether this stop reason means that the model refused to answer."""
    return _is_among(_REFUSALS, reason)


def _is_among(reasons: frozenset[str], reason: Any) -> bool:
    return isinstance(reason, str) and reason.strip().lower().replace(" ", "_") in reasons


def _verdicts_in(fields: Fields) -> dict[str, str]:
    """The words under the names of verdicts that are some; true and false are those of a test, but not as a label."""
    said = {
        key: _word(value) if key == _LABEL or not isinstance(value, bool) else "pass" if value else "fail"
        for key in VERDICT_FIELDS
        if (value := fields.peek(key)) is not None
    }
    return {key: word for key, word in said.items() if word is not None and is_verdict(word)}


def _word(value: Any) -> str | None:
    word = value.strip() if isinstance(value, str) else ""
    return word if word and len(word.split()) <= _MOST_WORDS else None


def _error_in(fields: Fields) -> str | None:
    """The error of a run."""
    return next((error for key in _ERRORS if (error := _told_in(fields, key)) is not None), None)


def _told_in(fields: Fields, key: str) -> str | None:
    """What a field tells of errors: a text, an object that has one, or a list of these."""
    value = fields.peek(key)
    told = [_told(each) for each in (list_in(value) or [value])]
    if not all(told):
        return None
    fields.set_aside(key)
    return one_line("; ".join(filter(None, told)))


def _told(error: Any) -> str | None:
    if error is True:
        return "error"
    text = error if isinstance(error, str) else first_text(object_in(error), *_MESSAGES)
    return error_of_run(None if text is None or text.strip().lower() in _NO_ERROR else text)
