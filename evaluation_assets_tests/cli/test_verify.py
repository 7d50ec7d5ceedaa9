"""`verify`: whether an installation can evaluate."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets_tests.conftest import command
from evaluation_assets_tests.model_judging import judge
from evaluation_assets_tests.model_server import ModelServer, model_server, rule
from evaluation_assets_tests.small_disks import small_disk

KEY = "sk-verify-4Gh7k2Lp9Qx1Zt6"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)


def checks_of(home: Path, judges: list[dict[str, Any]], *more: str) -> tuple[int, dict[str, list[tuple[str, str]]]]:
    """The exit status, and status and message of the checks by their names."""
    home.mkdir(exist_ok=True)
    (home / "panel.yaml").write_text(json.dumps({"judges": judges}))
    done = command("verify", "--format", "json", *more, home=home)
    assert KEY not in done.stdout + done.stderr
    document = json.loads(done.stdout)
    assert document["ok"] == (done.returncode == 0)
    found: dict[str, list[tuple[str, str]]] = {}
    for check in document["checks"]:
        found.setdefault(check["name"], []).append((check["status"], check["message"]))
    return done.returncode, found


def test_a_panel_of_two_providers_passes_every_check(tmp_path: Path, server: ModelServer) -> None:
    with model_server() as other:
        status, found = checks_of(tmp_path / "home", [judge(server), judge(other, "two", protocol="anthropic")])
    assert status == 0, found
    assert list(found) == ["installation", "settings", "keys", "prices", "providers", "calls", "outputs"]
    assert {each for name in found for each, _ in found[name]} == {"ok"}
    assert [message.split(":")[0] for _, message in found["calls"]] == ["judge one", "judge two"]
    assert len(server.requests()) == 1
    assert not list((tmp_path / "home").rglob(".verify*"))
    done = command("verify", "--no-calls", home=tmp_path / "home")
    assert done.returncode == 0 and "calls" not in done.stdout
    assert [line.split()[:2] for line in done.stdout.splitlines()][:2] == [["ok", "installation"], ["ok", "settings"]]
    assert len(server.requests()) == 1


def test_a_judge_is_asked_by_the_rubrics_of_the_home(tmp_path: Path, server: ModelServer) -> None:
    file = tmp_path / "home" / "rubrics" / "trajectory" / "trajectory.yaml"
    file.parent.mkdir(parents=True)
    criterion = "{key: refund_is_right, question: Is it right, anchors: {0: No., 1: Yes.}}"
    about = "name: trajectory, level: trajectory, version: 1, description: A refund., scale: {min: 0, max: 1}"
    file.write_text(f"{{{about}, criteria: [{criterion}]}}")
    status, found = checks_of(tmp_path / "home", [judge(server, levels=["trajectory"])])
    (request,) = server.requests()
    assert "refund_is_right" in str(request) and "tool_use_quality" not in str(request), found
    assert status == 0, found


@pytest.mark.parametrize(
    ("judges", "provider"),
    [
        (
            (("openai_compatible", "https://u:pw@h.example/v1"), ("anthropic_compatible", "https://H.example:443")),
            "https://h.example",
        ),
        ((("openai", None), ("openai_decisions", None), ("openai_compatible", "https://api.openai.com/v1")), "openai"),
    ],
)
def test_protocols_of_one_server_are_one_provider(
    tmp_path: Path, judges: tuple[tuple[str, str | None], ...], provider: str
) -> None:
    named = [
        {"name": f"j{n}", "provider": kind, "model": "m", "api_key_env": "TEST_KEY"}
        | ({"base_url": url} if url else {})
        for n, (kind, url) in enumerate(judges)
    ]
    ((state, message),) = checks_of(tmp_path, named, "--no-calls")[1]["providers"]
    assert state == "warning" and message.startswith(f"only {provider} judges;")


def test_settings_that_only_dagster_refuses_are_named(tmp_path: Path) -> None:
    (tmp_path / "gate.yaml").write_text('schedules: {weekly: "0 0 31 2 *"}\n')
    status, found = checks_of(tmp_path, [{"name": "rules", "provider": "rules"}])
    ((state, message),) = found["settings"]
    assert (status, state) == (1, "failed") and "gate.yaml: schedules.weekly: not a cron expression" in message


def test_suites_baselines_and_variables_that_cannot_be_used_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, name in (("suites", "broken.yaml"), ("baselines", "broken.json")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text("{cases: 7}")
    monkeypatch.setenv("EVALUATION_REPORTS_URL", "reports.example.com")
    status, found = checks_of(tmp_path, [{"name": "rules", "provider": "rules"}])
    assert (status, [state for state, _ in found["settings"]]) == (1, ["failed"] * 3)
    said = [message for _, message in found["settings"]]
    assert all(name in each for name, each in zip(("broken.yaml", "broken.json", "REPORTS_URL"), said, strict=True))


def test_what_is_missing_is_named_and_what_only_limits_is_a_warning(
    tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    server.script([rule("wrong_key", model="refused", message=f"no: {KEY}")])
    home = tmp_path / "home"
    home.mkdir()
    (home / "gate.yaml").write_text("nonsense: 1\n")
    judges = [
        judge(server, "refused", model="refused", price=None),
        judge(server, "keyless", api_key_env="NO_SUCH_KEY"),
    ]
    status, found = checks_of(home, judges)
    assert status == 1
    ((state, message),) = found["settings"]
    assert state == "failed" and message.count("gate.yaml") == 1 and "nonsense" in message
    said = "NO_SUCH_KEY is not set; judge keyless cannot be asked: export NO_SUCH_KEY=<key>"
    assert found["keys"] == [("failed", said)]
    ((state, message),) = found["prices"]
    assert state == "warning" and "judge refused (refused)" in message
    assert found["providers"][0][0] == "warning"
    refused, keyless = found["calls"]
    assert refused[0] == "failed" and "the key was refused (401): check TEST_KEY" in refused[1]
    assert keyless == ("failed", "judge keyless: no API key: set the variable NO_SUCH_KEY")


def test_the_embedded_judge_alone_needs_nothing(tmp_path: Path) -> None:
    status, found = checks_of(tmp_path / "home", [{"name": "rules", "provider": "rules"}])
    assert status == 0
    assert found["providers"] == [("ok", "no model judges")], "nobody has a bias to be shown"
    assert found["calls"] == [("ok", "judge rules: no model call")]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_fails(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "reports").mkdir(parents=True)
    (home / "reports").chmod(0o500)
    status, found = checks_of(home, [{"name": "rules", "provider": "rules"}])
    assert status == 1 and "reports cannot be written" in found["outputs"][0][1]


def test_a_file_in_the_place_of_a_folder_fails(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "reports").write_text("")
    status, found = checks_of(home, [{"name": "rules", "provider": "rules"}])
    assert status == 1
    assert found["outputs"][0][0] == "failed" and "reports" in found["outputs"][0][1]


def test_a_folder_on_a_read_only_disk_is_named_with_the_reason_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    judges: list[dict[str, Any]] = [{"name": "rules", "provider": "rules"}]
    assert checks_of(home, judges)[0] == 0
    with small_disk(home / "reports", "1m"):
        subprocess.run(["mount", "-o", "remount,ro", str(home / "reports")], check=True)
        status, found = checks_of(home, judges)
    assert status == 1
    assert found["outputs"][0] == ("failed", f"{home / 'reports'} cannot be written: it is read-only")


def test_a_sink_without_its_key_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK_URL", "http://127.0.0.1:9/")
    monkeypatch.delenv("NO_SUCH_URL", raising=False)
    (tmp_path / "sinks.yaml").write_text(
        "sinks:\n  team: {type: webhook, url_env: HOOK_URL}\n  other: {type: webhook, url_env: NO_SUCH_URL}\n"
    )
    status, found = checks_of(tmp_path, [{"name": "rules", "provider": "rules"}])
    assert status == 0
    assert found["sinks"] == [("warning", "nothing is sent to other: NO_SUCH_URL is not set")]
