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


@pytest.mark.parametrize(
    "text",
    [
        "a: {state: resolved, drops: [s/a], note: old}  # ours\nb: {state: acknowledged}\n",
        "# all\na:  # the one of pay\n  state: resolved  # since May\n  # why\n  note: old\n  drops:\n  - s/a\n",
    ],
)
def test_comments_on_fields_stay_and_old_values_go(tmp_path: Path, text: str) -> None:
    file = UPath(tmp_path / "groups.yaml")
    file.write_text(text)
    before, state = read_states(file), KeptState(state="acknowledged", by="ada")
    write_states(file, {"a": state})
    assert read_states(file) == before | {"a": state}
    assert [part.partition("#")[2] for part in text.splitlines() if "#" in part] == [
        part.partition("#")[2] for part in file.read_text().splitlines() if "#" in part
    ]


def test_an_id_that_stands_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "groups.yaml").write_text("1a2b: {state: resolved}\n\n1a2b: {state: acknowledged}\n")
    with pytest.raises(InvalidConfiguration, match=r"groups\.yaml: invalid YAML in line 3.*'1a2b' appears twice"):
        read_states(UPath(tmp_path / "groups.yaml"))


def test_merged_mappings_may_be_overridden(tmp_path: Path) -> None:
    (tmp_path / "groups.yaml").write_text("aa: &a {state: resolved}\nbb: {<<: *a, state: acknowledged}\n")
    assert read_states(UPath(tmp_path / "groups.yaml"))["bb"].state == "acknowledged"


def test_a_folder_in_place_of_the_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "groups.yaml").mkdir()
    with pytest.raises(InvalidConfiguration, match=r"groups\.yaml: it cannot be read \(Is a directory\)"):
        read_states(UPath(tmp_path / "groups.yaml"))


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


@pytest.mark.parametrize("name", ["1e234567", "9e4b8c7d", "12345678", "01234567", "0e12e345", "eb8c7e12"])
def test_an_id_that_looks_like_a_number_is_read_as_it_was_written(tmp_path: Path, name: str) -> None:
    file = UPath(tmp_path / "groups.yaml")
    states = {name: KeptState(state="acknowledged"), "a1b2c3d4": KeptState(state="resolved", drops=("1e5",))}
    write_states(file, states)
    assert read_states(file) == states
    write_states(file, {name: KeptState(state="resolved", drops=("s/a",), by="1e6")})
    assert read_states(file)[name] == KeptState(state="resolved", drops=("s/a",), by="1e6")
