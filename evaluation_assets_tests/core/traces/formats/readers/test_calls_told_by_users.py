"""Calls that are all of a message, whose results the user says: what prompts of one's own make of a chat."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets_tests.core.traces.formats.readers.summaries import calls_and_errors, summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import calls_of, trajectories


def _chat(*contents: str) -> dict[str, Any]:
    roles = ("user", "assistant")
    return {"messages": [{"role": roles[place % 2], "content": content} for place, content in enumerate(contents)]}


def _call(name: str, value: str, keys: tuple[str, str], **more: str) -> str:
    return orjson.dumps({**more, keys[0]: name, keys[1]: {"x": value}}).decode()


@pytest.mark.parametrize("keys", [("tool_name", "arguments"), ("tool", "args"), ("action", "action_input")])
@pytest.mark.parametrize("form", ["{}", "```json\n{}\n```"])
def test_results_that_the_user_says_are_no_turns(tmp_path: Path, keys: tuple[str, str], form: str) -> None:
    first, second = (form.replace("{}", _call("find", value, keys, thought="I look.")) for value in ("lamp", "chair"))
    path = written(tmp_path, _chat("Is there a chair?", first, "Result: 1 lamp", second, "Error: timeout", "No."))
    (run,) = trajectories(path)
    assert calls_and_errors(run) == [('{"x":"lamp"}', None), ('{"x":"chair"}', "Error: timeout")]
    assert [turn.user_message for turn in run.turns] == ["Is there a chair?"]
    assert run.final_answer == "No."
    assert "I look." in run.text and "Result:" not in run.text
    assert summary_of(path).trust == "complete"


def test_a_call_at_the_end_has_no_result(tmp_path: Path) -> None:
    keys = "tool", "args"
    calls = [_call("find", value, keys) for value in "abc"]
    (run,) = trajectories(written(tmp_path, _chat("Go.", calls[0], "none", calls[1], "none", calls[2])))
    assert [given for given, _ in calls_and_errors(run)] == ['{"x":"a"}', '{"x":"b"}', '{"x":"c"}']


@pytest.mark.parametrize(
    "contents",
    [
        ("Write a call.", '{"tool": "find", "args": {}}', "Thanks.", "You are welcome."),
        ("Who?", '{"name": "Ann", "age": 7}', "And who?", '{"name": "Bo", "age": 8}', "And?", "Nobody."),
        ("Go.", '{"action": "Final Answer", "action_input": {}}', "Again.", '{"action": "Final Answer", "args": {}}'),
    ],
)
def test_other_objects_are_what_the_agent_says(tmp_path: Path, contents: tuple[str, ...]) -> None:
    (run,) = trajectories(written(tmp_path, _chat(*contents)))
    assert (len(run.turns), list(run.calls)) == (sum(place % 2 == 0 for place in range(len(contents))), [])


@pytest.mark.parametrize("label", ["Tool result", "RESULT", "Observation", "Output of find"])
def test_one_call_is_enough_if_the_user_says_its_result(tmp_path: Path, label: str) -> None:
    call = _call("find", "lamp", ("tool", "args"))
    (run,) = trajectories(written(tmp_path, _chat("Is there a lamp?", call, f"{label}: 1 lamp", "Yes.")))
    assert calls_and_errors(run) == [('{"x":"lamp"}', None)]
    assert (len(run.turns), run.final_answer) == (1, "Yes.")


@pytest.mark.parametrize("label", ["Tool result", "RESULT", "Function output"])
def test_results_of_calls_in_a_form_of_their_own_are_doubtful(tmp_path: Path, label: str) -> None:
    chat = _chat("Is there a lamp?", "<tool>find</tool><args>lamp</args>", f"{label}: 1 lamp", "Yes.")
    assert summary_of(written(tmp_path, chat)).trust == "doubtful"


ACTED = (
    '{"state": {"memory": "I begin.", "next_goal": "I open it.", "seen": []}, "actions": [{"goto": {"url": "/a"}}]}',
    '{"thinking": "Now both.", "action": [{"fill": {"n": 2, "text": "b"}, "click": null}, {"click": {"n": 3}}]}',
    '{"state": {"memory": "I know."}, "actions": [{"done": {"text": "It is 4."}}]}',
)


def test_actions_of_browsers_may_be_a_list_with_their_arguments_under_their_names(tmp_path: Path) -> None:
    chat = _chat("What is there?", ACTED[0], "Opened /a.", ACTED[1], "Filled and clicked.", ACTED[2])
    path = written(tmp_path, chat)
    (run,) = trajectories(path)
    assert calls_of(run) == [
        ("goto", {"url": "/a"}, "Opened /a."),
        ("fill", {"n": 2, "text": "b"}, None),
        ("click", {"n": 3}, "Filled and clicked."),
        ("done", {"text": "It is 4."}, None),
    ]
    assert len(run.turns) == 1 and "I begin.\nI open it." in run.text and "Now both." in run.text


def test_all_that_comes_after_such_an_action_in_the_next_request_is_its_result(tmp_path: Path) -> None:
    asked: list[Any] = [{"role": "user", "content": "What is there?"}]
    page = [{"type": "text", "text": "A page."}, {"type": "image_url", "image_url": {"url": "removed"}}]
    answers = [{"role": "assistant", "content": content} for content in ACTED]
    steps: list[Any] = []
    for answer in answers:
        steps.append({"llm_calls": [{"messages_in": list(asked), "message_out": answer}]})
        asked += [answer, {"role": "user", "content": "Opened it."}, {"role": "user", "content": page}]
    (run,) = trajectories(written(tmp_path, {"steps": steps}))
    assert [shown for _, _, shown in calls_of(run)] == [
        "Opened it.\nA page.\n[image_url]", None, "Opened it.\nA page.\n[image_url]", None
    ]  # fmt: skip
    assert len(run.turns) == 1


@pytest.mark.parametrize("actions", ['["buy", "sell"]', '[{"buy": 3}]', '[{"buy": {"n": 1}, "sell": {"n": 2}}]', "[]"])
def test_other_lists_of_actions_are_what_the_agent_says(tmp_path: Path, actions: str) -> None:
    said = f'{{"actions": {actions}}}'
    (run,) = trajectories(written(tmp_path, _chat("Plan.", said, "Go on.", said, "And then?", "Nothing.")))
    assert (len(run.turns), list(run.calls)) == (3, [])


@pytest.mark.parametrize("is_parsed", [False, True])
def test_results_of_calls_in_fields_may_be_told_by_the_user(tmp_path: Path, is_parsed: bool) -> None:
    def said(value: str) -> dict[str, Any]:
        call = {"tool": "find", "arguments": {"x": value}}
        parsed = {"content": "", "tool_calls": [{"name": call["tool"], "arguments": call["arguments"]}]}
        return {"role": "assistant", **(parsed if is_parsed else {"content": call})}

    messages = [
        {"role": "user", "content": "Is there a chair?"},
        said("lamp"),
        {"role": "user", "content": "observation: 1 lamp"},
        said("chair"),
        {"role": "user", "content": 'observation: {"error": "timeout"}'},
        {"role": "assistant", "content": "No."},
    ]
    path = written(tmp_path, {"raw_history": messages})
    (run,) = trajectories(path)
    assert calls_and_errors(run) == [('{"x":"lamp"}', None), ('{"x":"chair"}', "timeout")]
    assert [turn.user_message for turn in run.turns] == ["Is there a chair?"]
    assert summary_of(path).trust == "complete"
