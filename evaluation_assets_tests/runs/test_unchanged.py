"""A drop for which nothing has changed is recognised without a run; any change leads to a run."""

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.intake.drops import Drop, find
from evaluation_assets.core.intake.preprocessing.rules import Settings
from evaluation_assets.core.judging.panel import Panel, panel_of
from evaluation_assets.core.system import code_stamp
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.runs.outcomes import FailedCheck, Line, RunOutcome
from evaluation_assets.runs.unchanged import LastOutcomes
from evaluation_assets_tests.conftest import call, command, record

MODEL = {"name": "rules", "provider": "openai_compatible", "model": "m", "base_url": "http://127.0.0.1:1/v1"}
VERDICTS = {"calls": 3, "from_ledger": 1, "scored": 4, "abstained": 0, "failed": 0, "not_run": 0, "cost_usd": 0.1}
VERDICTS |= {"input_tokens": 7, "cached_tokens": 0, "output_tokens": 7, "uncounted_verdicts": 0, "unpriced_verdicts": 0}
SLOW = (
    "dagster",
    "evaluation_assets.core.report.report",
    "evaluation_assets.core.traces.formats.registry",
    "jsonschema",
)
METADATA = {"evaluation_report": {"shortfalls": []}, "clip_verdicts/rules_clip_verdicts": VERDICTS}


@pytest.fixture
def home(tmp_path: Path) -> Installation:
    """An installation with a drop, its tables and its report, and with all settings."""
    home = Installation.at(str(tmp_path / "home"))
    files = {
        "drops/d.jsonl": "{}\n",
        "drops/d.drop.yaml": "agent: a\n",
        "lake/clips/d.parquet": "clips",
        "lake/clip_verdicts/rules/d.parquet": "verdicts",
        "reports/d/report.html": "page",
        "reports/d/model_evaluations/one.json": "{}",
        "rubrics/clip/own.yaml": "criteria: []\n",
        "suites/s.yaml": "cases: []\n",
        "baselines/s.json": "{}",
        "labels/d.csv": "",
    }
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "home" / "rubrics").mkdir(parents=True)
    (tmp_path / "home" / "rubrics" / "answer").symlink_to(elsewhere)
    files |= {f"{name}.yaml": "{}\n" for name in ("panel", "checks", "gate", "tool_types")} | {"cascade.json": "{}"}
    for name, text in files.items():
        write(home, name, text)
    home.dagster.mkdir()
    return home


def write(home: Installation, name: str, text: str) -> None:
    place = Path(home.root.path) / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, "utf-8")


def last(home: Installation, panel: Panel = Panel(), settings: Settings = Settings()) -> LastOutcomes:
    return LastOutcomes(home, panel, settings)


def drop_of(home: Installation) -> Drop:
    return find(home.drops, "d")


def told(outcome: RunOutcome) -> list[Line]:
    """Lines of each kind about an outcome."""
    return [Line(outcome.status), Line("none", "cost"), Line("one run", is_warning=True)]


def kept(home: Installation, panel: Panel = Panel(), **changes: Any) -> RunOutcome:
    """An evaluation that left everything as it is."""
    drop, known = drop_of(home), last(home, panel)
    assert known.of(drop) is None
    check = FailedCheck("evaluation_report", "gate", blocks=True, description="fell by 0.1")
    outcome = replace(RunOutcome(drop, "check_failed", None, (check,), METADATA), **changes)
    known.keep(outcome, drop.content_hash(), told)
    return outcome


def test_an_unchanged_drop_has_the_outcome_that_it_had(home: Installation) -> None:
    outcome = kept(home)
    found = last(home).of(drop_of(home))
    assert found is not None
    assert (found.outcome.status, found.outcome.failed_checks) == ("check_failed", outcome.failed_checks)
    verdicts = found.outcome.metadata["clip_verdicts/rules_clip_verdicts"]
    assert (verdicts["calls"], verdicts["from_ledger"], verdicts["cost_usd"]) == (0, 4, None)
    assert found.lines == (Line("check_failed"), Line("none", "cost"), Line("one run", is_warning=True))


def deleted(name: str) -> Callable[[Installation], None]:
    return lambda home: (Path(home.root.path) / name).unlink()


def written(name: str, text: str = "changed: 1\n") -> Callable[[Installation], None]:
    return lambda home: write(home, name, text)


CHANGES = {
    "file": written("drops/d.jsonl", "[]\n"),
    "sidecar": written("drops/d.drop.yaml", "agent: b\n"),
    "no sidecar": deleted("drops/d.drop.yaml"),
    "panel": written("panel.yaml"),
    "own rubric": written("rubrics/clip/own.yaml"),
    "new rubric": written("rubrics/clip/other.yaml"),
    "rubric behind a link": written("rubrics/answer/own.yaml"),
    "suite": written("suites/s.yaml"),
    "constraints": written("checks.yaml"),
    "gate": written("gate.yaml"),
    "no gate": deleted("gate.yaml"),
    "cascade": written("cascade.json"),
    "baseline": written("baselines/s.json"),
    "new baseline": written("baselines/other.json"),
    "tool types": written("tool_types.yaml"),
    "labels": written("labels/d.csv"),
    "sinks": written("sinks.yaml"),
    "settings of another kind": written("later.yaml"),
    "deleted table": deleted("lake/clips/d.parquet"),
    "table of the same size": written("lake/clips/d.parquet", "CLIPS"),
    "deleted verdicts": deleted("lake/clip_verdicts/rules/d.parquet"),
    "deleted report": deleted("reports/d/report.html"),
    "edited report": written("reports/d/report.html", "edit"),
    "deleted file of a judge": deleted("reports/d/model_evaluations/one.json"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_any_change_leads_to_a_run(home: Installation, change: Callable[[Installation], None]) -> None:
    kept(home)
    assert last(home).of(drop_of(home)) is not None
    change(home)
    assert last(home).of(drop_of(home)) is None


@pytest.mark.parametrize("name", CHANGES)
def test_a_drop_of_which_only_the_results_have_changed_is_known(home: Installation, name: str) -> None:
    kept(home)
    assert not last(home).was_rewritten(drop_of(home), drop_of(home).content_hash())
    CHANGES[name](home)
    of_results = ("table", "verdicts", "report", "file of a judge")
    assert last(home).was_rewritten(drop_of(home), drop_of(home).content_hash()) == any(
        part in name for part in of_results
    )


@pytest.mark.slow
def test_a_run_after_that_of_one_judge_says_why_it_runs_again(tmp_path: Path) -> None:
    drop = tmp_path / "d.jsonl"
    drop.write_bytes(record("t", call("where?", "here") + "<answer>here</answer>"))
    why = "evaluation-assets: d runs again: its tables or report changed, as by --judge\n"
    command("evaluate", drop, home=tmp_path / "home")
    assert why not in command("evaluate", "d", "--judge", "rules", home=tmp_path / "home").stderr
    assert why in command("evaluate", drop, home=tmp_path / "home").stderr
    assert "unchanged" in command("evaluate", drop, home=tmp_path / "home").stdout
    (tmp_path / "home" / "gate.yaml").write_text("headline:\n  by: overall\n")
    assert why not in command("evaluate", drop, home=tmp_path / "home").stderr, "a setting has changed, too"


def test_other_judges_settings_and_variables_lead_to_a_run(home: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    kept(home)
    drop = drop_of(home)
    assert last(home, panel_of({"judges": [MODEL]}, "test")).of(drop) is None
    assert last(home, settings=Settings(beta_threshold=3)).of(drop) is None
    monkeypatch.setenv("EVALUATION_REPORTS_URL", "https://reports.example.org")
    assert last(home).of(drop) is None


def test_other_code_leads_to_a_run(home: Installation, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package, packages = tmp_path / "package", tmp_path / "packages"
    package.mkdir()
    packages.mkdir()
    (package / "rules.py").write_text("one")
    monkeypatch.setattr(code_stamp, "PACKAGE", package)
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(packages))

    def known() -> bool:
        code_stamp.code_stamp.cache_clear()
        return last(home).of(drop_of(home)) is not None

    code_stamp.code_stamp.cache_clear()
    kept(home)
    assert known()
    (package / "rules.py").write_text("other")
    assert not known()
    kept(home)
    assert known()
    (packages / "dagster-2.dist-info").mkdir()
    assert not known()
    code_stamp.code_stamp.cache_clear()


@pytest.mark.parametrize(
    "changes",
    [
        {"status": "broken"},
        {"status": "over_budget"},
        {"metadata": {"clips": {}}},
        {"metadata": METADATA | {"clip_verdicts/b_clip_verdicts": VERDICTS | {"failed": 1}}},
        {"metadata": METADATA | {"clip_verdicts/b_clip_verdicts": VERDICTS | {"not_run": 1}}},
    ],
)
def test_what_is_incomplete_is_evaluated_again(home: Installation, changes: dict[str, Any]) -> None:
    kept(home, **changes)
    assert last(home).of(drop_of(home)) is None


@pytest.mark.parametrize("damage", ["", "{}", '{"made_from": 1, "written": [1]}', "\0"])
def test_a_damaged_record_leads_to_a_run(home: Installation, damage: str) -> None:
    kept(home)
    (record,) = (home.dagster / "outcomes").iterdir()
    record.write_text(damage)
    assert last(home).of(drop_of(home)) is None


def test_settings_that_change_during_a_run_lead_to_a_run(home: Installation) -> None:
    drop, known = drop_of(home), last(home)
    assert known.of(drop) is None
    content = drop.content_hash()
    write(home, "gate.yaml", "changed: 1\n")
    known.keep(RunOutcome(drop, "passed", None, (), METADATA), content, told)
    assert last(home).of(drop) is None


def test_code_of_the_users_own_is_run_every_time(home: Installation) -> None:
    own = panel_of({"judges": [{"name": "own", "provider": "python", "function": "os:getcwd"}]}, "test")
    kept(home, own)
    assert last(home, own).of(drop_of(home)) is None


def evaluate(*arguments: str, home: Path) -> tuple[int, str, bool]:
    """Exit status and output of `evaluate`, and whether it kept an outcome, as each run does."""
    before = outcomes(home)
    done = command("evaluate", *arguments, home=home)
    return done.returncode, done.stdout, outcomes(home) != before


def outcomes(home: Path) -> dict[Path, tuple[int, int]]:
    """When each outcome was kept, and in which file."""
    return {file: (file.stat().st_mtime_ns, file.stat().st_ino) for file in home.glob("dagster/outcomes/*.json")}


def evaluate_without_imports(*arguments: str, home: Path) -> tuple[int, str]:
    """Exit status and output of an `evaluate` that imports nothing of what takes long."""
    program = (
        "import sys\nfrom evaluation_assets.cli.main import main\n"
        "try:\n    main(sys.argv[1:])\n"
        f"finally:\n    print(*({set(SLOW)} & set(sys.modules)), file=sys.stderr)"
    )
    call = [sys.executable, "-W", "ignore", "-c", program, "evaluate", *arguments]
    environment = os.environ | {"EVALUATION_HOME": str(home)}
    done = subprocess.run(call, capture_output=True, text=True, env=environment, check=False)
    assert done.stderr.splitlines()[-1] == ""
    return done.returncode, done.stdout


@pytest.mark.slow
def test_the_command_prints_the_same_without_a_run(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "d.jsonl"
    text = call("where?", "here") + "<answer>here</answer>"
    file.write_text(f'{{"task_id": "t", "task_description": "Where?", "raw_response": {text!r}}}'.replace("'", '"'))
    status, first, ran = evaluate(str(file), home=home)
    assert ran
    heading, *lines = first.strip().splitlines()
    for again in (str(file), "d"):
        assert evaluate_without_imports(again, home=home) == (
            status,
            "\n".join(["", f"{heading}: unchanged since its last evaluation", *lines, ""]),
        )
    output = tmp_path / "output"
    evaluate_without_imports("d", "--output", str(output), home=home)
    assert (output / "d" / "report.html").exists()
    assert evaluate("--all", home=home) == (0, "", False)

    (home / "gate.yaml").write_text("headline:\n  by: overall\n")
    assert evaluate("--all", home=home)[1].startswith("\nd")
    assert evaluate("d", "--judge", "rules", home=home)[0] == status
    assert evaluate("d", home=home)[::2] == (status, True), "its tables were written again"
    assert not evaluate("d", home=home)[2]
    assert evaluate("other", home=home)[0] == 2
    assert evaluate("d", "--judge", "other", home=home)[0] == 2
    assert evaluate("d", "--all", home=home)[0] == 2


def test_a_drop_that_cannot_be_read_is_run_once(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "drops").mkdir(parents=True)
    (home / "drops" / "d.jsonl").write_text("no trajectories")
    assert evaluate("d", home=home) == (2, "", True)
    assert evaluate("d", home=home) == (2, "", False)
    done = command("evaluate", "--all", home=home)
    assert (done.returncode, done.stdout) == (0, "")
    assert "1 drop could not be read, and did not change since: d; remove them from " in done.stderr
    assert f"remove them from {home / 'drops'}, or see why: evaluation-assets evaluate DROP --home " in done.stderr
    (home / "drops" / "d.jsonl").write_text("still no trajectories")
    assert evaluate("--all", home=home) == (2, "", True)


@pytest.mark.parametrize("during", [deleted("drops/d.jsonl"), written("drops/d.jsonl", "half")])
def test_a_drop_that_was_gone_or_half_written_is_run_when_it_is_back(
    home: Installation, during: Callable[[Installation], None]
) -> None:
    drop, text = drop_of(home), (Path(home.drops.path) / "d.jsonl").read_text("utf-8")
    content = drop.content_hash()
    during(home)
    last(home).keep(RunOutcome(drop, "unreadable", "it was changed while it was read", (), {}), content, told)
    write(home, "drops/d.jsonl", text)
    assert last(home).of(drop_of(home)) is None


def test_the_states_of_failure_groups_change_no_evaluation(home: Installation) -> None:
    kept(home)
    write(home, "groups.yaml", "a: {state: acknowledged}\n")
    assert last(home).of(drop_of(home)) is not None


def test_a_copy_of_a_home_knows_nothing_of_the_files_of_the_other(home: Installation, tmp_path: Path) -> None:
    for file in (*Path(home.root.path).glob("*.yaml"), *Path(home.root.path).glob("*.json")):
        file.unlink()
    for folder in ("rubrics", "suites", "baselines", "labels"):
        shutil.rmtree(Path(home.root.path) / folder)
    kept(home)
    assert last(home).of(drop_of(home)) is not None
    shutil.copytree(home.root.path, tmp_path / "copy")
    copy = Installation.at(str(tmp_path / "copy"))
    assert last(copy).of(drop_of(copy)) is None
