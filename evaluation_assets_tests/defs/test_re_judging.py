"""What a change costs: only what it touches is asked again."""

from pathlib import Path

import dagster as dg
import pytest
import yaml
from upath import UPath

from evaluation_assets.core.judging import prompts
from evaluation_assets.core.judging.replies import InvalidReply
from evaluation_assets.core.judging.rubrics.model import InvalidRubric, load_rubrics
from evaluation_assets_tests.conftest import call, record
from evaluation_assets_tests.model_judging import installed, judge
from evaluation_assets_tests.model_server import ModelServer


def drop() -> bytes:
    """Three trajectories that use the browser, two that run code."""
    browsing = [record(f"browse{n}", call(f"q{n}", "found") + "<answer>4</answer>") for n in range(3)]
    code = call("print(4)", "4", server="microsandbox", tool="microsandbox_execute")
    return b"".join([*browsing, *(record(f"code{n}", f"{code}<answer>{n}</answer>") for n in range(2))])


def reworded(home: Path, level: str, name: str) -> None:
    rubric = next(rubric for rubric in load_rubrics().of_level(level) if rubric.name == name)  # type: ignore[arg-type]
    data = rubric.model_dump(mode="json", exclude_none=True)
    data["criteria"][0]["question"] += " Say why."
    path = home / "rubrics" / level / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(data))


def test_new_wording_of_a_rubric_is_asked_only_where_it_is_used(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer
) -> None:
    judged = installed(tmp_path, instance, judge(server))
    judged.drop("d", drop())
    assert judged.run("d").success
    before = {(row["trajectory_id"], row["clip_index"]): row["ledger_key"] for row in judged.verdicts()}
    server.reset()
    reworded(tmp_path, "clip", "microsandbox")
    again = installed(tmp_path, instance, judge(server))
    assert again.run("d").success
    asked = {row["trajectory_id"] for row in again.verdicts() if not row["from_ledger"]}
    assert asked == {"code0", "code1"}
    changed = {key[0] for key, value in before.items() if value not in {row["ledger_key"] for row in again.verdicts()}}
    assert changed == {"code0", "code1"}
    own = 2 + 1 + 2  # two clips; then, as their means have changed, the category, the trajectory and the answer
    assert len(server.requests()) <= 2 * own


def test_a_corrected_reader_of_replies_reads_the_stored_ones_and_asks_nobody(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def defective(*_: object, **__: object) -> None:
        raise InvalidReply("invalid_json", "a reader with a defect.")

    judged = installed(tmp_path, instance, judge(server))
    judged.drop("d", drop())
    with monkeypatch.context() as patched:
        patched.setattr(prompts, "read_reply", defective)
        assert not judged.run("d").success
    assert {outcome for outcome, _ in judged.outcomes()} == {"failed", "not_run"}, "after ten it stops"
    first_clips = [row["ledger_key"] for row in judged.verdicts() if row["clip_index"] == 0]
    server.reset()
    judged.run("d")
    rows = [row for row in judged.verdicts() if row["clip_index"] == 0]
    assert all(row["outcome"] in ("scored", "abstained") and row["from_ledger"] for row in rows)
    assert len(first_clips) == len(rows)


def test_a_rubric_of_the_installation_that_is_none_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "clip" / "mine.yaml"
    path.parent.mkdir()
    path.write_text("name: mine\n")
    with pytest.raises(InvalidRubric, match=r"mine\.yaml"):
        load_rubrics(UPath(tmp_path))


def test_a_criterion_no_rule_knows_is_left_open_by_the_embedded_judge(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    rubric = next(rubric for rubric in load_rubrics().of_level("clip") if rubric.name == "microsandbox")
    data = rubric.model_dump(mode="json", exclude_none=True)
    data["criteria"].append(data["criteria"][0] | {"key": "taste"})
    path = tmp_path / "rubrics" / "clip" / "microsandbox.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(yaml.safe_dump(data))
    judged = installed(tmp_path, instance, {"name": "rules", "provider": "rules"})
    judged.drop("d", drop())
    assert judged.run("d").success
    scores = [dict(row["scores"]) for row in judged.verdicts(name="rules") if row["tool_type"] == "microsandbox"]
    assert [score["taste"] for score in scores] == [None, None]
    assert all(any(value is not None for value in score.values()) for score in scores)
