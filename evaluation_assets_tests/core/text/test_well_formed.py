"""Lone surrogates, which JSON and YAML can hold and no table can."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from upath import UPath

from evaluation_assets.core.models.json_text import dumped, loads
from evaluation_assets.core.text.plain_yaml import load_plain
from evaluation_assets.core.text.well_formed import well_formed, well_formed_json
from evaluation_assets.core.traces.trajectories.model import json_objects

CHARACTERS = st.characters(codec=None) | st.sampled_from(["\ud83d", "\ude00", "\udfff"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(CHARACTERS),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(CHARACTERS), inner),
)


@given(st.text(CHARACTERS))
def test_any_text_can_be_encoded_and_a_well_formed_one_stays(text: str) -> None:
    made = well_formed(text)
    assert well_formed(made) == made == made.encode().decode()
    if "\ufffd" not in made:
        assert made.encode("utf-16") == text.encode("utf-16", "surrogatepass")


def test_halves_become_one_character_or_are_replaced() -> None:
    assert well_formed("a\ud83d\ude00b") == "a😀b"
    assert well_formed("a\ud83db\ude00") == "a\ufffdb\ufffd"
    assert well_formed_json({"\udfff": ["\ud800", 1, None]}) == {"\ufffd": ["\ufffd", 1, None]}


@given(JSON)
def test_any_json_is_read_well_formed_and_written(value: object) -> None:
    read = loads(json.dumps(value))
    assert read == well_formed_json(value)
    assert loads(dumped(read)) == read
    assert loads(dumped(value)) is not None or value is None


@given(st.dictionaries(st.text(CHARACTERS), JSON, min_size=1))
def test_objects_in_a_text_are_well_formed(value: dict[str, object]) -> None:
    (found,) = json_objects(f"Here: {json.dumps(value)}")
    assert json.dumps(found, ensure_ascii=False).encode()


@pytest.mark.parametrize("text", ["NaN", '{"a": Infinity}', "{", "[" * 100_000])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        loads(text)


def test_yaml_with_escapes_is_well_formed(tmp_path: Path) -> None:
    path = UPath(tmp_path / "a.yaml")
    path.write_text('labels: {"half \\ud800": ["\\udfff"]}')
    assert load_plain(path) == {"labels": {"half \ufffd": ["\ufffd"]}}
