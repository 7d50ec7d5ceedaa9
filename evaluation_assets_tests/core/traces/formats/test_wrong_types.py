"""A field of a wrong type in one place of a record does not keep its reader from the rest."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.formats.base import Rejection
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, read

WRONG: tuple[Any, ...] = ({"a": 1}, [1], 1, "x", None, True)


def _places(value: Any, name: str) -> list[dict[str, Any]]:
    """The objects in a document that have a field of this name."""
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    own = [value] if isinstance(value, dict) and name in value else []
    return own + [place for each in inner for place in _places(each, name)]


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize(
    ("fixture", "name"),
    [
        ("agno/session.json", "role"),
        ("agno/session.json", "input_tokens"),
        ("vscode_chat/chat.json", "kind"),
        ("continue/session.json", "toolCallId"),
        ("pi/session.jsonl", "parentId"),
    ],
)
def test_a_wrong_type_in_one_place_is_read_around(tmp_path: Path, fixture: str, name: str, wrong: Any) -> None:
    source = FIXTURES / fixture
    documents = [orjson.loads(line) for line in source.read_bytes().splitlines()] if source.suffix == ".jsonl" else None
    whole = orjson.loads(source.read_bytes()) if documents is None else documents
    for place in _places(whole, name):
        right, place[name] = place[name], wrong
        lines = [whole] if documents is None else documents
        (tmp_path / source.name).write_bytes(b"\n".join(map(orjson.dumps, lines)))
        items = read(tmp_path / source.name)
        assert [item for item in items if isinstance(item, Rejection) and item.reason == "reader_failed"] == []
        place[name] = right
