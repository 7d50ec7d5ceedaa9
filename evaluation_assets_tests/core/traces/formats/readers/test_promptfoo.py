"""Results of promptfoo."""

from pathlib import Path

import orjson
import pytest

from evaluation_assets.core.traces.trajectories.model import Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import calls_and_errors, summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, trajectories

RESULTS = FIXTURES / "promptfoo" / "results.json"


def test_each_result_is_a_run_with_the_calls_of_its_provider() -> None:
    called, claude, agent = list(trajectories(RESULTS))
    assert calls_and_errors(called) == [('{"item":"lamp"}', None)]
    assert (called.task, called.agents[0].description) == ("Is there a lamp?", "You sell lamps.")
    assert calls_and_errors(claude) == [('{"item":"lamp"}', None)]
    assert "I look." in claude.text and "tool_use" not in claude.text
    assert calls_and_errors(agent) == [('{"file":"stock.txt"}', "not found"), ('{"file":"lamps.txt"}', None)]
    assert agent.final_answer == "There is one lamp."
    assert [run.success for run in (called, claude, agent)] == [True, False, True]
    assert (agent.usage, agent.duration_s) == (Usage(input_tokens=30, output_tokens=3, cost_usd=0.003), 1.5)
    assert called.labels["scores"] == {"score": 1, "polite": 1}


def test_a_provider_that_fails_says_nothing_of_the_agent(tmp_path: Path) -> None:
    data = orjson.loads(RESULTS.read_bytes())
    failed = data["results"]["results"][2]
    failed |= {"success": False, "failureReason": 2, "error": "API error: 503"}
    *_, run = trajectories(written(tmp_path, data))
    assert (run.success, run.flags, run.extra["error"]) == (None, ("no_answer", "failed"), "API error: 503")
    failed["response"] = {"error": "API error: 503"}
    summary = summary_of(written(tmp_path, data))
    assert (summary.trajectories, summary.trust) == (3, "partial")


def test_results_on_lines_of_their_own_are_read_the_same(tmp_path: Path) -> None:
    lines = orjson.loads(RESULTS.read_bytes())["results"]["results"]
    path = tmp_path / "results.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    assert [run.text for run in trajectories(path)] == [run.text for run in trajectories(RESULTS)]


@pytest.mark.parametrize(
    ("stats", "trust"),
    [
        ({"errors": 1}, "partial"),
        ({"tokenUsage": {"prompt": 80}}, "partial"),
        ({"tokenUsage": {"prompt": 0}}, "complete"),
    ],
)
def test_results_and_tokens_are_compared_with_the_statistics(
    tmp_path: Path, stats: dict[str, object], trust: str
) -> None:
    data = orjson.loads(RESULTS.read_bytes())
    data["results"]["stats"] |= stats
    assert summary_of(written(tmp_path, data)).trust == trust
