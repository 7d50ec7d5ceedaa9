"""Runs as data sets publish them and as rollouts of reinforcement learning are saved."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory
from evaluation_assets_tests.core.traces.formats.readers.summaries import calls_and_errors, summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, trajectories

TOOLS = [{"type": "function", "function": {"name": "look_up", "description": "Looks up.", "parameters": {}}}]
ASKED = [{"role": "system", "content": "You are a clerk."}, {"role": "user", "content": "Is order 17 paid?"}]
SAID = [
    {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": '{"order": 17}'}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "paid"},
    {"role": "assistant", "content": "It is paid."},
]
CALLS = [("look_up", {"order": 17}, "paid")]


def check_clerk(run: Trajectory) -> None:
    assert (run.task, run.final_answer, len(run.turns)) == ("Is order 17 paid?", "It is paid.", 1)
    assert calls_of(run) == CALLS
    assert run.agents[0].description == "You are a clerk."


@pytest.mark.parametrize(
    "record",
    [
        {"messages": json.dumps([*ASKED, *SAID]), "instance_id": "a-1", "resolved": True},
        {"trajectory": [*ASKED, *SAID], "instance_id": "a-1", "resolved": 1, "exit_status": "submit"},
        {
            "messages": [*ASKED, {**SAID[0], "tool_calls": json.dumps(SAID[0]["tool_calls"])}, *SAID[1:]],
            "instance_id": "a-1",
            "resolved": True,
        },
        {"prompt": ASKED, "completion": SAID, "example_id": "a-1", "reward": 1.0},
    ],
)
def test_messages_are_json_text_or_a_trajectory_or_a_prompt_and_its_completion(
    tmp_path: Path, record: JsonObject
) -> None:
    path = written(tmp_path, {**record, "tools": json.dumps(TOOLS)})
    (run,) = trajectories(path)
    check_clerk(run)
    assert (run.task_id, run.success) == ("a-1", True)
    assert [tool.name for tool in run.agents[0].tools or ()] == ["look_up"]
    assert summary_of(path).trust == "complete"


def test_the_task_of_a_rollout_in_one_word_is_its_environment(tmp_path: Path) -> None:
    rollout = {"example_id": 0, "prompt": ASKED, "completion": SAID, "answer": "paid", "reward": 1.0, "trajectory": []}
    path = written(tmp_path, {**rollout, "task": "orders"}, {**rollout, "task": "Find out whether it is paid."})
    named, told = trajectories(path)
    check_clerk(named)
    assert (named.extra["data_source"], named.reference_answer, told.task) == (
        "orders", "paid", "Find out whether it is paid.",
    )  # fmt: skip


def test_a_text_where_messages_are_expected_hides_no_other_list(tmp_path: Path) -> None:
    (run,) = trajectories(written(tmp_path, {"conversation": "c-1", "trajectory": [*ASKED, *SAID]}))
    check_clerk(run)


def react(result_from: str) -> list[JsonObject]:
    return [
        {"from": "system", "value": "You are a clerk."},
        {"from": "user", "value": "Is order 17 paid?"},
        {"from": "assistant", "value": '\nThought: I look.\nAction: look_up\nAction Input: {"order": 17}'},
        {"from": result_from, "value": "paid"},
        {"from": "assistant", "value": 'Thought:\nAction: Finish\nAction Input: {"final_answer": "It is paid."}'},
    ]


def test_actions_in_the_text_are_calls_where_tools_answer(tmp_path: Path) -> None:
    path = written(tmp_path, {"id": "a-1", "conversations": react("function")})
    (run,) = trajectories(path)
    assert (run.task, run.final_answer, len(run.turns)) == ("Is order 17 paid?", "It is paid.", 1)
    assert calls_of(run) == [*CALLS, ("Finish", {"final_answer": "It is paid."}, None)]
    assert [run.piece(step.thought) for step in run.calls if step.thought] == ["I look."]
    assert summary_of(path).trust == "complete"


def test_the_user_answers_the_actions_where_they_are_most_of_what_a_model_says(tmp_path: Path) -> None:
    (run,) = trajectories(path := written(tmp_path, {"id": "a-1", "conversations": react("user")}))
    assert calls_of(run) == [*CALLS, ("Finish", {"final_answer": "It is paid."}, None)]
    assert (len(run.turns), summary_of(path).trust) == (1, "complete")


@pytest.mark.parametrize("said", ["Action: look_up\nAction Input: {}", "Action: look_up(order=7)"])
def test_one_action_that_the_user_answers_stays_text_and_is_doubted(tmp_path: Path, said: str) -> None:
    texts = [("user", "Is it paid?"), ("assistant", said), ("user", "Paid."), ("assistant", "It is.")]
    path = written(tmp_path, {"messages": [{"role": role, "content": text} for role, text in texts]})
    assert trajectories(path)[0].calls == []
    assert summary_of(path).trust == "doubtful"


@pytest.mark.parametrize(
    ("said", "name", "arguments"),
    [
        ("<think>I go.</think><action>go to shelf 1</action>", "go", {"input": "to shelf 1"}),
        ("I look.\n<action>look_up(7)</action>", "look_up", {"input": "7"}),
        ('<plan>Look.</plan>\n<action>\ntool: look_up\nparameters: {"order": 7}\n</action>', "look_up", {"order": 7}),
        ('<action>{"name": "look_up", "arguments": {"order": 7}}</action>', "look_up", {"order": 7}),
        ('{"thought": "I look.", "action": {"name": "look_up", "args": {"order": 7}}}', "look_up", {"order": 7}),
        ("Thought:\nI go.\n\nAction:\ngo to shelf 1", "go", {"input": "to shelf 1"}),
        ("I run it.\n<execute>look(7)</execute>", "execute", {"code": "look(7)"}),
        ("<think>I search.</think><search>a book</search>", "search", {"query": "a book"}),
    ],
)
def test_actions_in_an_environment_are_calls_and_the_user_says_their_results(
    tmp_path: Path, said: str, name: str, arguments: JsonObject
) -> None:
    texts = [("user", "Fetch a book."), *[("assistant", said), ("user", "You see a book.")] * 2]
    path = written(tmp_path, {"messages": [{"role": role, "content": text} for role, text in texts]})
    (run,) = trajectories(path)
    assert calls_of(run) == [(name, arguments, "You see a book.")] * 2
    assert (run.task, len(run.turns), summary_of(path).trust) == ("Fetch a book.", 1, "complete")


@pytest.mark.parametrize(
    "fields",
    [
        {"action": "look_up", "action_input": {"order": 7}, "observation": "paid"},
        {"tool": "look_up", "args": {"order": 7}, "result": "paid"},
        {"tool_name": "look_up", "tool_input": {"order": 7}, "tool_output": "paid"},
        {"action": {"name": "look_up", "order": 7}, "observation": "paid"},
    ],
)
def test_fields_of_a_message_beside_its_text_may_be_a_call(tmp_path: Path, fields: JsonObject) -> None:
    said = {"role": "assistant", "content": "I look.", **fields}
    asked, answer = {"role": "user", "content": "Is it paid?"}, {"role": "assistant", "content": "It is."}
    (run,) = trajectories(path := written(tmp_path, {"messages": [asked, said, answer]}))
    assert calls_of(run) == [("look_up", {"order": 7}, "paid")]
    assert (run.piece(run.calls[0].message), run.final_answer) == ("I look.", "It is.")
    assert summary_of(path).trust == "complete"


@pytest.mark.parametrize("text", [{"content": "I look."}, {}])
def test_a_result_beside_the_text_of_no_call_is_doubted(tmp_path: Path, text: JsonObject) -> None:
    said = {"role": "assistant", **text, "observation": "Executed Bash: paid"}
    asked, answer = {"role": "user", "content": "Is it paid?"}, {"role": "assistant", "content": "It is."}
    (run,) = trajectories(path := written(tmp_path, {"messages": [asked, said, answer]}))
    assert "Executed Bash: paid" in run.text
    assert summary_of(path).trust == "doubtful"


@pytest.mark.parametrize("are_parts", [True, False])
def test_function_elements_are_calls_and_what_the_user_then_shows_is_their_result(
    tmp_path: Path, are_parts: bool
) -> None:
    """OpenHands, as in SWE-Gym, and R2E-Gym: the last call ends where `</function` stopped the model."""
    task = "Mend the sum."
    example = f"An example.\n----- NEW TASK DESCRIPTION -----\n{task}\n----- END OF NEW TASK DESCRIPTION -----\nGo."
    texts = [
        ("system", "Write <function=name>\n<parameter=a>value</parameter>\n</function>"),
        ("user", example),
        ("assistant", "I list.\n<function=execute_bash>\n<parameter=command>\nls\n</parameter>\n</function>"),
        ("user", "EXECUTION RESULT of [execute_bash]:\napp.py\n[Command finished with exit code 2]\n[cwd: /]"),
        ("assistant", "<function=file_editor>\n  <parameter=command>view</parameter>\n</function>"),
        ("user", "Execution output of [file_editor]:\ntotal = 1"),
        ("assistant", "I am thinking."),
        ("user", "Please go on."),
        ("assistant", "<function=finish>\n<parameter=message>Mended.</parameter>\n"),
    ]
    messages = [
        {"role": role, "content": [{"type": "text", "text": text}] if are_parts else text} for role, text in texts
    ]
    path = written(tmp_path, {"messages": messages, "resolved": True})
    (run,) = trajectories(path)
    assert (run.task, run.final_answer, run.success) == (task, "Mended.", True)
    assert [turn.user_message for turn in run.turns] == [example, "Please go on."]
    assert calls_of(run) == [
        ("execute_bash", {"command": "ls"}, "app.py\n[Command finished with exit code 2]\n[cwd: /]"),
        ("file_editor", {"command": "view"}, "total = 1"),
        ("finish", {"message": "Mended."}, None),
    ]
    assert [step.result.error for step in run.calls if step.result] == ["exit code 2", None]
    assert [run.piece(step.thought) for step in run.steps if step.thought] == ["I list."]
    assert summary_of(path).trust == "complete"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Think: I count.\nAct: bash\n\n```bash\nls\n```", "app.py"),
        ("Thought: I look.\nAction: look_up[17]", "paid"),
        ('{"action": "look_up", "action_input": "17"}', "paid"),
        ("```python\nlook_up(17)\n```", "Execution result:\npaid"),
        ("<look_up>order 17</look_up>", "<information>paid</information>"),
    ],
)
def test_calls_that_are_not_read_are_doubted(tmp_path: Path, said: str, shown: str) -> None:
    roles = [("user", "Is order 17 paid?"), ("assistant", said), ("user", shown), ("assistant", "It is paid.")]
    path = written(tmp_path, {"messages": [{"role": role, "content": text} for role, text in roles]})
    assert (trajectories(path)[0].calls, summary_of(path).trust) == ([], "doubtful")


@pytest.mark.parametrize("text", ["Observation: it is late.", "What is an action?\nAction: a deed.", "The result [1]."])
def test_words_of_a_dialogue_are_no_calls(tmp_path: Path, text: str) -> None:
    messages = [{"role": "user", "content": text}, {"role": "assistant", "content": text}]
    assert summary_of(written(tmp_path, {"messages": messages})).trust == "complete"


def test_what_an_environment_says_is_no_message_of_an_agent(tmp_path: Path) -> None:
    messages = [*ASKED, {"role": "assistant", "content": "look_up(17)"}, {"role": "environment", "content": "paid"}]
    path = written(tmp_path, {"messages": [*messages, SAID[-1]]})
    assert [agent.id for agent in trajectories(path)[0].agents] == ["agent"]
    assert summary_of(path).trust == "doubtful"


def test_queries_and_responses_of_azure_are_messages_with_calls_as_parts(tmp_path: Path) -> None:
    query = [ASKED[0], {"role": "user", "content": [{"type": "text", "text": "Is order 17 paid?"}]}]
    call = {"type": "tool_call", "tool_call_id": "c1", "name": "look_up", "arguments": {"order": 17}}
    response = [
        {"run_id": "r", "role": "assistant", "content": [call]},
        {
            "run_id": "r",
            "role": "tool",
            "tool_call_id": "c1",
            "content": [{"type": "tool_result", "tool_result": "paid"}],
        },
        {"run_id": "r", "role": "assistant", "content": [{"type": "text", "text": "It is paid."}]},
    ]
    path = written(tmp_path, {"query": query, "response": response, "tool_definitions": TOOLS})
    (run,) = trajectories(path)
    check_clerk(run)
    assert [step.call.id for step in run.calls if step.call] == ["c1"]
    assert summary_of(path).trust == "complete"


def test_a_call_without_a_name_is_doubted(tmp_path: Path) -> None:
    call = {"id": "c1", "type": "function", "action": "look_up", "arguments": {"order": 17}}
    messages = [*ASKED, {**SAID[0], "tool_calls": [call]}, *SAID[1:]]
    summary = summary_of(written(tmp_path, {"messages": messages}))
    assert (summary.trust, summary.unnamed_calls) == ("doubtful", 1)


def test_calls_and_responses_have_roles_of_their_own(tmp_path: Path) -> None:
    """ms-swift."""
    messages = [
        *ASKED,
        {"role": "tool_call", "content": '{"name": "look_up", "arguments": {"order": 17}}'},
        {"role": "tool_response", "content": "paid"},
        {"role": "assistant", "content": "It is paid."},
    ]
    path = written(tmp_path, {"messages": messages})
    (run,) = trajectories(path)
    check_clerk(run)
    assert ([agent.id for agent in run.agents], summary_of(path).trust) == (["agent"], "complete")


@pytest.mark.parametrize(
    "call",
    [
        '<function=look_up>{"order": 17}</function>',  # Llama
        '<tool_call>\n<function=look_up>{"order": 17}</function>\n</tool_call>',
    ],
)
def test_the_arguments_in_an_element_may_be_json(tmp_path: Path, call: str) -> None:
    said = [{"role": "assistant", "content": call}, {"role": "tool", "content": "paid"}, SAID[-1]]
    path = written(tmp_path, {"messages": [*ASKED, *said]})
    (run,) = trajectories(path)
    check_clerk(run)
    assert summary_of(path).trust == "complete"


def test_a_text_that_is_a_call_is_one_if_a_tool_answers(tmp_path: Path) -> None:
    written_call = {"role": "assistant", "content": '{"name": "look_up", "parameters": {"order": 17}}'}
    messages = [*ASKED, written_call, {"role": "ipython", "content": "paid"}, SAID[-1]]
    path = written(tmp_path, {"messages": messages})
    (run,) = trajectories(path)
    check_clerk(run)
    assert summary_of(path).trust == "complete"
    (run,) = trajectories(written(tmp_path, {"messages": [*ASKED, written_call]}))
    assert (run.calls, run.final_answer) == ([], written_call["content"])


def test_calls_in_brackets_are_calls_with_a_result_each(tmp_path: Path) -> None:
    """As ToolACE has them: the result of several calls is one message, and the last call has none."""
    shown = json.dumps([{"name": "Look Up", "results": {"paid": True}}, {"name": "stock", "results": {"error": "no"}}])
    messages = [
        ("user", "Is order 17 paid?"),
        ("assistant", '[Look Up(order=17), stock(items=["a), b", "c"])]'),
        ("tool", shown),
        ("assistant", "It is paid."),
        ("user", "And 18?"),
        ("assistant", "[Look Up(order=18)]"),
    ]
    path = written(tmp_path, {"system": "s", "conversations": [{"from": who, "value": what} for who, what in messages]})
    (run,) = trajectories(path)
    assert calls_of(run) == [
        ("Look Up", {"order": 17}, '{"paid": true}'),
        ("stock", {"items": ["a), b", "c"]}, '{"error": "no"}'),
        ("Look Up", {"order": 18}, None),
    ]
    assert [step.result and step.result.error for step in run.calls] == [None, "no", None]


@pytest.mark.parametrize("said", ["[note]", "[see f(x=1)] and more", "[f(x=y)]", "[f()]", "[f(1)]", "[f(x=1)", "[]"])
def test_other_brackets_are_text(tmp_path: Path, said: str) -> None:
    (run,) = trajectories(written(tmp_path, {"messages": [*ASKED, {"role": "assistant", "content": said}]}))
    assert (run.calls, run.final_answer) == ([], said)


def test_elements_in_parts_of_text_are_calls_and_results(tmp_path: Path) -> None:
    call = '<tool_call>\n{"name": "look_up", "arguments": {"order": 17}}\n</tool_call>'
    said = [("assistant", call), ("user", "<tool_response>\npaid\n</tool_response>"), ("assistant", "It is paid.")]
    messages = [{"role": role, "content": [{"type": "text", "text": text}]} for role, text in said]
    path = written(tmp_path, {"messages": [*ASKED, *messages]})
    (run,) = trajectories(path)
    check_clerk(run)
    assert summary_of(path).trust == "complete"


def test_calls_of_glm_have_keys_and_values(tmp_path: Path) -> None:
    call = (
        "<tool_call>look_up\n<arg_key>order</arg_key>\n<arg_value>A 17</arg_value>\n<arg_key>of</arg_key>\n"
        '<arg_value>["May"]</arg_value>\n</tool_call>'
    )
    said = [{"role": "assistant", "content": call}, {"role": "observation", "content": "paid"}, SAID[-1]]
    path = written(tmp_path, {"messages": [*ASKED, *said]})
    (run,) = trajectories(path)
    assert calls_of(run) == [("look_up", {"order": "A 17", "of": ["May"]}, "paid")]
    assert summary_of(path).trust == "complete"


def test_several_calls_may_be_one_message_of_llama_factory(tmp_path: Path) -> None:
    calls = [{"name": "look_up", "arguments": {"order": 17}}, {"name": "look_up", "arguments": {"order": 18}}]
    conversation = [
        {"from": "human", "value": "Are they paid?"},
        {"from": "function_call", "value": json.dumps(calls)},
        {"from": "observation", "value": "paid"},
        {"from": "observation", "value": "open"},
        {"from": "gpt", "value": "One is."},
    ]
    (run,) = trajectories(written(tmp_path, {"conversations": conversation}))
    assert calls_of(run) == [("look_up", {"order": 17}, "paid"), ("look_up", {"order": 18}, "open")]


def test_conversations_of_glaive_are_one_text(tmp_path: Path) -> None:
    prompt = 'SYSTEM: You are a clerk. Use the functions -\n{\n "name": "look_up",\n "parameters": {}\n}\n'
    call = '<functioncall> {"name": "look_up", "arguments": \'{"order": 17}\'} <|endoftext|>'
    chat = [
        "USER: Is order 17 paid?",
        f"ASSISTANT: {call}",
        "FUNCTION RESPONSE: paid",
        "ASSISTANT: It is paid. <|endoftext|>",
    ]
    path = written(tmp_path, {"system": prompt, "chat": "\n\n\n".join([*chat, ""])})
    (run,) = trajectories(path)
    assert (run.task, run.final_answer, calls_of(run)) == ("Is order 17 paid?", "It is paid.", CALLS)
    (agent,) = run.agents
    assert [tool.name for tool in agent.tools or ()] == ["look_up"]
    assert (agent.description or "").startswith("You are a clerk.")
    assert summary_of(path).trust == "complete"


def test_calls_and_responses_of_glaive_have_roles_with_hyphens(tmp_path: Path) -> None:
    conversation = [
        {"from": "human", "value": "Is order 17 paid?"},
        {"from": "function-call", "value": '{"name": "look_up", "arguments": {"order": 17}}'},
        {"from": "function-response", "value": "paid"},
        {"from": "gpt", "value": "It is paid."},
    ]
    (run,) = trajectories(written(tmp_path, {"conversations": conversation}))
    assert (calls_of(run), len(run.agents)) == (CALLS, 1)


def smolagents() -> list[JsonObject]:
    def message(role: str, text: str) -> JsonObject:
        return {"role": role, "content": [{"type": "text", "text": text}]}

    def call(number: int, name: str, arguments: Any) -> str:
        made = {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
        return f"Calling tools:\n{[made]}"

    return [
        message("system", "You are a clerk."),
        message("user", "New task:\nIs order 17 paid?"),
        message("assistant", "Thought: I look.\n<code>look_up(17)</code>"),
        message("tool-call", call(1, "python_interpreter", "look_up(17)")),
        message("tool-response", "Call id: call_1\nError:\nno such order\nNow let's retry"),
        message("assistant", "Thought: I say so."),
        message("tool-call", call(2, "final_answer", {"answer": "There is none."})),
        message("tool-response", "Observation:\nThere is none."),
    ]


def check_smolagents(run: Trajectory) -> None:
    assert (run.task, run.final_answer, [agent.id for agent in run.agents]) == (
        "Is order 17 paid?",
        "There is none.",
        ["agent"],
    )
    assert calls_of(run) == [
        ("python_interpreter", {"arguments": "look_up(17)"}, "no such order\nNow let's retry"),
        ("final_answer", {"answer": "There is none."}, "There is none."),
    ]
    assert [step.result.error for step in run.calls if step.result] == ["no such order", None]
    assert [run.piece(step.thought) for step in run.calls if step.thought] == [
        "I look.\n<code>look_up(17)</code>",
        "I say so.",
    ]


def test_messages_of_smolagents_have_calls_and_results_as_texts(tmp_path: Path) -> None:
    path = written(tmp_path, {"messages": smolagents()})
    check_smolagents(trajectories(path)[0])
    assert summary_of(path).trust == "complete"


def test_runs_of_smolagents_on_gaia_have_messages_or_steps(tmp_path: Path) -> None:
    about = {
        "agent_name": "model-a",
        "question": "Is order 17 paid?",
        "prediction": "There is none.",
        "true_answer": "no",
        "task_id": "g-1",
    }
    (run,) = trajectories(written(tmp_path, {**about, "intermediate_steps": smolagents()}))
    check_smolagents(run)
    assert (run.task_id, run.reference_answer) == ("g-1", "no")
    call = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": {"order": 17}}}
    steps = [
        {"task": "Is order 17 paid?", "task_images": None},
        {"step_number": 1, "tool_calls": [call], "model_output": "Thought: I look.", "observations": "none"},
    ]
    (run,) = trajectories(written(tmp_path, {**about, "intermediate_steps": steps}))
    assert (run.format, run.final_answer) == ("smolagents", "There is none.")
    assert calls_of(run) == [("look_up", {"order": 17}, "none")]


def test_the_function_of_a_call_may_be_its_name(tmp_path: Path) -> None:
    """AgentDojo, whose calls have `function` and `args`, and whose outcome is the utility."""
    call = {"function": "look_up", "args": {"order": 17}, "id": "c1"}
    record = {
        "user_task_id": "user_task_0",
        "injection_task_id": None,
        "messages": [
            *ASKED,
            {"role": "assistant", "content": "I look.", "tool_calls": [call]},
            {"role": "tool", "content": "", "tool_call_id": "c1", "tool_call": call, "error": "ValueError: no order"},
            {"role": "assistant", "content": "There is none.", "tool_calls": []},
        ],
        "utility": False,
        "security": True,
    }
    (run,) = trajectories(written(tmp_path, record))
    assert calls_of(run) == [("look_up", {"order": 17}, "ValueError: no order")]
    assert [step.result.error for step in run.calls if step.result] == ["ValueError: no order"]
    assert (run.task_id, run.success, run.labels) == ("user_task_0", False, {"security": True})


def test_the_last_fence_of_an_answer_is_the_command_of_swe_agent(tmp_path: Path) -> None:
    def message(role: str, text: str | None, prompt: str | None = None) -> JsonObject:
        return {"mask": role == "ai", "role": role, "text": text, "system_prompt": prompt}

    record: dict[str, Any] = {
        "instance_id": "a__b-1",
        "model_name": "model-a",
        "target": True,
        "trajectory": [
            message("system", None, "You are a programmer."),
            message("user", "Mend the sum."),
            message("ai", "The file has:\n```python\ntotal = 1\n```\nI list.\n```\nls -F\n```"),
            message("user", "app.py\n"),
            message("ai", "I cannot say."),
            message("user", "Your answer has no command."),
            message("ai", "Done.\n```\nsubmit\n```"),
        ],
        "exit_status": "submitted (exit_context)",
        "generated_patch": "diff --git a/app.py b/app.py",
        "eval_logs": "...",
    }
    path = written(tmp_path, record)
    (run,) = trajectories(path)
    assert (run.format, run.task, run.task_id) == ("swe_agent", "Mend the sum.", "a__b-1")
    assert calls_of(run) == [("bash", {"arguments": "ls -F"}, "app.py\n"), ("submit", {"arguments": "submit"}, None)]
    assert [run.piece(step.thought) for step in run.calls] == [
        "The file has:\n```python\ntotal = 1\n```\nI list.",
        "Done.",
    ]
    assert (run.success, run.flags, run.final_answer) == (True, ("step_limit",), "diff --git a/app.py b/app.py")
    assert (run.agents[0].model, run.agents[0].description) == ("model-a", "You are a programmer.")
    assert len(run.turns) == 1
    assert summary_of(path).trust == "complete"


def test_toolbench_answers_are_the_way_that_was_chosen() -> None:
    path = FIXTURES / "toolbench" / "answer.json"
    (run,) = trajectories(path)
    assert (run.format, run.task, run.final_answer) == ("toolbench", "Find a picture of a lake.", "lake.png")
    assert [name for name, _, _ in calls_of(run)] == ["search_for_images", "Finish"]
    assert [tool.name for tool in run.agents[0].tools or ()] == ["search_for_images"]
    summary = summary_of(path)
    assert (summary.trust, summary.gaps) == (
        "partial",
        ("3 requests stated by the source, 2 read", "90 tokens stated by the source, 0 read"),
    )


@pytest.mark.parametrize("shape", [dict, str])
def test_converted_answers_of_toolbench_have_their_calls_in_order(tmp_path: Path, shape: type) -> None:
    picture = {"name": "search", "arguments": '{"q": "lake"}', "response": '{"error": "", "response": "lake.png"}'}
    broken = {"name": "search", "arguments": '{"q": "sea"}', "response": '{"error": "Timeout", "response": ""}'}
    finish = {"name": "Finish", "arguments": '{"final_answer": "lake.png"}', "response": ""}
    said = [("system", "Use tools."), ("user", "Find a picture."), ("assistant", "I search.")]
    details: list[JsonObject] = []
    for role, message in reversed([*said, *[("tool", shape(act)) for act in (picture, broken, finish)]]):
        details = [{"role": role, "message": message, "next": details}]
    answer = {"method": "CoT@1", "total_steps": 6, "final_answer": "lake.png", "answer_details": details}
    record = {"query": "Find a picture.", "available_tools": [], "answer": answer}
    one, other = trajectories(path := written(tmp_path, {"7": record, "8": record}))
    assert (one.format, one.task, one.task_id, other.task_id) == ("toolbench", "Find a picture.", "7", "8")
    assert calls_and_errors(one) == [
        ('{"q":"lake"}', None),
        ('{"q":"sea"}', "Timeout"),
        ('{"final_answer":"lake.png"}', None),
    ]
    assert summary_of(path).trust == "complete"
    assert (one.final_answer, one.task_id) == ("lake.png", "7")
    answer["total_steps"] = 9
    assert summary_of(written(tmp_path, record)).trust == "partial"


@pytest.mark.parametrize("length", [20, 36, 47, 70, 86])
def test_a_printed_call_of_toolbench_that_is_cut_off_is_a_call(tmp_path: Path, length: int) -> None:
    printed = str({"name": "search", "arguments": '{"q": 1}', "response": '{"error": "", "response": "lake.png"}'})
    details: list[JsonObject] = [{"role": "tool", "message": printed[:length], "next": []}]
    path = written(tmp_path, {"query": "Find one.", "answer": {"final_answer": "cut", "answer_details": details}})
    (run,) = trajectories(path)
    assert ([name for name, _, _ in calls_of(run)], run.final_answer) == (["search"], "cut")
    assert "1 full text stated by the source, 0 read" in summary_of(path).gaps


@pytest.mark.parametrize("shown", ["OBSERVATION:\npaid", "Your command ran successfully and printed nothing."])
def test_what_a_user_says_after_a_written_call_is_its_result_where_results_are_called_so(
    tmp_path: Path, shown: str
) -> None:
    called = "I look.\n\n<function=bash>\n<parameter=command>ls</parameter>\n</function>"
    said = [
        "Is it paid?",
        called,
        "OBSERVATION:\norders.csv",
        called,
        shown,
        "<function=submit>\n</function>",
        "Thanks.",
    ]
    roles = ["user", "assistant"] * 4
    messages = [{"role": role, "content": text} for role, text in zip(roles, said, strict=False)]
    (run,) = trajectories(path := written(tmp_path, {"messages": messages}))
    assert [result for _, _, result in calls_of(run)] == ["orders.csv", shown.removeprefix("OBSERVATION:\n"), None]
    assert [turn.user_message for turn in run.turns] == ["Is it paid?", "Thanks."]
    assert summary_of(path).trust == "complete"


CLERK = (
    "system\nYou are a clerk.\n\n<tools>\n" + json.dumps(TOOLS[0]) + "\n</tools>\nuser\nIs order 17 paid?\nassistant\n"
)
LOOKED = 'I look.\n<tool_call>\n{"name": "look_up", "arguments": {"order": 17}}\n</tool_call>'


@pytest.mark.parametrize("line_break", ["", "\n"])
def test_a_rollout_of_verl_is_split_where_its_template_named_the_roles(tmp_path: Path, line_break: str) -> None:
    shown = f"{line_break}user\n<tool_response>\npaid\n</tool_response>\nassistant\n"
    record = {"input": CLERK, "output": f"{LOOKED}{shown}It is paid.", "gts": "paid", "score": 1.0, "step": 7}
    path = written(tmp_path, record)
    (run,) = trajectories(path)
    assert (run.task, run.final_answer, len(run.turns)) == ("Is order 17 paid?", "It is paid.", 1)
    assert calls_of(run) == CALLS
    assert [tool.name for tool in run.agents[0].tools or ()] == ["look_up"]
    assert (run.success, run.reference_answer, run.labels) == (True, "paid", {"reward": 1.0})
    assert summary_of(path).trust == "complete"


def test_what_a_user_answers_in_a_rollout_of_verl_is_a_turn_and_its_score_no_outcome_beside_acc(tmp_path: Path) -> None:
    record = {"input": "user\n2 + 2?\nassistant\n", "step": 7, "score": -1.0, "acc": True}
    said = "Ask the user\nor not: 5.\nuser\nTry again.\nassistant\n4, as an\nassistant\nsays."
    (run,) = trajectories(written(tmp_path, {**record, "output": said}))
    assert [turn.user_message for turn in run.turns] == ["2 + 2?", "Try again."]
    assert [turn.interactions[0].response for turn in run.turns] == [
        "Ask the user\nor not: 5.",
        "4, as an\nassistant\nsays.",
    ]
    assert (run.success, run.labels) == (True, {"score": -1.0})


def test_a_rollout_of_verl_without_names_of_roles_is_a_prompt_and_its_answer(tmp_path: Path) -> None:
    record = {"input": "User: 2 + 2? Assistant:", "output": "4", "score": 0.0, "step": 7}
    (run,) = trajectories(written(tmp_path, record))
    assert (run.task, run.final_answer, run.success) == ("User: 2 + 2? Assistant:", "4", False)


def test_answers_of_xlam_are_calls_that_nobody_ran(tmp_path: Path) -> None:
    answers = [{"name": "look_up", "arguments": {"order": number}} for number in (17, 18)]
    record = {"id": 0, "query": "Are 17 and 18 paid?", "answers": json.dumps(answers), "tools": json.dumps(TOOLS)}
    (run,) = trajectories(written(tmp_path, record))
    assert (run.id, run.task, run.final_answer) == ("0", "Are 17 and 18 paid?", None)
    assert calls_of(run) == [("look_up", {"order": 17}, None), ("look_up", {"order": 18}, None)]
    assert [tool.name for tool in run.agents[0].tools or ()] == ["look_up"]


SHOWN = {"tool_call_id": "c1", "output": "paid"}


@pytest.mark.parametrize(
    "shown",
    [
        {"role": "user", "tool_results": [{"tool_call_id": "c1", "content": "paid"}]},
        {"role": "tool", "results": [SHOWN]},
        {"role": "tool", "content": [SHOWN]},
        {"role": "user", "tool_outputs": ["paid"]},
        {"tool_results": [SHOWN]},
    ],
)
def test_results_may_stand_in_a_list_of_a_message(tmp_path: Path, shown: JsonObject) -> None:
    call = {"id": "c1", "function": {"name": "look_up", "arguments": '{"order": 17}'}}
    called = {"role": "assistant", "content": "", "tool_calls": [call]}
    asked, answer = {"role": "user", "content": "Is it paid?"}, {"role": "assistant", "content": "It is."}
    messages = [asked, *([called, shown] if "role" in shown else [{**called, **shown}]), answer]
    (run,) = trajectories(path := written(tmp_path, {"messages": messages}))
    assert (calls_of(run), len(run.turns), summary_of(path).trust) == (
        [("look_up", {"order": 17}, "paid")],
        1,
        "complete",
    )


def test_results_that_repeat_those_of_tools_are_read_once(tmp_path: Path) -> None:
    call = {"id": "c1", "function": {"name": "look_up", "arguments": "{}"}}
    called = {"role": "assistant", "content": "", "tool_calls": [call], "tool_results": [SHOWN]}
    messages = [{"role": "user", "content": "?"}, called, {"role": "tool", "tool_call_id": "c1", "content": "paid"}]
    (run,) = trajectories(written(tmp_path, {"messages": messages}))
    assert calls_of(run) == [("look_up", {}, "paid")]


@pytest.mark.parametrize(
    "told",
    [
        {"is_error": "true"},
        {"success": "false"},
        {"ok": False},
        {"failed": True},
        {"exit_code": 1},
        {"status": "timeout"},
    ],
)
def test_a_message_of_a_tool_says_that_it_failed_in_many_ways(tmp_path: Path, told: JsonObject) -> None:
    call = {"id": "c1", "function": {"name": "look_up", "arguments": "{}"}}
    called: list[JsonObject] = [{"role": "user", "content": "?"}, {"role": "assistant", "tool_calls": [call]}]
    shown = {"role": "tool", "tool_call_id": "c1", "content": "order 17", **told}
    (run,) = trajectories(written(tmp_path, {"messages": [*called, shown]}))
    assert calls_and_errors(run) == [("{}", "order 17")]
