"""Agents that are a function or a command: tasks in, answers or trajectories out, limits, and what they are given."""

import contextlib
import os
import signal
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml
from upath import UPath

from evaluation_assets.core.intake.copying.suites import take_in_agent
from evaluation_assets.core.report.agent_use import AgentUse
from evaluation_assets.core.report.agents.agent_report import agent_report
from evaluation_assets.core.suites.agents.own_agent import MOST_OUTPUT
from evaluation_assets.core.suites.agents.settings import AgentSettings, InvalidAgent, load_agent
from evaluation_assets.core.suites.call_schemas import defects
from evaluation_assets.core.suites.calls import run_of
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.trajectories.model import Tool, Trajectory, Usage
from evaluation_assets_tests.conftest import KEY
from evaluation_assets_tests.core.suites.agents.running import SUM, Running, suite


def written(folder: Path, source: str, **more: Any) -> Path:
    """The file of an agent next to its module."""
    (folder / "my_agent.py").write_text(dedent(source))
    (folder / "agent.yaml").write_text(yaml.safe_dump({"name": "own"} | more))
    return folder / "agent.yaml"


def function(folder: Path, source: str, **more: Any) -> AgentSettings:
    return load_agent(UPath(written(folder, source, provider="python", function="my_agent:run", **more)))


def command(folder: Path, source: str, **more: Any) -> AgentSettings:
    program = [sys.executable, "my_agent.py"]
    return load_agent(UPath(written(folder, source, provider="command", command=program, **more)))


def ran(running: Running, agent: AgentSettings) -> Trajectory:
    (found,) = running.trajectories(running.run(agent, suite(SUM))).values()
    return found


@pytest.mark.parametrize("define", ["def", "async def"])
def test_a_function_returns_an_answer(tmp_path: Path, running: Running, define: str) -> None:
    found = ran(running, function(tmp_path, f"{define} run(task):\n    return task['task'].upper()"))
    assert found.final_answer == "HOW MUCH IS TWO TO THE TENTH?"
    assert found.turns[0].user_message == SUM["message"]
    assert (found.flags, found.extra["ended"]) == ((), "answered")
    assert found.agents[0].model == "my_agent:run"


TRAJECTORY = """
    def run(task):
        call = {"id": "1", "type": "function", "function": {"name": "power", "arguments": '{"base": 2}'}}
        return {
            "messages": [
                {"role": "assistant", "content": "I calculate.", "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "1", "content": "1024"},
            ],
            "answer": "1024",
            "usage": {"input_tokens": 10, "output_tokens": 5, "cost_usd": 0.25},
        }
"""


HALVES = """
    def run(task):
        call = {"id": "1", "type": "function", "function": {"name": "cut", "arguments": '{"at": "\\ud83d"}'}}
        return {
            "messages": [
                {"role": "assistant", "content": "I cut \\ud83d.", "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "1", "content": "\\ude00 is left"},
            ],
            "answer": "half: \\udfff",
        }
"""


@pytest.mark.parametrize("kind", [function, command])
def test_lone_surrogates_of_an_agent_are_replaced(tmp_path: Path, running: Running, kind: Any) -> None:
    main = "\nif __name__ == '__main__':\n    import json, sys\n    print(json.dumps(run(json.load(sys.stdin))))\n"
    found = ran(running, kind(tmp_path, dedent(HALVES) + main))
    (step,) = found.calls
    assert step.result is not None
    assert found.piece(step.result.content) == "\ufffd is left"
    assert found.final_answer == "half: \ufffd"


@pytest.mark.parametrize("body", ["raise LookupError('no model')", "return '1024'"])
def test_a_run_of_unknown_cost_has_no_list_price(tmp_path: Path, running: Running, body: str) -> None:
    found = ran(running, function(tmp_path, f"def run(task):\n    {body}"))
    used = found.usage or Usage()
    assert (used.cost_usd, used.is_list_price) == (None, False)
    assert not AgentUse().with_run(0, used).is_list_price


@pytest.mark.parametrize("kind", [function, command])
def test_an_agent_returns_a_trajectory(tmp_path: Path, running: Running, kind: Any) -> None:
    main = "\nif __name__ == '__main__':\n    import json, sys\n    print(json.dumps(run(json.load(sys.stdin))))\n"
    found = ran(running, kind(tmp_path, dedent(TRAJECTORY) + main))
    (step,) = found.calls
    assert step.call is not None and step.result is not None
    assert (step.call.name, found.arguments(step.call)) == ("power", {"base": 2})
    assert found.piece(step.result.content) == "1024"
    assert found.final_answer == "1024"
    assert found.usage is not None
    assert (found.usage.input_tokens, found.usage.output_tokens, found.usage.cost_usd) == (10, 5, 0.25)
    report = agent_report(suite(SUM), [found])
    assert [(tool.name, tool.calls) for tool in report.tools] == [("power", 1)]


CHAT = """[
    {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "power", "arguments": '{"base": 2}'}}]},
    {"role": "tool", "tool_call_id": "1", "content": "1024"},
    {"role": "assistant", "content": "1024"},
]"""
ANTHROPIC = """[
    {"role": "assistant", "content": [
        {"type": "text", "text": "I calculate."},
        {"type": "tool_use", "id": "1", "name": "power", "input": {"base": 2}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "1024"}]},
    {"role": "assistant", "content": [{"type": "text", "text": "1024"}]},
]"""
RESPONSES = """[
    {"type": "function_call", "call_id": "1", "name": "power", "arguments": '{"base": 2}'},
    {"type": "function_call_output", "call_id": "1", "output": "1024"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "1024"}]},
]"""


@pytest.mark.parametrize("messages", [CHAT, ANTHROPIC, RESPONSES])
@pytest.mark.parametrize("given", ["", "task['messages'] + "])
def test_messages_of_any_of_these_protocols_are_read(
    tmp_path: Path, running: Running, messages: str, given: str
) -> None:
    found = ran(running, function(tmp_path, f"def run(task): return {{'messages': {given}{messages}}}"))
    (step,) = found.calls
    assert step.call is not None and step.result is not None
    assert (step.call.name, found.arguments(step.call)) == ("power", {"base": 2})
    assert found.piece(step.result.content) == "1024"
    assert (found.final_answer, [agent.name for agent in found.agents]) == ("1024", ["own"])
    assert found.turns[0].user_message == SUM["message"] and len(found.turns) == 1


@pytest.mark.parametrize(("written", "read"), [('{"base": 2', None), ("2 ** 10", {"arguments": "2 ** 10"})])
def test_arguments_that_are_a_cut_object_are_told_as_such(
    tmp_path: Path, running: Running, written: str, read: dict[str, str] | None
) -> None:
    messages = CHAT.replace('{"base": 2}', written)
    (call,) = run_of(ran(running, function(tmp_path, f"def run(task): return {{'messages': {messages}}}"))).calls
    assert call.arguments == read
    tool = Tool(name="power", description="", parameters={"base": "integer"})
    told = [defect.detail for defect in defects(call, [tool])]
    assert ("the arguments are not a JSON object" in told) is (read is None)


@pytest.mark.parametrize("answer", ["'1024'", "None"])
def test_messages_without_a_role_fail_the_attempt(tmp_path: Path, running: Running, answer: str) -> None:
    messages = "[{'role': 'assistant', 'content': 'x'}, {'tool': 'power', 'arguments': {}}]"
    found = ran(running, function(tmp_path, f"def run(task): return {{'answer': {answer}, 'messages': {messages}}}"))
    assert found.extra["ended"] == "failed" and found.extra["error"].startswith("messages[1] has no role")


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 8, "completion_tokens": 3, "total_tokens": 11, "prompt_tokens_details": {"cached_tokens": 2}},
        {"input_tokens": 6, "cache_read_input_tokens": 2, "cache_creation_input_tokens": 0, "output_tokens": 3},
    ],
    ids=["OpenAI", "Anthropic"],
)
def test_usage_may_be_what_a_provider_reports(tmp_path: Path, running: Running, usage: dict[str, Any]) -> None:
    found = ran(running, function(tmp_path, f"def run(task): return {{'answer': '1024', 'usage': {usage}}}"))
    assert found.usage is not None
    assert (found.usage.input_tokens, found.usage.cached_tokens, found.usage.output_tokens) == (8, 2, 3)


@pytest.mark.parametrize(
    "usage",
    [
        {"tokens_used": 1, "model": "any"},
        {"input_tokens": 5, "output_tokens": -1},
        {"input_tokens": 10**30},
        {"output_tokens": 10**30},
        {"cost_usd": "much"},
        "ten tokens",
    ],
)
def test_usage_that_says_nothing_is_unknown_and_fails_no_attempt(
    tmp_path: Path, running: Running, usage: object
) -> None:
    found = ran(running, function(tmp_path, f"def run(task): return {{'answer': '1024', 'usage': {usage!r}}}"))
    assert (found.extra["ended"], found.final_answer) == ("answered", "1024")
    used = found.usage or Usage()
    assert (used.input_tokens, used.output_tokens, used.cost_usd) == (None, None, None)


def test_what_a_usage_says_beside_tokens_is_left_out(tmp_path: Path, running: Running) -> None:
    usage = {"input_tokens": 5, "output_tokens": 6, "server_tool_use": {"web_search_requests": 0}, "speed": "standard"}
    found = ran(running, function(tmp_path, f"def run(task): return {{'answer': '1024', 'usage': {usage}}}"))
    assert found.usage is not None and (found.usage.input_tokens, found.usage.output_tokens) == (5, 6)


OPENAI = [
    {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "power", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "1", "content": "4"},
]
RESPONSES = [
    {"type": "function_call", "call_id": "2", "name": "power", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "2", "output": "4"},
]
BLOCKS = [{"type": "tool_use", "id": "3", "name": "power", "input": {}}]


@pytest.mark.parametrize(
    ("messages", "error"),
    [
        ([*OPENAI, *RESPONSES], "messages are of several protocols: OpenAI's chat, Responses. Return"),
        ([*OPENAI, {"role": "assistant", "content": BLOCKS}], "messages are of several protocols: Anthropic, OpenAI's"),
        (BLOCKS, "messages[0] has no role. Return"),
    ],
)
def test_messages_of_which_calls_would_be_lost_are_a_failed_attempt(
    tmp_path: Path, running: Running, messages: list[dict[str, Any]], error: str
) -> None:
    found = ran(running, function(tmp_path, f"def run(task): return {{'answer': '4', 'messages': {messages}}}"))
    assert found.extra["ended"] == "failed" and found.extra["error"].startswith(error)


@pytest.mark.parametrize("number", ["NaN", "Infinity"])
def test_a_number_that_is_none_is_missing_in_the_output_of_a_command(
    tmp_path: Path, running: Running, number: str
) -> None:
    output = f'{{"answer": "1024", "usage": {{"input_tokens": 3, "output_tokens": 1, "cost_usd": {number}}}}}'
    found = ran(running, command(tmp_path, f"print({output!r})"))
    assert (found.extra["ended"], found.final_answer) == ("answered", "1024")
    assert found.usage is not None and (found.usage.input_tokens, found.usage.cost_usd) == (3, None)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("return {'answer': 4}", "the agent returned dict: answer: must be text. Return"),
        ("return None", "the agent returned NoneType: must be fields with values. Return"),
        ("raise LookupError('no model')", "LookupError: no model"),
        ("return 42", "the agent returned int"),
        ("return {'reply': 'x'}", "the agent returned dict: reply"),
        ("return ''", "the agent returned no answer"),
        ("return object()", "the agent returned object, which is not JSON"),
        (
            "deep = []\n    for _ in range(10**5): deep = [deep]\n    return deep",
            "the agent returned list, which is not",
        ),
        (f"return 'x' * {MOST_OUTPUT + 1}", "the agent returned more than"),
        ("raise SystemExit('bye')", "RuntimeError: the function raised SystemExit"),
        ("raise __import__('asyncio').CancelledError", "RuntimeError: the function raised CancelledError"),
        ("raise type('Mute', (Exception,), {'__str__': None})", "RuntimeError: the function raised Mute"),
    ],
)
@pytest.mark.parametrize("define", ["def", "async def"])
def test_a_function_that_fails_is_a_failed_attempt(
    tmp_path: Path, running: Running, define: str, body: str, error: str
) -> None:
    found = ran(running, function(tmp_path, f"{define} run(task):\n    {body}"))
    assert found.extra["ended"] == "failed"
    assert found.extra["error"].startswith(error)


NO_JSON = "the command wrote no JSON to its standard output"


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("import sys; sys.exit('no licence')", "the command ended with exit status 1: no licence"),
        (
            "print('Done!')",
            f"{NO_JSON}: Expecting value: line 1 column 1 (char 0). It wrote: Done!",
        ),
        ("", f"{NO_JSON}: Expecting value: line 1 column 1 (char 0). It wrote: nothing"),
        (f"print('x' * {MOST_OUTPUT + 1})", "the command wrote more than"),
    ],
)
def test_a_command_that_fails_is_a_failed_attempt(tmp_path: Path, running: Running, source: str, error: str) -> None:
    found = ran(running, command(tmp_path, source))
    assert found.extra["ended"] == "failed"
    assert found.extra["error"].startswith(error)


def test_a_missing_command_is_a_failed_attempt(tmp_path: Path, running: Running) -> None:
    file = written(tmp_path, "", provider="command", command=["no-such-program"])
    assert ran(running, load_agent(UPath(file))).extra["error"].startswith("no-such-program cannot be started")


@pytest.mark.slow
def test_a_command_out_of_time_is_killed_with_its_children(tmp_path: Path, running: Running) -> None:
    source = """
        import os, subprocess, sys, time
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        open("child", "w").write(str(child.pid))
        time.sleep(600)
    """
    found = ran(running, command(tmp_path, source, limits={"max_seconds": 3}))
    assert (found.extra["ended"], found.extra["error"]) == ("time_limit", "no answer in 3 s")
    child = int((tmp_path / "child").read_text())
    status = Path(f"/proc/{child}/stat")
    assert not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.parametrize("own_session", [False, True])
def test_a_child_that_keeps_the_pipes_open_does_not_delay_the_answer(
    tmp_path: Path, running: Running, own_session: bool
) -> None:
    source = f"""
        import subprocess, sys
        child = [sys.executable, "-c", "import time; time.sleep(600)"]
        started = subprocess.Popen(child, start_new_session={own_session})
        open("child", "w").write(str(started.pid))
        print('{{"answer": "1024"}}')
    """
    try:
        found = ran(running, command(tmp_path, source, limits={"max_seconds": 60}))
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int((tmp_path / "child").read_text()), signal.SIGKILL)
    assert (found.extra["ended"], found.final_answer) == ("answered", "1024")


def test_a_command_is_given_only_the_variables_of_its_settings(
    tmp_path: Path, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", KEY)
    monkeypatch.setenv("UNRELATED_API_KEY", "another-secret")
    source = "import json, os; print(json.dumps({'answer': ' '.join(sorted(os.environ))}))"
    found = ran(running, command(tmp_path, source, env={"MODE": "test"}, env_from=["MY_API_KEY"]))
    names = set((found.final_answer or "").split())
    assert {"MODE", "MY_API_KEY", "PATH"} <= names
    assert "UNRELATED_API_KEY" not in names
    assert len(names & {*os.environ}) < len(os.environ)


def test_an_error_does_not_repeat_a_key(tmp_path: Path, running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", KEY)
    source = "import os, sys; sys.exit('refused: ' + os.environ['MY_API_KEY'])"
    found = ran(running, command(tmp_path, source, env_from=["MY_API_KEY"]))
    assert found.extra["error"] == "the command ended with exit status 1: refused: [masked]"


def test_an_exception_does_not_repeat_a_key(tmp_path: Path, running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", KEY)
    found = ran(running, function(tmp_path, "import os\ndef run(task): raise OSError(os.environ['MY_API_KEY'])"))
    assert found.extra["error"] == "OSError: [masked]"


@pytest.mark.parametrize("kind", [function, command])
def test_changed_code_is_another_version(tmp_path: Path, kind: Any) -> None:
    source = "def run(task): return 'a'"
    first, again = kind(tmp_path, source).identity, kind(tmp_path, source).identity
    assert first == again
    assert kind(tmp_path, source.replace("'a'", "'b'")).identity != first


def test_another_function_of_the_same_file_is_another_version(tmp_path: Path) -> None:
    source = "def run(task): ...\ndef other(task): ..."
    other = written(tmp_path, source, provider="python", function="my_agent:other")
    assert load_agent(UPath(other)).version_name != function(tmp_path, source).version_name


def test_a_program_in_the_command_itself_is_run(tmp_path: Path, running: Running) -> None:
    program = "import json; print(json.dumps({'answer': 'a'}))" + " " * 5000
    file = written(tmp_path, "", provider="command", command=[sys.executable, "-c", program])
    assert ran(running, load_agent(UPath(file))).final_answer == "a"


def test_an_installation_finds_the_code_where_it_was(tmp_path: Path, running: Running) -> None:
    code = tmp_path / "code"
    code.mkdir()
    home = Installation.at(str(tmp_path / "home"))
    home.agents.mkdir(parents=True)
    take_in_agent(home, written(code, "def run(task): return 'here'", provider="python", function="my_agent:run"))
    assert ran(running, load_agent(home.agents / "own.yaml")).final_answer == "here"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"provider": "python"}, "provider python needs a function"),
        ({"provider": "command"}, "provider command a command"),
        ({"provider": "pyton", "function": "my_agent:run"}, "unknown provider 'pyton'; did you mean 'python'?"),
        ({"provider": "openai", "model": "m", "function": "a:b"}, "others take neither"),
        ({"provider": "python", "function": "my_agent:gone"}, "module my_agent has no function gone"),
        ({"provider": "python", "function": "my_agent:run", "tools": {"mock": True}}, "brings its own tools"),
    ],
)
def test_an_agent_that_cannot_be_run_is_refused(tmp_path: Path, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidAgent, match=message):
        load_agent(UPath(written(tmp_path, "def run(task): return ''", **settings)))
