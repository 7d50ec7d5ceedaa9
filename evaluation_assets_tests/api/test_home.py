"""A home folder as an object: its drops, and tables over all of them."""

import json
import shutil
from pathlib import Path

import pytest

import evaluation_assets as ea
from evaluation_assets_tests.api.conftest import Evaluated
from evaluation_assets_tests.conftest import command


def test_a_home_has_its_drops_tables_and_results(evaluated: Evaluated) -> None:
    home = ea.load_home(evaluated.home)
    assert {"good", "worse"} <= set(home.drops)
    own = home.table("clip_scores", "good")
    assert set(own["drop"]) == {"good"}
    both = home.table("clip_scores", columns=["drop", "mean"])
    assert list(both.columns) == ["drop", "mean"] and set(home.drops) == set(both["drop"])
    assert home["good"].clips.equals(evaluated.good.clips)
    assert repr(home) == f"Home({str(home.installation.root)!r})"
    assert len(home.table("clip_verdicts", "good")) == len(own.groupby(["trajectory_id", "clip_index"]))
    assert home.table("leaderboard").empty, "an overview has not been made"


def test_of_a_table_of_all_drops_a_result_has_its_own_rows(evaluated: Evaluated, tmp_path: Path) -> None:
    shutil.copytree(evaluated.home, tmp_path / "home")
    (tmp_path / "home" / "labels").mkdir(exist_ok=True)
    labels = [{"drop": drop, "trajectory_id": "task-1", "label": "pass"} for drop in ("good", "worse", "worse")]
    (tmp_path / "home" / "labels" / "mine.jsonl").write_text("\n".join(map(json.dumps, labels)))
    assert command("judges", home=tmp_path / "home").returncode == 0
    home = ea.load_home(tmp_path / "home")
    assert [len(home.table("labels")), len(home["good"].table("labels"))] == [3, 1]
    assert home["worse"].table("labels", columns=["line"])["line"].tolist() == [2, 3]
    with pytest.raises(ea.UnknownName, match="the rows of leaderboard are about several drops; read it from the home"):
        home["good"].table("leaderboard")
    with pytest.raises(ea.UnknownName, match="none has not been evaluated"):
        home.table("labels", "none")


def test_the_environment_names_the_home(evaluated: Evaluated, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALUATION_HOME", str(evaluated.home))
    assert ea.load_home().drops == ea.load_home(str(evaluated.home)).drops


def test_a_notebook_lists_the_drops(evaluated: Evaluated) -> None:
    assert "<li>good</li>" in ea.load_home(evaluated.home)._repr_html_()


def test_an_unknown_name_is_explained(evaluated: Evaluated, tmp_path: Path) -> None:
    home = ea.load_home(evaluated.home)
    with pytest.raises(ea.UnknownName, match="no table 'clip_score'; did you mean 'clip_scores'"):
        home.table("clip_score")
    with pytest.raises(ea.UnknownName, match="clip_scores has no column 'score'; its columns: drop"):
        home.table("clip_scores", columns=["score"])
    with pytest.raises(ea.UnknownName, match=r"none has not been evaluated in .*; evaluated drops: .*good"):
        home["none"]
    with pytest.raises(ea.UnknownName, match="none has not been evaluated"):
        home.table("clips", "none")
    with pytest.raises(ea.UnknownName, match=r"no home folder at .*; evaluate a file first"):
        ea.load_home(tmp_path / "none")


def test_a_stored_result_without_a_report_says_so(evaluated: Evaluated, tmp_path: Path) -> None:
    home = ea.load_home(evaluated.home)
    lost = ea.StoredResult(home, "lost")
    with pytest.raises(ea.UnknownName, match=r"lost has no report in .*; evaluate it again"):
        _ = lost.summary
