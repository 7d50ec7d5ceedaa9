"""Chat histories as AG2 0.14 and AutoGen 0.2 keep them: `ChatResult.chat_history`, `Agent.chat_messages`."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets_tests.core.traces.formats.readers.summaries import calls_and_errors, summary_of
from evaluation_assets_tests.core.traces.formats.reading import trajectories


def _history(view: str) -> list[dict[str, Any]]:
    """One chat, as the user and as the agent keep it."""
    own, other = ("assistant", "user") if view == "user" else ("user", "assistant")
    calls = [
        {"id": key, "type": "function", "function": {"name": "price", "arguments": f'{{"of": "{key}"}}'}}
        for key in ("figs", "dates")
    ]
    answers = [
        {"role": "tool", "tool_call_id": "figs", "content": "3"},
        {"role": "tool", "tool_call_id": "dates", "content": "4"},
    ]
    return [
        {"role": own, "name": "customer", "content": "Prices?"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "name": "customer", "content": "3\n\n4", "tool_responses": answers},
        {"role": other, "name": "seller", "content": "Figs 3, dates 4."},
        {"role": own, "name": "customer", "content": "And nuts?"},
        {"role": other, "name": "seller", "content": "None."},
    ]


def _written(tmp_path: Path, messages: list[dict[str, Any]]) -> Path:
    path = tmp_path / "chat.json"
    path.write_bytes(orjson.dumps(messages))
    return path


@pytest.mark.parametrize("view", ["user", "agent"])
def test_the_names_tell_who_speaks_whatever_the_roles(tmp_path: Path, view: str) -> None:
    path = _written(tmp_path, _history(view))
    (run,) = trajectories(path)
    assert [turn.user_message for turn in run.turns] == ["Prices?", "And nuts?"]
    assert [agent.id for agent in run.agents] == ["seller"]
    assert calls_and_errors(run) == [('{"of":"figs"}', None), ('{"of":"dates"}', None)]
    assert [run.piece(step.result.content) for step in run.calls if step.result] == ["3", "4"]
    assert summary_of(path).trust == "complete"


def test_an_agent_that_puts_the_task_speaks_for_itself_afterwards(tmp_path: Path) -> None:
    messages = [
        {"role": "assistant", "name": "teacher", "content": "Add 2 and 2."},
        {"role": "user", "name": "student", "content": "5"},
        {"role": "assistant", "name": "teacher", "content": "No."},
        {"role": "user", "name": "student", "content": "4"},
    ]
    (run,) = trajectories(_written(tmp_path, messages))
    assert [turn.user_message for turn in run.turns] == ["Add 2 and 2."]
    assert [agent.id for agent in run.agents] == ["student", "teacher"]


def test_names_in_an_ordinary_chat_change_nothing(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "name": "Ann", "content": "Hi"},
        {"role": "assistant", "name": "bot", "content": "Hello"},
        {"role": "user", "name": "Bob", "content": "Hi too"},
        {"role": "assistant", "name": "bot", "content": "Hello both"},
    ]
    (run,) = trajectories(_written(tmp_path, messages))
    assert (len(run.turns), [agent.id for agent in run.agents]) == (2, ["bot"])
