"""The states of failure groups, and their file."""

from pathlib import Path

import pytest
from upath import UPath

from evaluation_assets.core.sections.failure_groups.states import KeptState, read_states, state_of, write_states
from evaluation_assets.core.system.configuration import InvalidConfiguration


def test_a_state_follows_from_what_people_said_and_where_it_was_seen() -> None:
    resolved = KeptState(state="resolved", drops=("a", "b"))
    assert state_of(None, ["a"], is_new=True) == "new"
    assert state_of(None, ["a"], is_new=False) == "open"
    assert state_of(KeptState(state="acknowledged"), ["a", "c"], is_new=True) == "acknowledged"
    assert state_of(resolved, ["b", "a"], is_new=False) == "resolved"
    assert state_of(resolved, ["a", "c"], is_new=False) == "reopened"


def test_the_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = UPath(tmp_path / "groups.yaml")
    assert read_states(file) == {}
    states = {"1a2b": KeptState(state="resolved", drops=("s/a",), by="ada", note="größer: 3")}
    write_states(file, states)
    assert read_states(file) == states


@pytest.mark.parametrize(
    "text", ["- a", "a: {state: new}", "a: {state: resolved, more: 1}", "a: [", "\x00", "a: 2024-99-99"]
)
def test_a_broken_file_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "groups.yaml").write_text(text)
    with pytest.raises(InvalidConfiguration, match=r"groups\.yaml: "):
        read_states(UPath(tmp_path / "groups.yaml"))
