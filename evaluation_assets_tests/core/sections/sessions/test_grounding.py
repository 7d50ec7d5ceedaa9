"""Identifiers in arguments that came from nowhere, and all that must not be taken for one."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.sections.sessions.making import call, example, part, read, seen, session, turn
from evaluation_assets_tests.third_party import data


def ungrounded(trajectory: Trajectory) -> list[str]:
    return [found.value for found in seen(trajectory).ungrounded]


def asked(message: str, **parameters: Any) -> Trajectory:
    return session(turn(message, part("a", "done", call("look_up", **parameters))))


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("order", "#W2378156"),
        ("order_id", "88120"),
        ("orderId", 88120),
        ("reservation_id", "M5XA"),
        ("to", "jo.lamp@example.com"),
        ("phone", "+44 113 496 0000"),
        ("number", "(555) 014-2278"),
        ("url", "https://shop.example/orders/8841-Z7/items"),
        ("path", "/srv/invoices/INV-20931.pdf"),
    ],
)
def test_an_identifier_that_nobody_mentioned_is_reported_once_with_its_place(parameter: str, value: Any) -> None:
    invented = call("look_up", **{parameter: value})
    found = seen(
        session(turn("Where is my order?", part("a", "one moment", call("now"), invented, invented)))
    ).ungrounded
    assert [(each.tool, each.parameter, each.value, each.step) for each in found] == [
        ("look_up", parameter, str(value), 1)
    ]
    assert found[0].severity == "LOW"


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("date", "2026-05-14"),
        ("when", "2026-05-14T10:30:00Z"),
        ("total", 1234567),
        ("total", "1,234,567.50"),
        ("limit", "500"),
        ("size", "1080p"),
        ("color", "#1e90ff"),
        ("version", "3.11.4"),
        ("query", "lamp LAMP-4471 manual"),
        ("code", "for order in orders[4471:]:\n    print(order4471)"),
        ("expression", "(12345+67890)*365"),
        ("encoding", "utf-8"),
        ("period", "Q3-2026"),
        ("compound", "C6H12O6"),
        ("name", "Joanna Lamp"),
        ("url", "https://docs.example.com/guide/index.html"),
        ("path", "src/main.py"),
        ("confirmed", True),
        ("note", None),
    ],
)
def test_what_can_be_known_derived_or_worded_anew_is_no_identifier(parameter: str, value: Any) -> None:
    assert ungrounded(asked("Please do it", **{parameter: value})) == []


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("It is order w-237 8156.", "#W2378156"),
        ("Call me at 44 (113) 496-0000", "+44 113 496 0000"),
        ("I am Jo Lamp, and we are example.com", "jo.lamp@example.com"),
        ("Look at shop.example, order 8841-z7", "https://shop.example/orders/8841-Z7"),
    ],
)
def test_case_and_separators_do_not_count(said: str, value: str) -> None:
    assert ungrounded(asked(said, order_id=value)) == []


def test_a_value_may_come_from_users_knowledge_results_other_agents_and_definitions() -> None:
    agents = [
        {"id": "a", "description": "Writes to desk-7001.", "tools_available": [
            {"name": "look_up", "parameters_schema": {"type": "object", "properties": {
                "queue": {"type": "string", "default": "queue-7002"}, "kind": {"enum": ["kind-7003"]}}}},
        ]},
        {"id": "b"},
    ]  # fmt: skip
    values = [f"{name}-700{number}" for number, name in enumerate(("task", "desk", "queue", "kind"))]
    values += ["user-7004", "known-7005", "result-7006", "other-7007", "own-7008"]
    trajectory = session(
        turn("For user-7004", part("b", "Take other-7007", call("now", "result-7006"))),
        turn("go on", part("a", "I found own-7008"), knowledge="known-7005"),
        turn("go on", part("a", "done", *(call("look_up", value=value) for value in values))),
        agents=agents,
        initial_task="Close task-7000",
    )
    assert ungrounded(trajectory) == []


def test_what_comes_later_or_was_only_thought_or_tried_is_no_source() -> None:
    thought = {"thought": "It may be order-7001.", **call("look_up", order="order-7001")}
    tried = call("look_up", order="order-7002")
    trajectory = session(
        turn("Which one?", part("a", "It is order-7002", thought, tried)),
        turn("No, order-7001", part("a", "done", call("look_up", order="order-7001"))),
    )
    found = seen(trajectory).ungrounded
    assert [(each.value, each.interaction.turn) for each in found] == [("order-7001", 0), ("order-7002", 0)]


def test_values_in_lists_and_objects_are_looked_at_one_by_one() -> None:
    found = seen(asked("order-7001", orders=["order-7001", "order-7002"], by={"sku": 70031})).ungrounded
    assert [(each.parameter, each.value) for each in found] == [("orders", "order-7002"), ("sku", "70031")]


def test_a_tool_that_refuses_the_value_makes_it_worse() -> None:
    found = seen(session(turn("go", part("a", "x", call("look_up", error="no such order", order="order-7001")))))
    assert [each.severity for each in found.ungrounded] == ["MEDIUM"]


@given(st.from_regex(r"[A-Z]{2}[0-9]{4}[A-Z]", fullmatch=True), st.text(max_size=60), st.text(max_size=60))
def test_what_the_user_said_is_grounded_wherever_it_stands(code: str, before: str, after: str) -> None:
    assert ungrounded(asked(f"{before} {code} {after}", code=code)) == []


@given(
    st.integers(3000, 9999), st.integers(3000, 9999), st.sampled_from(["order-{}", "#W{}", "{}@example.com", "IT{}X"])
)
def test_an_identifier_is_grounded_exactly_where_it_was_said(said: int, used: int, shape: str) -> None:
    values = ungrounded(asked(f"About {shape.format(said)}", value=shape.format(used)))
    assert values == ([] if said == used else [shape.format(used)])


def test_the_example_with_every_issue_has_one() -> None:
    assert ungrounded(example("order-lamps")) == ["hammocks-4471@garden.example"]


def test_recorded_conversations_with_tools_raise_no_alarm() -> None:
    paths = [data("tau-bench/gpt-4o-airline.even-tasks.json"), *sorted(data("tau2-bench/ab").glob("*.json"))]
    trajectories = [trajectory for path in paths for trajectory in read(path)]
    assert sum(len(trajectory.calls) for trajectory in trajectories) == 872
    assert [value for trajectory in trajectories for value in ungrounded(trajectory)] == []


def test_a_name_with_a_number_in_it_is_no_identifier() -> None:
    assert ungrounded(asked("Look at the errors.", metric="http_500_rate")) == []
    assert ungrounded(asked("Look at the errors.", order_id="http_500_rate")) == ["http_500_rate"]


def test_a_telephone_number_may_have_the_code_of_its_country() -> None:
    assert ungrounded(asked("Call 06 12 34 56 78.", phone="+33612345678")) == []
    assert ungrounded(asked("Call 06 12 34 56 78.", phone="+33612345687")) == ["+33612345687"]
