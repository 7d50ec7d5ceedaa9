"""Records that stand twice in a file: the same content under the same identity is one run, and not a further trial."""

from collections.abc import Callable
from hashlib import blake2b
from typing import Any

from evaluation_assets.core.traces.formats.run_names import own_run_of
from evaluation_assets.core.traces.formats.untyped import at, in_both_cases
from evaluation_assets.core.traces.trajectories.identity import recorded_id

_NAMES = in_both_cases("id", "uuid", "run_id", "request_id", "sample_uuid")
_EVENTS = in_both_cases("event_id")
_MESSAGES = ("id", "uuid", *in_both_cases("message_id"), *_EVENTS)
"""IDs of messages and events; pieces of a message have its ID, too, but no role."""
_TASKS = in_both_cases("task_id", "question_id", "instance_id", "problem_id", "example_id", "case_id")
TRIALS = (*in_both_cases("trial", "trial_id", "sample_index", "epoch", "attempt"), "_ng_rollout_index")
"""Fields that number the trials of a task."""
_RUNS = (
    "messages", "traj", "trajectory", "conversation", "conversations", "contents", "history", "request", "inputs",
    "outputs",
)  # fmt: skip
"""Fields of a whole run or request. Parts of a stream have the ID of their message, and repeat."""


def names_itself(data: Any) -> bool:
    """Whether a record is a run or a request that states which one it is."""
    if not isinstance(data, dict) or not any(name in data for name in _RUNS):
        return False
    has_name = any(data.get(name) not in (None, "") for name in _NAMES)
    is_trial = any(name in data for name in _TASKS) and any(data.get(name) is not None for name in TRIALS)
    response = data.get("response")
    return has_name or is_trial or any(isinstance(at(each, "id"), str) for each in (response, at(response, "body")))


def _is_named_part(data: Any) -> bool:
    """Whether a record is a message or an event that states which one it is, and of what run."""
    names = _MESSAGES if at(data, "role") is not None else _EVENTS
    return any(recorded_id(at(data, name)) for name in names) and own_run_of(data) is not None


def repetitions() -> Callable[[Any, bytes], bool]:
    """A function that says whether a record, with its bytes, repeats one that it was given before."""
    seen: set[bytes] = set()

    def is_repeated(data: Any, raw: bytes) -> bool:
        if not names_itself(data) and not _is_named_part(data):
            return False
        known = len(seen)
        seen.add(blake2b(raw.strip(), digest_size=12).digest())
        return len(seen) == known

    return is_repeated
