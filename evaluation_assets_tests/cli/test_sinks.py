"""`sinks`, on an evaluated drop and real local servers."""

import signal
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest
from click.testing import CliRunner, Result
from upath import UPath

from evaluation_assets.cli.main import main
from evaluation_assets.core.intake.facts import DropFacts
from evaluation_assets.core.lake.stored import Stream, write
from evaluation_assets.core.lake.tables import RAW_TRAJECTORIES
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.runs.jobs import instance_of
from evaluation_assets_tests.core.report.sinks.test_delivering import Mlflow, evaluated
from evaluation_assets_tests.http_server import Reply, Request, http_server


def sinks(home: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["sinks", *arguments, "--home", str(home)])


def configured(home: Path, url: str, more: str = "") -> Path:
    evaluated(home)
    (home / "sinks.yaml").write_text(f"sinks: {{tracking: {{type: mlflow, tracking_uri: '{url}', attempts: 1{more}}}}}")
    return home


def test_a_dry_run_shows_what_would_be_sent_and_sends_nothing(tmp_path: Path) -> None:
    store = Mlflow()
    with http_server(store.answer) as url:
        home = configured(tmp_path, url)
        done = sinks(home, "send", "d", "--dry-run")
        assert (done.exit_code, done.output) == (
            0,
            "tracking: 11 scores would be sent, 0 already there, 4 scores of 1 run without a trace ID, "
            "3 clip scores without a span\n",
        )
    assert store.assessments == {}


def test_scores_are_sent_once(tmp_path: Path) -> None:
    store = Mlflow()
    with http_server(store.answer) as url:
        home = configured(tmp_path, url)
        first, second = sinks(home, "send", "d"), sinks(home, "send", "d", "--sink", "tracking")
    assert first.output.startswith("tracking: 11 sent, 0 already there"), first.output
    assert second.output.startswith("tracking: 0 sent, 11 already there"), second.output
    assert (first.exit_code, second.exit_code) == (0, 0)


def test_a_signal_to_stop_ends_a_job_as_canceled_and_waits_for_no_reply(tmp_path: Path) -> None:
    sending: list[subprocess.Popen[str]] = []

    def answer(_: Request) -> Reply:
        sending[0].send_signal(signal.SIGTERM)
        sending[0].wait()
        return Reply(hang_up=True)

    with http_server(answer) as url:
        arguments = ["sinks", "send", "d", "--home", str(configured(tmp_path, url))]
        command = [sys.executable, "-m", "evaluation_assets.cli", *arguments]
        sending.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        _, problem = sending[0].communicate()
    assert (sending[0].returncode, problem) == (143, "evaluation-assets: stopped by SIGTERM.\n")
    with instance_of(Installation.at(str(tmp_path))) as instance:
        assert [run.status for run in instance.get_runs()] == [dg.DagsterRunStatus.CANCELED]


def test_a_store_that_refuses_ends_with_status_1(tmp_path: Path) -> None:
    with http_server(lambda _: Reply(403, text="not you")) as url:
        done = sinks(configured(tmp_path, url), "send", "d")
    assert done.exit_code == 1
    assert "11 failed: HTTP 403: not you" in done.output


def test_a_drop_that_the_sink_does_not_take_is_named(tmp_path: Path) -> None:
    home = configured(tmp_path, "http://localhost:1", ", only_from: prod")
    assert sinks(home, "send", "d", "--dry-run").output == "tracking: not sent: sinks.yaml excludes d\n"
    facts = DropFacts.model_validate({"sidecar": {"source": "prod"}})
    path = UPath(home / "lake" / "raw_trajectories" / "d.parquet")
    write(path, Stream(RAW_TRAJECTORIES, iter(()), facts=facts.footer))
    assert sinks(home, "send", "d", "--dry-run").output.startswith("tracking: 11 scores would be sent")


def test_labels_of_people_are_collected_into_a_file_that_stays_the_same(tmp_path: Path) -> None:
    store = Mlflow()
    with http_server(store.answer) as url:
        home = configured(tmp_path, url)
        sinks(home, "send", "d")
        trace = next(iter(store.assessments))
        for name, value in (("correctness", True), ("tone", 0.25), ("stars", 4)):
            said = {"assessment_name": name, "feedback": {"value": value}, "source": {"source_type": "HUMAN"}}
            store.assessments[trace].append({"assessment_id": name, "metadata": {}, **said})
        done = sinks(home, "labels")
        file = home / "labels" / "tracking.jsonl"
        before = (file.read_bytes(), file.stat().st_mtime_ns)
        assert sinks(home, "labels", "tracking").exit_code == 0
        assert (file.read_bytes(), file.stat().st_mtime_ns) == before
    assert (done.exit_code, done.output) == (0, f"tracking: 2 labels in {file}\n")
    assert [line.split(b'"criterion":')[1].split(b",")[0] for line in before[0].splitlines()] == [
        b'"passed"',
        b'"tone"',
    ]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("send", "other"), "other has not been evaluated; evaluated drops: d"),
        (("send", "d", "--sink", "x"), "no sink 'x' in "),
        (("labels", "x"), "no sink 'x' in "),
    ],
)
def test_what_is_not_there_is_named(tmp_path: Path, arguments: tuple[str, ...], problem: str) -> None:
    done = sinks(configured(tmp_path, "http://localhost:1"), *arguments)
    assert done.exit_code == 2
    assert problem in done.output


def test_the_list_says_which_keys_are_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", "a-very-secret-token")
    done = sinks(configured(tmp_path, "http://ann:word@localhost:1"), "list")
    assert "MLFLOW_TRACKING_TOKEN is set" in done.output and "mlflow: http://localhost:1" in done.output
    assert "secret" not in done.output and "word@" not in done.output
