"""`inject`: planted faults, measured on the embedded judge and on a model."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from evaluation_assets.api.reading import read
from evaluation_assets.cli.main import main
from evaluation_assets_tests.conftest import SAMPLE
from evaluation_assets_tests.model_judging import drop_of, judge
from evaluation_assets_tests.model_server import ModelServer
from evaluation_assets_tests.third_party import data


def inject(tmp_path: Path, *arguments: object) -> tuple[int, str, str]:
    given = ["inject", *map(str, arguments), "--home", str(tmp_path / "home")]
    done = CliRunner().invoke(main, given, catch_exceptions=False)
    return done.exit_code, done.stdout, done.stderr


def test_a_file_is_measured_and_nothing_is_taken_in(tmp_path: Path) -> None:
    before = SAMPLE.read_bytes()
    status, told, _ = inject(tmp_path, SAMPLE)
    assert status == 0
    assert "ignored_error" in told
    assert "judge rules" in told
    assert max(map(len, told.splitlines()[1:])) <= 80
    assert SAMPLE.read_bytes() == before
    assert not (tmp_path / "home").exists()


@pytest.mark.slow
def test_the_same_seed_gives_the_same_figures(tmp_path: Path) -> None:
    first, again = (inject(tmp_path, SAMPLE, "--format", "json", "--seed", 3)[1] for _ in range(2))
    assert first == again
    report = json.loads(first)[0]
    assert (report["judge"], report["operators"][0]["operator"]) == ("rules", "wrong_argument")


def test_detectors_and_the_process_score_are_measured_too(tmp_path: Path) -> None:
    given = (SAMPLE, "--kind", "repeated_call", "--kind", "call_ids")
    _, told, _ = inject(tmp_path, *given)
    heads = ["judge rules", "detectors", "process score"]
    assert [line for line in told.splitlines() if line in heads] == heads
    _, told, _ = inject(tmp_path, *given, "--format", "json")
    _, detectors, score = json.loads(told)
    assert [detectors["by"], score["by"]] == ["detectors", "process_score"]
    for measured in (detectors, score):
        repeated, controls = (own["figures"] for own in measured["operators"])
        assert min(repeated["falls"]["value"], repeated["found"]["value"]) > 0.9
        assert repeated["rises"]["value"] == 0
        assert controls is None or controls["falls"]["value"] == controls["rises"]["value"] == 0
    assert detectors["operators"][0]["figures"]["recall"]["value"] == 1


def test_damaged_runs_are_exported_with_their_labels(tmp_path: Path) -> None:
    output = tmp_path / "damaged.jsonl"
    status, _, told = inject(tmp_path, SAMPLE, "--kind", "repeated_call", "--runs", 2, "--output", output)
    assert status == 0
    assert "damaged.jsonl" in told
    runs = read(output)
    assert (runs.format, len(runs.rejected)) == ("canonical", 0)
    labels = [run.labels["injected"] for run in runs if "injected" in run.labels]
    assert {label["operator"] for label in labels} == {"repeated_call"}
    assert all("step" in label["place"] for label in labels)
    assert {label["of"] for label in labels} == {run.id for run in runs if "injected" not in run.labels}


def test_a_model_is_priced_before_it_is_asked(tmp_path: Path, server: ModelServer) -> None:
    (tmp_path / "d.jsonl").write_bytes(drop_of(2))
    panel = {"judges": [judge(server, preset="quick")], "ask_above_usd": 0}
    (tmp_path / "panel.yaml").write_text(json.dumps(panel))
    given = (tmp_path / "d.jsonl", "--panel", tmp_path / "panel.yaml", "--judge", "one", "--kind", "repeated_call")
    status, told, _ = inject(tmp_path, *given, "--dry-run")
    assert status == 0
    assert "judge one: 4 new calls" in told
    status, _, told = inject(tmp_path, *given)
    assert status == 2
    assert "--yes" in told
    assert server.requests() == []
    status, _, told = inject(tmp_path, *given, "--budget-calls", 3)
    assert status == 3
    assert "runs that were not asked about count in no share" in told
    status, told, _ = inject(tmp_path, *given, "--yes")
    assert status == 0
    assert len(server.requests()) == 4, "one for each run and each copy"
    assert "judge one" in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--judge", "nobody"), "no judge 'nobody' in the panel; choose one of: rules"),
        (("--kind", "cut_off_at_user"), "nothing can be planted into"),
    ],
)
def test_what_cannot_be_measured_is_refused(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    status, _, told = inject(tmp_path, SAMPLE, *arguments)
    assert status == 2
    assert message in told


def test_a_drop_that_is_not_there_is_refused(tmp_path: Path) -> None:
    status, _, told = inject(tmp_path, "missing")
    assert status == 2
    assert "missing" in told


def test_controls_do_not_move_scores_on_recorded_runs(tmp_path: Path) -> None:
    runs = data("tau-bench/gpt-4o-airline.even-tasks.json")
    _, told, _ = inject(tmp_path, runs, "--runs", 20, "--kind", "key_order", "--kind", "call_ids", "--format", "json")
    for own in [own for measured in json.loads(told) for own in measured["operators"]]:
        assert own["figures"]["falls"]["value"] == own["figures"]["rises"]["value"] == 0
