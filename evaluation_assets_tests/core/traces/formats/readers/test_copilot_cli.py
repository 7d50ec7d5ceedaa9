"""Sessions of GitHub Copilot CLI."""

from pathlib import Path

from evaluation_assets_tests.core.traces.formats.readers.summaries import written
from evaluation_assets_tests.core.traces.formats.reading import trajectories


def test_reasoning_in_an_event_of_its_own_is_the_thought_of_the_next_message(tmp_path: Path) -> None:
    events = [
        ("session.start", {"sessionId": "s"}),
        ("user.message", {"content": "List the nets."}),
        ("assistant.reasoning", {"reasoningId": "r1", "content": "I look them up."}),
        ("assistant.message", {"content": "There are two."}),
        ("assistant.reasoning", {"reasoningId": "r2", "content": "I count."}),
        ("assistant.message", {"content": "Two.", "reasoningText": "I count again."}),
    ]
    lines = [
        {"type": kind, "data": data, "id": f"v{place}", "parentId": f"v{place - 1}" if place else None}
        for place, (kind, data) in enumerate(events)
    ]
    (run,) = trajectories(written(tmp_path, *lines))
    thoughts = [run.piece(step.thought) for step in run.steps if step.thought is not None]
    assert thoughts == ["I look them up.", "I count again."]
