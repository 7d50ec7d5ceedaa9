"""Files of settings: a number is what is written as one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel
from upath import UPath

from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.pipeline.settings import Settings
from evaluation_assets.core.suites.agents.settings import AgentSettings
from evaluation_assets.core.system.configuration import InvalidConfiguration, Section, read_settings


class _Inner(Section):
    rate: float | None = None
    limits: dict[str, float] | None = None
    pair: tuple[float, float] | None = None


class _Settings(Section):
    count: int = 0
    is_on: bool = False
    inner: _Inner = _Inner()
    any: object = None


def read(folder: Path, text: str) -> _Settings:
    file = folder / "settings.yaml"
    file.write_text(text)
    return read_settings(UPath(file), _Settings, InvalidConfiguration)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("count: true", "count: must be a whole number"),
        ('count: "5"', "count: must be a whole number; write 5 without quotes"),
        ("is_on: 1", "is_on: must be true or false"),
        ('is_on: "yes"', "is_on: must be true or false"),
        ("inner: {rate: true}", "inner.rate: must be a number"),
        ('inner: {rate: "5"}', "inner.rate: must be a number; write 5 without quotes"),
        ("inner: {limits: {a: false}}", "inner.limits.a: must be a number"),
        ('inner: {pair: [1, "2"]}', "inner.pair[1]: must be a number; write 2 without quotes"),
        ("inner: {rate: .nan}", "inner.rate: must be a number"),
        ("inner: {limits: {a: -.inf}}", "inner.limits.a: must be a number"),
    ],
)
def test_true_and_text_are_no_numbers(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InvalidConfiguration) as problem:
        read(tmp_path, text)
    assert str(problem.value).endswith(f"settings.yaml:1: {said}")


def test_a_fault_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfiguration, match=r"settings\.yaml:5: inner\.pair\[1\]: must be a number"):
        read(tmp_path, "# the settings\ninner:\n  pair:\n    - 1\n    - no\n")


@pytest.mark.parametrize(
    ("text", "rate"),
    [("1", 1.0), ("1.5", 1.5), ("1e6", 1e6), ("2e-7", 2e-7), ("+1E+2", 100.0), ("-1.0e3", -1000.0), ("null", None)],
)
def test_numbers_may_be_written_in_every_way(tmp_path: Path, text: str, rate: float | None) -> None:
    assert read(tmp_path, f"inner: {{rate: {text}}}").inner.rate == rate


def test_values_that_have_no_type_stay_as_they_are(tmp_path: Path) -> None:
    assert read(tmp_path, 'any: [true, 1, "5", e5, 1e]').any == [True, 1, "5", "e5", "1e"]
    assert read(tmp_path, "inner: {pair: [1, 2]}").inner.pair == (1.0, 2.0)


def test_an_alias_stands_for_its_value(tmp_path: Path) -> None:
    assert read(tmp_path, "any: [&a {b: 1}, *a, {<<: *a, c: 2}]").any == [{"b": 1}, {"b": 1}, {"b": 1, "c": 2}]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("any: &a {b: *a}", "line 1, column 13: the alias 'a' stands in its own value"),
        (
            "any:\n- &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
            + "".join(f"- &a{n + 1} [{', '.join([f'*a{n}'] * 9)}]\n" for n in range(7)),
            "column 8: aliases stand for more than 100,000 values",
        ),
    ],
    ids=["endless", "many"],
)
def test_aliases_that_stand_for_too_much_are_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InvalidConfiguration) as problem:
        read(tmp_path, text)
    assert str(problem.value).endswith(said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<<<<<<< HEAD\nrate: 1\n=======\nrate: 2\n>>>>>>> theirs\n", "line 1, column 1: a merge conflict of git is"),
        ("a: 1\n<<<<<<< HEAD\n=======\nrate: 2\n>>>>>>> theirs\n", "line 2, column 1: a merge conflict of git is"),
        ("[" * 5000, "values are nested too deeply"),
    ],
)
def test_what_is_no_yaml_by_accident_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InvalidConfiguration, match=said):
        read(tmp_path, text)


def test_all_files_of_settings_take_only_numbers_for_numbers() -> None:
    files = (Panel, AgentSettings, Settings)
    assert {part for file in files for part in models_in(file) if not issubclass(part, Section)} == set()


def models_in(kind: Any) -> Iterator[type[BaseModel]]:
    """The models of a file and of its parts."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
        for field in kind.model_fields.values():
            yield from models_in(field.annotation)
    for argument in get_args(kind):
        yield from models_in(argument)
