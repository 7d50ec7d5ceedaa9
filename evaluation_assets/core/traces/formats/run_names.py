"""What messages, events and steps that are each a line or a row of their own name as their run."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.untyped import at, bare, in_both_cases, object_in
from evaluation_assets.core.traces.trajectories.identity import recorded_id
from evaluation_assets.core.traces.trajectories.model import JsonObject

_CONVERSATIONS = ("conversation", "conv", "convo", "dialogue", "dialog", "thread", "session", "chat")
_OTHERS = (
    "run", "trajectory", "traj", "episode", "rollout", "trace", "ticket", "case", "incident", "issue", "interaction",
    "room", "channel", "job", "experiment", "call",
)  # fmt: skip
_ENDS = ("id", "uuid", "sid", "key", "number", "no")
_ALONE = ("conversation", "conv", "convo", "dialogue", "session", "run", "episode")
"""Words that are a name by themselves; the others may be what a message is about."""
_TOOLS_CALL = "callid"
_BESIDE = [word + end for word in _CONVERSATIONS for end in _ENDS]
_NAMES = [*_BESIDE, *(word + end for word in _OTHERS for end in _ENDS if word + end != _TOOLS_CALL), *_ALONE]
_TOLD_BESIDE, _RUNS = ({name: rank for rank, name in enumerate(names)} for names in (_BESIDE, _NAMES))
"""Names without blanks and punctuation that an object in a message, or the message, may have, by how much they say."""
_HOLDERS = ("metadata", "meta", "context")
_TASKS = in_both_cases("task_id", "sample_id", "example_id", "instance_id")
_TRIALS = in_both_cases("trial", "trial_id", "attempt", "epoch")
"""Fields of messages, or steps, that name what they are a part of, and of several trials which."""


def run_of(message: Any) -> str | None:
    """The run that a message on a line of its own names; `None` if it names none.

    Of names of several kinds the one that says most is taken; a task may have several trials.
    """
    if (name := own_run_of(message)) is not None:
        return name
    task = next((one for key in _TASKS if (one := recorded_id(at(message, key)))), None)
    trials = (recorded_id(at(message, key)) for key in _TRIALS)
    return None if task is None else " ".join([str(task), *map(str, filter(None, trials))])


def own_run_of(message: Any) -> str | None:
    """The run that a message or a record names, whatever its task."""
    beside = (_named(at(message, key), _TOLD_BESIDE) for key in _HOLDERS)
    return next(filter(None, (_named(message, _RUNS), *beside)), None)


def names_conversation(message: JsonObject) -> bool:
    """Whether a field has the name of the ID of a conversation. A run or a trace may be one of anything."""
    return any(bare(key) in _TOLD_BESIDE for key in message)


def name_several(messages: Sequence[Any]) -> bool:
    """Whether messages name several runs, some of them more than once."""
    names = [None if name is None else (type(name), name) for name in map(run_of, messages)]
    return None not in names and 1 < len(set(names)) < len(names)


def _named(fields: Any, ranks: Mapping[str, int]) -> str | None:
    """The ID under the name with the lowest rank."""
    named = (
        (ranks[name], one)
        for key, value in object_in(fields).items()
        if (name := bare(key)) in ranks and (one := recorded_id(value)) is not None
    )
    return min(named, default=(0, None))[1]


def runs_with_roots(parents: Mapping[str | None, str | None]) -> dict[str | None, str | None]:
    """The run that began each, directly or through others, by the one that each names as its parent; else itself."""
    roots: dict[str | None, str | None] = {}
    for name in parents:
        seen, root = {name}, name
        while (above := parents.get(root)) in parents and above is not None and above not in seen:
            seen.add(above)
            root = above
        roots[name] = root
    return roots


def parent_of(event: Any) -> str | None:
    """The run in which the one of an event began, as callbacks of LangChain name it."""
    above = at(event, "parent_ids")
    last = above[-1] if isinstance(above, list) and above else None
    return recorded_id(at(event, "parent_run_id")) or recorded_id(last)
