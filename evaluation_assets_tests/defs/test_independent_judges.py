"""Judges of a panel know nothing of each other: what one is asked is the same with and without the others."""

import json
import shutil
from collections import Counter
from pathlib import Path

import dagster as dg
import pytest

from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets.resources.asset_keys import owned_key
from evaluation_assets_tests.conftest import SAMPLE
from evaluation_assets_tests.model_judging import CLIPS, Judged, drop_of, installed, judge
from evaluation_assets_tests.model_server import ModelServer, rule

RULES: dict[str, object] = {"name": "rules", "provider": "rules"}
LEVELS = ("clip", "category", "trajectory")


def asked_of(server: ModelServer, model: str) -> Counter[str]:
    """How often each body was sent to a model."""
    return Counter(json.dumps(asked.body) for asked in server.requests() if asked.body["model"] == model)


def texts_of(server: ModelServer, model: str) -> list[str]:
    """The last turn of each request to a model."""
    return [asked.body["messages"][-1]["content"] for asked in server.requests() if asked.body["model"] == model]


def same_secret(*homes: Path) -> None:
    """Ledgers without replies that share their secret, so that the same trajectory has the same fence in all homes."""
    first, *others = [home / "ledger.sqlite" for home in homes]
    for home in homes:
        home.mkdir()
    ledger = Ledger(f"sqlite:///{first}")
    ledger.secret()
    ledger.close()
    for other in others:
        shutil.copy(first, other)


@pytest.mark.slow
@pytest.mark.parametrize("repeats", [1, 2])
def test_a_judge_is_asked_the_same_bytes_alone_and_on_a_panel(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer, repeats: int
) -> None:
    same_secret(tmp_path / "alone", tmp_path / "panel")
    own = judge(server, repeats=repeats)
    alone = installed(tmp_path / "alone", instance, own)
    panel = installed(tmp_path / "panel", instance, RULES, judge(server, "two", model="other"), own)
    for installation in (alone, panel):
        installation.drop("d", SAMPLE.read_bytes())
    assert alone.run("d").success
    sent = asked_of(server, "m")
    server.reset()
    assert panel.run("d").success
    assert sent.total() > 40 * repeats
    assert asked_of(server, "m") == sent
    for level in (*LEVELS, "session"):
        assert [row["scores"] for row in alone.verdicts(level)] == [row["scores"] for row in panel.verdicts(level)]


@pytest.mark.slow
def test_a_new_judge_on_judged_drops_makes_no_call_of_the_old_ones(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer
) -> None:
    judged = installed(tmp_path, instance, RULES, judge(server))
    for key, count in {"d": 2, "e": 1}.items():
        judged.drop(key, drop_of(count))
        assert judged.run(key).success
    server.reset()
    more = installed(tmp_path, instance, RULES, judge(server), judge(server, "two", model="other"))
    for key in ("d", "e"):
        assert more.run(key).success
    assert asked_of(server, "m") == Counter()
    assert asked_of(server, "other").total() == 2 * (CLIPS + 1 + 2), "one record is in both drops"
    assert all(row["from_ledger"] for level in LEVELS for row in more.verdicts(level))
    assert {row["n_judges"] for row in more.rows("d", "trajectory_scores")} == {3}


def all_marks(points: int, judged: Judged) -> str:
    """A reply with the same points for every criterion of a clip."""
    criteria = judged.verdicts()[0]["scores"]
    entries = [{"criterion": criterion, "score": points} for criterion in criteria]
    return json.dumps({"reasoning": "as seen", "scores": entries, "summary": "it ran"})


def test_later_levels_show_a_judge_its_own_scores_on_the_rubrics_scale(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer
) -> None:
    judged = installed(tmp_path, instance, RULES, judge(server), judge(server, "two", model="other"))
    judged.drop("d", drop_of(1))
    assert judged.run("d").success
    for model, name in (("m", "one"), ("other", "two")):
        own = judged.verdicts("clip", name)[0]["scores"]
        said = ", ".join(f"{key} {'null' if score is None else round(score * 10)}" for key, score in own.items())
        shown = [text for text in texts_of(server, model) if f"Your scores of piece 1, 0 to 10: {said}." in text]
        assert len(shown) == 2, "the category and the trajectory"
    assert not [text for model in ("m", "other") for text in texts_of(server, model) if "mean score" in text]


def test_a_sample_sees_what_this_sample_said_before(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer
) -> None:
    judged = installed(tmp_path, instance, judge(server))
    judged.drop("d", drop_of(1))
    assert judged.run("d").success
    server.reset()
    server.script([rule("text", contains="Piece 1,", text=all_marks(7, judged), times=1)])
    twice = installed(tmp_path, instance, judge(server, repeats=2))
    assert twice.run("d").success
    first, second = [row["scores"] for row in twice.verdicts() if row["clip_index"] == 0]
    assert set(second.values()) == {0.7}
    assert first != second
    shown = [text for text in texts_of(server, "m") if "Your scores of piece 1" in text]
    assert len(shown) == 2, "the category and the trajectory of sample 1; those of sample 0 are paid for"
    assert all("7, " in text.split("Your scores of piece 1")[1].splitlines()[0] for text in shown)


def test_a_judge_run_alone_needs_no_table_of_another(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer
) -> None:
    """Level after level of one judge, where the other has never judged."""
    judged = installed(tmp_path, instance, judge(server), judge(server, "two", model="other"))
    judged.drop("d", drop_of(1))
    assert judged.run("d", job="preprocess_only").success
    for key in (dg.AssetKey("clips"), *(owned_key(f"{level}_verdicts", "two") for level in LEVELS)):
        job = judged.definitions.resolve_implicit_global_asset_job_def().get_subset(asset_selection={key})
        assert job.execute_in_process(partition_key="d", instance=instance).success
    assert asked_of(server, "m") == Counter()
    assert [len(judged.verdicts(level, "two")) for level in LEVELS] == [CLIPS, 1, 2]
    assert sum("Your scores of piece 1" in text for text in texts_of(server, "other")) == 2
    assert not judged.table("d", "clip_verdicts", "one").exists


def test_the_levels_of_a_judge_hang_on_its_own_verdicts_only(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer
) -> None:
    graph = installed(tmp_path, instance, RULES, judge(server)).definitions.resolve_asset_graph()

    def parents(table: str) -> set[str]:
        return {key.to_user_string() for key in graph.get(owned_key(table, "one")).parent_keys}

    clips, categories = (owned_key(f"{level}_verdicts", "one").to_user_string() for level in ("clip", "category"))
    assert parents("clip_verdicts") == {"clips"}
    assert parents("category_verdicts") == {clips}
    assert parents("trajectory_verdicts") == {categories}
    assert parents("session_verdicts") == {"preprocessed_trajectories"}
