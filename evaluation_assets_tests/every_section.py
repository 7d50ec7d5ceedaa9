"""Reports with every section: two judges, one of a sample; a suite, constraints, sessions, a baseline, work on code."""

import shutil
from pathlib import Path

from click.testing import CliRunner

from evaluation_assets.cli.main import main
from evaluation_assets_tests.coding_sessions import fill_home
from evaluation_assets_tests.conftest import SAMPLE
from evaluation_assets_tests.towns import TASKS, runs

EXAMPLES = SAMPLE.parent.parent

DROPS = ("assistants", "teams", "rules", "coding", "support/worse", "runs")


def every_section(folder: Path) -> Path:
    """Evaluate `DROPS` in a folder; return the home folder. Before a browser is opened: both have an event loop."""
    home, files = folder / "home", folder / "in"
    home.mkdir()
    (files / "support").mkdir(parents=True)
    judges = "quorum: 2\njudges:\n  - {name: rules, provider: rules}\n  - {name: half, provider: rules, sample: 0.5}\n"
    (home / "panel.yaml").write_text(judges)
    shutil.copy(EXAMPLES / "constraints" / "checks.yaml", home)
    shutil.copy(EXAMPLES / "constraints" / "support.jsonl", files / "rules.jsonl")
    shutil.copy(EXAMPLES / "sessions" / "teams.json", files)
    shutil.copy(SAMPLE, files)
    fill_home(folder / "ada")
    session = next((folder / "ada" / ".claude").rglob("1111*.jsonl"))
    (files / "coding.jsonl").write_bytes(session.read_bytes())
    (files / "support" / "base.jsonl").write_bytes(runs(TASKS))
    worse = folder / "worse.jsonl"
    worse.write_bytes(runs(1, bad=TASKS - 1))
    weather = folder / "runs.jsonl"
    shutil.copy(EXAMPLES / "tool_use" / "weather.jsonl", weather)
    for arguments in (
        ["evaluate", str(files), "--quiet"],
        ["baseline", "promote", "support/base"],
        ["evaluate", str(worse), "--as", "support/worse", "--quiet"],
        ["evaluate", str(weather), "--suite", str(EXAMPLES / "suites" / "weather.yaml"), "--quiet"],
    ):
        CliRunner().invoke(main, [*arguments, "--home", str(home)])
    return home
