"""Conversations of LM Studio (`~/.lmstudio/conversations/*.conversation.json`): the versions that are shown.

An answer has steps: blocks with thoughts, texts, calls and results, and what the application showed of the calls.
"""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.envelopes.turn import Turn
from evaluation_assets.core.traces.formats.untyped import as_number, at, decoded, first_text, list_in, objects_in
from evaluation_assets.core.traces.trajectories.identity import recorded_id
from evaluation_assets.core.traces.trajectories.model import JsonObject

_PLACE = (
    "name", "pinned", "createdAt", "preset", "tokenCount", "systemPrompt", "messages", "usePerChatPredictionConfig",
    "perChatPredictionConfig", "clientInput", "clientInputFiles", "userFilesSizeBytes", "lastUsedModel", "notes",
    "plugins", "pluginConfigs", "disabledPluginTools", "looseFiles", "userLastMessagedAt", "assistantLastMessagedAt",
)  # fmt: skip
_SYSTEM = "llm.prediction.systemPrompt"
_LIMITS = {"maxPredictedTokensReached": "length", "contextLengthReached": "context_length_exceeded"}
_FAILED = ("toolCallFailed", "toolCallDenied", "toolCallGenerationFailed")
_SHOWN = ("toolStatus", "debugInfoBlock", "status")
"""Steps that show the user what the application does."""


def _holds(data: Any) -> bool:
    return any("currentlySelected" in message and "versions" in message for message in objects_in(at(data, "messages")))


def _conversations(data: JsonObject) -> Iterator[Chat]:
    messages = list(objects_in(data["messages"]))
    settings = objects_in(at(data.get("perChatPredictionConfig"), "fields"))
    prompts = (
        first_text(data, "systemPrompt"),
        *(first_text(each, "value") for each in settings if each.get("key") == _SYSTEM),
    )
    shown = [version for message in messages if (version := _selected(message)) is not None]
    created = as_number(data.get("createdAt"))
    models = [model for version in shown for model in _models(version)]
    record = {
        **without(data, *_PLACE),
        "created_at": None if created is None else created / 1000,
        "model": models[-1] if models else first_text(data.get("lastUsedModel"), "identifier"),
        "system_prompt": next(filter(None, prompts), None),
        "messages": [each for version in shown for each in _messages(version)],
    }
    left = sum(max(0, len(list_in(message.get("versions"))) - 1) for message in messages)
    yield Chat(record, rewound={"branch": left})


def _selected(message: JsonObject) -> JsonObject | None:
    versions, number = list_in(message.get("versions")), message.get("currentlySelected")
    place = number if type(number) is int and 0 <= number < len(versions) else -1
    return versions[place] if versions and isinstance(versions[place], dict) else None


def _models(version: JsonObject) -> Iterator[str]:
    for step in objects_in(version.get("steps")):
        if (model := first_text(step.get("genInfo"), "identifier", "indexedModelIdentifier")) is not None:
            yield model


def _messages(version: JsonObject) -> Iterator[JsonObject]:
    others = without(version, "type", "role", "content", "steps", "senderInfo", "preprocessed", "processed")
    role, steps = first_text(version, "role"), list(objects_in(version.get("steps")))
    if role != "assistant":
        content = [*list_in(version.get("content")), *(part for step in steps for part in list_in(step.get("content")))]
        texts = (first_text(part, "text") or f"[{first_text(part, 'type') or 'part'}]" for part in objects_in(content))
        yield {**others, **plain_message(role, "\n".join(texts))}
        return
    turn = Turn()
    failed = {
        recorded_id(step.get("callId"))
        for step in steps
        if at(at(step.get("statusState"), "status"), "type") in _FAILED
    }
    blocks = [step for step in steps if step.get("type") not in _SHOWN] or [version]
    for block in blocks:
        is_thought = at(block.get("style"), "type") == "thinking"
        for part in objects_in(block.get("content")):
            _add(turn, part, failed, is_thought=is_thought)
    made = [stats for step in steps if isinstance(stats := at(step.get("genInfo"), "stats"), dict)]
    made = [stats for number, stats in enumerate(made) if stats not in made[:number]]  # of each block of a prediction
    given, written = (
        [as_number(stats.get(name)) for stats in made] for name in ("promptTokensCount", "predictedTokensCount")
    )
    is_counted = bool(made) and None not in (*given, *written)
    stopped = first_text(made[-1], "stopReason") if made else None
    yield from turn.messages(
        **others,
        usage={"input_tokens": sum(filter(None, given)), "output_tokens": sum(filter(None, written))}
        if is_counted
        else None,
        finish_reason=_LIMITS.get(stopped or ""),
    )


def _add(turn: Turn, part: JsonObject, failed: set[str | None], *, is_thought: bool) -> None:
    kind, number = part.get("type"), recorded_id(part.get("callId"))
    call_id = number or first_text(part, "toolCallRequestId")
    if kind == "toolCallRequest":
        turn.called(part.get("name"), part.get("parameters"), call_id)
    elif kind == "toolCallResult":
        result = decoded(part.get("content"))
        texts = [text for each in objects_in(result) if (text := first_text(each, "text")) is not None]
        turn.returned(
            "\n".join(texts) if texts and len(texts) == len(list_in(result)) else result,
            call_id,
            failed=number in failed,
        )
    elif is_thought:
        turn.thought(first_text(part, "text") or "")
    else:
        turn.said(first_text(part, "text") or f"[{kind or 'part'}]")


LM_STUDIO = Envelope(
    name="lm_studio",
    description="conversations of LM Studio, the versions of messages that are shown",
    detection="messages with versions and currentlySelected",
    by_turn=True,
    holds=_holds,
    conversations=_conversations,
)
