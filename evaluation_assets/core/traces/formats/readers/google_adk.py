"""Sessions of Google's Agent Development Kit: events with Gemini contents, as one object or one event per line, or in
the results of evaluations.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.endings import is_limit, is_refusal, is_truncation
from evaluation_assets.core.traces.formats.messages.adk_evals import sessions_in
from evaluation_assets.core.traces.formats.messages.gemini_contents import Pairs, merged, pieces_of, usage_of_gemini
from evaluation_assets.core.traces.formats.messages.lists import MessageShape, first_text_of
from evaluation_assets.core.traces.formats.messages.pieces import Piece, agent_events, user_events
from evaluation_assets.core.traces.formats.transcript import Event, Result, one_line
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import first_text
from evaluation_assets.core.traces.trajectories.model import Usage

NAME = "google_adk"
DESCRIPTION = "Google ADK: sessions, or their events as lines; results of `adk eval`"
DETECTION = "events with author, content or actions, and invocationId (or invocation_id); eval_case_results"

_CONTENT = ("content", "actions", "errorCode", "error_code")
_TRANSCRIPTIONS = (("inputTranscription", "input_transcription"), ("outputTranscription", "output_transcription"))
"""What was said aloud; such events have no content."""
_INVOCATION = ("invocationId", "invocation_id")
_TO_CONFIRM = "requires confirmation, please approve or reject"
_USUAL_END = "STOP"
_PLUMBING = (
    "id", "timestamp", "invocationId", "invocation_id", "actions", "branch", "partial", "turnComplete", "turn_complete",
    "longRunningToolIds", "long_running_tool_ids", "avgLogprobs", "avg_logprobs",
    "interactionId", "interaction_id", "nodeInfo", "node_info", "cacheMetadata", "cache_metadata",
)  # fmt: skip


def _is_event(data: Any) -> bool:
    return (
        isinstance(data, dict)
        and isinstance(data.get("author"), str)
        and any(key in data for key in _INVOCATION)
        and any(key in data for key in _CONTENT)
    )


def _events(events: Sequence[Fields], _: Mapping[int, Usage]) -> Iterator[Event]:
    pairs = Pairs()
    told = [(event, pieces) for event in events if (pieces := _pieces(event, pairs)) is not None]
    last = {one.call_id: number for number, (_, given) in enumerate(told) for one in given if isinstance(one, Result)}
    for number, (event, given) in enumerate(told):
        pieces = [
            one for one in given if not isinstance(one, Result) or _counts(one, is_last=last[one.call_id] == number)
        ]
        author = event.text("author") or "agent"
        if author == "user" or (given and all(isinstance(piece, Result) for piece in given)):
            yield from user_events(pieces)
        else:
            problem = _problem(event)
            problem = None if is_truncation(_stopped(event)) else problem  # what it said is the answer so far
            used = usage_of_gemini(event.object("usageMetadata", "usage_metadata"))
            yield from agent_events([*pieces, *([f"[{problem}]"] if problem else [])], author, used)


def _pieces(event: Fields, pairs: Pairs) -> list[Piece] | None:
    """What an event says; `None` if a later event repeats it in whole."""
    is_partial = event.flag("partial") is True
    event.set_aside("author", "usageMetadata", "usage_metadata", *_PLUMBING)
    content = event.object("content")
    content.set_aside("role")
    heard = [text for names in _TRANSCRIPTIONS if (text := _transcribed(event.object(*names)))]
    pieces: list[Piece] = [*merged(pieces_of(content, pairs))] or [*heard]
    return None if is_partial else pieces


def _counts(result: Result, *, is_last: bool) -> bool:
    """Whether a result is the last one of its call, as for the model, and not that the call has to be confirmed.

    Before that, a tool that takes long says that it is not done.
    """
    return (result.call_id is None or is_last) and _TO_CONFIRM not in (result.error or "")


def _transcribed(transcription: Fields) -> str | None:
    transcription.set_aside("finished")
    return transcription.text("text")


def _rewound(events: Sequence[Fields]) -> list[Fields]:
    """The events that a later one takes back: all from the beginning of the invocation that it names."""
    kept: list[Fields] = []
    place = len(events) - 1
    while place >= 0:
        target = first_text(events[place].peek("actions"), "rewindBeforeInvocationId", "rewind_before_invocation_id")
        if target is not None:
            first = next((at for at in range(place) if target in map(events[at].peek, _INVOCATION)), place)
            kept[:0] = events[first:place]
            place = first
        place -= 1
    return kept


def _problem(event: Fields) -> str | None:
    """What an event says went wrong. An empty answer of a model has its usual end as the code of an error."""
    code = event.text("errorCode", "error_code")
    message = event.text("errorMessage", "error_message")
    return None if code == _USUAL_END and message is None else message or code


def _stopped(event: Fields) -> str | None:
    """Why the model stopped, which is the code of an error if it said nothing."""
    return event.text("finishReason", "finish_reason") or event.text("errorCode", "error_code")


def _failed(event: Fields) -> str | None:
    """What went wrong, unless it is a limit or a refusal of the model."""
    reason = _stopped(event)
    return None if any(ended(reason) for ended in (is_limit, is_truncation, is_refusal)) else one_line(_problem(event))


_SHAPE = MessageShape(
    name=NAME,
    is_message=_is_event,
    is_typical=lambda _: True,
    events=_events,
    system=lambda *_: None,
    messages_at=(("events",), ("session", "events")),
    stopped=_stopped,
    failed=_failed,
    model=lambda _, events: first_text_of(events, "modelVersion", "model_version"),
    runs=sessions_in,
    taken_back=_rewound,
)
detect, read = _SHAPE.detects, _SHAPE.read
