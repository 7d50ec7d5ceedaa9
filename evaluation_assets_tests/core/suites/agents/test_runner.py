"""Runs of agents on suites: conversation, trials, limits, errors and budget."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.suites.agents.settings import InvalidAgent
from evaluation_assets_tests.core.judging.test_hostile_replies import completion
from evaluation_assets_tests.core.suites.agents.running import (
    DONE,
    PROTOCOLS,
    SUM,
    Running,
    agent,
    call,
    results,
    steps,
    suite,
)
from evaluation_assets_tests.http_server import Reply, http_server
from evaluation_assets_tests.model_server import ModelServer, rule
from evaluation_assets_tests.started_mcp_server import COMMAND, ROOT


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_agent_calls_tools_side_by_side_and_answers(running: Running, server: ModelServer, protocol: str) -> None:
    two = {"text": "Two at once.", "calls": [call("2 ** 10"), call("1024 - 2 ** 10")]}
    server.script([steps("tenth", two, {"text": DONE.format("1024")})])
    tally = running.run(agent(server, protocol), suite(SUM))
    found = running.trajectories(tally)["sum"]
    assert results(found) == ["1024", "0"]
    assert (found.final_answer, found.reference_answer, found.flags) == ("1024", "1024", ())
    assert found.extra["summary"] == "I worked it out." and found.extra["feedback"] == "calculator: fine."
    assert (
        found.extra["tool_calls"]["calculator"]["count"]
        == len(found.extra["tool_calls"]["calculator"]["durations_ms"])
        == 2
    )
    assert found.agents[0].tools is not None and found.agents[0].tools[0].name == "calculator"
    assert found.usage is not None and found.usage.cost_usd == pytest.approx(tally.paid_usd)
    assert [asked.status for asked in server.requests()] == [200, 200]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_conversation_only_grows_and_is_sent_back_as_it_came(
    running: Running, server: ModelServer, protocol: str
) -> None:
    server.script([steps("tenth", {"calls": [call("1")]}, {"calls": [call("2")]}, {"text": DONE.format("1024")})])
    running.run(agent(server, protocol), suite(SUM))
    asked = [request.body for request in server.requests()]

    def bare(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: bare(item) for key, item in value.items() if key != "cache_control"}
        return [bare(item) for item in value] if isinstance(value, list) else value

    for earlier, later in pairwise(asked):
        assert bare(later["messages"])[: len(earlier["messages"])] == bare(earlier["messages"])
        assert later["tools"] == earlier["tools"]


def test_a_tool_is_given_an_integer_of_thirty_digits_as_it_is(running: Running, server: ModelServer) -> None:
    number = "123456789012345678901234567890"
    big = {"name": "calculator", "arguments": f'{{"expression": {number}}}'}
    server.script([steps("tenth", {"calls": [big]}, {"text": DONE.format("1024")})])
    tally = running.run(agent(server), suite(SUM))
    assert tally.ended == {"answered": 1}
    found = running.trajectories(tally)["sum"]
    assert f"{number}" in found.text and "e+" not in found.text


@pytest.mark.parametrize("usage", [None, {"prompt_tokens": -5, "completion_tokens": 1}, {"prompt_tokens": 5}])
def test_a_reply_that_does_not_say_its_tokens_has_no_known_cost(
    running: Running, server: ModelServer, usage: dict[str, int] | None
) -> None:
    with http_server(lambda _: Reply(text=completion(DONE.format("1024"), usage).decode())) as url:
        tally = running.run(agent(server, base_url=f"{url}/v1"), suite(SUM))
        found = running.trajectories(tally)["sum"]
        again = running.run(agent(server, base_url=f"{url}/v1"), suite(SUM, {**SUM, "id": "other"}))
        limited = running.run(agent(server, base_url=f"{url}/v1", limits={"max_cost_usd": 1e-9}), suite(SUM))
    told = tally.metadata()
    assert found.usage is not None and found.usage.cost_usd is None
    assert float(told["paid_at_most_usd"]) > 0 and "paid_usd" not in told
    assert running.trajectories(again)["sum"].usage == found.usage, "from the ledger"
    assert limited.ended == {"answered": 1}


def test_the_same_run_again_pays_nothing_and_gives_the_same_drop(running: Running, server: ModelServer) -> None:
    server.script([steps("tenth", {"calls": [call("2 ** 10")]}, {"text": DONE.format("1024")})])
    first = running.run(agent(server), suite(SUM), trials=2)
    assert first.paid_usd is not None and first.paid_usd > 0
    asked = len(server.requests())
    written = Path(str(first.path)).read_bytes()
    again = running.run(agent(server), suite(SUM), trials=2)
    assert again.drop == first.drop and again.paid_usd == 0 and again.resumed == 2
    assert len(server.requests()) == asked and Path(str(again.path)).read_bytes() == written


@pytest.mark.slow
def test_a_finished_run_started_again_calls_no_tool_and_no_model(
    running: Running, server: ModelServer, tmp_path: Path
) -> None:
    calls = tmp_path / "measured.txt"
    mcp = {"name": "tests", "command": COMMAND[0], "args": [*COMMAND[1:], "--log", str(calls)], "cwd": ROOT}
    who = agent(server, tools={"mcp": [mcp]})
    server.script([steps("tenth", {"calls": [call("2 ** 10", "measure")]}, {"text": DONE.format("1024")})])
    first = running.run(who, suite(SUM))
    assert calls.read_text().splitlines() == ["2 ** 10"]
    again = running.run(who, suite(SUM))
    assert (again.drop, again.resumed, again.model_calls) == (first.drop, 1, 0)
    assert calls.read_text().splitlines() == ["2 ** 10"] and len(server.requests()) == 2
    Path(str(first.path)).unlink()
    running.run(who, suite(SUM))
    assert running.trajectories(first)["sum"].final_answer == "1024"
    more = running.run(who, suite(SUM), trials=2)  # one more trial is one more attempt
    assert list(running.trajectories(more)) == ["sum#0", "sum#1"]
    assert calls.read_text().splitlines() == ["2 ** 10"] * 2 and len(server.requests()) == 4
    fresh = running.run(who, suite(SUM), series="20260101T000000")
    assert fresh.drop != first.drop and len(server.requests()) == 6


def test_trials_ask_separately_and_a_fresh_run_asks_anew(running: Running, server: ModelServer) -> None:
    server.script([steps("tenth", {"text": DONE.format("1024")})])
    tally = running.run(agent(server), suite(SUM), trials=3)
    found = running.trajectories(tally)
    assert [(item.id, item.task_id, item.trial) for item in found.values()] == [
        ("sum#0", "sum", 0),
        ("sum#1", "sum", 1),
        ("sum#2", "sum", 2),
    ]
    assert len(server.requests()) == 3
    fresh = running.run(agent(server), suite(SUM), series="20260101T000000")
    assert fresh.drop != tally.drop and len(server.requests()) == 4


STUBBORN = {"calls": [call("1 + 1")]}


@pytest.mark.parametrize(
    ("limits", "said", "ended", "calls"),
    [
        ({"max_steps": 4}, [STUBBORN], "step_limit", 4),
        ({"max_calls": 3}, [STUBBORN], "call_limit", 4),
        ({"max_cost_usd": 0.002}, [STUBBORN], "cost_limit", None),
        ({"max_seconds": 0.000001}, [STUBBORN], "time_limit", 1),
    ],
)
def test_an_endless_loop_ends_at_a_limit(
    running: Running, server: ModelServer, limits: dict, said: list, ended: str, calls: int | None
) -> None:
    server.script([steps("tenth", *said), steps("other", {"text": DONE.format("7")})])
    other = {"id": "other", "message": "The other task", "answer": "7"}
    tally = running.run(agent(server, limits=limits), suite(SUM, other))
    found = running.trajectories(tally)
    assert found["sum"].extra["ended"] == ended and found["sum"].flags == (ended, "no_answer")
    assert found["sum"].final_answer is None
    assert calls is None or len(found["sum"].calls) == calls
    assert found["other"].final_answer == "7"


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("kind", "ended"),
    [("refusal", "refused"), ("content_filter", "refused"), ("length", "truncated"), ("bad_request", "failed")],
)
def test_a_reply_that_is_none_ends_its_case_and_no_other(
    running: Running, server: ModelServer, protocol: str, kind: str, ended: str
) -> None:
    server.script([rule(kind, contains="tenth"), steps("other", {"text": DONE.format("7")})])
    other = {"id": "other", "message": "The other task", "answer": "7"}
    found = running.trajectories(running.run(agent(server, protocol), suite(SUM, other)))
    assert found["sum"].extra["ended"] == ended and found["sum"].final_answer is None
    assert found["other"].final_answer == "7"


def test_an_answer_without_tags_is_the_last_reply(running: Running, server: ModelServer) -> None:
    server.script([steps("tenth", {"text": "<summary>s</summary> It is 1024."})])
    found = running.trajectories(running.run(agent(server), suite(SUM)))["sum"]
    assert found.final_answer == "It is 1024." and found.extra["summary"] == "s"


def test_a_refused_key_stops_the_run_and_nothing_is_lost(running: Running, server: ModelServer) -> None:
    server.script([{"keys": ["another key"]}])
    tally = running.run(agent(server), suite(SUM))
    assert tally.drop is None and tally.stopped is not None and tally.stopped.kind == "auth"
    server.script([steps("tenth", {"text": DONE.format("1024")})])
    assert running.run(agent(server), suite(SUM)).drop is not None


def test_errors_of_the_endpoint_are_waited_out(running: Running, server: ModelServer) -> None:
    server.script(
        [rule("rate_limited", times=2, retry_after=0.05), rule("drop", times=1), steps("tenth", {"text": "4"})]
    )
    assert running.trajectories(running.run(agent(server), suite(SUM)))["sum"].final_answer == "4"


def test_a_spent_budget_stops_the_run_and_the_next_one_goes_on(running: Running, server: ModelServer) -> None:
    many = [{"id": f"case{n}", "message": f"Task {n}", "answer": "4"} for n in range(12)]
    server.script([steps("Task", {"calls": [call("2 + 2")]}, {"text": DONE.format("4")})])
    one_at_a_time = agent(server, max_concurrency=1, max_output_tokens=100)
    stopped = running.run(one_at_a_time, suite(*many), budget_usd=0.008)
    assert stopped.stopped is not None and stopped.stopped.kind == "budget" and stopped.drop is None
    assert 0 < stopped.finished < 12
    done = running.run(one_at_a_time, suite(*many))
    assert done.resumed == stopped.finished and len(running.trajectories(done)) == 12
    assert len(server.requests()) == 24  # nothing was asked twice


def test_limits_of_cost_need_a_price(running: Running, server: ModelServer) -> None:
    unpriced = agent(server, price=None, limits={"max_cost_usd": 1})
    with pytest.raises(InvalidAgent, match="needs a price"):
        running.run(unpriced, suite(SUM))


@pytest.mark.parametrize("kind", ["no_max_tokens", "no_system_role", "no_temperature", "parts"])
def test_an_agent_works_on_a_server_that_lacks_a_feature(running: Running, server: ModelServer, kind: str) -> None:
    answered = [] if kind == "parts" else [steps("tenth", {"calls": [call("2 ** 10")]}, {"text": DONE.format("1024")})]
    server.script([rule(kind), *answered])
    tally = running.run(agent(server, parameters={"temperature": 0}), suite(SUM))
    assert running.trajectories(tally)["sum"].flags == ()
    statuses = [asked.status for asked in server.requests()]
    assert statuses == ([200] if kind == "parts" else [400, 200, 200])
