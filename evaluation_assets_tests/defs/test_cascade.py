"""A cascade in runs: recorded judges, and the command line."""

import json
from dataclasses import replace
from pathlib import Path

import dagster as dg
import pytest
import yaml
from upath import UPath

from evaluation_assets.cli.chosen_panel import NOT_FITTED
from evaluation_assets.core.judging.cascade.fitted import FittedCascade, write_cascade
from evaluation_assets.core.judging.panel import panel_of
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.formats.readers.canonical import line_of
from evaluation_assets.core.traces.trajectories.recorded import RecordedVerdict, labelled
from evaluation_assets.definitions import build_definitions
from evaluation_assets_tests.conftest import Workspace, command
from evaluation_assets_tests.core.judging.cascade.simulated import accepting
from evaluation_assets_tests.judging_alone import CLIPS, chains

STAGES = (("cheap",), ("dear",))
PANEL = {
    "judges": [{"name": name, "provider": "recorded", "model": name} for (name,) in STAGES],
    "cascade": ["cheap", "dear"],
}
RUNS = 4


def drop() -> bytes:
    """Runs of a call and an answer. The cheap judge is sure about everything in the first half of them."""
    lines = b""
    for number, chain in enumerate(chains(RUNS)):
        verdicts = [
            RecordedVerdict(
                level="clip",
                subject=subject.name,
                judge=judge,
                scores={
                    criterion.key: 1.0 if number < RUNS / 2 else 0.7 if judge == "cheap" else 0.5
                    for criterion in subject.criteria
                },
            )
            for subject in chain.subjects
            for judge in ("cheap", "dear")
        ]
        lines += line_of(replace(chain.trajectory, labels=labelled(verdicts)))
    return lines


def cascade() -> FittedCascade:
    """Accepts clips that a judge scores with 1."""
    return accepting(STAGES, unsure=0.7)


@pytest.mark.slow
def test_later_stages_judge_less_and_what_nobody_accepts_is_reviewed(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    home = Installation.at(str(tmp_path))
    write_cascade(home.cascade_file, cascade())
    judged = Workspace(home, build_definitions(home, panel_of(PANEL, "test")), instance)
    judged.drop("d", drop())
    result = judged.run("d")
    assert result.success
    counts = {name: len(judged.rows("d", "clip_verdicts", name)) for (name,) in STAGES}
    assert counts == {"cheap": RUNS * CLIPS, "dear": RUNS * CLIPS / 2}
    scores = {
        (row["trajectory_id"], row["clip_index"]): (row["mean"], row["n_scored"])
        for row in judged.rows("d", "clip_scores")
    }
    asked = {(row["trajectory_id"], row["clip_index"]) for row in judged.rows("d", "clip_verdicts", "dear")}
    assert {score for clip, score in scores.items() if clip in asked} == {(0.5, 1)}, (
        "its verdict replaces the cheap one"
    )
    assert {score for clip, score in scores.items() if clip not in asked} == {(1.0, 1)}
    checks = {
        (check.asset_key.path[-1], check.check_name): check.passed
        for check in result.get_asset_check_evaluations()
        if check.asset_key.path[0] == "clip_verdicts"
    }
    assert {passed for (judge, _), passed in checks.items() if judge == "dear_clip_verdicts"} == {True}
    report = json.loads((home.reports("d") / "report.json").read_text())
    assert report["comparability"]["cascade"] == cascade().fingerprint
    queue = {row["trajectory_id"]: row["reason"] for row in judged.rows("d", "review_queue")}
    assert list(queue.values()).count("undecided") == RUNS / 2

    (tmp_path / "panel.yaml").write_text(yaml.safe_dump(PANEL))
    shown = command("cascade", "show", "d", home=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "stages     cheap -> dear -> people" in shown.stdout
    assert f"dear: asked about {RUNS * CLIPS // 2}, accepts 0" in shown.stdout
    refused = command("cascade", "fit", "d", "--reference", "dear", home=tmp_path)
    assert refused.returncode == 2
    assert f"judge dear was not asked about {RUNS * CLIPS // 2} of {RUNS * CLIPS} subjects" in refused.stderr
    (tmp_path / "panel.yaml").write_text(yaml.safe_dump(PANEL).replace("dear", "late"))
    assert "d has no verdicts of late" in command("cascade", "fit", "d", home=tmp_path).stderr


def test_evaluations_by_a_cascade_that_is_not_fitted_say_that_it_has_no_bound(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "panel.yaml").write_text(yaml.safe_dump(PANEL))
    (tmp_path / "d.jsonl").write_bytes(drop())

    def said(*more: str) -> list[str]:
        done = command("evaluate", tmp_path / "d.jsonl", *more, home=home)
        assert done.returncode == 0, done.stderr
        return [line for line in done.stderr.splitlines() if line.startswith(NOT_FITTED)]

    (line,) = said()
    assert line.endswith(f"cascade fit DROP... --home {home}")
    assert said() == [line], "nothing has changed"
    assert said("--quiet") == []
    assert NOT_FITTED in command("cascade", "show", home=home).stderr
    write_cascade(UPath(home / "cascade.json"), cascade())
    assert said() == []


def test_commands_say_what_is_missing(tmp_path: Path) -> None:
    assert "panel.yaml has no cascade" in command("cascade", "fit", "d", home=tmp_path).stderr
    assert "cascade fit DROP" in command("cascade", "show", home=tmp_path).stderr
    (tmp_path / "panel.yaml").write_text(yaml.safe_dump(PANEL))
    assert "d has not been evaluated" in command("cascade", "fit", "d", home=tmp_path).stderr
    UPath(tmp_path / "cascade.json").write_text("[]")
    assert "holds no fitted cascade" in command("cascade", "show", home=tmp_path).stderr
