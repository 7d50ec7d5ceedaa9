"""Results of tau2-bench 1.0.1: folders with a file per simulation, and verdicts of models.

The fields are those of `tau2.data_model.simulation` at that version (`Results.save`, `SimulationRun`, `Review`).
"""

from copy import deepcopy
from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.formats.base import Rejection
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets.core.traces.trajectories.recorded import RecordedVerdict, recorded_verdicts
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, check, read, trajectories

FIXTURE = FIXTURES / "tau2_bench" / "results.json"
RESULTS = orjson.loads(FIXTURE.read_bytes())


def result_folder(folder: Path, **fields: Any) -> Path:
    """The results as `Results.save(format="dir")` writes them; `fields` are added to the first simulation."""
    (folder / "simulations").mkdir(parents=True)
    meta = {key: value for key, value in RESULTS.items() if key != "simulations"}
    index = [{"id": f"sim-{number}", "task_id": one["task_id"]} for number, one in enumerate(RESULTS["simulations"])]
    (folder / "results.json").write_bytes(orjson.dumps({**meta, "simulation_index": index}, option=orjson.OPT_INDENT_2))
    for number, simulation in enumerate(deepcopy(RESULTS["simulations"])):
        whole = {"termination_reason": "user_stop", "reward_info": None, **simulation, **({} if number else fields)}
        path = folder / "simulations" / f"sim-{number}.json"
        path.write_bytes(orjson.dumps(whole, option=orjson.OPT_INDENT_2))
    return folder


def first(folder: Path, **fields: Any) -> Trajectory:
    run = trajectories(result_folder(folder / "run", **fields))[0]
    check(run)
    return run


def told(run: Trajectory) -> tuple[Any, ...]:
    return run.task_id, run.text, run.turns, run.agents, run.labels


def test_a_result_folder_gives_what_the_result_file_gives(tmp_path: Path) -> None:
    assert [*map(told, trajectories(result_folder(tmp_path / "run")))] == [*map(told, trajectories(FIXTURE))]


def test_two_result_folders_in_a_drop_keep_their_own_tasks(tmp_path: Path) -> None:
    for name in ("one", "two"):
        result_folder(tmp_path / "runs" / name)
    meta = orjson.loads((tmp_path / "runs" / "two" / "results.json").read_bytes())
    meta["info"]["agent_info"]["llm"] = "another-model"
    (tmp_path / "runs" / "two" / "results.json").write_bytes(orjson.dumps(meta, option=orjson.OPT_INDENT_2))
    runs = trajectories(tmp_path / "runs")
    half = len(RESULTS["simulations"])
    assert {agent.model for run in runs[half:] for agent in run.agents} == {"another-model"}
    assert "another-model" not in {agent.model for run in runs[:half] for agent in run.agents}


def test_two_result_files_in_a_folder_keep_their_own_model(tmp_path: Path) -> None:
    whole = orjson.loads(FIXTURE.read_bytes())
    for name in ("model-a", "model-b"):
        agent = {**whole["info"]["agent_info"], "llm": name}
        data = {**whole, "info": {**whole["info"], "agent_info": agent}}
        (tmp_path / f"{name}.json").write_bytes(orjson.dumps(data, option=orjson.OPT_INDENT_2))
    models = [(run.source.file, agent.model) for run in trajectories(tmp_path) if run.source for agent in run.agents]
    assert set(models) == {("model-a.json", "model-a"), ("model-b.json", "model-b")}


def test_results_without_their_simulations_are_rejected(tmp_path: Path) -> None:
    folder = result_folder(tmp_path / "run")
    (rejection,) = read(folder / "results.json")
    assert isinstance(rejection, Rejection)
    assert "--one-drop" in rejection.detail


def test_a_simulation_without_its_results_is_read(tmp_path: Path) -> None:
    folder = result_folder(tmp_path / "run")
    (run,) = trajectories(folder / "simulations" / "sim-0.json")
    assert calls_of(run) == calls_of(trajectories(FIXTURE)[0])


def test_assertions_and_reviews_are_verdicts(tmp_path: Path) -> None:
    run = first(
        tmp_path,
        reward_info={
            "reward": 0.0,
            "nl_assertions": [
                {"nl_assertion": "Agent is polite.", "met": True, "justification": "It says please."},
                {"nl_assertion": "Agent refunds.", "met": False, "justification": "It does not."},
            ],
        },
        review={
            "summary": "No refund.",
            "agent_error": True,
            "user_error": True,
            "has_errors": True,
            "errors": [
                {"source": "agent", "error_tags": ["policy"], "severity": "critical", "reasoning": "No refund."},
                {"source": "user", "error_tags": ["hallucination"], "reasoning": "The user invents an order."},
            ],
            "cost": 0.01,
        },
        auth_classification={"status": "succeeded", "reasoning": "The name is right.", "cost": 0.01},
        user_only_review={"summary": "", "user_error": True, "has_errors": True, "errors": []},
    )
    assert recorded_verdicts(run) == [
        RecordedVerdict(
            level="trajectory",
            subject="trajectory",
            judge="nl_assertions",
            scores={"Agent is polite.": 1.0, "Agent refunds.": 0.0},
            verdict="fail",
            reasoning="Agent is polite.: It says please.\nAgent refunds.: It does not.",
        ),
        RecordedVerdict(
            level="trajectory",
            subject="trajectory",
            judge="review",
            verdict="fail",
            summary="No refund.",
            reasoning="No refund.",
        ),
        RecordedVerdict(
            level="trajectory",
            subject="trajectory",
            judge="auth_classification",
            verdict="succeeded",
            reasoning="The name is right.",
        ),
    ]
    assert len(run.labels["reward_info"]["nl_assertions"]) == 2
    assert run.labels["user_only_review"]["user_error"] is True
    assert "It says please." not in run.text


def test_a_policy_of_the_simulation_itself_is_the_prompt(tmp_path: Path) -> None:
    (agent,) = first(tmp_path, policy="Never refund.").agents
    assert agent.description == "Never refund."


def tick(agent: str | None = None, user: str | None = None, of: str = "", **fields: Any) -> dict[str, Any]:
    """A tick, in which each side says a part of the utterance `of` or is silent."""
    return {
        "tick_id": 0,
        "timestamp": "2026-02-01T08:00:00",
        "agent_chunk": {"role": "assistant", "content": agent, "utterance_ids": [f"a{of}"] if agent else None},
        "user_chunk": {"role": "user", "content": user, "utterance_ids": [f"u{of}"] if user else None},
        "agent_tool_calls": [],
        "agent_tool_results": [],
    } | fields


CALL = {"id": "c1", "name": "get_order", "arguments": {"order_id": "#W1"}, "requestor": "assistant"}
TICKS = [
    tick(agent="Hel"),
    tick(agent="lo.", user="mm-hm", of=""),
    tick(agent=" How can I help?", of=""),
    tick(),
    tick(user="Cancel my order", of="1"),
    tick(user=" #W1.", of="1"),
    tick(user="Please.", of="2"),
    tick(agent="One moment.", of="1", agent_tool_calls=[CALL]),
    tick(agent_tool_results=[{"id": "c1", "role": "tool", "content": "delivered", "requestor": "assistant"}]),
    tick(agent="It is delivered.", of="2"),
]


def test_a_voice_simulation_is_read_utterance_by_utterance(tmp_path: Path) -> None:
    of_model = {"provider": "openai", "model": "gpt-realtime", "component": "realtime", "input_cached_tokens": 20}
    usage = {"records": [of_model | {"input_tokens": 90, "output_tokens": 7}], "cost": 0.25, "num_raw_records": 3}
    run = first(tmp_path, messages=None, ticks=TICKS, mode="full_duplex", agent_usage=usage, agent_cost=None)
    told = ["Hello. How can I help?", "mm-hm", "Cancel my order #W1. Please.", "One moment.", "delivered"]
    places = [run.text.index(text) for text in [*told, "It is delivered."]]
    assert places == sorted(places)
    assert calls_of(run) == [("get_order", {"order_id": "#W1"}, "delivered")]
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.cached_tokens, run.usage.output_tokens) == (90, 20, 7)
    assert run.usage.cost_usd == 0.25


def test_a_voice_simulation_that_lost_its_words_is_rejected(tmp_path: Path) -> None:
    items = read(result_folder(tmp_path / "run", messages=None, ticks=[tick()]))
    (rejection,) = [item for item in items if isinstance(item, Rejection)]
    assert "nothing is said or called in ticks" in rejection.detail


@pytest.mark.parametrize(
    ("reason", "flags"),
    [
        ("user_stop", ()),
        ("agent_error", ()),
        ("max_steps", ("step_limit",)),
        ("too_many_errors", ("step_limit",)),
        ("context_window_exceeded", ("step_limit",)),
        ("infrastructure_error", ("failed",)),
        ("user_error", ("failed",)),
    ],
)
def test_only_a_limit_is_a_limit(reason: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    run = first(tmp_path, termination_reason=reason)
    assert tuple(flag for flag in run.flags if flag != "no_answer") == flags
    assert run.extra.get("error") == (reason if "failed" in flags else None)
