"""Sessions of Pi."""

from pathlib import Path
from typing import Any

import orjson

from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets_tests.core.traces.formats.readers.summaries import written
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, trajectories

FILE = FIXTURES / "pi" / "session.jsonl"


def with_prompt(tmp_path: Path, **prompt: Any) -> Path:
    """The session, with a system message in the place of its second entry."""
    header, changed, *others = (orjson.loads(line) for line in FILE.read_bytes().splitlines())
    message = {"role": "system", "timestamp": 1769940001000, **prompt}
    return written(tmp_path, header, {**changed, "type": "message", "message": message}, *others)


def test_the_sections_of_a_system_message_are_the_prompt(tmp_path: Path) -> None:
    sections = {"preamble": "You count birds.", "cwd": "<cwd>\n/srv/birds\n</cwd>"}
    path = with_prompt(tmp_path, content="", sections=sections)
    unmapped = UnmappedFields()
    (run,) = trajectories(path, unmapped=unmapped)
    assert run.agents[0].description == "You count birds.\n\n<cwd>\n/srv/birds\n</cwd>"
    assert run.turns[0].user_message == "Count the nests."
    assert not [name for name in unmapped.counts if "system" in name or "sections" in name]


def test_the_text_of_a_system_message_is_the_prompt(tmp_path: Path) -> None:
    (run,) = trajectories(with_prompt(tmp_path, content="You count birds."))
    assert run.agents[0].description == "You count birds."


def test_a_message_of_an_extension_is_the_prompt_if_the_agent_goes_on_after_it(tmp_path: Path) -> None:
    def entry(number: int, role: str, text: str) -> dict[str, Any]:
        message = {"role": role, "content": [{"type": "text", "text": text}]}
        place = {"id": f"e{number}", "parentId": f"e{number - 1}" if number else None}
        return {"type": "message", **place, "timestamp": "2026-03-01T10:00:00Z", "message": message}

    def told(number: int, text: str) -> dict[str, Any]:
        line = {**entry(number, "", ""), "type": "custom_message", "customType": "watch", "content": text}
        del line["message"]
        return line

    header = {"type": "session", "id": "s-1", "cwd": "/srv/birds", "timestamp": "2026-03-01T10:00:00Z", "version": 3}
    unmapped = UnmappedFields()
    path = written(
        tmp_path,
        header,
        told(0, "The nests are in nests.csv."),
        entry(1, "user", "Count the nests."),
        told(2, "It is Sunday."),
        entry(3, "assistant", "There are 4."),
        told(4, "nests.csv has changed."),
        entry(5, "assistant", "There are 5 now."),
    )
    (run,) = trajectories(path, unmapped=unmapped)
    assert [(turn.user_message, turn.interactions[-1].response) for turn in run.turns] == [
        ("Count the nests.", "There are 4."),
        ("nests.csv has changed.", "There are 5 now."),
    ]
    assert unmapped.counts["lines[] (context of an extension)"] == 2
