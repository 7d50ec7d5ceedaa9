"""Conversations whose turns are records of their own, as in a table with a row for what a user asked and was answered.

{"conversation_id": "a", "turn": 1, "input": "Is order 17 paid?", "output": "It is.", "tool_calls": "[...]"}
"""

import re
from collections.abc import Sequence
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import without
from evaluation_assets.core.traces.formats.envelopes.exchanges import AGENT, USER, exchanged_in
from evaluation_assets.core.traces.formats.envelopes.step_acts import LISTS_OF_CALLS
from evaluation_assets.core.traces.formats.run_names import names_conversation, run_of
from evaluation_assets.core.traces.formats.untyped import bare, decoded
from evaluation_assets.core.traces.trajectories.model import JsonObject

_TURN = re.compile("(?:turn|exchange|round)(?:id|index|idx|number|no|num)?")
"""How turns are numbered."""

_OF_MODELS = ("prompt", "request")
"""What was asked of a model: a session has requests that are no turns of a user."""


def conversation_of(row: Any) -> str | None:
    """The conversation of a row that is one of its turns: it has what was asked, and a place for the answer."""
    exchanged = exchanged_in(row) if isinstance(row, dict) and "role" not in row else None
    if exchanged is None:
        return None
    is_numbered = any(_TURN.fullmatch(bare(key)) for key in row)
    is_turn = is_numbered or (exchanged[0] not in _OF_MODELS and names_conversation(row))
    return run_of(row) if is_turn else None


def with_turns(rows: Sequence[JsonObject]) -> JsonObject:
    """The record of a conversation: what all its rows have in common, and its turns in the order of their numbers.

    Fields of a turn that was not answered are kept beside the turns.
    """
    number = next((key for key in rows[0] if _TURN.fullmatch(bare(key))), "")
    if all(type(row.get(number)) is int for row in rows):
        rows = sorted(rows, key=lambda row: row[number])
    about: JsonObject = {"id": run_of(rows[0])}
    if len(rows) > 1:
        about |= {key: value for key, value in rows[0].items() if all(_says(row, key, value) for row in rows)}
    turns = []
    for row in rows:
        asked, said = exchanged_in(row) or ("", "")
        turn = {USER[0]: row[asked], AGENT[0]: row[said]} if row[said] else {USER[0]: row[asked]}
        others = without(row, asked, said, *about)
        calls = {name: made for name in LISTS_OF_CALLS if (made := decoded(others.pop(name, None)))}
        if row[said]:
            turn |= others
        else:
            about |= {f"turns[].{key}": value for key, value in others.items()}
        turns.append({**calls, **turn})
    return {**about, "turns": turns}


def _says(row: JsonObject, key: str, value: Any) -> bool:
    """Whether a row has a text or a number that may be one of the conversation."""
    return isinstance(value, str | int | float) and not isinstance(value, bool) and row.get(key) == value
