"""Samples of Inspect logs in which several agents act: what their messages lack is in the events.

The fixture has the shape that inspect_ai 0.3.285 writes: `benchmarks/frameworks/inspect_ai` makes such logs.
"""

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, check, trajectories
from evaluation_assets_tests.core.traces.formats.test_import_report import summary_of

FIXTURE = FIXTURES / "inspect_ai" / "handoff.json"
LOG = orjson.loads(FIXTURE.read_bytes())


@pytest.fixture
def run() -> Trajectory:
    (run,) = trajectories(FIXTURE)
    check(run)
    return run


def changed(folder: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """The log with a changed sample."""
    log = deepcopy(LOG)
    change(log["samples"][0])
    path = folder / "log.json"
    path.write_bytes(orjson.dumps(log))
    return path


def test_calls_of_sub_agents_are_read_with_their_results(run: Trajectory) -> None:
    assert calls_of(run) == [
        ("look_up_order", {"order_id": "17"}, '{"status": "returned"}'),
        ("transfer_to_billing", {}, "Successfully transferred to billing."),
        ("refund", {"order_id": "17", "amount": 12.5}, "Command timed out"),
        ("bank", {"input": "Is order 17 paid?"}, "Paid on Monday."),
        ("look_up_payment", {"order_id": "17"}, "Monday"),
    ]
    assert [step.result.error for step in run.calls if step.result] == [None, None, "Command timed out", None, None]
    assert all(step.latency_ms for step in run.calls)


def test_each_call_belongs_to_its_agent(run: Trajectory) -> None:
    spoken = [(turn.user_message, [one.agent_id for one in turn.interactions]) for turn in run.turns]
    assert spoken == [
        ("I want my money back for order 17.", ["desk", "billing", "desk"]),
        ("Ask the bank.", ["desk", "bank", "desk"]),
    ]
    agents = {agent.id: (agent.description, [tool.name for tool in agent.tools or ()]) for agent in run.agents}
    assert agents == {
        "desk": ("You are desk.", ["look_up_order", "transfer_to_billing", "bank"]),
        "billing": ("You are billing.", ["refund"]),
        "bank": (None, ["look_up_payment"]),
    }


def test_what_inspect_writes_for_a_hand_off_is_not_the_user_speaking(run: Trajectory) -> None:
    assert len(run.turns) == 2
    assert "has completed its work" not in run.text
    assert "refund(order_id=" not in run.text  # the call as text, for the agent that takes over again


def test_a_scorer_with_tools_is_no_agent(run: Trajectory) -> None:
    assert "look_up_truth" not in run.text
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens) == (1000, 100)


def test_the_import_report_counts_the_same_calls() -> None:
    summary = summary_of(FIXTURE)
    assert (summary.calls, summary.calls_in_source, summary.trust) == (5, 5, "complete")


def test_calls_that_no_reader_finds_are_reported(tmp_path: Path) -> None:
    def hide(sample: dict[str, Any]) -> None:
        sample["store"] = {"history": sample.pop("events")}

    summary = summary_of(changed(tmp_path, hide))
    assert summary.calls < summary.calls_in_source
    assert summary.trust == "doubtful"


def test_a_history_that_was_compacted_is_read_from_the_events(tmp_path: Path) -> None:
    def compact(sample: dict[str, Any]) -> None:
        summary = {"id": "sum", "role": "user", "content": "[CONTEXT COMPACTION SUMMARY]\n\nA refund."}
        sample["messages"] = [*sample["messages"][:2], summary, sample["messages"][-1]]

    (run,) = trajectories(changed(tmp_path, compact))
    (whole,) = trajectories(FIXTURE)
    assert run.text == whole.text


def test_a_sample_without_messages_is_read_from_the_events(tmp_path: Path) -> None:
    (run,) = trajectories(changed(tmp_path, lambda sample: sample.update(messages=[])))
    (whole,) = trajectories(FIXTURE)
    assert run.text == whole.text


def test_a_model_call_beside_the_conversation_is_counted_and_not_told(tmp_path: Path) -> None:
    def ask_beside(sample: dict[str, Any]) -> None:
        beside = deepcopy(next(event for event in sample["events"] if event["event"] == "model"))
        beside |= {"span_id": "sv", "input_refs": None}
        beside["output"]["choices"][0]["message"] = {"id": "x1", "role": "assistant", "content": "Simulated user."}
        sample["events"].append(beside)

    unmapped = UnmappedFields()
    (run,) = trajectories(changed(tmp_path, ask_beside), unmapped=unmapped)
    assert "Simulated user." not in run.text
    assert unmapped.counts["events[] (model call outside the conversation)"] == 1


def test_old_logs_nest_the_events_of_a_sub_agent_in_its_call(tmp_path: Path) -> None:
    def nest(sample: dict[str, Any]) -> None:
        inner = [event for event in sample["events"] if event.get("span_id") == "b"]
        flat = [event for event in sample["events"] if "span" not in event["event"] and event not in inner]
        for event in flat:
            if event.get("agent") == "billing":
                event["events"] = [event for event in inner if "span" not in event["event"]]
        sample["events"] = [event for event in flat if event["span_id"] not in ("sc1", "k")]

    (run,) = trajectories(changed(tmp_path, nest))
    acting = [
        (step.call.name, one.agent_id)
        for turn in run.turns
        for one in turn.interactions
        for step in one.steps
        if step.call
    ]
    assert acting == [
        ("look_up_order", "agent"),
        ("transfer_to_billing", "agent"),
        ("refund", "billing"),
        ("bank", "agent"),
    ]


@pytest.mark.parametrize("name", [{"id": "m1"}, ["m1"], 7, None])
def test_ids_that_are_no_texts_are_no_ids(tmp_path: Path, name: object) -> None:
    def change(sample: dict[str, Any]) -> None:
        for message in sample["messages"]:
            message["id"] = name
            for call in message.get("tool_calls") or []:
                call["id"] = name

    (run,) = trajectories(changed(tmp_path, change))
    check(run)
    assert calls_of(run)[0] == ("look_up_order", {"order_id": "17"}, '{"status": "returned"}')
