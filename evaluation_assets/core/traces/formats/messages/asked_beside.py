"""What a model was asked, where it stands beside what the model answered: a request, messages, or a text.

{"responses_create_params": {"input": [...]}, "response": {"output": [...]}}
{"prompt_messages": [...], "response_messages": [...]}
"""

from typing import Any

from evaluation_assets.core.traces.formats.messages.chat import role_of
from evaluation_assets.core.traces.formats.untyped import at, list_in, object_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

PROXIED = "proxy_server_request"
REQUESTS = (
    "request",
    "body",
    "request_body",
    PROXIED,
    "params",
    "payload",
    "original_request",
    "responses_create_params",
)
"""Fields with a request: of logs of requests, which Portkey wraps once more, as `body`; Helicone names them bodies, the
spend logs of LiteLLM a request to their proxy, rollouts of NeMo Gym parameters."""

GIVEN = ("messages_in", "input_messages", "prompt_messages", "input", "inputs", "prompt", "context")
"""Fields with the messages that a model was given."""

_TEXTS = ("prompt", "input", "inputs")
"""Those that may be a text, which stands for the user's message where there is none."""


def request_in(data: JsonObject) -> JsonObject:
    """The request of a record; an empty one if there is none."""
    return next((request for key in REQUESTS if isinstance(request := data.get(key), dict)), {})


def with_given(data: JsonObject, said: list[Any]) -> tuple[list[Any], tuple[str, ...]]:
    """Messages that begin with an answer, after those given, which stand in the record beside; and their field."""
    if not said or role_of(said[0]) != "assistant":
        return said, ()
    for key in GIVEN:
        given = _messages_in(at(data, key))
        if given and all(map(role_of, given)) and said[0] not in given:
            return [*given, *said], (key,)
    if all(role_of(message) != "user" for message in said):
        for key in _TEXTS:
            if isinstance(text := data.get(key), str) and text.strip():
                return [{"role": "user", "content": text}, *said], (key,)
    return said, ()


def _messages_in(value: Any) -> list[Any]:
    one = [value] if role_of(value) is not None and "content" in object_in(value) else []
    return list_in(value) or list_in(at(value, "messages")) or one
