"""Interactions of the Gemini API: chains, steps and outputs, requests with responses."""

from pathlib import Path
from typing import Any

import orjson

from evaluation_assets.core.traces.trajectories.model import JsonObject, Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, records_of, trajectories

CHAIN = FIXTURES / "gemini_interactions" / "interactions.jsonl"
FIRST, SECOND = records_of(CHAIN)
ASKED = {"type": "user_input", "content": [{"type": "text", "text": "Is order 17 paid?"}]}
CALLS = [("look_up", {"order": 17}, "paid"), ("code_execution", {"language": "python", "code": "1 + 1"}, "2")]


def with_outputs(interaction: JsonObject) -> JsonObject:
    """An interaction as the API gave it before it had steps: with contents as its outputs."""
    others = {key: value for key, value in interaction.items() if key != "steps"}
    outputs = [part for step in interaction["steps"] for part in step.get("content", [step])]
    return {**others, "outputs": outputs}


def check_chain(path: Path) -> None:
    assert summary_of(path).trust == "complete"
    (run,) = trajectories(path)
    assert calls_of(run) == CALLS
    assert (run.id, run.task, run.final_answer) == ("v1_a", "Is order 17 paid?", "Order 17 is paid.")
    assert run.usage == Usage(input_tokens=130, cached_tokens=20, output_tokens=27)
    (agent,) = run.agents
    assert (agent.model, agent.description) == ("model-a", "Help with orders.")
    assert agent.tools is not None and [tool.name for tool in agent.tools] == ["look_up"]


def test_an_interaction_goes_on_with_the_previous_one_that_it_names(tmp_path: Path) -> None:
    check_chain(CHAIN)
    check_chain(written(tmp_path, with_outputs(FIRST), with_outputs(SECOND)))


def test_requests_may_stand_beside_their_interactions(tmp_path: Path) -> None:
    def logged(interaction: JsonObject) -> JsonObject:
        given = ("input", "tools", "system_instruction", "previous_interaction_id")
        request = {key: interaction[key] for key in given if key in interaction}
        return {"request": request, "response": {k: v for k, v in interaction.items() if k not in given}}

    check_chain(written(tmp_path, logged(FIRST), logged(SECOND)))


def test_chains_that_a_log_has_in_turn_are_kept_apart(tmp_path: Path) -> None:
    others = [{**FIRST, "id": "v1_c"}, {**SECOND, "id": "v1_d", "previous_interaction_id": "v1_c"}]
    runs = trajectories(written(tmp_path, FIRST, others[0], SECOND, others[1]))
    assert [(run.id, len(run.calls)) for run in runs] == [("v1_a", 2), ("v1_c", 2)]


def test_a_client_that_keeps_the_history_repeats_it(tmp_path: Path) -> None:
    given: list[Any] = [ASKED, *FIRST["steps"], *SECOND["input"]]
    second = {key: value for key, value in SECOND.items() if key != "previous_interaction_id"}
    path = written(tmp_path, {**FIRST, "input": [ASKED]}, {**second, "input": given})
    (run,) = trajectories(path)
    assert (calls_of(run), summary_of(path).trust) == (CALLS, "complete")
    assert run.text.count("I look it up.") == 1


def test_steps_may_begin_with_what_was_asked(tmp_path: Path) -> None:
    stored = {**SECOND, "input": None, "previous_interaction_id": None}
    stored["steps"] = [ASKED, *FIRST["steps"], *SECOND["input"], *SECOND["steps"]]
    (run,) = trajectories(written(tmp_path, stored))
    assert (run.task, calls_of(run)) == ("Is order 17 paid?", CALLS)


def test_an_interaction_that_failed_is_no_failure_of_the_agent(tmp_path: Path) -> None:
    failed, cut = ({**FIRST, "status": status} for status in ("failed", "incomplete"))
    (run,) = trajectories(written(tmp_path, failed))
    assert "failed" in run.flags and run.extra["error"] == "failed"
    (run,) = trajectories(written(tmp_path, cut))
    assert run.final_answer is None and "failed" not in run.flags


def test_a_result_says_that_its_call_failed(tmp_path: Path) -> None:
    (result,) = SECOND["input"]
    failed = {**SECOND, "input": [{**result, "is_error": True, "result": "no such order"}]}
    (run,) = trajectories(written(tmp_path, FIRST, failed))
    assert [step.result and step.result.error for step in run.calls] == ["no such order", None]


def test_items_of_openai_responses_are_no_interactions(tmp_path: Path) -> None:
    response = {"object": "response", "output": [{"type": "function_call", "call_id": "c", "name": "f"}]}
    path = written(tmp_path, response)
    assert orjson.loads(path.read_bytes())["object"] == "response"
    assert [run.format for run in trajectories(path)] == ["openai_responses"]
