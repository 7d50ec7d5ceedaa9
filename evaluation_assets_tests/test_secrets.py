"""A key stands in the environment and nowhere else: files that name variables refuse keys, and never repeat them."""

import json
import random
import string
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError
from upath import UPath

from evaluation_assets.core.intake.clips.tool_types import InvalidToolTypes, load_tool_types
from evaluation_assets.core.judging.panel import InvalidPanel, JudgeSettings, load_panel
from evaluation_assets.core.pipeline.settings import InvalidSettings, load_settings
from evaluation_assets.core.sections.sessions.embedding_similarity import EmbeddingSettings
from evaluation_assets.core.suites.agents.settings import AgentSettings, InvalidAgent, load_agent
from evaluation_assets.core.system.automation import NotificationSettings
from evaluation_assets.core.system.configuration import VariableName
from evaluation_assets_tests.conftest import KEY, command
from evaluation_assets_tests.defs.test_model_judges import cli
from evaluation_assets_tests.model_judging import drop_of
from evaluation_assets_tests.model_server import ModelServer

# The shapes of the providers' keys; none of them was ever valid.
KEYS = [
    KEY,
    "sk-ant-api03-" + "x7Kq" * 20,
    "sk_live_abcdefgh12345678",
    "AIzaSyD-abcdefghijklmnopqrstuvwxyz12345",
    "AKIAIOSFODNN7EXAMPLE",
    "gsk_Ab12Cd34Ef56Gh78",
    "7F3A9B2C8D1E4F5A6B7C8D9E0F1A2B3C",
    "hunter2",
]
NAMES = ["OPENAI_API_KEY", "TEST_KEY", "K", "AZURE_OPENAI_API_KEY_2", "NO_SUCH_KEY_VARIABLE", "TEAM_42_ANTHROPIC_KEY"]


class Named(BaseModel):
    variable: VariableName


def files_with(secret: str, folder: Path) -> list[str]:
    """The files below a folder that hold a text, in any form that databases and tables leave readable."""
    return [str(path) for path in folder.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]


@pytest.mark.parametrize("key", KEYS[-1:])
def test_a_typed_key_is_refused_asked_for_again_and_stored_nowhere(
    tmp_path: Path, server: ModelServer, key: str
) -> None:
    home = tmp_path / "home"
    asked = ["openai_compatible", "m", "mine", server.openai_url, key, "TEST_KEY", "", "full", "n", "n"]
    made = cli("panel", "init", "--home", home, answers="\n".join(asked) + "\n")
    assert made.returncode == 0, made.stderr
    assert yaml.safe_load((home / "panel.yaml").read_text())["judges"][0]["api_key_env"] == "TEST_KEY"
    (tmp_path / "d.jsonl").write_bytes(drop_of(1))
    evaluated = cli("evaluate", tmp_path / "d.jsonl", "--home", home)
    assert evaluated.returncode == 0, evaluated.stderr
    listed = cli("panel", "list", "--home", home)
    assert files_with(key, tmp_path) == files_with(KEY, tmp_path) == []
    for said in (made, evaluated, listed):
        assert key not in said.stdout + said.stderr
    assert files_with("TEST_KEY", home), "the variable's name would have been found"


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("place", ["judge", "embeddings", "agent", "headers", "notifications"])
def test_a_key_in_a_file_written_by_hand_is_refused_and_not_repeated(tmp_path: Path, place: str, key: str) -> None:
    endpoint = {"model": "m", "base_url": "http://localhost:1/v1", "api_key_env": key}
    judge = {"name": "one", "provider": "openai_compatible"}
    with pytest.raises((InvalidPanel, InvalidAgent, InvalidSettings)) as refused:
        file = UPath(tmp_path / "settings.yaml")
        if place == "judge":
            file.write_text(json.dumps({"judges": [judge | endpoint]}))
            load_panel(file)
        elif place == "embeddings":
            file.write_text(json.dumps({"embeddings": endpoint}))
            load_panel(file)
        elif place == "agent":
            file.write_text(json.dumps(judge | endpoint))
            load_agent(file)
        elif place == "headers":
            server = {"name": "s", "url": "http://localhost:1", "headers_from": {"Authorization": key}}
            file.write_text(json.dumps(judge | endpoint | {"api_key_env": "TEST_KEY", "tools": {"mcp": [server]}}))
            load_agent(file)
        else:
            file.write_text(json.dumps({"notifications": {"url_env": key}}))
            load_settings(file)
    assert key not in str(refused.value)
    assert "variable" in str(refused.value)


def test_a_command_refuses_a_panel_with_a_key_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_bytes(drop_of(1))
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "panel.yaml").write_text(
        f"judges: [{{name: one, provider: openai, model: m, api_key_env: {KEY}}}]"
    )
    for arguments in (["evaluate", tmp_path / "in.jsonl"], ["panel", "list"], ["panel", "test"]):
        done = command(*arguments, home=tmp_path / "home")
        assert done.returncode == 2
        assert KEY not in done.stdout + done.stderr
        assert "this looks like a key" in done.stderr
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("text", [f"judges: [{{api_key_env: {KEY}", f"{KEY}: [", f"judges:\n\t- {KEY}"])
def test_yaml_that_cannot_be_parsed_is_named_by_its_line_not_shown(tmp_path: Path, text: str) -> None:
    file = UPath(tmp_path / "settings.yaml")
    file.write_text(text)
    for load, refusal in ((load_panel, InvalidPanel), (load_agent, InvalidAgent), (load_settings, InvalidSettings)):
        with pytest.raises(refusal, match="line") as refused:
            load(file)
        assert KEY not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"due: 2024-99-99", "a value cannot be read"),
        (b'n: !!int ""', "a value cannot be read"),
        (b"a: " + b"[" * 1000, "values are nested too deeply"),
        (b"a: \xff", "not UTF-8"),
    ],
    ids=["impossible date", "empty number", "nesting", "encoding"],
)
def test_values_that_cannot_be_read_are_a_refusal_of_the_file(tmp_path: Path, content: bytes, said: str) -> None:
    file = UPath(tmp_path / "settings.yaml")
    file.write_bytes(content)
    for load, refusal in (
        (load_panel, InvalidPanel),
        (load_agent, InvalidAgent),
        (load_settings, InvalidSettings),
        (load_tool_types, InvalidToolTypes),
    ):
        with pytest.raises(refusal, match=said) as refused:
            load(file)
        assert str(refused.value).startswith(str(file))


def test_no_model_of_settings_repeats_what_it_refuses() -> None:
    with pytest.raises(ValidationError) as judge:
        JudgeSettings.model_validate({"name": "one", "provider": "openai", "model": "m", "api_key_env": KEY})
    with pytest.raises(ValidationError) as agent:
        AgentSettings.model_validate({"name": "one", "provider": "openai", "model": "m", "api_key_env": KEY})
    with pytest.raises(ValidationError) as embeddings:
        EmbeddingSettings.model_validate({"model": "m", "api_key_env": KEY})
    with pytest.raises(ValidationError) as notifications:
        NotificationSettings.model_validate({"url_env": KEY})
    for refused in (judge, agent, embeddings, notifications):
        assert KEY not in str(refused.value) + repr(refused.value)


@pytest.mark.parametrize("name", NAMES)
def test_names_of_variables_are_taken(name: str) -> None:
    assert Named(variable=name).variable == name


@given(st.text(alphabet=string.ascii_letters + string.digits + "-_. ", min_size=1, max_size=80))
def test_what_is_taken_is_a_name(text: str) -> None:
    try:
        taken = Named(variable=text).variable
    except ValidationError as problem:
        assert len(text) < 12 or text not in problem.errors()[0]["msg"]
    else:
        assert taken == text
        assert set(taken) <= set(string.ascii_uppercase + string.digits + "_")
        assert taken[0] in string.ascii_uppercase


@given(st.integers(), st.sampled_from([string.ascii_uppercase + string.digits, "0123456789ABCDEF"]))
def test_random_capitals_and_digits_are_no_name(seed: int, alphabet: str) -> None:
    key = "K" + "".join(random.Random(seed).choices(alphabet, k=39))
    with pytest.raises(ValidationError):
        Named(variable=key)
