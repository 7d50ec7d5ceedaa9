"""The states of failure groups, and their file."""

from pathlib import Path

import pytest
from upath import UPath

from evaluation_assets.core.sections.failure_groups.states import KeptState, read_states, state_of, write_states
from evaluation_assets.core.system.configuration import InvalidConfiguration


def test_a_state_follows_from_what_people_said_and_where_it_was_seen() -> None:
    resolved = KeptState(state="resolved", drops=("a", "b"))
    assert state_of(None, ["a"], "new") == "new"
    assert state_of(None, ["a"], "grown") == "grown"
    assert state_of(None, ["a"], None) == "open"
    assert state_of(KeptState(state="acknowledged", drops=("a",)), ["a", "c"], "grown") == "acknowledged"
    assert state_of(resolved, ["b", "a"], None) == "resolved"
    assert state_of(KeptState(state="resolved"), ["a"], None) == "resolved"
    assert state_of(resolved, ["a", "c"], None) == "reopened"


def test_the_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = UPath(tmp_path / "groups.yaml")
    assert read_states(file) == {}
    states = {"1a2b": KeptState(state="resolved", drops=("s/a",), by="ada", note="größer: 3")}
    write_states(file, states)
    assert read_states(file) == states


@pytest.mark.parametrize(
    "text", ["# ours\n", "# ours\nb: {state: acknowledged}  # known\n", "# ours\na:\n  state: acknowledged\n"]
)
def test_what_people_wrote_into_the_file_stays(tmp_path: Path, text: str) -> None:
    file = UPath(tmp_path / "groups.yaml")
    file.write_text(text)
    before = read_states(file)
    state = KeptState(state="resolved", drops=("s/a",))
    write_states(file, {"a": state})
    assert read_states(file) == before | {"a": state}
    assert [line for line in text.splitlines() if "#" in line] == [
        line for line in file.read_text().splitlines() if "#" in line
    ]


def test_a_file_that_cannot_be_edited_is_named(tmp_path: Path) -> None:
    file = UPath(tmp_path / "groups.yaml")
    file.write_text("{b: {state: acknowledged}}")
    with pytest.raises(InvalidConfiguration, match=r"groups\.yaml: .*; write 12345678 as the others in blocks"):
        write_states(file, {"12345678": KeptState(state="resolved")})
    assert file.read_text() == "{b: {state: acknowledged}}"


@pytest.mark.parametrize(
    "text", ["- a", "a: {state: new}", "a: {state: resolved, more: 1}", "a: [", "\x00", "a: 2024-99-99"]
)
def test_a_broken_file_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "groups.yaml").write_text(text)
    with pytest.raises(InvalidConfiguration, match=r"groups\.yaml: "):
        read_states(UPath(tmp_path / "groups.yaml"))


def test_an_id_that_yaml_reads_as_a_number_has_to_be_quoted(tmp_path: Path) -> None:
    (tmp_path / "groups.yaml").write_text("12345678: {state: resolved}")
    with pytest.raises(InvalidConfiguration, match="put the ID in quotes"):
        read_states(UPath(tmp_path / "groups.yaml"))
