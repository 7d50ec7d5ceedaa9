"""Chats of Open WebUI and LibreChat."""

from pathlib import Path

import orjson

from evaluation_assets.core.traces.trajectories.model import Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import calls_and_errors, summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, recorded_usage, trajectories

CHATS = FIXTURES / "open_webui" / "chats.json"
CONVERSATION = FIXTURES / "librechat" / "conversation.json"


def test_items_and_elements_of_open_webui_are_thoughts_calls_and_results() -> None:
    items, elements = trajectories(CHATS)
    assert calls_and_errors(items) == [('{"city":"Bern"}', None)]
    assert calls_and_errors(elements) == [('{"city":"Bern"}', "Error: no such city"), ('{"city":"Bern"}', None)]
    assert "I look\nit up." in elements.text and "&gt;" not in elements.text
    assert elements.final_answer == "It is 12 degrees."
    assert [turn.user_message for turn in items.turns] == ["How warm is Bern?", "Thanks."]
    assert "I do not know." not in items.text
    assert (items.agents[0].description, items.agents[0].model) == ("Answer briefly.", "gpt-5-mini")
    assert summary_of(CHATS).trust == "partial"


def test_tokens_of_open_webui_are_known_if_each_turn_was_one_request(tmp_path: Path) -> None:
    """Of a turn with calls, the message has the tokens of one request only."""
    items, _ = trajectories(CHATS)
    assert items.usage is None
    data = orjson.loads(CHATS.read_bytes())
    data[0]["chat"]["history"]["messages"]["a2"]["output"] = []
    read, _ = trajectories(written(tmp_path, data))
    assert recorded_usage(read) == Usage(input_tokens=80, output_tokens=12)


def test_the_branch_of_the_latest_message_of_librechat_is_read() -> None:
    (run,) = trajectories(CONVERSATION)
    assert [turn.user_message for turn in run.turns] == ["Hi.", "Is there a lamp?"]
    assert "Hi, what do you need?" in run.text and "Hello." not in run.text
    assert calls_and_errors(run) == [
        ('{"item":"lamp"}', "Error processing tool: timeout"),
        ('{"item":"lamp"}', None),
    ]
    assert (run.agents[0].description, run.agents[0].model) == ("You sell lamps.", "gpt-5-mini")
    assert summary_of(CONVERSATION).trust == "partial"


def test_messages_of_librechat_may_be_listed(tmp_path: Path) -> None:
    data = orjson.loads(CONVERSATION.read_bytes())
    (tree,) = data["messages"]
    (shown,) = tree["children"][1]["children"]
    data["messages"] = [tree, tree["children"][1], shown, *shown["children"]]
    tree["children"], data["messages"][1]["children"], shown["children"] = None, None, None
    path = written(tmp_path, data)
    assert [run.text for run in trajectories(path)] == [run.text for run in trajectories(CONVERSATION)]
    assert summary_of(path).trust == "complete"
