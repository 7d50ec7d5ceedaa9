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
