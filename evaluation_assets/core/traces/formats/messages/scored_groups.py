"""Several answers to one task in one record, each with its score, as Atropos keeps what it trains on.

{"messages": [[{"role": "user", ...}, ...], [...]], "scores": [1.0, -1.0], "tokens": [[...], [...]]}
"""

from itertools import takewhile
from typing import Any

from evaluation_assets.core.traces.formats.context import TASK_IDS
from evaluation_assets.core.traces.formats.files.json_values import as_line
from evaluation_assets.core.traces.formats.messages.chat import role_of
from evaluation_assets.core.traces.formats.untyped import as_number, list_in, object_in
from evaluation_assets.core.traces.trajectories.identity import digest
from evaluation_assets.core.traces.trajectories.model import JsonObject

_MESSAGES, _SCORES = "messages", ("scores", "rewards")
_TRAINED_ON = (
    "tokens", "masks", "advantages", "ref_logprobs", "inference_logprobs", "token_scores", "token_weights", "overrides",
    "group_overrides",
)  # fmt: skip
"""What a trainer is given of each answer, beside its words."""


def runs_of_group(data: Any) -> list[JsonObject]:
    """The runs of a group as records, trials of one task; empty for any other record."""
    record = object_in(data)
    chats = list_in(record.get(_MESSAGES))
    name = next((key for key in _SCORES if len(list_in(record.get(key))) == len(chats)), None)
    if not chats or name is None or any(as_number(score) is None for score in record[name]):
        return []
    if not all(list_in(chat) and all(map(role_of, chat)) for chat in chats):
        return []
    known = {key: value for key, value in record.items() if key not in (_MESSAGES, name, *_TRAINED_ON)}
    asked = list(takewhile(lambda message: role_of(message) != "assistant", chats[0]))
    if known.keys().isdisjoint(TASK_IDS) and "user" not in map(role_of, asked):  # whose words would name the task
        known["task_id"] = f"task-{digest(as_line(asked).decode())}"
    return [
        {**known, _MESSAGES: chat, "reward": score, "trial": trial}
        for trial, (chat, score) in enumerate(zip(chats, record[name], strict=True))
    ]
