"""The list of reports: failure groups of each suite, and the search of runs, with hostile texts in both."""

import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evaluation_assets.core.lake.stored import Stream, batched, write
from evaluation_assets.core.lake.tables import FAILURE_GROUPS, GROUPED_FINDINGS
from evaluation_assets.core.pipeline.failure_groups import AllRuns, EvaluatedRuns, group_facts, group_rows, member_rows
from evaluation_assets.core.report.failure_groups.suite_groups import SuiteGroups, suite_groups
from evaluation_assets.core.report.headline import Headline
from evaluation_assets.core.report.index import write_index
from evaluation_assets.core.report.search.listed_runs import listed_runs
from evaluation_assets.core.report.viewer.page import ViewerData, read_index, with_viewer
from evaluation_assets.core.sections.failure_groups.grouping import Occurrence
from evaluation_assets.core.system.installation import Installation
from evaluation_assets_tests.browser import chromium
from evaluation_assets_tests.pages import without_viewer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HOSTILE = "<script>window.ran=1</script>\u202e<img src=x onerror=window.ran=1>'\"`$(id) </body>"
NIGHTS = {"s/1": ("a", "1", 0), "s/2": ("a", "1", 0), "s/3": ("a", "2", 8), f"s/{HOSTILE[:8]}": ("b", "1", 2)}
RUNS = 10


def occurrences(drop: str, affected: int) -> list[Occurrence]:
    return [
        Occurrence(
            drop=drop,
            trajectory_id=f"{HOSTILE} {number}",
            task_id=f"task {number}",
            kind="ignored_error",
            severity="HIGH",
            tool="find",
            evidence=f"{HOSTILE} no such file",
            clip_index=number,
        )
        for number in range(affected)
    ]


def row(number: int, affected: int) -> dict[str, object]:
    return {
        "id": f"{HOSTILE} {number}",
        "task_id": f"task {number}",
        "task": f"Find {HOSTILE}",
        "success": number >= affected,
        "passed": None,
        "score": number / 10,
        "errors": 1,
        "tools": ["find"],
        "agents": [],
        "models": [],
        "flags": [],
        "words": {"finding": ["ignored_error"]} if number < affected else {},
    }


@pytest.fixture
def home(tmp_path: Path) -> Installation:
    """Four nights of a suite with two agents, grouped, each with a report; one drop more without suite and report."""
    home = Installation.at(str(tmp_path / "home"))
    runs = AllRuns()
    for number, (drop, (agent, version, affected)) in enumerate({**NIGHTS, "alone": ("a", "1", 1)}.items()):
        tasks = {f"{HOSTILE} {run}": f"task {run}" for run in range(RUNS)}
        suite = "s" if drop in NIGHTS else None
        name = f"{agent} {version}"
        runs.drops.append(EvaluatedRuns(drop=drop, suite=suite, agent=agent, version=name, tasks=tasks))
        runs.occurrences += occurrences(drop, affected)
        if suite is None:
            continue
        report = {
            "drop": drop,
            "headline": Headline(measure="score", text=HOSTILE, rates=[], score_name="score", score=None).model_dump(),
            "sidecar": {"suite": HOSTILE},
            "trajectories_total": RUNS,
        }
        index = json.dumps({"drop": drop, "rows": [row(run, affected) for run in range(RUNS)]}).encode()
        data = ViewerData(gzip.compress(index), ())
        folder = tmp_path / "home" / "reports" / f"s/{number}"
        folder.mkdir(parents=True)
        (folder / "report.json").write_text(json.dumps(report))
        (folder / "report.html").write_text("".join(with_viewer("<main id=summary>\n</body>", data)))
    rows, members = group_rows(runs, {}), member_rows(runs)
    write(home.whole_table("grouped_findings").path, Stream(GROUPED_FINDINGS, batched(members, GROUPED_FINDINGS)))
    facts = group_facts(runs.drops, "").footer
    write(home.whole_table("failure_groups").path, Stream(FAILURE_GROUPS, batched(rows, FAILURE_GROUPS), facts=facts))
    return home


def groups(home: Installation) -> dict[str | None, SuiteGroups]:
    return {each.suite: each for each in suite_groups(home, lambda _: str.upper, {"s/3"})}


def test_groups_are_counted_by_suite(home: Installation) -> None:
    by_suite = groups(home)
    assert list(by_suite) == [None, "s"], "the suite evaluated last comes first"
    (group,) = by_suite["s"].summary.groups
    assert (group.runs, group.share) == (10, 10 / 40)
    assert [point.share for point in group.points] == [0, 0, 0.8, 0.2]
    (alone,) = by_suite[None].summary.groups
    assert (alone.runs, alone.share, alone.group_id) == (1, 0.1, group.group_id)


def test_examples_are_three_runs_of_the_last_drops_covered(home: Installation) -> None:
    (group,) = groups(home)["s"].summary.groups
    last = f"s/{HOSTILE[:8]}"
    assert [(each.drop, each.is_shown) for each in group.examples] == [(last, False), (last, False), ("s/3", True)]
    assert {each.evidence for each in group.examples} == {f"{HOSTILE.upper()} NO SUCH FILE"}
    assert group.name == group.name.upper()


def test_versions_of_an_agent_say_what_came(home: Installation) -> None:
    summary = groups(home)["s"].summary
    assert [(each.version, each.since, len(each.appeared)) for each in summary.changes] == [("a 2", "a 1", 1)]
    assert summary.text.endswith("; since a 1: 1 new, 0 gone")
    assert (summary.compared, summary.last) == (4, f"s/{HOSTILE[:8]}")


def test_runs_of_a_report_of_another_version_are_left_out(home: Installation) -> None:
    folder = Path(home.root.path) / "reports" / "s" / "0"
    older = [{name: value for name, value in row(run, 0).items() if name != "words"} for run in range(RUNS)]
    data = ViewerData(gzip.compress(json.dumps({"drop": "s/1", "rows": older}).encode()), ())
    (folder / "report.html").write_text("".join(with_viewer("<main id=summary>\n</body>", data)))
    runs = listed_runs(
        home.root / "reports", {"s/1": "s/0/report.html", "s/2": "s/1/report.html"}, dict.fromkeys(NIGHTS, RUNS), ()
    )
    assert (runs["left_out"], len(runs["columns"]["id"])) == (1, RUNS)


def test_the_page_has_hostile_texts_as_text_only(home: Installation) -> None:
    page = Path(write_index(home).path).read_text()
    text = without_viewer(page, "overview")
    assert "<script" not in text and "<img" not in text and "\u202e" not in text
    assert text.count("&lt;script&gt;window.ran=1") >= 3
    assert text.count("</body>") == 1
    assert text.index("<h2>Reports</h2>") < text.index("<h2>Failure groups</h2>")
    assert '<a href="s/2/report.html#/run/%3Cscript%3E' in text, "examples lead to the report of their drop"


def test_the_runs_of_a_report_are_those_that_it_shows(home: Installation) -> None:
    read = read_index(home.root / "reports" / "s" / "2" / "report.html")
    assert read is not None and read["drop"] == "s/3" and len(read["rows"]) == RUNS
    damaged = home.root / "reports" / "s" / "2" / "report.html"
    damaged.write_bytes(damaged.read_bytes().replace(b'viewer-index">H4', b'viewer-index">H5'))
    assert read_index(damaged) is None and read_index(home.root / "none.html") is None


def test_runs_of_older_reports_are_left_out(home: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    reports = home.root / "reports"
    addresses = {drop: f"s/{number}/report.html" for number, drop in enumerate(NIGHTS)}
    sizes = dict.fromkeys(addresses, RUNS)
    assert listed_runs(reports, addresses, sizes, ())["left_out"] == 0
    monkeypatch.setattr("evaluation_assets.core.report.search.listed_runs.MAX_RUNS", 2 * RUNS)
    runs = listed_runs(reports, addresses, sizes | {"s/1": 3 * RUNS}, ())
    assert (runs["columns"]["drop"], runs["left_out"]) == ([1] * RUNS + [2] * RUNS, 2)


def test_without_groups_or_with_damaged_ones_the_reports_are_listed(home: Installation) -> None:
    table = home.whole_table("failure_groups").path
    table.write_bytes(table.read_bytes()[:-20])
    page = Path(write_index(home).path).read_text()
    assert "failure_groups.parquet is damaged" in page and "<h3>" not in page
    assert page.count("/report.html") == len(NIGHTS)
    table.unlink()
    assert ">evaluation-assets overview</code> groups the findings" in Path(write_index(home).path).read_text()


def test_groups_that_only_reports_have_are_named_with_their_reports(home: Installation) -> None:
    listed = Path(write_index(home).path).read_text()
    assert "Not grouped" not in listed and ">None.<" not in listed, "all drops were grouped"
    folder = Path(home.root.path) / "reports" / "new"
    shutil.copytree(folder.parent / "s" / "0", folder)
    report = json.loads((folder / "report.json").read_text()) | {"drop": "new"}
    for own, said in (
        ({"groups": [{}, {}]}, '<a href="new/report.html#failure-groups"><bdi>new</bdi></a> (2 groups). <code'),
        ({"groups": [{}]}, "<bdi>new</bdi></a> (1 group). <code"),
    ):
        (folder / "report.json").write_text(json.dumps(report | {"failure_groups": own}))
        page = Path(write_index(home).path).read_text()
        assert said in page and "Not grouped with those of other drops yet: " in page and "<h3>" in page
    (folder / "report.json").write_text(json.dumps(report | {"failure_groups": None}))
    assert "Not grouped" not in Path(write_index(home).path).read_text(), "there is nothing to group"
    home.whole_table("failure_groups").path.unlink()
    for file in folder.parent.rglob("report.json"):
        file.write_text(json.dumps(json.loads(file.read_text()) | {"failure_groups": None}))
    assert ">None.<" in Path(write_index(home).path).read_text()


def test_a_report_that_is_not_to_be_believed_or_not_compared_is_marked(home: Installation) -> None:
    before = Path(write_index(home).path).read_text()
    assert "reading doubtful" not in before and "not compared" not in before
    file = Path(home.root.path) / "reports" / "s/0" / "report.json"
    doubtful = {"reading": {"trust": "doubtful"}, "not_compared": "it has other tasks", "gate": None}
    file.write_text(json.dumps(json.loads(file.read_text()) | doubtful))
    page = Path(write_index(home).path).read_text()
    assert page.count("reading doubtful") == page.count(">not compared<") == 1


@pytest.fixture
def browser() -> Iterator["Browser"]:
    with chromium() as started:
        yield started


@pytest.fixture
def page(home: Installation, browser: "Browser") -> "Page":
    page = browser.new_page()
    page.goto(Path(write_index(home).path).as_uri())
    page.wait_for_selector("html[data-viewer=ready]")
    return page


@pytest.mark.slow
def test_runs_are_searched_from_disk_by_keyboard(page: "Page", home: Installation) -> None:
    page.keyboard.press("/")
    page.keyboard.type("outcome:fail FIND")
    found = page.locator("#search tbody tr")
    assert page.locator("#search [role=status]").inner_text() == "10 of 40 runs" and found.count() == 10
    assert page.locator("#search code").inner_text() == f"evaluation-assets search find --home {home.root}"
    page.reload()
    assert page.locator("#search input").input_value() == "outcome:fail FIND", "the address keeps the query"
    found.first.get_by_role("link").last.click()
    page.wait_for_function("""() => document.querySelector('#search input').value.startsWith('group:"')""")
    assert found.count() == 10
    page.keyboard.press("Tab")
    first = found.first.get_by_role("link").first
    first.press("Enter")
    page.wait_for_url("**/s/*/report.html#/run/*")


@pytest.mark.slow
def test_a_page_without_reports_names_the_whole_command(browser: "Browser", tmp_path: Path) -> None:
    page = browser.new_page()
    page.goto(Path(write_index(Installation.at(str(tmp_path))).path).as_uri())
    page.wait_for_selector("html[data-viewer=ready]")
    assert page.locator("code").first.inner_text() == f"evaluation-assets evaluate FILE --home {tmp_path}"


@pytest.mark.slow
def test_hostile_texts_do_not_run(page: "Page", home: Installation) -> None:
    page.locator("#search input").fill("find")
    assert page.locator("#search tbody tr").count() == 40
    page.locator("#search input").fill("it's '$(id)'")
    assert (
        page.locator("#search code").inner_text()
        == rf"""evaluation-assets search 'it'\''s' ''\''$(id)'\''' --home {home.root}"""
    )
    assert page.evaluate("window.ran") is None
    assert page.locator("#search img, #search script, #failure-groups img, #failure-groups script").count() == 0


@pytest.mark.slow
@pytest.mark.parametrize("width", [1400, 390])
def test_the_page_is_accessible_and_fits(home: Installation, browser: "Browser", width: int) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = browser.new_context(viewport={"width": width, "height": 900}, bypass_csp=True).new_page()
    page.goto(f"{Path(write_index(home).path).as_uri()}#/runs?q=find")
    page.wait_for_selector("html[data-viewer=ready]")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    violations = Axe().run(page).response["violations"]
    assert [each["id"] for each in violations if each["impact"] in ("serious", "critical")] == []
