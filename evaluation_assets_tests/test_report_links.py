"""Links of the summary in a real browser: each leads to the rows or the transcript that its figure comes from."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evaluation_assets_tests.browser import chromium
from evaluation_assets_tests.every_section import DROPS, every_section

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NO_LINK = {
    "nav": "titles of sections",
    "thead": "titles of columns",
    "bdi, .task, pre, .said": "names and texts of the drop",
    "code": "commands, with the path of the home",
    ".label, .ends, .scale": "the scale of a graph",
    "#comparability": "digests and settings",
    "#reading": "an explanation of signs",
    "#judges > .note": "an explanation of columns",
    "#tool-use > .note": "an explanation, with the threshold of a mark",
    "#history": "figures of other drops, which this page does not have",
    "details.more > summary, .folded > details > summary": "the number of rows that the line unfolds",
    "#findings > .note, .gate-line": "sums over the rows below, and what failed checks say",
    "#coding h3, #sessions h3, #repairs > .note": "the number of rows below",
    "#rejected": "records that no trajectory was made of; each row states file and line",
}
"""What has digits in the summary and leads nowhere, and why."""

WITHOUT_LINK = r"""
(exceptions) => {
  const sections = ["#judges", "#rejected", "#records", "#repairs"];
  const leads = (link) => link.hash.startsWith("#/") || sections.includes(link.hash);
  const walker = document.createTreeWalker(document.querySelector("#summary"), NodeFilter.SHOW_TEXT);
  const found = [];
  let figures = 0;
  while (walker.nextNode()) {
    const near = walker.currentNode.parentElement;
    if (!/\d/.test(walker.currentNode.textContent) || near.closest(exceptions)) continue;
    figures += 1;
    const around = near.closest("tr, dd, li, p, summary, figcaption, caption, h3") ?? near;
    const boxes = [around, near.closest("details.clip"), near.closest(".trajectories tbody")];
    if (!boxes.some((box) => box !== null && [...box.querySelectorAll("a")].some(leads))) found.push(around.outerHTML);
  }
  return [figures, found];
}
"""
"""The number of figures in the summary, and what stands around those from which no link leads on.

A figure has a link, or the row, sentence or transcript that it stands in has one.
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return every_section(tmp_path_factory.mktemp("links"))


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def page(browser: "Browser") -> "Page":
    return browser.new_page(viewport={"width": 1200, "height": 900})


@pytest.mark.parametrize("drop", DROPS)
def test_every_figure_leads_to_where_it_comes_from(home: Path, page: "Page", drop: str) -> None:
    page.goto((home / "reports" / drop / "report.html").as_uri())
    figures, found = page.evaluate(WITHOUT_LINK, ", ".join(NO_LINK))
    assert figures > 50
    assert found == []


@pytest.mark.parametrize("drop", DROPS)
def test_every_section_is_accessible(home: Path, browser: "Browser", drop: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    context = browser.new_context(viewport={"width": 1200, "height": 900}, bypass_csp=True)  # axe is a script, too
    page = context.new_page()
    page.goto((home / "reports" / drop / "report.html").as_uri())
    page.eval_on_selector_all("details", "all => all.forEach((each) => { each.open = true })")
    violations = Axe().run(page).response["violations"]
    context.close()
    assert [f"{each['id']}: {node['html'][:120]}" for each in violations for node in each["nodes"]] == []


def test_a_figure_without_a_link_is_found(home: Path, page: "Page") -> None:
    page.goto((home / "reports" / "runs" / "report.html").as_uri())
    page.evaluate("document.querySelector('.judges tbody th a').replaceWith('rules')")
    page.evaluate("document.querySelectorAll('.judges tbody td a').forEach((link) => link.removeAttribute('href'))")
    assert page.evaluate(WITHOUT_LINK, ", ".join(NO_LINK))[1] != []


@pytest.mark.parametrize("drop", DROPS)
def test_links_to_rows_find_rows(home: Path, page: "Page", drop: str) -> None:
    page.goto((home / "reports" / drop / "report.html").as_uri())
    links = page.eval_on_selector_all("#summary a[href^='#/runs']", "all => all.map((a) => a.getAttribute('href'))")
    assert len(set(links)) >= 3
    for link in sorted(set(links)):
        page.evaluate("(place) => { location.hash = place }", link)
        page.locator("table.runs tbody tr").first.wait_for(timeout=20_000)
        assert "no condition" not in page.locator("#view-runs [role=status]").inner_text(), link
        assert page.locator("table.runs tbody tr").count() > 0, link


def test_the_lowest_score_of_a_criterion_leads_to_its_clip(home: Path, page: "Page") -> None:
    report = json.loads((home / "reports" / "assistants" / "report.json").read_text())
    row = next(row for row in report["criteria"] if row["level"] == "clip" and row["lowest"])
    place = row["lowest"]
    page.goto(f"{(home / 'reports' / 'assistants' / 'report.html').as_uri()}#criteria")
    page.locator(f"#criteria a[href='#/run/{place['trajectory_id']}?clip={place['clip_index']}']").first.click()
    page.locator("header.run h1").wait_for(timeout=20_000)
    assert page.locator("header.run h1").inner_text() == place["trajectory_id"]
    current = page.locator("[aria-current=step]")
    current.wait_for(timeout=20_000)
    section = current.locator("xpath=ancestor::section[1]").inner_text()
    assert re.search(rf"Clip {place['clip_index']}\b", section)


def test_an_example_of_a_finding_opens_its_run_at_the_place_with_the_finding(home: Path, page: "Page") -> None:
    page.goto((home / "reports" / "assistants" / "report.html").as_uri())
    page.locator("#findings a[href='#/run/lanternqueue-default?clip=1']").click()
    page.locator("header.run h1").wait_for(timeout=20_000)
    assert page.locator("header.run h1").inner_text() == "lanternqueue-default"
    current = page.locator("[aria-current=step]")
    current.wait_for(timeout=20_000)
    assert re.search(r"Clip 1\b", current.locator("xpath=ancestor::section[1]").inner_text())
    listed = page.locator("header.run details", has_text="Findings").inner_text()
    assert "Loop MEDIUM clip 1" in listed and '{"pattern": "retry_budget"' in listed


def test_distributions_say_in_words_what_they_show(home: Path, page: "Page") -> None:
    report = json.loads((home / "reports" / "assistants" / "report.json").read_text())
    statistic = next(row["statistic"] for row in report["criteria"] if row["statistic"]["n_scored"] > 20)
    assert sum(statistic["tenths"]) == statistic["n_scored"]
    page.goto(f"{(home / 'reports' / 'assistants' / 'report.html').as_uri()}#criteria")
    graphs = page.get_by_role("img", name=re.compile(rf"^{statistic['n_scored']} scores: "))
    bars = [count for count in statistic["tenths"] if count]
    assert any(
        [int(found) for found in re.findall(r"(\d+) from", graph.get_attribute("aria-label") or "")] == bars
        and graph.locator("rect").count() == len(bars)
        for graph in graphs.all()
    )


def test_cells_of_the_heat_map_have_the_distribution_on_paper_on_a_phone_and_without_a_script(
    home: Path, browser: "Browser"
) -> None:
    report = json.loads((home / "reports" / "assistants" / "report.json").read_text())
    wanted = [
        (f"{statistic['mean']:.2f}", [count for count in statistic["tenths"] if count])
        for tool in report["tools"]
        for statistic in tool["criteria"].values()
        if statistic["n_scored"]
    ]
    assert any(len(counts) > 2 for _, counts in wanted)
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto(f"{(home / 'reports' / 'assistants' / 'report.html').as_uri()}#tools")
    for media in ("screen", "print"):
        page.emulate_media(media=media)
        shown = []
        for cell in page.locator("#tools .heat-cell:has(svg)").all():
            graph = cell.get_by_role("img")
            box = graph.bounding_box()
            assert box is not None and box["width"] > 40 and box["height"] > 10
            label = graph.get_attribute("aria-label") or ""
            bars = (graph.locator("path.count").get_attribute("d") or "").count("z")
            counts = [int(found) for found in re.findall(r"(\d+) from", label)]
            assert bars == len(counts)
            shown.append((cell.inner_text().split()[0], counts))
        assert sorted(shown) == sorted(wanted)
    context.close()
