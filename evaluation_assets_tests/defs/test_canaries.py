"""A judge that changes between a baseline and a drop is told from an agent that does, with real requests."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from evaluation_assets.resources.asset_keys import owned_key
from evaluation_assets_tests.conftest import KEY, command, failed_checks, materialization
from evaluation_assets_tests.model_judging import Judged, installed, judge
from evaluation_assets_tests.model_server import ModelServer, rule
from evaluation_assets_tests.towns import TASKS, check_of, promote, run_of

GATE = "gate: {metrics: [success, overall]}\n"
CANARY = "card games for two"
"""Words that stand in a canary clip only."""


def runs(good: int, marked: str) -> bytes:
    """Runs that differ from others in their words, as those of the same agent on another day do."""
    lines = [run_of(number, good=number < good) for number in range(TASKS)]
    return b"".join(line.replace(b"inhabitants", f"people ({marked})".encode()) for line in lines)


@pytest.fixture(scope="module")
def accepted_once(tmp_path_factory: pytest.TempPathFactory, started_server: ModelServer) -> Iterator[Judged]:
    with dg.DagsterInstance.ephemeral() as instance, pytest.MonkeyPatch.context() as environment:
        environment.setenv("TEST_KEY", KEY)
        started_server.script([])
        yield with_baseline(tmp_path_factory.mktemp("accepted"), instance, started_server, GATE)


@pytest.fixture
def accepted(accepted_once: Judged, tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer) -> Judged:
    """A suite whose baseline was judged by a model."""
    accepted_once.copy_to(tmp_path / "home", instance)
    return installed(tmp_path / "home", instance, judge(server))


def with_baseline(folder: Path, instance: dg.DagsterInstance, server: ModelServer, settings: str) -> Judged:
    (folder / "home").mkdir()
    (folder / "home" / "gate.yaml").write_text(settings)
    judged = installed(folder / "home", instance, judge(server))
    judged.drop("s/base", runs(TASKS, "monday"))
    assert judged.run("s/base").success
    assert promote(judged, "s/base").success
    return judged


def gated(judged: Judged, drop: str, content: bytes) -> tuple[dg.ExecuteInProcessResult, Any]:
    judged.drop(drop, content)
    result = judged.run(drop)
    return result, check_of(result)


def asked_canaries(server: ModelServer) -> int:
    return sum(CANARY in str(request.body) for request in server.requests())


def test_a_suite_asks_the_canaries_when_verdicts_are_paid_for_and_other_drops_ask_none(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer
) -> None:
    accepted = with_baseline(tmp_path, instance, server, GATE)
    assert asked_canaries(server) == 1
    rows = accepted.rows("s/base", "canary_verdicts", "one")
    assert len(rows) == 12 and {row["outcome"] for row in rows} == {"scored"}
    assert not any(row["from_ledger"] for row in rows)
    accepted.drop("s/more", runs(TASKS, "tuesday"))
    accepted.run("s/more")
    assert asked_canaries(server) == 2
    accepted.drop("alone", runs(1, "alone"))
    assert accepted.run("alone").success
    assert asked_canaries(server) == 2 and accepted.rows("alone", "canary_verdicts", "one") == []


def run_without_money_for_canaries(judged: Judged) -> None:
    """Evaluate s/base but for its canaries, and then these, with nothing left to spend."""
    job, canaries = judged.definitions.resolve_job_def("evaluate"), owned_key("canary_verdicts", "one")
    others = sorted(job.asset_layer.selected_asset_keys - {canaries})
    judged.instance.add_dynamic_partitions("drops", ["s/base"])
    for chosen, config in ((others, {}), ([canaries], {"budget_usd": 0.0})):
        job.execute_in_process(
            partition_key="s/base",
            instance=judged.instance,
            asset_selection=chosen,
            run_config={"ops": {"evaluate_drop": {"config": config}}},
        )


@pytest.mark.parametrize("job", ["evaluate", "rescore"])
def test_verdicts_of_the_ledger_keep_the_canaries_they_were_paid_with(
    accepted: Judged, server: ModelServer, job: str
) -> None:
    paid = accepted.rows("s/base", "canary_verdicts", "one")
    before = len(server.requests())
    server.script([rule("lenient", by=-3)])
    result = accepted.run("s/base", job)
    assert result.success and len(server.requests()) == before, "neither verdicts nor canaries are asked"
    assert accepted.rows("s/base", "canary_verdicts", "one") == paid
    assert "judge changed" not in (check_of(result).description or "")
    told = materialization(result, *owned_key("canary_verdicts", "one").path).metadata
    assert told["from_ledger"].value == 12 and "cost_usd" not in told, "nothing is paid again"
    assert promote(accepted, "s/base").success
    result, check = gated(accepted, "s/worse-judge", runs(TASKS, "tuesday"))
    assert check.metadata["verdict"].value == "incomparable"
    assert "judge changed: one" in (check.description or "")


def test_canaries_alone_are_not_asked_again_on_another_day(accepted: Judged, server: ModelServer) -> None:
    paid = accepted.rows("s/base", "canary_verdicts", "one")
    server.script([rule("lenient", by=-3)])
    canaries = [owned_key("canary_verdicts", "one")]
    job = accepted.definitions.resolve_job_def("evaluate")
    done = job.execute_in_process(partition_key="s/base", instance=accepted.instance, asset_selection=canaries)
    assert done.success and accepted.rows("s/base", "canary_verdicts", "one") == paid
    assert asked_canaries(server) == 0


def test_the_canaries_of_another_model_of_the_same_name_are_not_kept(
    accepted: Judged, server: ModelServer, tmp_path: Path
) -> None:
    other = installed(tmp_path / "home", accepted.instance, judge(server, model="n"))
    assert {row["model"] for row in accepted.rows("s/base", "canary_verdicts", "one")} == {"m"}
    other.run("s/base")
    assert {row["model"] for row in accepted.rows("s/base", "canary_verdicts", "one")} == {"n"}
    before = len(server.requests())
    accepted.run("s/base")
    assert len(server.requests()) == before and accepted.rows("s/base", "canary_verdicts", "one") == []


def test_of_verdicts_paid_for_without_canaries_nothing_is_said(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer
) -> None:
    judged = with_baseline(tmp_path, instance, server, GATE + "canaries: {enabled: false}\n")
    (tmp_path / "home" / "gate.yaml").write_text(GATE)
    again = installed(tmp_path / "home", instance, judge(server))
    assert again.run("s/base").success
    assert asked_canaries(server) == 0 and judged.rows("s/base", "canary_verdicts", "one") == []


def test_one_new_verdict_asks_the_canaries_anew_but_silence_does_not_replace_answers(
    accepted: Judged, server: ModelServer
) -> None:
    paid = accepted.rows("s/base", "canary_verdicts", "one")
    accepted.drop("s/base", runs(TASKS, "monday") + run_of(TASKS, good=True))
    run_without_money_for_canaries(accepted)
    assert accepted.rows("s/base", "canary_verdicts", "one") == paid
    assert asked_canaries(server) == 0
    accepted.drop("s/base", runs(TASKS, "monday") + run_of(TASKS + 1, good=True))
    accepted.run("s/base")
    assert asked_canaries(server) == 1


def test_a_judge_that_became_stricter_is_no_regression_of_the_agent(accepted: Judged, server: ModelServer) -> None:
    server.script([rule("lenient", by=-3)])
    result, check = gated(accepted, "s/same", runs(TASKS, "tuesday"))
    assert not result.success and "regression_gate" in failed_checks(result)
    assert check.severity == dg.AssetCheckSeverity.ERROR
    assert check.metadata["verdict"].value == "incomparable"
    assert (check.description or "").startswith("incomparable: judge changed: one scores 12 canary clips")
    assert "regression" not in (check.description or "")
    page = (accepted.home.reports("s/same") / "report.html").read_text()
    assert "judge changed: one" in page


def test_a_worse_agent_is_found_while_the_judge_is_the_same(accepted: Judged) -> None:
    result, check = gated(accepted, "s/worse", runs(2, "tuesday"))
    assert not result.success and check.metadata["verdict"].value == "fail"
    assert "judge changed" not in (check.description or "") and "success" in (check.description or "")


def test_the_same_judge_and_agent_on_another_day_change_no_judge(accepted: Judged) -> None:
    _, check = gated(accepted, "s/same", runs(TASKS, "tuesday"))
    assert "judge changed" not in (check.description or "")
    assert check.metadata["verdict"].value != "incomparable"


def test_another_version_behind_the_same_name_is_a_changed_judge(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer
) -> None:
    server.script([{"serves": {"model": "m-2026-08-07", "system_fingerprint": "fp_1"}}])
    judged = with_baseline(tmp_path, instance, server, GATE + "canaries: {enabled: false}\n")
    server.script([{"serves": {"model": "m-2026-08-07", "system_fingerprint": "fp_2"}}])
    _, check = gated(judged, "s/same", runs(TASKS, "tuesday"))
    assert check.metadata["verdict"].value != "incomparable"
    server.script([{"serves": {"model": "m-2026-09-09", "system_fingerprint": "fp_2"}}])
    result, check = gated(judged, "s/other", runs(TASKS, "wednesday"))
    assert not result.success and check.metadata["verdict"].value == "incomparable"
    assert "judge changed: one is served as m-2026-09-09, was m-2026-08-07" in (check.description or "")
    assert asked_canaries(server) == 0


def test_canaries_are_paid_from_the_budget(tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer) -> None:
    judged = installed(tmp_path / "home", instance, judge(server))
    judged.drop("s/base", runs(1, "monday"))
    run_without_money_for_canaries(judged)
    assert {row["error_kind"] for row in judged.rows("s/base", "canary_verdicts", "one")} == {"budget"}


LOST = [rule("invalid_json", contains=words) for words in ("Forth Bridge", "squares of the first", "Marie Curie")]
"""Nine of the twelve canaries cannot be read."""


def coverage_of(result: dg.ExecuteInProcessResult) -> dg.AssetCheckEvaluation:
    key = owned_key("canary_verdicts", "one")
    return next(
        check
        for check in result.get_asset_check_evaluations()
        if (check.asset_key, check.check_name) == (key, "coverage")
    )


def test_a_judge_that_leaves_most_canaries_unanswered_is_not_taken_for_unchanged(
    accepted: Judged, server: ModelServer
) -> None:
    server.script(LOST)
    result, check = gated(accepted, "s/same", runs(TASKS, "tuesday"))
    said = check.description or ""
    assert said.startswith("incomparable: judge one answered 3 of 12 canary clips, so it is unknown whether it changed")
    assert "evaluate again" in said and "no metric gates" not in said
    covered = coverage_of(result)
    assert (covered.passed, covered.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert (covered.description or "").startswith("3 of 12 canary clips were scored (9 invalid_json). Below 50%")
    assert result.success, "neither check blocks"


def test_where_no_canaries_were_asked_the_gate_compares_and_says_so(
    accepted: Judged, server: ModelServer, tmp_path: Path
) -> None:
    (tmp_path / "home" / "gate.yaml").write_text(GATE + "canaries: {enabled: false}\n")
    judged = installed(tmp_path / "home", accepted.instance, judge(server))
    result, check = gated(judged, "s/same", runs(TASKS, "tuesday"))
    assert check.metadata["verdict"].value != "incomparable"
    assert "judge one was not asked about canary clips" in (check.description or "")
    assert coverage_of(result).passed


def test_a_changed_judge_is_the_reason_and_no_advice_about_metrics_is_given(
    accepted: Judged, server: ModelServer
) -> None:
    server.script([rule("lenient", by=-3)])
    _, check = gated(accepted, "s/same", runs(TASKS, "tuesday"))
    assert "judge changed: one" in (check.description or "") and "no metric gates" not in (check.description or "")


def test_a_promotion_without_canary_scores_says_so(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer
) -> None:
    home = tmp_path / "home"
    judged = with_baseline(tmp_path, instance, server, GATE + "canaries: {enabled: false}\n")
    event = judged.instance.get_latest_materialization_event(dg.AssetKey("baseline"))
    assert event is not None and event.asset_materialization is not None
    assert event.asset_materialization.metadata["without_canaries"].value == "one"
    (tmp_path / "panel.yaml").write_text(json.dumps({"judges": [judge(server)]}))
    done = command("baseline", "promote", "s/base", "--panel", tmp_path / "panel.yaml", home=home)
    assert done.returncode == 0, done.stderr
    assert "no canary scores of one: a change of the judge" in done.stderr


def test_canaries_that_nobody_answered_are_asked_again(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer
) -> None:
    judged = installed(tmp_path / "home", instance, judge(server))
    judged.drop("s/base", runs(1, "monday"))
    server.script([rule("refusal")])
    judged.run("s/base")
    answered = [row for row in judged.rows("s/base", "canary_verdicts", "one") if any(row["scores"].values())]
    assert answered == []
    server.script([])
    judged.run("s/base")
    assert {row["outcome"] for row in judged.rows("s/base", "canary_verdicts", "one")} == {"scored"}
