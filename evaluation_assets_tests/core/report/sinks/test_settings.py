"""`sinks.yaml`: what it may say, and what is refused with the field's name and without its value."""

from pathlib import Path

import pytest
from upath import UPath

from evaluation_assets.core.report.sinks.opening import variables_of
from evaluation_assets.core.report.sinks.settings import SETTINGS, InvalidSinks, SinkSettings, load_sinks

SINKS = """
sinks:
  tracking: {type: mlflow, tracking_uri: "http://localhost:5000", suites: ["support*"], only_from: prod}
  ours: {type: phoenix, url: "http://localhost:6006", levels: [clip]}
  fuse: {type: langfuse, public_key_env: A_KEY, secret_key_env: B_KEY}
  smith: {type: langsmith}
  events: {type: otlp, endpoint: "http://localhost:4318"}
  pull_request: {type: github, status: commit_status}
  chat: {type: webhook, url_env: CHAT_URL, drops: ["nightly/*"]}
"""


def load(folder: Path, text: str) -> dict[str, SinkSettings]:
    (folder / "sinks.yaml").write_text(text)
    return load_sinks(UPath(folder / "sinks.yaml"))


def test_every_type_has_settings(tmp_path: Path) -> None:
    sinks = load(tmp_path, SINKS)
    assert {settings.type for settings in sinks.values()} == set(SETTINGS)
    assert variables_of(sinks["fuse"]) == ["A_KEY", "B_KEY"]
    assert sinks["chat"].place == "URL in CHAT_URL"


def test_no_file_is_no_sinks(tmp_path: Path) -> None:
    assert load_sinks(UPath(tmp_path / "sinks.yaml")) == {}


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("a: {type: ftp}", "sinks.a.type: choose one of: github, langfuse, "),
        ("a: {type: otlp, endpoints: x}", "sinks.a: endpoints: unknown field; did you mean 'endpoint'?"),
        ("a: {type: otlp, levels: [session]}", "sinks.a: levels[0]: "),
        ("a: {type: mlflow, tracking_uri: 'file:///x'}", "sinks.a: tracking_uri: "),
        ("A-b: {type: webhook}", "a name has lower-case letters"),
        ("a: {type: langsmith, api_key_env: lsv2_pt_0123456789abcdef}", "sinks.a: api_key_env: this looks like a key"),
    ],
)
def test_what_cannot_be_used_is_refused(tmp_path: Path, entry: str, problem: str) -> None:
    with pytest.raises(InvalidSinks) as raised:
        load(tmp_path, f"sinks:\n  {entry}\n")
    assert problem in str(raised.value)
    assert "0123456789abcdef" not in str(raised.value)


def test_a_sink_takes_the_drops_that_it_names(tmp_path: Path) -> None:
    sinks = load(tmp_path, SINKS)
    assert sinks["chat"].takes("nightly/x", None, None) and not sinks["chat"].takes("x", None, None)
    assert sinks["tracking"].takes("x", "support_de", "prod")
    assert not sinks["tracking"].takes("x", "support_de", None)
    assert not sinks["tracking"].takes("x", None, "prod")
    assert sinks["ours"].takes("x", None, None)
