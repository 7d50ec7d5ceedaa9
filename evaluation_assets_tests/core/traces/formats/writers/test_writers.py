"""Trajectories and scores in the formats of others."""

from pathlib import Path
from typing import Any

import atif
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.traces.formats.final_answers import final_message
from evaluation_assets.core.traces.formats.transcript import Asked, Call, Event, Result, Said, total, written
from evaluation_assets.core.traces.formats.writers import atif as atif_writer
from evaluation_assets.core.traces.formats.writers import openai_messages as openai_writer
from evaluation_assets.core.traces.trajectories.model import Agent, Tool, Trajectory, Usage
from evaluation_assets_tests.core.making import answer, call, result
from evaluation_assets_tests.core.making import trajectory as tagged
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, check, read
from evaluation_assets_tests.core.traces.formats.reading import trajectories as runs_of
from evaluation_assets_tests.third_party import data

words = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=12).filter(
    lambda text: text.strip() == text
)
arguments = st.dictionaries(words, st.none() | st.booleans() | st.integers(-9, 9) | words, max_size=3)
usages = st.none() | st.builds(
    Usage,
    input_tokens=st.integers(1, 99),
    output_tokens=st.integers(1, 99),
    cached_tokens=st.none() | st.integers(0, 9),
)


@st.composite
def said_and_done(draw: st.DrawFn, agents: list[str]) -> list[Event]:
    """What an agent says and calls, with the results of its calls, and perhaps something it is told."""
    names = draw(st.lists(words, max_size=3))
    calls = tuple(Call(name=name, arguments=draw(arguments), id=f"{index}") for index, name in enumerate(names))
    spoken = Said(
        agent_id=draw(st.sampled_from(agents)),
        thought=draw(st.none() | words),
        message=draw(words if not calls else st.none() | words),
        calls=calls,
        usage=draw(usages),
    )
    results = [
        Result(content=draw(words), call_id=one.id, error=draw(st.none() | words))
        for one in calls
        if draw(st.booleans())
    ]
    told = [Result(content=draw(words), call_id="other", agent_id=spoken.agent_id)] if draw(st.booleans()) else []
    return [spoken, *results, *told]


@st.composite
def trajectories(draw: st.DrawFn, agents: list[str]) -> Trajectory:
    """Any trajectory that readers of structures make."""
    events: list[Event] = []
    for _ in range(draw(st.integers(1, 3))):
        events.append(Asked(text=draw(words)))
        for _ in range(draw(st.integers(1, 3))):
            events += draw(said_and_done(agents))
    text, turns = written(events)
    spoke = dict.fromkeys(interaction.agent_id for turn in turns for interaction in turn.interactions)
    tool = Tool(name="t", description="d", parameters={"type": "object"})
    steps = [step for turn in turns for interaction in turn.interactions for step in interaction.steps]
    return Trajectory(
        id="run",
        task_id="task",
        trial=draw(st.integers(0, 3)),
        format="atif",
        task=turns[0].user_message or "",
        text=text,
        turns=turns,
        agents=tuple(Agent(id=name, description=draw(st.none() | words), tools=(tool,)) for name in spoke),
        final_answer=draw(st.none() | words) or final_message(turns),
        reference_answer=draw(st.none() | words),
        success=draw(st.none() | st.booleans()),
        usage=total(step.usage for step in steps),
    )


def said_in(run: Trajectory) -> list[Any]:
    """Turns, who spoke, what was thought, said, called and returned."""
    return [
        (
            turn.user_message,
            turn.knowledge,
            [
                (
                    interaction.agent_id,
                    [
                        (
                            run.piece(step.thought),
                            run.piece(step.message),
                            step.call and (step.call.name, step.call.server, run.arguments(step.call)),
                            step.result and (run.piece(step.result.content), step.result.error),
                        )
                        for step in interaction.steps
                    ],
                )
                for interaction in turn.interactions
            ],
        )
        for turn in run.turns
    ]


def read_back(folder: Path, document: Any, format_name: str) -> Trajectory:
    path = folder / "written.jsonl"
    path.write_bytes(orjson.dumps(document))
    (run,) = read(path, format_name=format_name)
    assert isinstance(run, Trajectory), run
    check(run)
    return run


def outcome(run: Trajectory) -> tuple[Any, ...]:
    return run.task_id, run.trial, run.final_answer, run.reference_answer, run.success


# ATIF


@given(trajectories(["main", "helper", "other"]))
def test_atif_reads_back_what_was_written(tmp_path_factory: pytest.TempPathFactory, run: Trajectory) -> None:
    back = read_back(tmp_path_factory.mktemp("atif"), atif_writer.document(run), "atif")
    assert said_in(back) == said_in(run)
    assert back.text == run.text
    assert (outcome(back), back.usage, back.task) == (outcome(run), run.usage, run.task)
    described = {agent.id: (agent.description, agent.tools) for agent in back.agents}
    assert described == {agent.id: (agent.description, agent.tools) for agent in run.agents}


@given(trajectories(["main", "helper"]))
def test_atif_is_valid_by_the_models_of_the_format(run: Trajectory) -> None:
    document = atif.Trajectory.model_validate(atif_writer.document(run))
    assert document.schema_version == "ATIF-v1.8"


@pytest.mark.parametrize("name", ["atif", "inspect_ai", "openinference", "jaeger"])
def test_atif_of_what_other_formats_were_read_into(tmp_path: Path, name: str) -> None:
    for run in runs_of(FIXTURES / name):
        document = atif_writer.document(run)
        atif.Trajectory.model_validate(document)
        back = read_back(tmp_path, document, "atif")
        assert said_in(back) == said_in(run)
        assert (outcome(back), back.duration_s) == (outcome(run), run.duration_s)


def test_atif_of_tagged_text_has_its_calls_and_answer(tmp_path: Path) -> None:
    run = tagged(f"<think>plan</think>{call('print(1)')}{result('1')}{answer('one')}")
    back = read_back(tmp_path, atif_writer.document(run), "atif")
    assert [(step.call.name, step.call.server) for step in back.calls if step.call] == [
        (step.call.name, step.call.server) for step in run.calls if step.call
    ]
    assert (back.final_answer, back.task) == ("one", run.task)


def test_atif_of_recorded_runs(tmp_path: Path) -> None:
    for name in ("trail", "atif/golden/openhands", "otel-agentevals"):
        for run in read(data(name)):
            if isinstance(run, Trajectory):
                back = read_back(tmp_path, atif_writer.document(run), "atif")
                assert said_in(back) == said_in(run)


# OpenAI messages


def test_messages_stand_in_the_order_of_the_api() -> None:
    (run,) = runs_of(FIXTURES / "jaeger")
    record = openai_writer.record(run)
    assert record["messages"] == [
        {"role": "system", "content": "You list things."},
        {"role": "user", "content": "List releases"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "f1",
                    "type": "function",
                    "function": {"name": "list_releases", "arguments": '{\n  "all": true\n}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "f1", "content": "denied"},
        {"role": "assistant", "content": "I may not list them."},
    ]
    assert [tool["function"]["name"] for tool in record["tools"]] == ["list_releases"]
    assert record["final_answer"] == "I may not list them."


@given(trajectories(["main", "helper"]))
def test_every_call_has_an_id_of_its_own_and_a_result_names_it(run: Trajectory) -> None:
    messages = openai_writer.record(run)["messages"]
    made = [one["id"] for message in messages for one in message.get("tool_calls", ())]
    answered = [message["tool_call_id"] for message in messages if "tool_call_id" in message]
    assert len(set(made)) == len(made) == len(run.calls)
    assert len(set(answered)) == len(answered) and set(answered) <= set(made)
    assert len(answered) == sum(step.result is not None for step in run.calls)


@given(trajectories(["agent"]))
def test_messages_read_back_what_was_written(tmp_path_factory: pytest.TempPathFactory, run: Trajectory) -> None:
    back = read_back(tmp_path_factory.mktemp("openai"), openai_writer.record(run), "openai_messages")

    assert back.text == run.text
    assert [turn.user_message for turn in back.turns] == [turn.user_message for turn in run.turns]
    assert [(step.call.name, back.arguments(step.call)) for step in back.calls if step.call] == [
        (step.call.name, run.arguments(step.call)) for step in run.calls if step.call
    ]
    assert outcome(back) == outcome(run)
