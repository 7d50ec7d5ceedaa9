"""Agent, version and model of a run, as its record names them."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Agent
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, trajectories

MESSAGES = [{"role": "user", "content": "How many jars?"}, {"role": "assistant", "content": "Twelve."}]
BLOCKS = [
    {"role": "user", "content": [{"type": "text", "text": "How many jars?"}]},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "count", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "12"}]},
    {"role": "assistant", "content": [{"type": "text", "text": "Twelve."}]},
]
NAMED = {"agent": "shop", "agent_version": "v2", "model": "m-1"}
FORMS: dict[str, dict[str, Any]] = {
    "fields": NAMED,
    "metadata": {"metadata": NAMED},
    "object": {"agent": {"name": "shop", "version": "v2"}, "model": "m-1"},
}
RECORDS: dict[str, dict[str, Any]] = {
    "openai_messages": {"messages": MESSAGES},
    "anthropic_messages": {"messages": BLOCKS},
    "tagged": {"raw_response": "<think>Twelve.</think><answer>Twelve.</answer>"},
    "agent_session": {"user_message": "How many jars?", "agent_steps": [], "agent_response": "Twelve."},
}


def agents_in(record: dict[str, Any], folder: Path) -> list[Agent]:
    (folder / "run.json").write_bytes(orjson.dumps(record))
    unmapped = UnmappedFields()
    [run] = trajectories(folder / "run.json", unmapped=unmapped)
    assert not {"agent", "agent_version", "model"} & {path for path, _ in unmapped.table()}
    return list(run.agents)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", RECORDS)
def test_a_record_names_its_agent(name: str, form: str, tmp_path: Path) -> None:
    [agent] = agents_in(RECORDS[name] | FORMS[form], tmp_path)
    assert (agent.id, agent.name, agent.version, agent.model) == ("agent", "shop", "v2", "m-1")


def test_a_version_may_be_a_number(tmp_path: Path) -> None:
    [agent] = agents_in({"agent_version": 2, "messages": MESSAGES}, tmp_path)
    assert agent.version == "2"


def test_agents_that_messages_name_keep_their_names_and_have_the_version_of_the_record(tmp_path: Path) -> None:
    messages = [*MESSAGES, {"role": "assistant", "name": "checker", "content": "I counted again."}]
    agents = agents_in(NAMED | {"messages": messages}, tmp_path)
    assert [(agent.id, agent.name, agent.version) for agent in agents] == [
        ("agent", "shop", "v2"),
        ("checker", None, "v2"),
    ]


@pytest.mark.parametrize("key", ["gen_ai.agent.version", "metadata"])
def test_spans_name_the_version_of_their_agent(key: str, tmp_path: Path) -> None:
    value = '{"agent_version": "v2"}' if key == "metadata" else "v2"
    lines = (FIXTURES / "otel" / "traces.jsonl").read_bytes().splitlines()
    documents = [orjson.loads(line) for line in lines]
    scopes = [scope for one in documents for resource in one["resourceSpans"] for scope in resource["scopeSpans"]]
    for span in [span for scope in scopes for span in scope["spans"]]:
        span.setdefault("attributes", []).append({"key": key, "value": {"stringValue": value}})
    (tmp_path / "spans.jsonl").write_bytes(b"\n".join(map(orjson.dumps, documents)))
    runs = trajectories(tmp_path / "spans.jsonl")
    assert {agent.version for run in runs for agent in run.agents} == {"v2"}
