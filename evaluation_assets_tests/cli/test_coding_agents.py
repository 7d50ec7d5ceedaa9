"""Options that take the sessions of coding agents, as processes with a home folder of their own."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from evaluation_assets.cli.main import main
from evaluation_assets.core.intake.sources.stores.coding_agents import CODING_AGENTS
from evaluation_assets_tests.coding_sessions import fill_home
from evaluation_assets_tests.conftest import command

VARIABLES = (
    "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "QWEN_HOME", "QWEN_RUNTIME_DIR", "OPENCODE_DB",
    "XDG_DATA_HOME", "GOOSE_PATH_ROOT", "CLINE_DIR", "CLINE_DATA_DIR", "APPDATA",
)  # fmt: skip


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of a user with sessions of two agents."""
    home = tmp_path / "ada"
    fill_home(home)
    monkeypatch.setenv("HOME", str(home))
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return home


def _report(home: Path, drop: str) -> dict[str, Any]:
    return json.loads((home / "reports" / drop / "report.json").read_text("utf-8"))["coding"]


@pytest.mark.slow
def test_the_sessions_of_two_agents_are_evaluated_and_replaced_by_the_next_evaluation(
    tmp_path: Path, user: Path
) -> None:
    home = tmp_path / "home"
    done = command(
        "evaluate",
        "--sessions",
        "claude-code",
        "--sessions",
        "codex",
        "--since",
        "7d",
        "--quiet",
        "--verbose",
        home=home,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert [line for line in done.stdout.splitlines() if not line.startswith(" ") and line] == ["claude_code", "codex"]
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert "coding sessions    3 in 2 projects, 12 min active" in lines
    assert "edits              4, 2 undone with evidence; 3 failed commands of 6" in lines
    assert "tests at the end   1 passing, 1 failing, 0 unknown; 1 session without tests" in lines
    assert "user               2 corrections, 1 interruption, 0 denied calls" in lines
    assert "coding sessions    1 in 1 project, 2 min active" in lines
    costs = [line.partition("agents ")[2].partition(",")[0] for line in lines if line.startswith("cost ")]
    assert costs == [
        f"{_cost(home, 'claude_code')} at list prices (3 of 3 runs)",
        f"{_cost(home, 'codex')} at list prices (1 of 1 run)",
    ]
    assert f"Cost of agents: {_cost(home, 'claude_code')} at list prices" in (
        home / "reports" / "claude_code" / "report.md"
    ).read_text("utf-8")
    first, codex = _report(home, "claude_code"), _report(home, "codex")
    assert [entry["task"] for entry in first["sessions"]] == [
        "Add a PDF export for invoices.", "The total of the cart is wrong. Fix it.", "Summarise README.md.",
    ]  # fmt: skip
    assert (codex["totals"]["edits"], codex["totals"]["tests_passing"], codex["projects"][0]["name"]) == (
        1, 1, "api",
    )  # fmt: skip
    html = (home / "reports" / "claude_code" / "report.html").read_text("utf-8")
    assert '<h2>Coding agents</h2> <span class="quiet">3 sessions, $' in html
    alone = (home / "reports" / "codex" / "report.html").read_text("utf-8")
    assert "Standard deviation" in html and "Standard deviation" not in alone
    assert "## Coding agents" in (home / "reports" / "claude_code" / "report.md").read_text("utf-8")
    table = pq.read_table(home / "lake" / "coding_work" / "claude_code.parquet").to_pylist()
    assert sorted((row["git_branch"], row["last_test_result"]) for row in table if row["git_branch"]) == [
        ("invoices", "failing"), ("main", "passing"),
    ]  # fmt: skip

    done = command("evaluate", "--sessions", "claude-code", "--project", "notes", "--quiet", home=home)
    assert done.returncode == 0, done.stderr
    assert [entry["task"] for entry in _report(home, "claude_code")["sessions"]] == ["Summarise README.md."]


def test_a_window_without_sessions_names_the_folder(tmp_path: Path, user: Path) -> None:
    old = time.time() - 3 * 86_400
    for path in (user / ".codex").rglob("*.jsonl"):
        os.utime(path, (old, old))
    done = command("evaluate", "--sessions", "codex", "--since", "2d", home=tmp_path / "home")
    assert done.returncode == 2
    expected = f"evaluation-assets: no session of Codex in the last 2 days; looked in {user}/.codex.\n"
    assert (done.stdout, done.stderr) == ("", expected)
    done = command("evaluate", "--sessions", "codex", "--project", "shop", home=tmp_path / "home")
    assert "no session of Codex of the project 'shop' in the last 7 days" in done.stderr


@pytest.mark.parametrize("agent", [name.replace("_", "-") for name in CODING_AGENTS])
def test_every_agent_without_sessions_says_where_it_looked(user: Path, agent: str) -> None:
    result = CliRunner().invoke(main, ["import", "--sessions", agent, "--since", "30m"])
    named = agent in ("claude-code", "codex")  # these have sessions
    assert result.exit_code == (0 if named else 2)
    assert named or f"looked in {user}" in result.stderr


def test_a_preview_and_a_dry_run_write_nothing(tmp_path: Path, user: Path) -> None:
    result = CliRunner().invoke(main, ["import", "--sessions", "claude-code"])
    assert result.exit_code == 0
    assert "runs               3 (5 turns)" in result.stdout
    home = tmp_path / "home"
    result = CliRunner().invoke(main, ["plan", "--sessions", "codex", "--home", str(home)])
    assert result.exit_code == 0
    assert "records            1" in result.stdout
    assert not home.exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "Missing argument 'INPUTS...'"),
        (["--sessions", "codex", __file__], "--sessions and files cannot be combined"),
        ([__file__, "--project", "shop"], "--project needs --sessions"),
        (["--sessions", "codex", "--since", "soon"], "'soon': a duration is a number and a unit"),
        (["--sessions", "codex", "--since", "0d"], "'0d': a duration is a number and a unit"),
    ],
)
def test_options_that_do_not_fit_are_refused(arguments: list[str], problem: str) -> None:
    result = CliRunner().invoke(main, ["evaluate", *arguments])
    assert result.exit_code == 2
    assert problem in result.stderr


def test_the_drop_can_have_another_name(tmp_path: Path, user: Path) -> None:
    done = command(
        "evaluate", "--sessions", "codex", "--as", "week_47", "--preprocess-only", "--quiet", home=tmp_path / "home"
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "home" / "drops" / "week_47" / "_drop.yaml").exists()
    both = ("evaluate", "--sessions", "codex", "--sessions", "claude-code", "--preprocess-only", "--quiet")
    done = command(*both, "--as", "week_47", home=tmp_path / "home")
    assert "it can name only one drop, not 2" in done.stderr
    done = command(*both, "--as", "week_48/", home=tmp_path / "home")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "home" / "drops" / "week_48" / "codex" / "_drop.yaml").exists()


def _cost(home: Path, drop: str) -> str:
    """What the table of coding work says that the sessions of a drop cost."""
    rows = pq.read_table(home / "lake" / "coding_work" / f"{drop}.parquet").to_pylist()
    return f"${sum(row['cost_usd'] for row in rows):.4f}"
