"""`evaluate` from Python: the same tables as the command, the same rule for money, and errors that say what to do."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest

import evaluation_assets as ea
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.runs.jobs import instance_of
from evaluation_assets_tests.api.conftest import Evaluated
from evaluation_assets_tests.conftest import KEY, SAMPLE, command, record
from evaluation_assets_tests.model_judging import CLIPS, drop_of, judge
from evaluation_assets_tests.model_server import ModelServer, model_server, rule
from evaluation_assets_tests.test_ui import wait_for
from evaluation_assets_tests.towns import TASKS, runs

EXAMPLES = SAMPLE.parents[1]


def test_frames_are_the_tables_of_the_lake(evaluated: Evaluated) -> None:
    good = evaluated.good
    assert good.passed and good.status == "passed" and good.drop == "good"
    assert good.trajectories["success"].dtype == pd.BooleanDtype()
    assert good.trajectories["n_tool_calls"].dtype == pd.Int64Dtype()
    assert good.trajectories["success"].tolist() == [True] * TASKS
    stored = Installation.at(str(evaluated.home)).table("good", "clips").rows(["content"])
    assert good.clips["content"].tolist() == [row["content"] for row in stored]
    assert good.scores.query("criterion == 'overall'")["mean"].between(0, 1).all()
    assert good.table("unreadable_records", columns=["line", "reason"]).to_dict("records") == [
        {"line": TASKS + 1, "reason": "bad_json"}
    ]


def test_verdicts_are_those_of_all_levels_and_judges(evaluated: Evaluated) -> None:
    verdicts = evaluated.good.verdicts
    assert set(verdicts["level"]) == {"clip", "category", "trajectory"}
    assert set(verdicts["judge"]) == {"rules"}
    clips = verdicts.query("level == 'clip'")
    assert not clips["clip_index"].hasnans and clips["subject"].dropna().tolist() == []
    scored = clips.query("outcome == 'scored'")["scores"]
    assert all(isinstance(each, dict) and each for each in scored)


def test_summary_and_report_are_those_of_the_drop(evaluated: Evaluated) -> None:
    assert evaluated.good.report == evaluated.home / "reports" / "good" / "report.html"
    assert evaluated.good.report.exists()
    assert evaluated.good.summary.headline.text.startswith(f"success {TASKS} of {TASKS}")
    assert evaluated.good.summary.records.unreadable == {"bad_json": 1}


def test_a_notebook_shows_a_summary_whose_text_is_escaped(evaluated: Evaluated) -> None:
    shown = evaluated.good._repr_html_()
    assert "<strong>good</strong>: passed" in shown and f"success {TASKS} of {TASKS}" in shown
    assert evaluated.good.report.as_uri() in shown
    hostile = ea.evaluate(
        evaluated.folder / "in" / "worse.jsonl", home=evaluated.home, name="<img src=x onerror=alert(1)>"
    )
    assert "<img" not in hostile._repr_html_() and "&lt;img src=x" in hostile._repr_html_()


def test_the_program_around_it_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    handlers, filters = signal.getsignal(signal.SIGINT), list(warnings.filters)
    (tmp_path / "d.jsonl").write_bytes(record())

    async def cell() -> ea.Result:
        return ea.evaluate(tmp_path / "d.jsonl", home=tmp_path / "home")

    assert asyncio.run(cell()).status in ("passed", "check_failed"), "a notebook has an event loop of its own"
    assert "DAGSTER_HOME" not in os.environ
    assert signal.getsignal(signal.SIGINT) is handlers
    assert warnings.filters == filters


THREADS = """
import logging, sys, threading
import evaluation_assets as ea
handler = logging.FileHandler(sys.argv[2], mode="w")
logging.getLogger("own").addHandler(handler)
names = [f"n{number}" for number in range(4)]
threads = [
    threading.Thread(target=lambda name=name: ea.evaluate(sys.argv[1], home=sys.argv[3], name=name)) for name in names
]
for each in threads: each.start()
for each in threads: each.join()
logging.getLogger("own").warning("written after")
print(ea.load_home(sys.argv[3]).drops)
"""


@pytest.mark.slow
def test_evaluations_in_threads_leave_output_and_logs_of_the_program_alone(tmp_path: Path) -> None:
    (tmp_path / "runs.jsonl").write_bytes(runs(1))
    given = [tmp_path / "runs.jsonl", tmp_path / "own.log", tmp_path / "home"]
    done = subprocess.run(
        [sys.executable, "-c", THREADS, *given], capture_output=True, text=True, check=True, timeout=300
    )
    assert (done.stdout, done.stderr) == ("['n0', 'n1', 'n2', 'n3']\n", "")
    assert (tmp_path / "own.log").read_text() == "written after\n"


def test_the_suite_of_a_drop_is_a_name_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_bytes(runs(2))
    named = ea.evaluate(tmp_path / "d.jsonl", home=tmp_path / "home", suite="support")
    assert named.summary.sidecar.suite == "support"
    weather = EXAMPLES / "tool_use" / "weather.jsonl"
    with_cases = ea.evaluate(weather, home=tmp_path / "home", suite=EXAMPLES / "suites" / "weather.yaml")
    assert with_cases.summary.tool_use is not None and with_cases.summary.tool_use.suite == "weather"
    assert len(with_cases.table("tool_use_results")) > 0
    with pytest.raises(ea.UnusableInput, match=r"there is no suite at 'towns\.yml'"):
        ea.evaluate(tmp_path / "d.jsonl", home=tmp_path / "home", suite="towns.yml")


def test_settings_that_only_dagster_refuses_are_unusable(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_bytes(record())
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "gate.yaml").write_text("schedules: {nightly: often}")
    with pytest.raises(ea.UnusableInput, match=r"schedules\.nightly: not a cron expression"):
        ea.evaluate(tmp_path / "d.jsonl", home=tmp_path / "home")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"source": "none.jsonl"}, "there is no file or folder at none.jsonl"),
        ({"panel": "none.yaml"}, "there is no panel file at none.yaml"),
        ({"panel": {"judges": [{"name": "a", "provider": "acme"}]}}, "unknown provider 'acme'; choose one of: rules"),
        (
            {"panel": {"judges": [{"name": "a", "provider": "openai-compatible"}]}},
            "unknown provider 'openai-compatible'; did you mean 'openai_compatible'?",
        ),
        ({"format": "acme"}, "there is no format 'acme'; `evaluation-assets formats` lists the names"),
        ({"name": "a...b"}, "must be printable"),
        ({"suite": ""}, "there is no suite at ''"),
        ({"budget": float("nan")}, "budget: must be a number"),
        ({"budget": "5"}, "budget: must be a number"),
        ({"budget_calls": -1}, "budget_calls: must be greater than or equal to 0"),
        ({"beta_threshold": -1}, "beta_threshold: must be greater"),
        ({"on_violation": "drop"}, "on_violation: must be 'remove' or 'flag'"),
        ({"panel": {"judges": [{"name": "a", "provider": "python", "function": "no_such_module:f"}]}}, "no module"),
    ],
)
def test_what_cannot_be_used_is_said_before_anything_runs(tmp_path: Path, arguments: dict[str, Any], said: str) -> None:
    (tmp_path / "d.jsonl").write_bytes(record())
    with pytest.raises(ea.UnusableInput, match=said):
        evaluate: Any = ea.evaluate
        evaluate(**{"source": tmp_path / "d.jsonl", "home": tmp_path / "home"} | arguments)
    assert ea.load_home(tmp_path / "home").drops == []
    assert not list((tmp_path / "home" / "drops").iterdir()), "no drop keeps what cannot be used"


def test_a_format_in_which_nothing_can_be_read_is_not_kept(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_bytes(record())
    with pytest.raises(ea.UnusableInput, match=r"nothing can be read as swe_agent \(d.jsonl, record 1: "):
        ea.evaluate(tmp_path / "d.jsonl", home=tmp_path / "home", format="swe_agent")
    assert not list((tmp_path / "home" / "drops").glob("d*"))


def test_a_folder_of_several_drops_and_a_name_that_is_taken_are_explained(evaluated: Evaluated, tmp_path: Path) -> None:
    with pytest.raises(ea.UnusableInput, match=r"holds 2 drops \(good, worse\); .* one_drop=True"):
        ea.evaluate(evaluated.folder / "in", home=tmp_path / "home")
    (tmp_path / "good.jsonl").write_bytes(record())
    with pytest.raises(
        ea.UnusableInput, match=r"Keep both with name=\.\.\., or replace the drop with replace_drop=True"
    ):
        ea.evaluate(tmp_path / "good.jsonl", home=evaluated.home)


def panel_of(server: ModelServer, **more: Any) -> dict[str, Any]:
    return {"judges": [judge(server)]} | more


def test_above_the_limit_of_the_panel_a_budget_is_needed(tmp_path: Path, server: ModelServer) -> None:
    (tmp_path / "d.jsonl").write_bytes(drop_of(2))
    arguments: dict[str, Any] = {"home": tmp_path / "home", "panel": panel_of(server, ask_above_usd=0.0001)}
    with pytest.raises(ea.QuoteTooHigh, match="limit it with budget=USD, or raise ask_above_usd") as refused:
        ea.evaluate(tmp_path / "d.jsonl", **arguments)
    assert refused.value.expected_usd > 0.0001
    assert server.requests() == [] and not (tmp_path / "home" / "drops" / "d.jsonl").exists()
    result = ea.evaluate(tmp_path / "d.jsonl", budget=5.0, **arguments)
    assert len(server.requests()) == 2 * (CLIPS + 3)
    assert result.verdicts["cost_usd"].sum().item() > 0
    again = ea.evaluate(tmp_path / "d.jsonl", **arguments)
    assert set(again.verdicts["from_ledger"]) == {True}, "nothing is left to pay"


def test_a_spent_budget_is_an_error_with_what_there_is(tmp_path: Path, server: ModelServer) -> None:
    (tmp_path / "d.jsonl").write_bytes(drop_of(2))
    with pytest.raises(ea.BudgetSpent, match="budget") as spent:
        ea.evaluate(tmp_path / "d.jsonl", home=tmp_path / "home", panel=panel_of(server), budget=0.0)
    assert spent.value.result.status == "over_budget"
    assert set(spent.value.result.verdicts["error_kind"]) == {"budget"}


def test_a_blocking_check_is_no_error_until_it_is_checked(tmp_path: Path, server: ModelServer) -> None:
    (tmp_path / "d.jsonl").write_bytes(drop_of(1))
    (tmp_path / "panel.yaml").write_text(json.dumps(panel_of(server)))
    server.script([rule("wrong_key")])
    result = ea.evaluate(tmp_path / "d.jsonl", home=tmp_path / "home", panel=tmp_path / "panel.yaml")
    assert not result.passed and result.status == "check_failed"
    with pytest.raises(ea.RunFailed, match=r"d: enough_scored: .* Report: "):
        result.check()
    by_command = command("evaluate", tmp_path / "d.jsonl", "--panel", tmp_path / "panel.yaml", home=tmp_path / "home")
    assert by_command.returncode == 1


SCRIPT = """
import asyncio, json, sys
import evaluation_assets as ea

def evaluate():
    return ea.evaluate("d.jsonl", home="home", panel=json.loads(sys.argv[1]), budget=5.0)

async def cell():
    return evaluate()

try:
    CALL
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.slow
def test_a_script_prints_nothing_of_ours_and_ends_without_a_search_among_all_objects(tmp_path: Path) -> None:
    """It took most of the time between Ctrl-C and the end of an interrupted notebook, ten seconds on a busy machine."""
    (tmp_path / "d.jsonl").write_bytes(record())
    told = "gc.callbacks.append(lambda phase, _: print(len(gc.get_objects())) if phase == 'start' else None)"
    script = f"import gc, evaluation_assets as ea; print(ea.evaluate('d.jsonl', home='home').drop); {told}"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    drop, *searched = done.stdout.splitlines()
    assert (drop, done.stderr) == ("d", "")
    assert searched and max(map(int, searched)) < 20_000, "objects that the last search goes through"


@pytest.mark.slow
@pytest.mark.parametrize("call", ["evaluate()", "asyncio.run(cell())"], ids=["script", "notebook"])
def test_ctrl_c_cancels_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    (tmp_path / "d.jsonl").write_bytes(drop_of(2))
    with model_server(latency=4.0) as slow:
        arguments = ["-c", SCRIPT.replace("CALL", call), json.dumps(panel_of(slow))]
        process = subprocess.Popen([sys.executable, *arguments], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
        wait_for(lambda: slow.requests() or process.poll() is not None or None, 120)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=50)
    assert said == "interrupted\n"
    with instance_of(Installation.at(str(tmp_path / "home"))) as instance:
        assert [run.status for run in instance.get_runs()] == [dg.DagsterRunStatus.CANCELED]


def test_records_are_a_drop_that_other_records_do_not_replace_unasked(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "4"}]
    runs = [{"task_id": "sum", "success": True, "messages": said}]
    result = ea.evaluate(runs, home=tmp_path, name="math/one")
    assert result.drop == "math/one" and result.summary.headline.text.startswith("success 1 of 1 (100.0%")
    assert ea.evaluate(runs, home=tmp_path, name="math/one").passed
    more = [*runs, {**runs[0], "task_id": "other"}]
    with pytest.raises(ea.UnusableInput, match="'math/one' has other records"):
        ea.evaluate(more, home=tmp_path, name="math/one")
    assert len(ea.evaluate(more, home=tmp_path, name="math/one", replace_drop=True).trajectories) == 2
