"""Tools of real MCP servers."""

import sys

import pytest

from evaluation_assets.core.suites.agents.mcp_tools import McpServer
from evaluation_assets_tests.core.suites.agents.running import (
    DONE,
    PROTOCOLS,
    SUM,
    Running,
    agent,
    call,
    errors,
    results,
    steps,
    suite,
)
from evaluation_assets_tests.model_server import ModelServer
from evaluation_assets_tests.started_mcp_server import COMMAND, ROOT


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_tools_of_an_mcp_server(running: Running, server: ModelServer, mcp: dict, protocol: str) -> None:
    doing = [
        {"calls": [call("2 ** 10", "calculate"), {"name": "fail", "arguments": {"reason": "no"}}]},
        {"calls": [{"name": "hang", "arguments": {}}, {"name": "flood", "arguments": {"characters": 2_000_000}}]},
        {"text": DONE.format("1024")},
    ]
    server.script([steps("tenth", *doing)])
    limits = {"tool_timeout_s": 5, "max_result_characters": 1000}
    who = agent(server, protocol, tools={"mcp": [mcp]}, limits=limits)
    found = running.trajectories(running.run(who, suite(SUM)))["sum"]
    told = results(found)
    assert told[0] == "1024" and "fail" in told[1] and "no result in 5 s" in told[2] and "left out" in told[3]
    assert [error is not None for error in errors(found)] == [False, True, True, False]
    assert found.final_answer == "1024"
    assert {step.call.server for step in found.calls if step.call} == {"tests"}


@pytest.mark.parametrize("transport", ["sse"])
def test_tools_of_a_server_that_speaks_sse(running: Running, server: ModelServer, mcp: dict) -> None:
    calls = [call("2 ** 10", "calculate"), {"name": "fail", "arguments": {"reason": "no"}}]
    hang = {"calls": [{"name": "hang", "arguments": {}}, call("2 ** 3", "calculate")]}
    server.script([steps("tenth", {"calls": calls}, hang, {"text": DONE.format("1024")})])
    who = agent(server, PROTOCOLS[0], tools={"mcp": [mcp]}, limits={"tool_timeout_s": 5})
    found = running.trajectories(running.run(who, suite(SUM)))["sum"]
    told = results(found)
    assert told[0] == "1024" and "fail" in told[1] and "no result in 5 s" in told[2] and told[3] == "8"
    assert [error is not None for error in errors(found)] == [False, True, True, False]
    assert found.final_answer == "1024"


def test_a_transport_is_of_a_server_with_an_address() -> None:
    with pytest.raises(ValueError, match="transport: sse is for a server with a url"):
        McpServer(name="files", command="npx", transport="sse")


@pytest.mark.parametrize("transport", ["stdio"])
def test_a_tool_server_that_dies_fails_the_attempt_and_asks_the_model_no_more(
    running: Running, server: ModelServer, mcp: dict
) -> None:
    server.script([steps("tenth", {"calls": [{"name": "die", "arguments": {}}]}, {"text": DONE.format("1024")})])
    found = running.trajectories(running.run(agent(server, tools={"mcp": [mcp]}), suite(SUM)))["sum"]
    assert found.flags == ("failed", "no_answer") and "'tests'" in found.extra["error"]
    assert len(server.requests()) == 1


@pytest.mark.slow
def test_every_attempt_has_an_mcp_server_of_its_own(running: Running, server: ModelServer) -> None:
    server.script([steps("tenth", {"calls": [{"name": "count", "arguments": {}}]}, {"text": DONE.format("1")})])
    stdio = {"name": "tests", "command": COMMAND[0], "args": COMMAND[1:], "cwd": ROOT}
    tally = running.run(agent(server, tools={"mcp": [stdio]}), suite(SUM), trials=3)
    assert [results(found) for found in running.trajectories(tally).values()] == [["1"]] * 3


def test_a_server_that_does_not_start_fails_the_case_without_a_call(running: Running, server: ModelServer) -> None:
    broken = {"name": "broken", "command": sys.executable, "args": ["-c", "raise SystemExit('no configuration')"]}
    tally = running.run(agent(server, tools={"mcp": [broken]}), suite(SUM))
    found = running.trajectories(tally)["sum"]
    assert found.extra["ended"] == "failed" and "no configuration" in found.extra["error"]
    assert server.requests() == []
