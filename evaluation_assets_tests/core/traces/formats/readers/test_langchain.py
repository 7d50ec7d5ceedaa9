"""LangChain: results of executors, LangGraph messages, LangSmith run trees."""

import re
from pathlib import Path
from random import Random
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import TWO_OUTCOMES, Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import calls_and_errors, summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, trajectories

DROP = FIXTURES / "langchain"


def test_intermediate_steps_are_calls_with_the_reasoning_of_their_log() -> None:
    run = trajectories(DROP)[0]
    assert [step.call.name for step in run.calls if step.call] == ["search", "calculator"]
    assert [run.piece(step.thought) for step in run.calls] == ["I look it up.", "subtract"]
    assert [run.piece(step.result.content) for step in run.calls if step.result] == ["begun in 1173", "852"]
    assert (run.task, run.final_answer) == ("How old is the tower?", "About 850 years.")


def test_an_executor_that_stopped_gave_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "drop.jsonl"
    output = "Agent stopped due to iteration limit or time limit."
    steps = [[{"tool": "search", "tool_input": "x", "log": ""}, "nothing"]]
    path.write_bytes(orjson.dumps({"input": "Find x", "output": output, "intermediate_steps": steps}))
    run = trajectories(path)[0]
    assert (run.final_answer, run.flags) == (None, ("step_limit", "no_answer"))


@pytest.mark.parametrize(
    "printed", ["{[]: 1}", "{1: (2, 3)}", "12345678901234567890123456789", "{'n': " + "9" * 4000 + "}"]
)
def test_an_action_as_python_prints_it_loses_no_record(tmp_path: Path, printed: str) -> None:
    path = tmp_path / "drop.jsonl"
    steps = [[f"tool='search' tool_input={printed} log='I look.'", "nothing"]]
    line = orjson.dumps({"input": "Find x", "output": "none", "intermediate_steps": steps})
    path.write_bytes(line + b"\n" + line)
    assert [[step.call.name for step in run.calls if step.call] for run in trajectories(path)] == [["search"]] * 2


def test_messages_plain_and_serialised_are_one_conversation() -> None:
    run = trajectories(DROP)[1]
    assert (run.task, run.final_answer) == ("Book a table.", "It is full.")
    assert [step.result.error for step in run.calls if step.result] == ["full"]
    assert run.usage is None, "the second answer has no tokens"
    assert run.agents[0].description == "Be kind."


def test_a_tool_that_ran_answers_the_call_of_the_model() -> None:
    run = trajectories(DROP)[2]
    assert [(step.call.name, step.latency_ms) for step in run.calls if step.call] == [("add", 2000.0)]
    assert (run.final_answer, run.duration_s, run.agents[0].model) == ("5", 5.0, "gpt-4o")
    assert run.labels == {"feedback_stats": {"correct": {"n": 1, "avg": 1.0}}}


def test_runs_around_models_and_tools_are_counted_as_left_out() -> None:
    unmapped = UnmappedFields()
    trajectories(DROP, unmapped=unmapped)
    assert unmapped.table() == [("child_runs[] (parser)", 1)]


def test_flat_runs_are_traces_whatever_their_order(tmp_path: Path) -> None:
    whole = [run for run in trajectories(DROP) if run.id == "f1"]
    assert [(len(run.calls), run.final_answer, run.usage) for run in whole] == [
        (1, "No idea.", Usage(input_tokens=11, output_tokens=3, cost_usd=0.0002))
    ]
    lines = [line for line in (DROP / "results.jsonl").read_bytes().splitlines() if line.startswith(b'{"id": "f')]
    Random(1).shuffle(lines)
    other = [re.sub(rb'"f(\d)"', rb'"g\1"', line) for line in lines]
    path = tmp_path / "drop.jsonl"
    path.write_bytes(b"\n".join(line for pair in zip(lines, other, strict=True) for line in pair))
    runs = trajectories(path)
    assert [run.id for run in runs] == ["f1", "g1"]
    assert {run.text for run in runs} == {whole[0].text}


def flat_runs(number: int, *, with_tools: bool = True) -> list[dict[str, Any]]:
    """The runs of a trace as LangSmith exports them; its root and the last model run repeat the messages before."""
    root = f"r-{number}"
    call = {"id": f"c-{number}", "type": "function", "function": {"name": "nests", "arguments": "{}"}}
    asked, made = {"role": "user", "content": "How many?"}, {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": f"c-{number}", "content": "4"}
    said = {"role": "assistant", "content": "Four."}
    all_messages = {"messages": [asked, made, result, said]}
    below = [
        {"run_type": "llm", "inputs": {"messages": [asked]}, "outputs": {"choices": [{"message": made}]}},
        {"run_type": "tool", "name": "nests", "inputs": {}, "outputs": {"output": "4"}},
        {
            "run_type": "llm",
            "inputs": {"messages": [asked, made, result]},
            "outputs": {"choices": [{"message": said}]},
        },
    ][: None if with_tools else 1]
    begun = {"id": root, "trace_id": root, "start_time": "2026-03-01T10:00:00", "inputs": {"messages": [asked]}}
    return [{**begun, "run_type": "chain", "name": "birds", "outputs": all_messages}] + [
        {"id": f"{root}-{place}", "trace_id": root, "parent_run_id": root, **run}
        | {"start_time": f"2026-03-01T10:00:0{place + 1}"}
        for place, run in enumerate(below)
    ]


def test_results_that_the_runs_of_a_trace_repeat_are_counted_once(tmp_path: Path) -> None:
    path = written(tmp_path, *(run for number in range(9) for run in flat_runs(number)))
    summary = summary_of(path)
    assert (summary.trajectories, summary.results, summary.results_in_source) == (9, 9, 9)
    assert summary.trust == "complete"


def test_a_result_that_no_run_of_a_tool_has_is_missed(tmp_path: Path) -> None:
    path = written(tmp_path, *(run for number in range(9) for run in flat_runs(number, with_tools=number != 3)))
    assert summary_of(path).sentence.startswith("doubtful: 1 result in the source could not be read")


@pytest.mark.parametrize(
    ("feedback", "success"),
    [
        ({"feedback_stats": {"success": {"n": 2, "avg": 1.0}}}, True),
        ({"feedback_stats": {"Task success": {"n": 1, "avg": 0}, "politeness": {"n": 1, "avg": 1}}}, False),
        ({"feedback_stats": {"success": {"n": 2, "avg": 0.5}}}, None),
        ({"feedback_stats": {"politeness": {"n": 1, "avg": 1}}}, None),
        ({"feedback": [{"key": "success", "score": 0.0}]}, False),
    ],
)
def test_metadata_and_feedback_of_a_trace_say_what_its_run_was(
    tmp_path: Path, feedback: dict[str, Any], success: bool | None
) -> None:
    root, *below = flat_runs(1)
    stated = {"task_id": "t-1", "trial": 2, "agent": "desk", "agent_version": "2.0"}
    unmapped = UnmappedFields()
    path = written(tmp_path, {**root, "extra": {"metadata": stated}, **feedback}, *below)
    (run,) = trajectories(path, unmapped=unmapped)
    assert (run.id, run.task_id, run.trial, run.success, run.labels) == ("r-1", "t-1", 2, success, feedback)
    assert [(agent.name, agent.version) for agent in run.agents] == [("desk", "2.0")]
    assert not any("metadata" in key for key in unmapped.counts)


def test_feedback_that_contradicts_the_metadata_is_a_doubt(tmp_path: Path) -> None:
    root, *below = flat_runs(1)
    stated = {"extra": {"metadata": {"success": True}}, "feedback_stats": {"success": {"n": 1, "avg": 0.0}}}
    path = written(tmp_path, {**root, **stated}, *below)
    (run,) = trajectories(path)
    assert (run.success, TWO_OUTCOMES in run.flags, summary_of(path).trust) == (True, True, "doubtful")


@pytest.mark.parametrize("thread", [{"thread_id": "h-1"}, {"config": {"configurable": {"thread_id": "h-1"}}}])
def test_a_state_has_the_id_of_its_thread_and_the_task_of_its_metadata(tmp_path: Path, thread: dict[str, Any]) -> None:
    messages = [{"type": "human", "content": "How many?"}, {"type": "ai", "content": "Four."}]
    stated = {"values": {"messages": messages}, "metadata": {"task_id": "t-1", "trial": 2, "success": True}}
    (run,) = trajectories(written(tmp_path, {**thread, **stated}))
    assert (run.id, run.task_id, run.trial, run.success) == ("h-1", "t-1", 2, True)


def test_a_tool_that_failed_says_why() -> None:
    run = next(run for run in trajectories(DROP) if run.id == "f1")
    assert [step.result.error for step in run.calls if step.result] == ["TimeoutError: no answer"]


@pytest.mark.parametrize("is_interrupt", [True, False])
def test_a_tool_that_waits_for_a_human_has_no_result_yet(tmp_path: Path, is_interrupt: bool) -> None:
    """LangSmith records the exception with which LangGraph interrupts a run as the error of its tool."""
    error = "GraphInterrupt((Interrupt(value='Sure?', id='x'),))Traceback ..." if is_interrupt else "ValueError('no')"
    call = {"name": "delete", "args": {"item": 5}, "id": "c1", "type": "tool_call"}
    said = {"type": "ai", "content": "", "tool_calls": [call]}
    asked = {"messages": [{"type": "human", "content": "Delete 5."}]}
    runs = [
        {"id": "r", "trace_id": "r", "run_type": "chain", "name": "LangGraph", "inputs": asked, "outputs": {}},
        {
            "id": "m", "trace_id": "r", "parent_run_id": "r", "run_type": "llm", "name": "ChatOpenAI",
            "inputs": {"messages": [asked["messages"]]}, "outputs": {"generations": [[{"text": "", "message": said}]]},
        },
        {
            "id": "t", "trace_id": "r", "parent_run_id": "r", "run_type": "tool", "name": "delete",
            "inputs": {"input": "{'item': 5}"}, "outputs": None, "error": error,
        },
    ]  # fmt: skip
    (run,) = trajectories(written(tmp_path, *runs))
    expected = [] if is_interrupt else ["ValueError('no')"]
    assert [step.result.error for step in run.calls if step.result] == expected
    assert "failed" not in run.flags


def _messages() -> list[dict[str, Any]]:
    """Messages as `model_dump` writes them, langchain-core 1.x."""
    call = {"name": "tide", "args": {"port": "Brest"}, "id": "c1", "type": "tool_call"}
    other = {"name": "tide", "args": {"port": "Calais"}, "id": "c2", "type": "tool_call"}
    usage = {"input_tokens": 20, "output_tokens": 5, "total_tokens": 25}
    return [
        {"type": "system", "content": "You know tides."},
        {"type": "human", "content": "Tides?"},
        {"type": "ai", "content": "", "tool_calls": [call, other], "name": "desk", "usage_metadata": usage},
        {"type": "tool", "content": "high", "tool_call_id": "c1", "status": "success"},
        {"type": "tool", "content": "no gauge", "tool_call_id": "c2", "status": "error"},
        {"type": "ai", "content": "High in Brest.", "name": "desk", "usage_metadata": usage},
    ]


@pytest.mark.parametrize("form", ["model_dump", "messages_to_dict", "dumpd"])
@pytest.mark.parametrize("layout", ["array", "lines"])
def test_messages_on_their_own_are_one_run_in_any_form(tmp_path: Path, form: str, layout: str) -> None:
    classes = {"system": "SystemMessage", "human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}
    messages = [
        message
        if form == "model_dump"
        else {"type": message["type"], "data": message}
        if form == "messages_to_dict"
        else {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", classes[message["type"]]],
            "kwargs": message,
        }
        for message in _messages()
    ]
    path = tmp_path / "drop.json"
    lines = b"\n".join(map(orjson.dumps, messages))
    path.write_bytes(lines if layout == "lines" else orjson.dumps(messages))
    (run,) = trajectories(path)
    assert calls_and_errors(run) == [('{"port":"Brest"}', None), ('{"port":"Calais"}', "no gauge")]
    assert (len(run.turns), run.final_answer) == (1, "High in Brest.")
    assert run.usage == Usage(input_tokens=40, output_tokens=10)


def _root(inputs: Any, messages: Any, trace: str = "t1") -> dict[str, Any]:
    run = {"id": trace, "trace_id": trace, "run_type": "chain", "name": "LangGraph"}
    return {**run, "inputs": inputs, "outputs": {"messages": messages}}


@pytest.mark.parametrize(
    "inputs",
    [
        {"messages": [{"role": "user", "content": "Tides?"}]},
        {"messages": [["user", "Tides?"]]},
        {"messages": _messages()[:2]},
        {"input": "Tides?"},
        {"topic": "tides"},
    ],
)
def test_a_root_run_without_its_children_is_read_from_the_messages_of_its_output(tmp_path: Path, inputs: Any) -> None:
    (run,) = trajectories(written(tmp_path, _root(inputs, _messages())))
    assert calls_and_errors(run) == [('{"port":"Brest"}', None), ('{"port":"Calais"}', "no gauge")]
    assert (len(run.turns), run.final_answer) == (1, "High in Brest.")
    assert run.usage == Usage(input_tokens=40, output_tokens=10)
    assert summary_of(tmp_path / "drop.jsonl").trust == "complete"


def test_a_root_run_with_a_memory_counts_what_came_before_in_the_earlier_run(tmp_path: Path) -> None:
    later = [{"type": "human", "content": "Thanks."}, {"type": "ai", "content": "Bye."}]
    first = _root({"messages": _messages()[1:2]}, _messages())
    second = _root({"messages": later[:1]}, [*_messages(), *later], "t2")
    runs = trajectories(written(tmp_path, first, second))
    assert [len(run.calls) for run in runs] == [2, 0]
    assert summary_of(tmp_path / "drop.jsonl").trust == "complete"


@pytest.mark.parametrize("step", ["no action", [{"tool_input": "x"}, "seen"], [7, "seen"], {"strange": 1}])
def test_a_step_that_is_no_action_with_its_observation_is_named(tmp_path: Path, step: Any) -> None:
    found = summary_of(written(tmp_path, {"input": "Go", "output": "Done", "intermediate_steps": [step]}))
    assert found.unknown_parts == {"intermediate_steps": 1}


def test_messages_given_as_pairs_are_read(tmp_path: Path) -> None:
    """`graph.invoke({"messages": [("user", ...)]})`, as langchain-core 1 traces it: a tuple is a list in JSON."""
    root = {
        "id": "r", "trace_id": "r", "name": "LangGraph", "run_type": "chain", "start_time": "2026-01-01T00:00:00",
        "inputs": {"messages": [["system", "Be kind."], ["user", "Is it paid?"], {"role": "user", "content": "Well?"}]},
        "outputs": {"messages": [{"type": "ai", "content": "Yes."}]},
    }  # fmt: skip
    model = {
        "id": "m", "trace_id": "r", "parent_run_id": "r", "name": "model", "run_type": "llm",
        "start_time": "2026-01-01T00:00:01", "inputs": {"prompts": ["Human: Is it paid?"]},
        "outputs": {"generations": [[{"text": "Yes.", "message": {"type": "ai", "content": "Yes."}}]]},
    }  # fmt: skip
    (run,) = trajectories(written(tmp_path, root, model))
    assert [turn.user_message for turn in run.turns] == ["Is it paid?", "Well?"]
    assert run.task == "Is it paid?"


def batch_runs() -> tuple[dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]]:
    """What a client of LangSmith sends of a trace: two runs that begin, and what is known when they end."""
    chain = {"id": "r-1", "trace_id": "r-1", "dotted_order": "20260301T100000000000Zr-1"}
    model = {"id": "r-2", "trace_id": "r-1", "dotted_order": f"{chain['dotted_order']}.20260301T100001000000Zr-2"}
    asked = {"messages": [{"role": "user", "content": "How many nests?"}]}
    answer = {"choices": [{"message": {"role": "assistant", "content": "Four nests."}}]}
    counts = {"usage_metadata": {"input_tokens": 9, "output_tokens": 3, "total_tokens": 12}}
    chain_starts = {**chain, "name": "birds", "run_type": "chain", "start_time": 1772359200000, "inputs": asked}
    model_starts = {
        **model, "name": "ChatOpenAI", "run_type": "llm", "start_time": 1772359201000, "parent_run_id": "r-1",
        "inputs": asked, "extra": {"metadata": {"ls_model_name": "model-a"}},
    }  # fmt: skip
    chain_ends = {**chain, "end_time": 1772359204000, "outputs": {"output": "Four nests."}}
    model_ends = {
        "trace_id": "r-1", "dotted_order": model["dotted_order"], "end_time": 1772359203000, "inputs": asked,
        "outputs": answer | counts,
    }  # fmt: skip
    return chain_starts, model_starts, chain_ends, model_ends


@pytest.mark.parametrize("split", [False, True])
def test_batches_of_a_client_are_traces(tmp_path: Path, split: bool) -> None:
    begun, model_begun, ended, model_ended = batch_runs()
    batches = [{"post": [begun, model_begun], "patch": []}, {"post": [], "patch": [model_ended, ended]}]
    whole = [{"post": [begun, model_begun], "patch": [model_ended, ended]}]
    path = written(tmp_path, *(batches if split else whole))
    (run,) = trajectories(path)
    assert (run.id, run.task, run.final_answer) == ("r-1", "How many nests?", "Four nests.")
    assert (run.agents[0].model, run.usage) == ("model-a", Usage(input_tokens=9, output_tokens=3))
    assert (run.started_at, run.duration_s) == ("2026-03-01T10:00:00+00:00", 4.0)
    assert summary_of(path).trust == "complete"


def test_runs_of_a_batch_without_beginning_or_end_are_doubted(tmp_path: Path) -> None:
    begun, model_begun, ended, model_ended = batch_runs()
    unended = summary_of(written(tmp_path, {"post": [begun, model_begun], "patch": [model_ended]}))
    assert (unended.trust, dict(unended.unknown_parts)) == ("doubtful", {"run without its end": 1})
    unbegun = summary_of(written(tmp_path, {"post": [model_begun], "patch": [model_ended, ended]}))
    assert (unbegun.trust, dict(unbegun.unknown_parts)) == ("doubtful", {"run without its beginning": 1})


@pytest.mark.parametrize("is_of_run", [True, False])
def test_cached_tokens_of_langsmith_are_those_of_the_run_or_of_its_message(tmp_path: Path, is_of_run: bool) -> None:
    details = {"cache_read": 60, "cache_creation": 30}
    counts = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}
    used = counts if is_of_run else {**counts, "input_token_details": details}
    answer = {"type": "ai", "content": "High.", "usage_metadata": used}
    run = {
        "id": "r1",
        "trace_id": "r1",
        "name": "ChatModel",
        "run_type": "llm",
        "start_time": "2026-01-02T10:00:00.000000",
        "end_time": "2026-01-02T10:00:01.000000",
        "dotted_order": "1",
        "inputs": {"messages": [[{"type": "human", "content": "Tides?"}]]},
        "outputs": {"generations": [[{"text": "High.", "message": answer}]]},
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "total_tokens": 110,
        **({"prompt_token_details": details} if is_of_run else {}),
    }
    (found,) = trajectories(written(tmp_path, run))
    assert found.usage == Usage(input_tokens=100, cached_tokens=60, cache_write_tokens=30, output_tokens=10)


def test_chunks_of_a_streamed_message_are_one_message(tmp_path: Path) -> None:
    def chunk(name: str, content: Any, *pieces: tuple[str | None, str], **used: int) -> dict[str, Any]:
        calls = [{"name": tool, "args": args, "id": tool and "c1", "index": 0} for tool, args in pieces]
        more = {"usage_metadata": {**used, "total_tokens": sum(used.values())}} if used else {}
        return {"type": "AIMessageChunk", "id": name, "content": content, "tool_call_chunks": calls, **more}

    messages = [
        {"type": "human", "content": "Is order 17 paid?", "id": "h"},
        chunk("run-1", [{"type": "text", "text": "I ", "index": 0}], input_tokens=10, output_tokens=1),
        chunk("run-1", [{"type": "text", "text": "look.", "index": 0}]),
        chunk("run-1", [], ("look_up", "")),
        chunk("run-1", [], (None, '{"order":'), (None, " 17}"), input_tokens=0, output_tokens=4),
        {"type": "tool", "content": "paid", "tool_call_id": "c1", "name": "look_up", "id": "t"},
        chunk("run-2", "It is "),
        chunk("run-2", "paid.", input_tokens=20, output_tokens=3),
    ]
    (tmp_path / "m.json").write_bytes(orjson.dumps({"messages": messages}))
    (run,) = trajectories(tmp_path / "m.json")
    assert calls_of(run) == [("look_up", {"order": 17}, "paid")]
    assert (run.piece(run.calls[0].message), run.final_answer) == ("I look.", "It is paid.")
    assert summary_of(tmp_path / "m.json").trust == "complete"
    assert run.usage is not None and (run.usage.input_tokens, run.usage.output_tokens) == (30, 8)


def test_pieces_of_thoughts_are_one_thought_of_the_message(tmp_path: Path) -> None:
    def chunk(content: list[Any], **more: Any) -> dict[str, Any]:
        return {"type": "AIMessageChunk", "id": "run-1", "content": content, **more}

    opened = {"name": "look_up", "args": "", "id": "c1", "index": 2}
    more = {"name": None, "args": '{"order": 17}', "id": None, "index": 2}
    half_read = {"name": "", "args": {}, "id": None, "type": "tool_call"}
    messages = [
        {"type": "human", "content": "Is order 17 paid?", "id": "h"},
        chunk([{"type": "thinking", "thinking": "An order. ", "index": 0}]),
        chunk([{"type": "thinking", "thinking": "I look.", "index": 0}]),
        chunk([{"type": "thinking", "signature": "s", "index": 0}]),
        chunk([{"type": "text", "text": "A moment.", "index": 1}]),
        chunk(
            [{"type": "tool_use", "id": "c1", "name": "look_up", "input": {}, "index": 2}], tool_call_chunks=[opened]
        ),
        chunk([{"type": "input_json_delta", "index": 2}], tool_call_chunks=[more], tool_calls=[half_read]),
        {"type": "tool", "content": "paid", "tool_call_id": "c1", "id": "t"},
        {"type": "ai", "content": "It is paid.", "id": "run-2"},
    ]
    path = written(tmp_path, messages)
    (run,) = trajectories(path)
    assert calls_of(run) == [("look_up", {"order": 17}, "paid")]
    (step,) = run.calls
    assert (run.piece(step.thought), run.piece(step.message)) == ("An order. I look.", "A moment.")
    assert summary_of(path).trust == "complete"


CHAT: list[dict[str, Any]] = [
    {"type": "human", "content": "Is order 17 paid?", "id": "h"},
    {
        "type": "ai",
        "content": "",
        "id": "a",
        "tool_calls": [{"name": "look_up", "args": {"order": 17}, "id": "c1", "type": "tool_call"}],
        "usage_metadata": {"input_tokens": 10, "output_tokens": 4, "total_tokens": 14},
    },
    {"type": "tool", "content": "paid", "tool_call_id": "c1", "id": "t"},
    {"type": "ai", "content": "It is paid.", "id": "b", "usage_metadata": {"input_tokens": 20, "output_tokens": 3}},
]
GROWING = [CHAT[:end] for end in range(1, len(CHAT) + 1)]


@pytest.mark.parametrize(
    "records",
    [
        [{"messages": messages} for messages in GROWING],
        [{"values": {"messages": messages}, "next": [], "tasks": []} for messages in reversed(GROWING)],
        [{"v": 4, "ts": "2026-03-01T09:00:00Z", "channel_values": {"messages": messages}} for messages in GROWING],
        [{"config": {}, "checkpoint": {"v": 4, "channel_values": {"messages": CHAT}}, "parent_config": None}],
        [
            {"__start__": {"messages": CHAT[0]}},
            {"agent": {"messages": [CHAT[1]]}},
            {"hook": None, "tools": {"messages": [CHAT[2]]}},
            {"agent": {"messages": [CHAT[3]]}},
        ],
        [[message, {"langgraph_step": 1, "langgraph_node": "agent"}] for message in CHAT],
    ],
    ids=["values", "history", "checkpoints", "checkpoint tuple", "updates", "messages"],
)
def test_states_and_updates_of_a_graph_are_one_run(tmp_path: Path, records: list[Any]) -> None:
    path = written(tmp_path, *records)
    (run,) = trajectories(path)
    assert calls_of(run) == [("look_up", {"order": 17}, "paid")]
    assert (run.task, run.final_answer) == ("Is order 17 paid?", "It is paid.")
    assert run.usage == Usage(input_tokens=30, output_tokens=7)
    assert summary_of(path).trust == "complete"


def test_states_that_do_not_continue_each_other_are_runs_of_their_own(tmp_path: Path) -> None:
    others = [{**message, "id": f"other-{message['id']}"} for message in CHAT]
    assert len(trajectories(written(tmp_path, {"messages": CHAT}, {"messages": others}))) == 2
    assert len(trajectories(written(tmp_path, *({"values": {"messages": one}} for one in (CHAT, others))))) == 2
    unnamed = [{**message, "id": None} for message in CHAT]
    assert len(trajectories(written(tmp_path, {"messages": unnamed[:2]}, {"messages": unnamed}))) == 2


def test_an_answer_that_its_model_did_not_finish_is_truncated(tmp_path: Path) -> None:
    response = {"finish_reason": "length", "model_name": "model-a"}
    cut = {**CHAT[3], "additional_kwargs": {}, "response_metadata": response}
    (run,) = trajectories(written(tmp_path, {"messages": [*CHAT[:3], cut]}))
    assert (run.flags, run.final_answer, run.agents[0].model) == (("truncated",), cut["content"], "model-a")


@pytest.mark.parametrize(
    "parts",
    [
        [
            {"type": "server_tool_call", "id": "s1", "name": "web_search", "args": {"query": "order 17"}},
            {"type": "server_tool_result", "tool_call_id": "s1", "status": "error", "output": "offline"},
        ],
        [
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "order 17"}},
            {"type": "web_search_tool_result", "tool_use_id": "s1", "content": {"error_code": "offline"}},
        ],
    ],
    ids=["content blocks of LangChain 1", "of Anthropic"],
)
def test_tools_that_the_provider_ran_are_calls_before_what_was_said_after_them(
    tmp_path: Path, parts: list[Any]
) -> None:
    said = [{"type": "text", "text": "I search."}, *parts, {"type": "text", "text": "It is paid."}]
    path = written(tmp_path, {"messages": [CHAT[0], {"type": "ai", "content": said, "tool_calls": [], "id": "a"}]})
    (run,) = trajectories(path)
    assert [(name, arguments) for name, arguments, _ in calls_of(run)] == [("web_search", {"query": "order 17"})]
    assert [step.result.error for step in run.calls if step.result] == ["offline"]
    assert (run.piece(run.calls[0].message), run.final_answer) == ("I search.", "It is paid.")
    assert summary_of(path).trust == "complete"


@pytest.mark.parametrize(
    ("stated", "flags", "error"),
    [
        ({"tasks": [{"name": "tools", "error": "ValueError('boom')"}]}, ("no_answer", "failed"), "ValueError('boom')"),
        ({"status": "error", "error": {"error": "boom"}}, ("no_answer", "failed"), "boom"),
        (
            {"tasks": [{"name": "tools", "error": "GraphRecursionError('Recursion limit of 25')"}]},
            ("step_limit", "no_answer"),
            None,
        ),
        ({"tasks": [{"name": "tools", "error": None, "interrupts": [{"value": "Sure?"}]}]}, ("no_answer",), None),
    ],
)
def test_a_state_whose_task_failed_is_that_of_a_run_that_broke(
    tmp_path: Path, stated: dict[str, Any], flags: tuple[str, ...], error: str | None
) -> None:
    """`get_state` and threads of the LangGraph API."""
    call = {"name": "delete", "args": {}, "id": "c1", "type": "tool_call"}
    messages = [{"type": "human", "content": "Delete it."}, {"type": "ai", "content": "", "tool_calls": [call]}]
    (run,) = trajectories(written(tmp_path, {"values": {"messages": messages}, "next": ["tools"], **stated}))
    assert (run.flags, run.extra.get("error")) == (flags, error)
