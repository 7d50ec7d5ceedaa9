"""sources.yaml: what it may say, and the one line about what it may not."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from upath import UPath

from evaluation_assets.core.intake.sources.opening import STORES
from evaluation_assets.core.intake.sources.settings import SETTINGS, InvalidSources, load_sources
from evaluation_assets.core.system.configuration import duration


def load(folder: Path, sources: Any) -> Any:
    file = folder / "sources.yaml"
    file.write_text(json.dumps({"sources": sources}))
    return load_sources(UPath(file))


def test_there_are_no_sources_without_a_file(tmp_path: Path) -> None:
    assert load_sources(UPath(tmp_path / "sources.yaml")) == {}


def test_a_source_has_defaults(tmp_path: Path) -> None:
    found = load(tmp_path, {"prod": {"type": "mlflow", "tracking_uri": "http://localhost:5000"}})["prod"]
    assert (found.quiet, found.share, found.every_seconds) == (timedelta(minutes=10), 1.0, 60)
    assert (found.since, found.format) == (timedelta(days=1), "mlflow")


FOLDER = {"type": "folder", "path": "logs"}


@pytest.mark.parametrize(
    ("sources", "says"),
    [
        ({"prod": {"type": "mlfow"}}, "sources.prod.type: choose one of: bucket, "),
        ({"prod": {}}, "sources.prod.type: choose one of"),
        ({"prod": {"type": "mlflow"}}, "sources.prod: tracking_uri: is missing"),
        ({"prod": FOLDER | {"pth": 1}}, "sources.prod: pth: unknown field; did you mean 'path'?"),
        ({"prod": FOLDER | {"since": "a week"}}, "sources.prod: since: a duration is a number and a unit"),
        ({"prod": FOLDER | {"share": 2}}, "sources.prod: share: must be less than or equal to 1"),
        (
            {"prod": FOLDER | {"quiet_minutes": 1e15}},
            "sources.prod: quiet_minutes: must be less than or equal to 525600",
        ),
        ({"prod": FOLDER | {"format": "nope"}}, "sources.prod.format: no such format"),
        ({"My-App": FOLDER}, "sources.My-App: a name has lower-case letters"),
        ({"p": {"type": "bucket", "url": "no-url"}}, "sources.p: url: must match pattern"),
        (["prod"], "sources: must be fields with values"),
        (
            {"p": {"type": "phoenix", "url": "http://h", "api_key_env": "sk-abcdefghijklmnop"}},
            "sources.p: api_key_env: this looks like a key",
        ),
    ],
)
def test_a_wrong_entry_gets_one_clear_line(tmp_path: Path, sources: Any, says: str) -> None:
    with pytest.raises(InvalidSources) as raised:
        load(tmp_path, sources)
    (line,) = str(raised.value).splitlines()
    assert says in line
    assert "abcdefghijklmnop" not in line


def test_each_type_has_a_store() -> None:
    assert SETTINGS.keys() - STORES.keys() == {"received", "folder", "bucket"}  # need the home folder


def test_a_session_of_a_coding_agent_is_given_an_hour(tmp_path: Path) -> None:
    found = load(tmp_path, {"mine": {"type": "codex", "project": "shop"}})["mine"]
    assert found.quiet == timedelta(hours=1)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("30m", 1800), ("12h", 43200), ("7d", 604800), (" 2w ", 1209600)]
)
def test_durations(text: str, seconds: int) -> None:
    assert duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "7", "d", "1.5h", "-1d", "7 days", "99999999d"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="for example 30m, 12h or 7d"):
        duration(text)
