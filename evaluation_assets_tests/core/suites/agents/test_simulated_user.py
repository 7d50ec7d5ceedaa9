"""Users whom a model plays: what they are told, what is recorded, and how conversations with them end."""

from typing import Any

import pytest

from evaluation_assets.core.judging.panel import panel_of
from evaluation_assets.core.models.endpoints import EndpointSettings
from evaluation_assets.core.suites.agents.runner import user_bound
from evaluation_assets.core.suites.agents.settings import AgentSettings, InvalidAgent
from evaluation_assets.core.suites.agents.simulated_user import END, played_by
from evaluation_assets.core.suites.suite import InvalidSuite, Suite
from evaluation_assets_tests.core.suites.agents.running import PROTOCOLS, Running, agent, call, steps, suite
from evaluation_assets_tests.model_server import ModelServer, rule

ASKED = "Cancel my flight."
USER: dict[str, Any] = {
    "persona": "Ada, in a hurry",
    "goal": "Get flight LX 12 cancelled.",
    "facts": ["The booking is K67C4W."],
    "max_messages": 3,
}


def flight(server: ModelServer, protocol: str = "openai", **user: Any) -> Suite:
    played_by = agent(server, protocol, name="user", model="u", price={"input": 1.0, "output": 10.0})
    fields = played_by.model_dump(include={"name", "provider", "model", "base_url", "api_key_env", "price", "timeouts"})
    case = {"id": "flight", "message": ASKED, "keywords": ["cancelled"], "user": USER | user}
    return suite(case, user_model=fields)


def talk(*said: str, then: str = END) -> list[dict[str, Any]]:
    """The agent asks, calls its tool and answers; the user says this, one after the other."""
    user = rule("steps", model="u", steps=[{"text": each} for each in (ASKED, *said, then)])
    return [
        user,
        steps("flight", {"text": "Which booking?"}, {"calls": [call("2 ** 10")]}, {"text": "It is cancelled."}),
    ]


def texts(bodies: list[Any]) -> list[list[tuple[str, str]]]:
    def plain(content: Any) -> str:
        return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)

    return [[(turn["role"], plain(turn["content"])) for turn in body["messages"]] for body in bodies]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_user_answers_until_the_goal_is_reached(running: Running, server: ModelServer, protocol: str) -> None:
    server.script(talk("K67C4W."))
    tally = running.run(agent(server, protocol), flight(server, protocol))
    found = running.trajectories(tally)["flight"]
    assert [turn.user_message for turn in found.turns] == [ASKED, "K67C4W."] and END not in found.text
    assert (found.final_answer, found.flags, tally.ended) == ("It is cancelled.", (), {"answered": 1})
    asked = [request.body for request in server.requests()]
    of_user = [body for body in asked if body["model"] == "u"]
    assert len(of_user) == 2 and len(asked) == 5 == tally.model_calls
    told = [turn for turn in texts(of_user)[-1] if turn[0] != "system"]
    assert told[1:] == [
        ("assistant", ASKED),
        ("user", "Which booking?"),
        ("assistant", "K67C4W."),
        ("user", "It is cancelled."),
    ]
    assert told[0][0] == "user"
    for body in of_user:
        assert "The booking is K67C4W." in str(body) and "calculator" not in str(body)
    assert "Ada, in a hurry" not in str([body for body in asked if body["model"] != "u"])
    assert found.extra["simulated_user"]["replies"] == 2
    assert found.usage is not None and found.usage.cost_usd is not None and tally.paid_usd is not None
    cost = found.extra["simulated_user"]["cost_usd"]
    assert cost > 0 and found.usage.cost_usd + cost == pytest.approx(tally.paid_usd)


def test_the_same_conversation_again_is_paid_for_once(running: Running, server: ModelServer) -> None:
    server.script(talk("K67C4W."))
    first = running.run(agent(server), flight(server))
    for journal in running.places.finished.iterdir():
        journal.unlink()
    again = running.run(agent(server), flight(server))
    assert (again.paid_usd, again.from_ledger, len(server.requests())) == (0, 5, 5)
    assert running.trajectories(again)["flight"].text == running.trajectories(first)["flight"].text


def test_a_user_who_never_ends_is_cut_off(running: Running, server: ModelServer) -> None:
    server.script(talk("K67C4W.", then="Are you sure?"))
    tally = running.run(agent(server), flight(server))
    found = running.trajectories(tally)["flight"]
    assert tally.ended == {"user_limit": 1} and found.final_answer is None
    assert "user_limit" in found.flags and "step_limit" not in found.flags
    assert found.extra["simulated_user"]["replies"] == USER["max_messages"]


@pytest.mark.parametrize("fault", ["refusal", "empty", "length", "bad_request"])
def test_a_user_who_fails_says_nothing_about_the_agent(running: Running, server: ModelServer, fault: str) -> None:
    server.script([rule(fault, model="u"), *talk()])
    tally = running.run(agent(server), flight(server))
    found = running.trajectories(tally)["flight"]
    assert tally.ended == {"failed": 1} and found.final_answer is None and "failed" in found.flags
    assert found.extra["error"]


def test_users_need_a_model_that_plays_them_and_an_agent_that_can_answer(running: Running, server: ModelServer) -> None:
    unplayed = suite({"id": "flight", "message": ASKED, "keywords": ["a"], "user": USER})
    with pytest.raises(
        InvalidSuite, match=r"the user of case flight needs a model that plays it: give user_model or user_judge"
    ):
        played_by(unplayed, [])
    own = AgentSettings.model_validate({"name": "own", "provider": "command", "command": ["true"]})
    with pytest.raises(InvalidAgent, match="answers once; cases with a user need a model"):
        running.run(own, flight(server))


def test_a_judge_of_the_panel_plays_the_users(server: ModelServer) -> None:
    named = flight(server).model_copy(update={"user_model": None, "user_judge": "haiku"})
    judge = {"name": "haiku", "provider": "anthropic", "model": "m", "max_concurrency": 3, "repeats": 2}
    panel = panel_of({"judges": [{"name": "rules", "provider": "rules"}, judge]}, "panel.yaml").judges
    played = played_by(named, panel)
    assert played.user_judge is None and played.user_model == EndpointSettings(
        name="haiku", provider="anthropic", model="m", max_concurrency=3
    )
    assert played_by(flight(server), panel) == flight(server)
    with pytest.raises(InvalidSuite, match="no judge 'opus' in the panel; choose one of: rules, haiku"):
        played_by(named.model_copy(update={"user_judge": "opus"}), panel)
    with pytest.raises(InvalidSuite, match="rules cannot play a user: unknown provider 'rules'"):
        played_by(named.model_copy(update={"user_judge": "rules"}), panel)
    with pytest.raises(ValueError, match="give user_model or user_judge, not both"):
        suite({"id": "a", "message": "b"}, user_judge="haiku", user_model=played.user_model)


def test_what_users_may_cost_is_bounded(server: ModelServer) -> None:
    bound = user_bound(flight(server), trials=4)
    assert bound.calls == 12 and bound.usd is not None and bound.usd > 0
