"""Metadata of a run beside the conversation: task, outcome, origin."""

import re
from dataclasses import dataclass, field, replace
from typing import Any

from evaluation_assets.core.traces.formats.durations import STARTED, between_start_and_end, duration_of, elapsed_in
from evaluation_assets.core.traces.formats.endings import (
    VERDICT_FIELDS,
    ending_of,
    is_limit,
    is_refusal,
    is_truncation,
    verdict_in,
)
from evaluation_assets.core.traces.formats.outcome_words import outcome_of
from evaluation_assets.core.traces.formats.repeated_records import TRIALS
from evaluation_assets.core.traces.formats.times import moment
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import as_number, at, in_both_cases, listed, object_in, parsed
from evaluation_assets.core.traces.trajectories.identity import recorded_id
from evaluation_assets.core.traces.trajectories.model import JsonObject

_TASK = in_both_cases("question", "task", "task_description", "query", "instruction", "problem", "problem_statement")
_WORDS = ("prompt", "description", "text", "input")
"""Names of its text in a task that is an object."""
TASK_IDS = (
    *in_both_cases(
        "task_id", "question_id", "instance_id", "problem_id", "example_id", "case_id", "test_case_id", "user_task_id",
        "scenario_id",
    ),
    "_ng_task_index",
)  # fmt: skip
"""Names of the ID of a task, the last of NeMo Gym."""
_REFERENCE = in_both_cases(
    "ground_truth", "reference_answer", "expected_answer", "expected_output", "target", "gold_answer",
    "true_answer", "reference", "golden_answer", "golden_answers", "gt_answer", "gold",
)  # fmt: skip
_FINAL_ANSWER = in_both_cases(
    "final_answer", "answer_text", "final_output", "prediction", "predicted_answer", "model_answer",
    "final_response", "agent_answer",
)  # fmt: skip
_OUTCOME = in_both_cases(
    "success", "resolved", "is_correct", "correct", "passed", "utility", "pass", "solved", "is_success",
    "task_success", "is_solved", "is_resolved", "succeeded", "successful", "is_successful", "is_passed",
    "task_solved", "goal_achieved", "won", "acc", "task_completed", "em", "exact_match", "all_passed",
    "all_tests_passed",
)  # fmt: skip
_GRADES = in_both_cases(
    "grade", "grading", "evaluation", "evaluation_result", "eval", "eval_result", "verdict", "outcome", "result",
    "test_result", "eval_results", "grading_result", "judgment", "judgement", "judge_result", "verification",
)  # fmt: skip
"""Objects that have the outcome, where the record itself has none."""
_STATUS: dict[str, tuple[str, ...]] = dict.fromkeys(("outcome", "verdict"), ("status", "state", "value"))
"""What the outcome is called in those that have nothing else."""
_MEASURED = ("metrics", "summary", "info", "scores")
_COUNTED = ("correct", "passed", "pass", "utility", "resolved", "solved", "succeeded", "successful", "won")
_MEASURED_OUTCOME = tuple(name for name in _OUTCOME if name not in _COUNTED)
"""Objects with the outcome among other figures, where some names are those of counts."""
_ABOUT = ("metadata", "meta")
"""Objects that are kept as they are, and may have the task, the trial and the outcome, too."""
_IDS = ("id", "uuid", "custom_id", *in_both_cases("trajectory_id", "rollout_id", "episode_id", "trace_id"))
"""Names of the ID of a run. A `run_id` may be that of an experiment, a session may have several runs."""
_BEGAN = in_both_cases("parent_run_id", "parent_session_id", "parent_trajectory_id", "parent_conversation_id")
"""Names of the run that began a run of another agent."""
_AGENT, _VERSION = in_both_cases("agent", "agent_name"), in_both_cases("agent_version")
_MODEL = ("llm_model", "model", "model_name")
_MODELS = in_both_cases(
    *_MODEL[1:], "model_id", "model_name_or_path", "agent_model", "agent_model_name", "llm", "llm_name", _MODEL[0]
)
_SOURCE = in_both_cases(
    "id", "uuid", "custom_id", "session_id", "conversation_id", "thread_id", "run_id", "request_id", "sample_index",
    "query_index", "data_source", "dataset", "source", "split", "category", "domain", "tags", "metadata", "meta",
    "stop_reason", "termination_reason", "temperature", "top_p", "max_tokens", "max_completion_tokens",
    "max_output_tokens", "seed", "tool_choice", "reasoning_effort", "thinking", "reasoning",
)  # fmt: skip
_REWARDS = in_both_cases("reward", "final_reward", "cum_reward", "cumulative_reward", "total_reward", "episode_reward")
_LABELS = in_both_cases(
    *_REWARDS, "reward_info", "score", "scores", "labels", "annotations", "feedback", "feedback_stats", "rating",
    "security",
)  # fmt: skip
_FILLED = (
    "id", "task", "task_id", "agent", "agent_version", "model", "final_answer", "reference_answer", "success",
    "started_at", "failure",
)  # fmt: skip
"""Values that a context without them takes from another one."""


OUTCOMES = frozenset((*_OUTCOME, *_REWARDS, *VERDICT_FIELDS[:-1]))
RUN_FACTS, AGENT_FACTS = OUTCOMES | {*TASK_IDS, *TRIALS}, frozenset((*_AGENT, *_VERSION))
"""Fields of a word or number that say whether a run succeeded, of what task it is, and of what agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Metadata of the run that a conversation records.

    `agent` is the name of the agent, or system of agents, that ran. `failure` says what broke where the agent is not to
    blame, as the source states it. `disputed`: the source states both success and failure.
    """

    id: str | None = None
    task: str | None = None
    task_id: str | None = None
    trial: int = 0
    agent: str | None = None
    agent_version: str | None = None
    model: str | None = None
    final_answer: str | None = None
    reference_answer: str | None = None
    success: bool | None = None
    disputed: bool = False
    started_at: str | None = None
    duration_s: float | None = None
    cut_off: bool = False
    truncated: bool = False
    refused: bool = False
    failure: str | None = None
    labels: JsonObject = field(default_factory=dict)
    extra: JsonObject = field(default_factory=dict)


NOTHING_KNOWN = Context()


def context_of(fields: Fields) -> Context:
    """Read the run context from the fields of a record, under the keys of any supported source."""
    disputed_before = fields.stated.disputed_outcomes  # in other runs of the record
    about = [Fields(object_in(fields.peek(name))) for name in _ABOUT]
    labels = fields.short(*_LABELS)
    success = fields.outcome(*_OUTCOME, also=success_of(_reward(labels)))
    if success is None:
        graded = ((fields.object(name), _STATUS.get(name, ())) for name in _GRADES if fields.is_object(name))
        verdicts = (grade.outcome(*_OUTCOME, *status, also=verdict_in(grade)) for grade, status in graded)
        measured = (_measured(fields.object(name)) for name in _MEASURED if fields.is_object(name))
        success = next((found for found in (*verdicts, *measured, *map(_measured, about)) if found is not None), None)
    elapsed = elapsed_in(fields)
    figures = (fields, *(Fields(object_in(fields.peek(name))) for name in _MEASURED))
    durations = (*(duration_of(each, elapsed) for each in figures), between_start_and_end(fields))
    extra = fields.short(*_SOURCE)
    given = fields.object("task") if fields.is_object("task") else Fields({})
    agent, version = agent_of(fields)
    stopped = [extra.get(key) for key in in_both_cases("stop_reason", "termination_reason")]
    fields.set_aside("terminated")
    if fields.recorded_id(*_BEGAN) is not None:
        fields.note_unknown("run of another agent that has its parent in another record")
    ending = ending_of(fields, success)
    return Context(
        id=fields.name(*_IDS),
        task=fields.text(*(name for name in _TASK if not fields.is_object(name))) or given.text(*_TASK, *_WORDS),
        task_id=next(filter(None, map(_task_in, (fields, given, *about))), None),
        trial=max(next((trial for each in (fields, *about) if (trial := each.whole(*TRIALS)) is not None), 0), 0),
        agent=agent or _setting(extra, *_AGENT),
        agent_version=version or _setting(extra, *_VERSION),
        model=fields.text(*_MODELS) or _setting({**extra, "config": fields.peek("config")}, *_MODEL),
        final_answer=fields.text(*_FINAL_ANSWER),
        reference_answer=reference(fields.value(*_REFERENCE))
        or reference(given.value(*_REFERENCE))
        or _rewarded(fields),
        success=ending.success,
        disputed=fields.stated.disputed_outcomes > disputed_before,
        started_at=moment(fields, *STARTED),
        duration_s=next((seconds for seconds in durations if seconds is not None), None),
        cut_off=ending.cut_off or any(map(is_limit, stopped)),
        truncated=ending.truncated or any(map(is_truncation, stopped)),
        refused=any(map(is_refusal, stopped)),
        failure=ending.failure,
        labels=labels,
        extra=extra | ending.said,
    )


def merged(context: Context, *others: Context) -> Context:
    """Fill the unknown values of the first context from the others, the earlier ones first."""
    for other in others:
        context = replace(
            context,
            **{name: getattr(other, name) for name in _FILLED if getattr(context, name) is None},
            cut_off=context.cut_off or other.cut_off,
            truncated=context.truncated or other.truncated,
            refused=context.refused or other.refused,
            disputed=context.disputed or other.disputed,
            labels=other.labels | context.labels,
            extra=other.extra | context.extra,
        )
    return context


def scored_outcome(name: str, *values: Any) -> dict[str, bool]:
    """The outcome that a score of a run states, by the name of records for it: `Task success` of 1 states one."""
    key = re.sub(r"\W+", "_", name).lower()
    outcome = next((said for value in values if (said := outcome_of(value)) is not None), None)
    return {key: outcome} if key in OUTCOMES and outcome is not None else {}


def success_of(reward: Any) -> bool | None:
    """Map a reward of 1 to success and 0 to failure; `None` for other scales."""
    return bool(reward) if isinstance(reward, int | float) and reward in (0, 1) else None


def ended_by(reason: str | None) -> Context:
    """What the stop reason of the last answer says about the run."""
    return Context(cut_off=is_limit(reason), truncated=is_truncation(reason), refused=is_refusal(reason))


def _task_in(fields: Fields) -> str | None:
    """The ID of the task."""
    query, source = fields.recorded_id("query_index"), fields.name("data_source")
    asked = type(query)(":".join(part for part in (source, query) if part)) if query else None
    return fields.recorded_id(*TASK_IDS) or asked


def reference(value: Any) -> str | None:
    """A reference answer as text, one line per acceptable answer."""
    if isinstance(value, dict):
        value = next((value[key] for key in ("target", "answer", "answers", "value") if key in value), None)
    answers = listed(value)
    lines = [str(answer) for answer in answers if isinstance(answer, str | int | float) and str(answer).strip()]
    return "\n".join(lines) or None


def _rewarded(fields: Fields) -> str | None:
    """The answer that is rewarded, in the data sets of verl."""
    return reference(fields.object("reward_model").value("ground_truth")) if fields.is_object("reward_model") else None


def _measured(figures: Fields) -> bool | None:
    """The outcome among the figures of a run; a number under a name that may be a count is none."""
    said = [name for name in (*_MEASURED_OUTCOME, *_COUNTED) if name not in _COUNTED or figures.is_flag(name)]
    return figures.outcome(*said, also=success_of(figures.number("max_reward", "final_reward", "reward")))


def _reward(labels: JsonObject) -> Any:
    own, *others = map(labels.get, _REWARDS)
    stated = (own, at(labels.get("reward_info"), "reward"), *others)
    reward = next((reward for reward in stated if reward is not None), None)
    return as_number(parsed(reward)) if isinstance(reward, str) else reward


def agent_of(fields: Fields) -> tuple[str | None, str | None]:
    """The name and the version of the agent that ran, as a record states them."""
    if fields.is_object(_AGENT[0]):
        own = fields.object(_AGENT[0])
        return own.name("name", "id"), fields.name(*_VERSION) or own.name("version")
    return fields.name(*_AGENT), fields.name(*_VERSION)


def _setting(extra: JsonObject, *names: str) -> str | None:
    """A name among a harness's settings."""
    settings = (extra.get("meta"), extra.get("metadata"), extra.get("config"))
    named = (recorded_id(at(each, name)) for each in settings for name in names)
    return next((str(name) for name in named if name), None)
