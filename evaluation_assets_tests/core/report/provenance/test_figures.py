"""Figures of a real report, computed again from its verdict rows and the files of its drop."""

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evaluation_assets.core.report.provenance.stated import Value, stated_figures
from evaluation_assets.core.system.installation import Installation
from evaluation_assets_tests.conftest import KEY, SAMPLE
from evaluation_assets_tests.every_section import DROPS, every_section
from evaluation_assets_tests.model_judging import Judged, installed, judge
from evaluation_assets_tests.model_server import model_server, rule
from evaluation_assets_tests.recomputed.evidence import Evidence
from evaluation_assets_tests.recomputed.figures import (
    NOT_RECOMPUTED,
    differences,
    figures,
    panel_score,
    reported_figures,
    why_not_recomputed,
)
from evaluation_assets_tests.towns import TASKS

KINDS = {
    "headline": "drop/headline/",
    "overall": "drop/overall/",
    "tool": "drop/tools/",
    "criterion of a tool": "/criteria/",
    "category": "drop/criteria/category/",
    "clip criterion": "drop/criteria/clip/",
    "judge": "drop/judges/model/outcomes/",
    "cost": "drop/judges/model/cost_usd",
    "coverage": "drop/scored_clips",
    "records": "drop/records/",
    "trajectory": "trajectory/",
    "clip": "clip/",
}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judged]:
    """A drop that the embedded judge and a model judge with repeats scored; some of the model's replies failed."""
    with (
        pytest.MonkeyPatch.context() as patch,
        model_server([rule("bad_request", rate=0.1)]) as server,
        dg.DagsterInstance.ephemeral() as instance,
    ):
        patch.setenv("TEST_KEY", KEY)
        model = judge(server, "model", repeats=2)
        workspace = installed(tmp_path_factory.mktemp("home"), instance, {"name": "rules", "provider": "rules"}, model)
        workspace.drop("d", SAMPLE.read_bytes())
        workspace.run("d")
        yield workspace


def report_of(home: Installation) -> dict:
    return orjson.loads((home.reports("d") / "report.json").read_bytes())


def recomputed(home: Installation) -> dict[str, Value]:
    return figures(Evidence.of(home, "d", report_of(home)))


def test_the_drop_has_what_makes_figures_hard(judged: Judged) -> None:
    outcomes = Counter(row["outcome"] for row in judged.verdicts("clip", "model"))
    nulls = [
        score for row in judged.verdicts("clip", "model") for score in (row["scores"] or {}).values() if score is None
    ]
    assert outcomes["scored"] and outcomes["failed"] and (outcomes["abstained"] or nulls)
    assert {row["sample"] for row in judged.verdicts("clip", "model")} == {0, 1}


def test_two_hundred_figures_of_all_kinds_come_out_the_same(judged: Judged) -> None:
    stated, now = reported_figures(report_of(judged.home)), recomputed(judged.home)
    for kind, part in KINDS.items():
        assert any(part in place for place in stated), kind
    drawn = random.Random(7)
    chosen = drawn.sample(sorted(stated), 200)
    assert {place: stated[place] for place in chosen} == {place: now.get(place) for place in chosen}
    assert sum(stated[place] is not None for place in chosen) > 150


def test_no_figure_is_left_out_without_a_reason(judged: Judged) -> None:
    assert differences(report_of(judged.home), recomputed(judged.home)) == {}
    assert why_not_recomputed("drop/gate/metrics/success/p_adjusted") == NOT_RECOMPUTED["gate/tests"]
    assert why_not_recomputed("drop/gate/fallen_tasks/0/current") == NOT_RECOMPUTED["gate/fallen_tasks"]
    assert why_not_recomputed("drop/gate/metrics/success/current") is None
    assert why_not_recomputed("drop/history/success/points/d/mean") is None
    assert why_not_recomputed("drop/tool_use/weights/content") == NOT_RECOMPUTED["tool_use/weights"]
    assert why_not_recomputed("drop/tool_use/passed") is None
    assert why_not_recomputed("drop/judges/rules/errors/timeout") == NOT_RECOMPUTED["judges/errors"]
    assert why_not_recomputed("drop/overall/mean") is None


SECTIONS = {
    "drop/tool_use/": "runs",
    "drop/tool_use/metrics/": "runs",
    "drop/tool_use/tools/": "runs",
    "drop/tool_use/cases/": "runs",
    "drop/headline/rates/passed/": "runs",
    "drop/constraints/": "rules",
    "drop/sessions/": "teams",
    "drop/sessions/agents/": "teams",
    "drop/coding/": "coding",
    "drop/coding/models/": "coding",
    "drop/sampled/": "assistants",
    "drop/gate/metrics/": "support/worse",
    "drop/history/": "support/worse",
}
"""Where figures of each section are."""


@pytest.fixture(scope="module")
def sections(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return Installation.at(str(every_section(tmp_path_factory.mktemp("sections"))))


def compared(home: Installation, drop: str) -> tuple[dict, dict[str, Value]]:
    report = orjson.loads((home.reports(drop) / "report.json").read_bytes())
    return report, figures(Evidence.of(home, drop, report))


@pytest.mark.parametrize("drop", DROPS)
def test_figures_of_every_section_come_out_the_same(sections: Installation, drop: str) -> None:
    report, now = compared(sections, drop)
    assert differences(report, now) == {}


@pytest.mark.parametrize("drop", DROPS)
def test_figures_of_every_section_have_formulas(sections: Installation, drop: str) -> None:
    report, now = compared(sections, drop)
    stated = {figure.address: figure for figure in stated_figures(report)}
    known = {place for place, value in reported_figures(report).items() if value is not None}
    assert {place for place in known if place.startswith("drop/")} <= stated.keys()
    assert all(figure.formula and figure.rows for figure in stated.values())
    missing = {place for place, value in reported_figures(report).items() if value is None}
    flags = {place for place in stated if place.startswith("drop/records/flags/")}
    assert stated.keys() - now.keys() <= missing | flags


def test_two_hundred_figures_of_sections_come_out_the_same(sections: Installation) -> None:
    stated: dict[tuple[str, str], object] = {}
    now: dict[tuple[str, str], object] = {}
    for drop in dict.fromkeys(SECTIONS.values()):
        report, figures_now = compared(sections, drop)
        places = [place for place in reported_figures(report) if place.startswith(tuple(SECTIONS))]
        stated |= {(drop, place): value for place, value in reported_figures(report).items() if place in places}
        now |= {(drop, place): figures_now[place] for place in places if place in figures_now}
    for section, drop in SECTIONS.items():
        known = [place for (of, place), value in stated.items() if of == drop and value is not None]
        assert sum(place.startswith(section) for place in known) >= 5, section
    chosen = random.Random(7).sample(sorted(stated), 200)
    assert {place: stated[place] for place in chosen} == {place: now.get(place) for place in chosen}


@pytest.mark.parametrize("section", SECTIONS)
def test_a_figure_of_a_section_that_the_report_states_otherwise_is_found(sections: Installation, section: str) -> None:
    report, now = compared(sections, SECTIONS[section])
    wrong = next(place for place, value in reported_figures(report).items() if place.startswith(section) and value)
    now[wrong] = -1
    assert list(differences(report, now)) == [wrong]


def test_a_changed_run_is_found_in_the_figures_of_the_suite(sections: Installation) -> None:
    path = Path(sections.drops.path) / "runs.jsonl"
    before = path.read_bytes()
    try:
        path.write_bytes(b"".join(before.splitlines(keepends=True)[1:]))
        report, now = compared(sections, "runs")
        found = differences(report, now)
    finally:
        path.write_bytes(before)
    assert found["drop/tool_use/runs"] == (3, 2)
    assert found["drop/tool_use/not_run_total"] == (0, 1)


def test_an_earlier_drop_that_is_gone_is_found_in_the_history(sections: Installation) -> None:
    table = Path(sections.table("support/base", "task_metrics").path.path)
    aside = table.rename(table.with_suffix(".aside"))
    try:
        found = differences(*compared(sections, "support/worse"))
    finally:
        aside.rename(table)
    assert found["drop/history/success/points/support%2Fbase/mean"] == (1.0, None)
    assert all("/points/support%2Fbase/" in place for place in found)


def test_a_changed_baseline_is_found_in_the_figures_of_the_gate(sections: Installation) -> None:
    (path,) = Path(sections.baselines.path).glob("*.json")
    before = path.read_bytes()
    changed = orjson.loads(before)
    changed["metrics"]["success"]["values"]["task-1"] = 0.0
    try:
        path.write_bytes(orjson.dumps(changed))
        found = differences(*compared(sections, "support/worse"))
    finally:
        path.write_bytes(before)
    assert found == {
        "drop/gate/metrics/success/baseline": (1.0, pytest.approx(1 - 1 / TASKS)),
        "drop/gate/metrics/success/difference": (1 / TASKS - 1, pytest.approx(2 / TASKS - 1)),
    }


@pytest.mark.parametrize("column", ["scores", "cost_usd"])
def test_a_changed_verdict_row_is_found(judged: Judged, column: str) -> None:
    path = Path(judged.home.table("d", "clip_verdicts", "model").path.path)
    before = path.read_bytes()
    table = pq.read_table(path)
    rows = table[column].to_pylist()
    number = next(at for at, outcome in enumerate(table["outcome"].to_pylist()) if outcome == "scored")
    if column == "scores":
        name, score = next(pair for pair in rows[number] if pair[1] is not None)
        rows[number] = [*(pair for pair in rows[number] if pair[0] != name), (name, 1.0 if score < 0.5 else 0.0)]
    else:
        rows[number] += 0.125
    changed = table.set_column(
        table.schema.get_field_index(column),
        table.schema.field(column),
        [pa.array(rows, table.schema.field(column).type)],
    )
    try:
        pq.write_table(changed, path)
        found = differences(report_of(judged.home), recomputed(judged.home))
    finally:
        path.write_bytes(before)
    wanted = {"scores": "drop/overall/mean", "cost_usd": "drop/judges/model/cost_usd"}[column]
    assert wanted in found and found[wanted][0] != found[wanted][1]


def test_a_changed_file_is_found(judged: Judged) -> None:
    path = Path(judged.home.drops.path) / "d.jsonl"
    before = path.read_bytes()
    try:
        path.write_bytes(b"".join(before.splitlines(keepends=True)[1:]))
        found = differences(report_of(judged.home), recomputed(judged.home))
    finally:
        path.write_bytes(before)
    assert found["drop/records/total"] == (17, 16)


def test_a_judge_counts_once_however_often_it_was_asked() -> None:
    assert panel_score({"one": [0.0, 0.0, 0.6], "other": [1.0]}, 1) == pytest.approx(0.6)
    assert panel_score({"one": [0.4, 0.6]}, 2) is None
    assert panel_score({}, 0) is None
