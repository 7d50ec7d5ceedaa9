"""The means of sampled judges in reports."""

import json
from pathlib import Path
from statistics import fmean

import pytest
import yaml

from evaluation_assets.core.scoring.intervals import sampled_mean
from evaluation_assets.core.system.installation import Installation
from evaluation_assets_tests.conftest import SAMPLE, command


def test_a_sampled_judge_states_its_interval_over_all_trajectories(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    judges = [{"name": "all", "provider": "rules"}, {"name": "some", "provider": "rules", "sample": 0.5}]
    (home / "panel.yaml").write_text(yaml.safe_dump({"judges": judges}))
    done = command("evaluate", SAMPLE, "--quiet", "--verbose", home=home)
    assert done.returncode == 0, done.stderr
    installed = Installation.at(str(home))
    report = json.loads((installed.reports(SAMPLE.stem) / "report.json").read_text())
    found = {each["level"]: each for each in report["sampled"]}
    assert {each["judge"] for each in report["sampled"]} == {"some"}
    rows = [row for row in installed.table(SAMPLE.stem, "clip_verdicts", "some").rows() if row["outcome"] == "scored"]
    known = [[score for score in row["scores"].values() if score is not None] for row in rows]
    kept = [(fmean(scores), row["trajectory_id"]) for scores, row in zip(known, rows, strict=True) if scores]
    total = installed.table(SAMPLE.stem, "preprocessed_trajectories").count
    by_hand = sampled_mean([value for value, _ in kept], [name for _, name in kept], population=total)
    clip = found["clip"]
    assert clip["n_trajectories"] == total > clip["n_scored"] == by_hand.n > 1
    assert by_hand.low is not None and by_hand.high is not None
    ends = (max(0.0, by_hand.low), min(1.0, by_hand.high))
    assert (clip["mean"], clip["ci_low"], clip["ci_high"]) == pytest.approx((by_hand.mean, *ends))
    assert f"sample some        {clip['mean']:.3f} on clips of {clip['n_scored']} of {total} runs" in done.stdout
    for name in ("report.html", "report.md"):
        assert "on clips of" in (installed.reports(SAMPLE.stem) / name).read_text("utf-8")
