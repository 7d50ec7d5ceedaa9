"""The failure groups in the report of a drop, as far as drops were grouped when it was written."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import dagster as dg
import pytest
from click.testing import CliRunner
from upath import UPath

from evaluation_assets.cli.main import main
from evaluation_assets.core.intake.facts import GroupsFacts
from evaluation_assets.core.pipeline.drop_groups import DropGroups, drop_groups
from evaluation_assets.core.report.failure_groups.failure_group_report import failure_groups_summary
from evaluation_assets.core.report.render import as_html
from evaluation_assets.core.report.report import DropReport
from evaluation_assets.core.sections.failure_groups.states import KeptState, write_states
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.runs.jobs import instance_of
from evaluation_assets_tests.browser import chromium
from evaluation_assets_tests.core.report.findings.test_findings_section import HOSTILE
from evaluation_assets_tests.towns import runs

TASKS = 10

if TYPE_CHECKING:
    from playwright.sync_api import Browser

BAD = 7
LONG = f'Every call of the tool answers "timeout" {"x" * 100}'


def call(home: Path, *arguments: object) -> str:
    return CliRunner().invoke(main, [*map(str, arguments), "--home", str(home)]).output


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two nights without a failure, which were grouped; then one with failures, of another version."""
    folder = tmp_path_factory.mktemp("nights")
    drops = folder / "in" / "nights"
    drops.mkdir(parents=True)
    for number, (bad, version) in enumerate(((0, "v1"), (0, "v1"), (BAD, "v2")), 1):
        (drops / f"{number}.jsonl").write_bytes(runs(TASKS - bad, bad=bad))
        (drops / f"{number}.drop.yaml").write_text(f"suite: nights\nagent: helper\nagent_version: {version}\n")
        if number > 1:
            call(folder / "home", "evaluate", drops.parent, "--quiet")
            call(folder / "home", "groups", "list")
    return folder / "home"


@pytest.fixture(scope="module")
def report(home: Path) -> DropReport:
    return DropReport.model_validate_json((home / "reports" / "nights" / "3" / "report.json").read_bytes())


def groups(home: Path, drop: str) -> DropGroups:
    place = Installation.at(str(home))
    return drop_groups(place, drop, place.table(drop, "findings"), place.table(drop, "raw_trajectories"), str.upper)


@pytest.mark.slow
def test_a_failure_is_new_in_the_report_of_the_night_that_brings_it(report: DropReport) -> None:
    found = report.failure_groups
    assert found is not None
    assert found.text == "2 groups, 2 new; since helper v1: 2 new, 0 gone"
    assert (found.compared, found.last) == (2, "nights/2")
    (missing, ignored) = found.groups
    assert (missing.severity, ignored.severity) == ("HIGH", "MEDIUM")
    assert (ignored.name, ignored.state, ignored.runs, ignored.share) == (
        "Ignored error: browser_search_google",
        "new",
        BAD,
        BAD / TASKS,
    )
    assert [point.share for point in ignored.points] == [0, 0, BAD / TASKS]
    assert [(each.trajectory_id, each.evidence) for each in ignored.examples] == [
        (f"task-{task}", "Error: timeout") for task in (3, 4, 5)
    ]


def test_failing_tasks_that_are_added_to_a_suite_are_no_new_failure_here_or_in_the_table(tmp_path: Path) -> None:
    drops = tmp_path / "in" / "nights"
    drops.mkdir(parents=True)
    for number, bad in enumerate((0, 4 * TASKS), 1):
        (drops / f"{number}.jsonl").write_bytes(runs(TASKS, bad=bad))
        (drops / f"{number}.drop.yaml").write_text("suite: nights\nagent: helper\n")
        call(tmp_path / "home", "evaluate", drops.parent, "--quiet")
        call(tmp_path / "home", "groups", "list")
    told = json.loads((tmp_path / "home" / "reports" / "nights" / "2" / "report.json").read_bytes())
    table = {
        row["group_id"]: row["state"]
        for row in Installation.at(str(tmp_path / "home")).whole_table("failure_groups").rows()
    }
    assert {each["group_id"]: each["state"] for each in told["failure_groups"]["groups"]} == table
    assert set(table.values()) == {"open"}


def test_the_table_notes_the_drops_that_were_grouped(home: Path) -> None:
    drops = GroupsFacts.of(Installation.at(str(home)).whole_table("failure_groups")).drops
    assert [tuple(each) for each in drops] == [
        (f"nights/{number}", "nights", "helper", f"helper {version}", TASKS)
        for number, version in ((1, "v1"), (2, "v1"), (3, "v2"))
    ]


def test_the_ui_plots_the_groups_of_each_materialization(home: Path) -> None:
    with instance_of(Installation.at(str(home))) as instance:
        made = instance.fetch_materializations(dg.AssetKey("failure_groups"), limit=2).records
    (last, before) = (each.asset_materialization.metadata for each in made if each.asset_materialization)
    assert (last["new"].value, last["groups"].value, before["new"].value, before["groups"].value) == (2, 2, 0, 0)
    (group, _) = Installation.at(str(home)).whole_table("failure_groups").rows()
    assert last[f"share_{group['group_id']}"].value == BAD / (3 * TASKS)
    assert "| Ignored error: browser_search_google | new | 7 |" in str(last["gravest"].value)


def test_a_drop_counts_once_although_the_table_has_it_already(home: Path, report: DropReport) -> None:
    again = groups(home, "nights/3")
    names = {group.group_id: [point.drop for point in group.points] for group in report.failure_groups.groups}  # type: ignore[union-attr]
    assert {key.id: [each.drop for each in again.trends[key]] for key in again.states} == names
    covered = {"IGNORED ERROR: BROWSER_SEARCH_GOOGLE", "MISSING ANSWER"}
    assert set(again.names.values()) == covered, "names are covered as texts are"


def test_a_resolved_group_is_reopened_in_the_report(home: Path) -> None:
    ids = {key.id: key for key in groups(home, "nights/3").states}
    file = Installation.at(str(home)).groups_file
    write_states(file, {name: KeptState(state="resolved", drops=("nights/2",)) for name in ids})
    assert set(groups(home, "nights/3").states.values()) == {"reopened"}
    UPath(file).unlink()


def test_a_drop_without_a_group_tells_what_versions_changed(home: Path) -> None:
    found = failure_groups_summary(groups(home, "nights/1"), ())
    assert found is not None and found.groups == []
    (change,) = found.changes
    assert (change.version, change.since, change.gone) == ("helper v2", "helper v1", [])
    assert sorted(change.appeared) == ["IGNORED ERROR: BROWSER_SEARCH_GOOGLE", "MISSING ANSWER"]


def test_a_damaged_table_of_groups_is_reported_and_the_drop_is_grouped_alone(home: Path, tmp_path: Path) -> None:
    table = home / "lake" / "failure_groups.parquet"
    kept = table.read_bytes()
    table.write_bytes(kept[:-20])
    alone = groups(home, "nights/3")
    table.write_bytes(kept)
    assert "failure_groups.parquet is damaged" in alone.damaged[0]
    assert set(alone.states.values()) == {"open"} and {len(trend) for trend in alone.trends.values()} == {1}


def test_more_like_this_leads_to_the_runs_of_the_group(home: Path, report: DropReport) -> None:
    page = (home / "reports" / "nights" / "3" / "report.html").read_text()
    (missing, ignored) = report.failure_groups.groups  # type: ignore[union-attr]
    for group in (ignored, missing):
        link = f'<a class="alike" href="#/runs?q=group%3A%22{group.group_id}%22">{BAD - 1} more like this</a>'
        assert page.count(link) == 1, "once for all examples of a kind"
    assert '<details><summary><h2>Failure groups</h2> <span class="quiet">2 groups, 2 new;' in page, "folded"
    assert page.index("<h2>Findings</h2>") < page.index("<h2>Failure groups</h2>") < page.index("<h2>History</h2>")


def test_hostile_names_and_evidence_stay_text(report: DropReport) -> None:
    found = report.failure_groups
    assert found is not None
    example = found.groups[0].examples[0].model_copy(update={"trajectory_id": HOSTILE, "evidence": HOSTILE})
    group = found.groups[0].model_copy(update={"name": HOSTILE, "examples": [example]})
    hostile = found.model_copy(update={"groups": [group], "last": HOSTILE})
    page = as_html(report.model_copy(update={"failure_groups": hostile, "findings": None}))
    section = page[page.index("<h2>Failure groups</h2>") : page.index("<h2>History</h2>")]
    assert section.count("&lt;script&gt;alert(1)") == 4 and "<script" not in section and "\u202e" not in section


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    with chromium() as started:
        yield started


@pytest.mark.slow
def test_groups_are_opened_and_their_runs_shown_by_keyboard(home: Path, browser: "Browser") -> None:
    page = browser.new_page()
    page.goto((home / "reports" / "nights" / "3" / "report.html").as_uri())
    page.wait_for_selector("html[data-viewer=ready]")
    section = page.locator("section:has(> details > #failure-groups)")
    section.locator("summary").first.focus()
    page.keyboard.press("Enter")
    table = section.locator("table")
    assert table.is_visible()
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('#failure-groups table a') !== null"):
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**#/runs?q=group*")
    assert page.locator("#view-runs tbody tr").count() == BAD


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_the_section_is_accessible_and_fits(
    report: DropReport, browser: "Browser", tmp_path: Path, width: int, scheme: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    found = report.failure_groups
    assert found is not None
    named = found.model_copy(update={"groups": [each.model_copy(update={"name": LONG}) for each in found.groups]})
    (tmp_path / "report.html").write_text(as_html(report.model_copy(update={"failure_groups": named})))
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,  # type: ignore[arg-type]
        bypass_csp=True,  # the rules of axe are a script
    )
    page = context.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    page.locator("section:has(> details > #failure-groups) > details > summary").click()
    assert page.locator("#failure-groups table").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    around = "document.querySelector('#failure-groups table').parentElement"
    assert page.evaluate(f"{around}.scrollWidth <= {around}.clientWidth"), "nothing is cut off"
    violations = Axe().run(page).response["violations"]
    assert [each["id"] for each in violations if each["impact"] in ("serious", "critical")] == []
    page.locator("#failure-groups").screenshot(path=str(tmp_path / f"{width}.png"))
