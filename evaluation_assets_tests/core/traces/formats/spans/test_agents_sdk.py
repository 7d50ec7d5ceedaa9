"""Spans of the OpenAI Agents SDK as its OpenInference instrumentation writes them.

The shape is that of openai-agents 0.24.0 and openinference-instrumentation-openai-agents, with the Responses API.
"""

from pathlib import Path
from typing import Any

from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.traces.formats.reading import calls_of, check, trajectories
from evaluation_assets_tests.core.traces.formats.spans.making import otlp, span
from evaluation_assets_tests.core.traces.formats.spans.test_conversations import summary_of

SCOPE = "openinference.instrumentation.openai_agents"


def told(place: str, number: int, role: str, text: str) -> dict[str, Any]:
    """A message, with its text twice, as the instrumentation writes it."""
    start = f"llm.{place}_messages.{number}.message"
    part = f"{start}.contents.0.message_content"
    return {f"{start}.role": role, f"{start}.content": text, f"{part}.type": "text", f"{part}.text": text}


def called(place: str, number: int, call_id: str, name: str) -> dict[str, Any]:
    start = f"llm.{place}_messages.{number}.message"
    call = f"{start}.tool_calls.0.tool_call"
    return {f"{start}.role": "assistant", f"{call}.id": call_id, f"{call}.function.name": name}


def answered(number: int, call_id: str, text: str) -> dict[str, Any]:
    start = f"llm.input_messages.{number}.message"
    return {f"{start}.role": "tool", f"{start}.tool_call_id": call_id, f"{start}.content": text}


def handed_over(path: Path) -> Path:
    """Desk hands over to billing, which answers; the second turn is desk's, with the whole history."""

    def agent(name: str, start: int) -> dict[str, Any]:
        named = {"openinference.span.kind": "AGENT", "agent.name": name}
        return span(f"{name}{start}", named, start=start, end=start + 5, parent="run", scope=SCOPE)

    def model(name: str, start: int, parent: str, *messages: dict[str, Any]) -> dict[str, Any]:
        attributes = {"openinference.span.kind": "LLM"}
        for message in messages:
            attributes |= message
        return span(name, attributes, start=start, parent=parent, scope=SCOPE)

    question = told("input", 1, "user", "Refund order 17.")
    over = called("input", 2, "c1", "transfer_to_billing"), answered(3, "c1", '{"assistant": "billing"}')
    hand_off = {"openinference.span.kind": "TOOL", "input.value": "desk", "output.value": "billing"}
    return otlp(
        path,
        span("run", {"openinference.span.kind": "AGENT"}, end=30, scope=SCOPE),
        agent("desk", 1),
        model("m1", 2, "desk1", question, called("output", 0, "c1", "transfer_to_billing")),
        span("handoff to billing", hand_off, start=4, parent="desk1", scope=SCOPE),
        agent("billing", 6),
        model("m2", 7, "billing6", question, *over, told("output", 0, "assistant", "Refunded.")),
        agent("desk", 20),
        model(
            "m3", 21, "desk20", question, *over,
            told("input", 4, "assistant", "Refunded."), told("input", 5, "user", "And 18?"),
            told("output", 0, "assistant", "Sent."),
        ),
    )  # fmt: skip


def run_of(tmp_path: Path) -> Trajectory:
    (run,) = trajectories(handed_over(tmp_path / "spans.jsonl"))
    check(run)
    return run


def test_a_hand_off_is_one_call_of_a_tool_that_the_agent_has(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    assert calls_of(run) == [("transfer_to_billing", {}, "billing")]
    assert [(agent.id, [tool.name for tool in agent.tools or ()]) for agent in run.agents] == [
        ("desk", ["transfer_to_billing"]),
        ("billing", []),
    ]


def test_an_answer_in_content_and_contents_is_said_once_and_by_one_agent(tmp_path: Path) -> None:
    said = [
        [(one.agent_id, one.response) for one in turn.interactions if one.response] for turn in run_of(tmp_path).turns
    ]
    assert said == [[("billing", "Refunded.")], [("desk", "Sent.")]]


def test_turns_are_what_the_user_said(tmp_path: Path) -> None:
    assert [turn.user_message for turn in run_of(tmp_path).turns] == ["Refund order 17.", "And 18?"]
    assert summary_of(tmp_path / "spans.jsonl").trust == "complete"
