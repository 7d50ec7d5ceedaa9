"""Runs of tau-bench whose agents write their actions."""

from pathlib import Path

import orjson

from evaluation_assets_tests.core.traces.formats.readers.summaries import calls_and_errors
from evaluation_assets_tests.core.traces.formats.reading import trajectories


def test_actions_in_texts_are_calls_and_the_user_says_their_results(tmp_path: Path) -> None:
    """As agents with the strategies `react` and `act` write them."""
    texts = [
        ("user", "I want my money back."),
        ("assistant", 'Thought:\nI ask.\nAction:\n{"name": "respond", "arguments": {"content": "Which order?"}}'),
        ("user", "Order 7."),
        ("assistant", 'Thought:\nI look.\nAction:\n{"name": "get_order", "arguments": {"order": 7}}'),
        ("user", 'API output: {"order": 7, "paid": 20}'),
        ("assistant", 'Action:\n{"name": "refund", "arguments": {"order": 7}}'),
        ("user", "API output: Error: not allowed"),
        ("assistant", "It is not allowed."),
        ("user", "###STOP###"),
    ]
    traj = [{"role": role, "content": text} for role, text in texts]
    path = tmp_path / "runs.json"
    path.write_bytes(orjson.dumps([{"task_id": 1, "reward": 0.0, "info": {}, "traj": traj, "trial": 0}]))
    (run,) = trajectories(path)
    assert calls_and_errors(run) == [('{"order":7}', None), ('{"order":7}', "Error: not allowed")]
    assert [turn.user_message for turn in run.turns] == ["I want my money back.", "Order 7."]
    assert "I look." in run.text and "Which order?" in run.text and "respond" not in run.text
