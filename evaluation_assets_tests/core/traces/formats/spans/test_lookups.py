"""Operations on documents and memories in the conventions of OpenTelemetry."""

from pathlib import Path

import pytest

from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.traces.formats.reading import calls_of, read
from evaluation_assets_tests.core.traces.formats.spans.making import chat, otlp, said, span


@pytest.mark.parametrize(
    ("operation", "given", "found"),
    [
        ("retrieval", "gen_ai.retrieval.query.text", "gen_ai.retrieval.documents"),
        ("search_memory", "gen_ai.memory.query.text", "gen_ai.memory.records"),
    ],
)
def test_what_is_looked_up_in_documents_and_memories_is_a_call(
    tmp_path: Path, operation: str, given: str, found: str
) -> None:
    looked_up = {
        "gen_ai.operation.name": operation,
        given: "tea",
        found: '[{"id": "1", "content": "Tea costs 3 euros."}]',
    }
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "shop"}
    answer = chat([said("user", "What does tea cost?")], [said("assistant", "3 euros.")])
    spans = [
        span("agent", agent, end=9),
        span(operation, looked_up, start=1, parent="agent"),
        span("chat", answer, start=3, parent="agent"),
        span("unseen", {"gen_ai.operation.name": operation}, start=5, parent="agent"),
    ]
    (run,) = read(otlp(tmp_path / "trace.jsonl", *spans))
    assert isinstance(run, Trajectory)
    ((name, arguments, result),) = calls_of(run)
    assert (name, arguments) == (operation, {"arguments": "tea"}) and "Tea costs 3 euros." in (result or "")
