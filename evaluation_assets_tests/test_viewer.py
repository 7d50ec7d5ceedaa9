"""The viewer in the report of a real evaluation, in a browser, from disk."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from upath import UPath

from evaluation_assets.core.review.labels import Label, read_labels
from evaluation_assets_tests.browser import chromium
from evaluation_assets_tests.conftest import command
from evaluation_assets_tests.conftest import record as record_of
from evaluation_assets_tests.test_ui import wait_for
from evaluation_assets_tests.third_party import data

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

MARKUP = (
    "<script>window.ran = 1</script><img src=x onerror='window.ran = 1'><a href='javascript:window.ran=1'>x</a>"
    "</script><svg onload='window.ran = 1'>{{ 7*7 }} ${7*7} \x1b[31mred\x1b[0m \u202eevil <iframe src='https://evil.example'>"
)
MANY, LONG = 30_000, 5_000_000


def call(number: int, name: str, arguments: str) -> dict[str, Any]:
    return {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": arguments}}


def conversation(task: str, number: int, calls: int) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": task}]
    for place in range(calls):
        failed = place % 5 == 3
        messages += [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [call(place, "find", json.dumps({"q": f"{task} {place}"}))],
            },
            {
                "role": "tool",
                "tool_call_id": f"c{place}",
                "content": "Error: no such file" if failed else f"found number {number}-{place}",
            },
        ]
    return {"task_id": f"task-{number}", "messages": [*messages, {"role": "assistant", "content": f"It is {number}."}]}


def evaluate(drop: Path, home: Path) -> None:
    """In a process of its own: Playwright keeps an event loop in this thread, beside which Dagster can start none."""
    done = command("evaluate", drop, "--quiet", home=home)
    assert "report.html" in done.stdout, done.stderr


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("viewer")
    hostile = conversation(MARKUP, 0, 3)
    hostile["task_id"] = f"hostile {MARKUP}"
    hostile["messages"][2]["content"] = MARKUP * 3
    long = conversation("long", 98, 1)
    long["messages"][2]["content"] = "x" * LONG
    many = conversation("many", 99, 1)
    many["messages"][1:1] = [{"role": "assistant", "content": f"ok {n}"} for n in range(MANY)]
    records = [*(conversation(f"Find number {n}", n, 1 + n % 4) for n in range(30)), hostile, long, many]
    drop = folder / "hostile.jsonl"
    drop.write_text("".join(json.dumps(record) + "\n" for record in records))
    evaluate(drop, folder / "home")
    return folder / "home" / "reports" / "hostile" / "report.html"


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    with chromium() as found:
        yield found


@pytest.fixture
def page(browser: "Browser", report: Path) -> Iterator["Page"]:
    """The report; at the end nothing of the data has run, no request has left, and the console is empty."""
    context = browser.new_context(viewport={"width": 1400, "height": 900}, accept_downloads=True)
    opened = context.new_page()
    seen: list[str] = []
    opened.on("console", lambda message: seen.append(f"console: {message.text}"))
    opened.on("pageerror", lambda problem: seen.append(f"error: {problem}"))
    opened.on("dialog", lambda dialog: seen.append(dialog.message))
    opened.on("request", lambda request: seen.append(request.url) if not request.url.startswith("file:") else None)
    opened.goto(report.as_uri())
    opened.wait_for_selector("html[data-viewer=ready]")
    yield opened
    assert opened.evaluate("window.ran") is None
    context.close()
    assert seen == []


def runs(page: "Page") -> list[str]:
    return page.locator("table.runs tbody th a").all_inner_texts()


def search(page: "Page", query: str) -> None:
    page.keyboard.press("/")
    page.locator("#view-runs input[type=search]").fill(query)
    page.wait_for_function(
        "(query) => (new URLSearchParams(location.hash.split('?')[1]).get('q') ?? '') === query"
        " && !/Reading/.test(document.querySelector('#view-runs [role=status]').textContent)",
        arg=query,
    )


def test_the_runs_are_filtered_searched_and_sorted(page: "Page") -> None:
    page.get_by_role("link", name="Runs", exact=True).click()
    page.wait_for_selector("table.runs")
    assert len(runs(page)) == 33
    search(page, "errors>0")
    page.wait_for_function("() => document.querySelectorAll('table.runs tbody tr').length === 7")
    assert set(runs(page)) == {f"task-{n}" for n in range(30) if n % 4 == 3}
    search(page, '"found number 7-2"')
    page.wait_for_function("() => document.querySelectorAll('table.runs tbody tr').length === 1")
    assert runs(page) == ["task-7"]
    address = page.url
    search(page, "")
    page.get_by_role("button", name="Calls").click()
    page.get_by_role("button", name="Calls").click()
    assert set(runs(page)[:7]) == {f"task-{n}" for n in range(30) if n % 4 == 3}
    page.goto(address)  # the address holds the query
    page.wait_for_function("() => document.querySelectorAll('table.runs tbody tr').length === 1")


def test_a_narrow_page_leaves_out_what_a_run_has_no_value_for(page: "Page") -> None:
    page.goto(page.url.split("#")[0] + "#/runs")
    missing = page.locator("table.runs td").get_by_text("–", exact=True)
    assert missing.first.is_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    assert missing.first.is_hidden() and page.locator("table.runs [data-label=Calls]").first.is_visible()


def test_columns_are_chosen_and_kept_in_the_address(page: "Page") -> None:
    page.goto(page.url.split("#")[0] + "#/runs")
    page.get_by_text("Columns").click()
    page.get_by_label("Tools").check()
    assert page.get_by_role("columnheader", name="Tools").is_visible()
    assert "tools" in page.url
    page.get_by_label("Tools").uncheck()
    assert not page.get_by_role("columnheader", name="Tools").is_visible()


def test_the_keyboard_goes_through_steps_errors_and_trajectories(page: "Page") -> None:
    page.goto(page.url.split("#")[0] + "#/run/task-3")
    page.wait_for_selector(".item")
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert "item=" in page.url
    page.keyboard.press("e")
    current = page.locator("[aria-current=step]")
    assert "failed: " in current.inner_text()
    permalink = page.url
    page.keyboard.press("]")
    page.wait_for_function("() => !location.hash.includes('task-3?')")
    assert "#/run/task-3?" not in page.url
    page.goto(permalink)
    page.wait_for_selector("[aria-current=step]")
    assert "failed: " in page.locator("[aria-current=step]").inner_text()
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()


def test_every_clip_has_its_verdicts_beside_it(page: "Page") -> None:
    page.goto(page.url.split("#")[0] + "#/run/task-2")
    page.wait_for_selector(".item")
    clips = page.locator("aside[aria-label^='Verdicts on clip']")
    assert clips.count() == 4  # three calls and the answer
    for place in range(4):
        assert re.search(r"Clip \d .*rules scored", clips.nth(place).inner_text().replace("\n", " "))


def test_hostile_text_is_shown_as_text(page: "Page") -> None:
    search(page, "evil.example")
    page.wait_for_function("() => document.querySelectorAll('table.runs tbody tr').length === 1")
    page.locator("table.runs tbody th a").click()
    page.wait_for_selector(".item.result")
    assert "<script>window.ran = 1</script>" in page.locator(".item.result").first.inner_text()
    assert page.locator("#view-run script, #view-run img, #view-run iframe, #view-run svg").count() == 0


def test_megabytes_and_thousands_of_messages_open(page: "Page") -> None:
    base = page.url.split("#")[0]
    page.goto(f"{base}#/run/task-98")
    page.get_by_role("button", name=re.compile("Show .* more of 5,0")).first.click()
    page.goto(f"{base}#/run/task-99?item={MANY}")
    page.wait_for_selector("[aria-current=step]")
    place = int(page.locator("[aria-current=step]").get_attribute("id").removeprefix("item-"))  # type: ignore[union-attr]
    assert MANY <= place < MANY + 3
    assert page.locator(".item").count() < 500
    page.get_by_role("button", name=re.compile("Show earlier")).click()
    assert page.locator(".item").first.get_attribute("id") < f"item-{place - 60}"  # type: ignore[operator]


def test_thirty_labels_by_keyboard_arrive_in_judge_cards(page: "Page", report: Path, tmp_path: Path) -> None:
    page.goto(page.url.split("#")[0] + "#/runs?q=task:task-&sort=id")
    page.wait_for_function("() => document.querySelectorAll('table.runs tbody tr').length === 32")
    order = runs(page)[:30]
    page.keyboard.press("]")
    given: dict[str, float] = {}
    for place, name in enumerate(order):
        page.wait_for_function(
            "(id) => location.hash.startsWith(`#/run/${id}`)"
            " && document.querySelector('#view-run h1')?.textContent === id",
            arg=name,
        )
        page.keyboard.press("p" if place % 3 else "f")
        given[name] = 1.0 if place % 3 else 0.0
        page.keyboard.press("]")
    page.get_by_role("link", name="Labels").click()
    page.locator("#view-labels").get_by_text("30 of 33").first.wait_for()
    page.get_by_label("Your name").fill("ann")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download labels").click()
    (tmp_path / "labels").mkdir()
    download.value.save_as(tmp_path / "labels" / download.value.suggested_filename)
    read = list(read_labels(UPath(tmp_path / "labels")))
    labels = [label for label in read if isinstance(label, Label)]
    assert len(read) == len(labels) == 30
    assert {label.trajectory_id: label.label for label in labels} == given
    assert {(label.drop, label.annotator) for label in labels} == {("hostile", "ann")}

    home = report.parents[2]
    shutil.copytree(tmp_path / "labels", home / "labels", dirs_exist_ok=True)
    scores = judged(home)
    pass_score = sorted(scores[name] for name in given)[15]
    (home / "gate.yaml").write_text(f"review: {{pass_score: {pass_score}}}\n")
    done = command("overview", home=home)
    assert done.returncode == 0, done.stderr
    (card,) = pq.read_table(home / "lake" / "judge_cards.parquet").to_pylist()
    verdicts = {name: scores[name] >= pass_score for name in given}
    assert (card["n_labels"], card["criterion"]) == (30, "passed")
    assert card["kappa"] == pytest.approx(kappa([(given[name] == 1.0, verdicts[name]) for name in given]))


def test_the_queue_hides_scores_until_the_person_has_answered(page: "Page") -> None:
    page.goto(page.url.split("#")[0] + "#/review")
    assert "random" not in page.locator("#view-review").inner_text(), "likely failures come first"
    queue = page.locator("#view-review tbody th a").all_inner_texts()
    page.keyboard.press("]")
    page.wait_for_selector("#view-run .item")
    assert page.locator("#view-run h1").inner_text() == queue[0]
    shown = page.locator("#view-run")
    assert shown.locator(".opinion").count() == 0
    assert "score" not in shown.locator("dl.about").inner_text()
    page.keyboard.press("f")
    page.wait_for_selector("#view-run .clip-section .opinion")
    assert "score" in shown.locator("dl.about").inner_text()
    page.keyboard.press("]")
    page.wait_for_function("(id) => document.querySelector('#view-run h1')?.textContent === id", arg=queue[1])
    assert shown.locator(".opinion").count() == 0
    page.keyboard.press("q")
    page.wait_for_selector("#next-review")
    assert f"1 of {len(queue)} are labelled" in page.locator("#view-review").inner_text()
    assert page.locator("#view-review tbody tr").first.locator("td").all_inner_texts()[0] == "fail"
    assert page.locator("#view-review tbody tr").nth(1).locator("td").all_inner_texts() == ["–", "hidden"]


def test_clips_and_scores_are_labelled_by_keyboard(page: "Page", tmp_path: Path) -> None:
    page.goto(page.url.split("#")[0] + "#/run/task-3?clip=2")
    page.wait_for_selector("[aria-current=step]")
    page.keyboard.press("F")
    page.keyboard.press("s")
    page.keyboard.type("0.25")
    page.keyboard.press("Enter")
    page.keyboard.press("n")
    page.keyboard.type("too slow")
    page.keyboard.press("Enter")
    page.goto(page.url.split("#")[0] + "#/labels")
    page.goto(page.url.split("#")[0] + "#/run/task-3")
    page.wait_for_selector("#view-run .label-form")
    page.keyboard.press("s")
    page.keyboard.type("75")
    page.keyboard.press("Enter")
    refused = page.locator("#view-run .label-form[data-clip=''] [data-field=score]")
    assert str(refused.evaluate("(field) => field.validationMessage")).startswith("Not saved")
    page.goto(page.url.split("#")[0] + "#/labels")
    assert "1 of 33 runs, 1 clip." in page.locator("#view-labels").inner_text()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download labels").click()
    download.value.save_as(tmp_path / "labels" / "mine.jsonl")
    labels = [label for label in read_labels(UPath(tmp_path / "labels")) if isinstance(label, Label)]
    assert {(label.clip_index, label.label, label.comment) for label in labels} == {
        (2, 0.0, ""),
        (None, 0.25, "too slow"),
    }


def test_a_key_that_is_held_sets_a_label_once(page: "Page") -> None:
    """It was set and removed in turn, thirty times a second; what was left was chance."""
    page.goto(page.url.split("#")[0] + "#/run/task-4")
    page.wait_for_selector("#view-run .item")
    pass_button = page.locator("#view-run .label-form[data-clip=''] [data-label=pass]")
    page.keyboard.down("p")
    page.keyboard.down("p")
    page.keyboard.up("p")
    assert pass_button.get_attribute("aria-pressed") == "true"
    page.keyboard.press("p")
    assert pass_button.get_attribute("aria-pressed") == "false"


@contextmanager
def reviewing(home: Path, *options: str) -> Iterator[str]:
    """The address of `review` on the hostile drop, which runs in a process of its own."""
    started = [sys.executable, "-u", "-m", "evaluation_assets.cli", "review", "hostile", "--home", str(home), "--print"]
    with subprocess.Popen([*started, *options], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def test_review_writes_labels_as_they_are_given_and_shows_them_again(browser: "Browser", report: Path) -> None:
    home = report.parents[2]
    file = home / "labels" / "hostile-bo.jsonl"
    with reviewing(home, "--annotator", "bo") as address:
        opened = browser.new_page()
        opened.goto(address)
        opened.wait_for_selector("#next-review")
        opened.keyboard.press("]")
        opened.wait_for_selector("#view-run .item")
        name = opened.locator("#view-run h1").inner_text()
        opened.keyboard.press("p")
        opened.wait_for_function("() => /Saved/.test(document.querySelector('#view-run [role=status]').textContent)")
        (line,) = map(json.loads, file.read_text().splitlines())
        assert (line["trajectory_id"], line["label"], line["annotator"]) == (name, "pass", "bo")
        opened.keyboard.press("p")  # taken back
        opened.wait_for_function("() => /Saved/.test(document.querySelector('#view-run [role=status]').textContent)")
        assert file.read_text() == ""
        opened.keyboard.press("f")
        opened.wait_for_function("() => /Saved/.test(document.querySelector('#view-run [role=status]').textContent)")
        opened.close()
        another = browser.new_context().new_page()  # a browser that keeps nothing of the first
        another.goto(address)
        another.wait_for_selector("#view-review tbody tr")
        assert another.locator("#view-review tbody tr").first.locator("td").first.inner_text() == "fail"
        another.context.close()
    file.unlink()


def test_a_comment_that_is_half_typed_outlives_a_reload(browser: "Browser", report: Path) -> None:
    """It was kept when the field was left, so a reload lost it."""
    file = report.parents[2] / "labels" / "hostile-cy.jsonl"
    with reviewing(report.parents[2], "--annotator", "cy") as address:
        opened = browser.new_page()
        opened.goto(address)
        opened.wait_for_selector("#next-review")
        for key, comment in (("", "first"), ("f", "and more")):
            opened.keyboard.press("]")
            opened.wait_for_selector("#view-run .item")
            if key:
                opened.keyboard.press(key)
            opened.keyboard.press("n")
            opened.keyboard.type(comment)
            opened.wait_for_function(
                "() => /Saved/.test(document.querySelector('#view-run [role=status]').textContent)"
            )
            opened.reload()
            opened.wait_for_selector("#view-run .item")
            typed = opened.locator("#view-run .label-form[data-clip=''] [data-field=comment]")
            assert typed.input_value() == comment

        def is_kept() -> bool | None:
            lines = list(map(json.loads, file.read_text().splitlines()))
            return [(line["label"], line["comment"]) for line in lines] == [("fail", "and more")] or None

        wait_for(is_kept, 30)  # what was typed last is sent after a pause
        opened.close()
    file.unlink()


def test_review_shows_a_page_of_another_site_nothing(report: Path) -> None:
    """Neither under the name of that site, nor the folder of the report without the page's address."""
    with reviewing(report.parents[2], "--annotator", "eve") as address:
        port = int(address.split(":")[2].split("/")[0])
        for path, host, status in (
            ("/report.html", "attacker.example", 421),
            ("/review", "attacker.example", 421),
            ("/", "localhost", 404),
            ("/report.html", "localhost", 200),
        ):
            connection = HTTPConnection("127.0.0.1", port)
            connection.request("GET", path, headers={"Host": host})
            assert connection.getresponse().status == status


def test_review_takes_no_label_from_another_page_and_none_that_is_wrong(report: Path) -> None:
    home = report.parents[2]
    with reviewing(home, "--annotator", "eve") as address:
        port = int(address.split(":")[2].split("/")[0])
        token = address.split("review=")[1].split("#")[0]
        given = {"trajectory_id": "task-3", "label": "pass"}

        def post(labels: object, used: str) -> tuple[int, str]:
            connection = HTTPConnection("127.0.0.1", port)
            connection.request("POST", "/review", json.dumps(labels), {"X-Review-Token": used})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

        assert post([given], "guessed")[0] == 403
        assert post([{**given, "trajectory_id": "none"}], token) == (422, "hostile has no run 'none'")
        assert post([{**given, "label": 1.5}], token)[0] == 422
        assert post("x", token)[0] == 422
        assert not (home / "labels" / "hostile-eve.jsonl").exists()
        assert post([given], token)[0] == 200
        (home / "labels" / "hostile-eve.jsonl").unlink()


def judged(home: Path) -> dict[str, float]:
    """The embedded judge's mean score of each trajectory, from its stored verdicts."""
    rows = pq.read_table(home / "lake" / "trajectory_verdicts" / "rules" / "hostile.parquet").to_pylist()
    means: dict[str, float] = {}
    for row in rows:
        known = [score for _, score in row["scores"] if score is not None]
        if row["subject"] == "trajectory" and known:
            means[row["trajectory_id"]] = sum(known) / len(known)
    return means


def kappa(pairs: list[tuple[bool, bool]]) -> float:
    """Cohen's kappa, by its definition."""
    n = len(pairs)
    observed = sum(one == other for one, other in pairs) / n
    first, second = (sum(pair[side] for pair in pairs) / n for side in (0, 1))
    expected = first * second + (1 - first) * (1 - second)
    return (observed - expected) / (1 - expected)


def test_without_a_script_the_summary_is_there(browser: "Browser", report: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    opened = context.new_page()
    opened.goto(report.as_uri())
    assert opened.get_by_role("heading", name="Look at first", exact=True).is_visible()
    assert not opened.locator("#viewer").is_visible()
    context.close()


def test_the_open_view_is_printed(page: "Page") -> None:
    page.goto(page.url.split("#")[0] + "#/run/task-3")
    page.wait_for_selector("#view-run h1")
    page.emulate_media(media="print")
    assert page.locator("#view-run h1").is_visible()
    assert not page.locator("#views").is_visible() and not page.locator(".label-form").first.is_visible()


def test_it_fits_a_phone(browser: "Browser", report: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    opened = context.new_page()
    for target in ("#/runs", "#/run/task-3", "#/labels"):
        opened.goto(report.as_uri() + target)
        opened.wait_for_selector("html[data-viewer=ready]")
        opened.wait_for_timeout(100)
        assert opened.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()


def test_failed_runs_come_first_and_tables_need_no_scrolling(browser: "Browser", tmp_path: Path) -> None:
    records = [conversation(f"Find number {number}", number, 16) for number in range(4)]
    for number, record in enumerate(records):
        record["success"] = number % 2 == 0
        record["messages"] += [{"role": "user", "content": "And more?"}, {"role": "assistant", "content": "No."}]
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    evaluate(tmp_path / "d.jsonl", tmp_path / "home")
    address = (tmp_path / "home" / "reports" / "d" / "report.html").as_uri()
    context = browser.new_context(viewport={"width": 740, "height": 900})
    opened = context.new_page()
    opened.goto(f"{address}#/runs")
    opened.wait_for_selector("table.runs")
    assert [int(name[-1]) % 2 for name in runs(opened)] == [1, 1, 0, 0]
    flag = opened.locator("table.runs td bdi", has_text="too_many_calls").first
    assert flag.evaluate("word => word.getClientRects().length") == 1  # it stands on one line
    context.close()
    phone = browser.new_context(viewport={"width": 390, "height": 844}).new_page()
    phone.goto(address)
    phone.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true })")
    widths = phone.locator("table.agents").evaluate_all("all => all.map((each) => each.offsetWidth)")
    assert widths and max(widths) <= 390
    phone.context.close()


def outcomes(file: Path) -> dict[str, bool]:
    """The outcome of each task as the file says it, read without this project."""
    return {run["task_id"]: run["reward_info"]["reward"] == 1.0 for run in json.loads(file.read_text())["simulations"]}


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bool], dict[str, bool]]:
    """Two recorded runs of one public suite, and what each of their tasks came to."""
    folder = tmp_path_factory.mktemp("compared")
    before, after = sorted(
        (data("tau2-bench") / "ab").glob("*.json"), key=lambda path: not path.name.startswith("ft")
    )  # by time
    (folder / "home" / "drops" / "tau2").mkdir(parents=True)
    for name, file in (("before", before), ("now", after)):
        drop = folder / "home" / "drops" / "tau2" / f"{name}.json"
        drop.write_bytes(file.read_bytes())
        evaluate(drop, folder / "home")
    return folder / "home" / "reports" / "tau2" / "now" / "report.html", outcomes(before), outcomes(after)


def test_without_another_run_the_comparison_names_the_whole_command(page: "Page", report: Path) -> None:
    page.goto(f"{report.as_uri()}#/compare")
    home = report.parents[2]
    assert page.locator("#view-compare code").inner_text() == (
        f"evaluation-assets open {report.parent.name} --against OTHER --home {home}"
    )


def test_pages_on_labels_name_the_folder_and_whole_commands(page: "Page", report: Path) -> None:
    home, drop = report.parents[2], report.parent.name
    page.goto(f"{report.as_uri()}#/labels")
    judges = f"evaluation-assets judges --home {home}"
    assert page.locator("#view-labels code").all_inner_texts() == [f"{home}/labels/", judges]
    page.goto(f"{report.as_uri()}#/review")
    assert page.locator("#view-review code").all_inner_texts() == [f"evaluation-assets review {drop} --home {home}"]


def test_the_comparison_names_the_tasks_that_changed_their_outcome(
    browser: "Browser", compared: tuple[Path, dict[str, bool], dict[str, bool]]
) -> None:
    report, before, now = compared
    changed = {task: now[task] for task in before if before[task] != now[task]}
    page = browser.new_page()
    page.goto(f"{report.as_uri()}#/compare")
    page.wait_for_selector("#view-compare table")
    shown: dict[str, bool] = {}
    for row in page.locator("#view-compare > .scroll tbody tr").all():
        outcome = row.locator("[data-label=Outcome]").inner_text()
        if outcome in ("fail → pass", "pass → fail"):
            shown[row.locator("th a").inner_text()] = outcome == "fail → pass"
    assert shown == changed and len(changed) > 5
    cells = page.locator("#view-compare details tbody tr").all()
    assert {row.locator("th").text_content() for row in cells} == set(before) & set(now)
    page.locator("#view-compare tbody th a").first.click()
    page.wait_for_selector(".aligned")
    for side, name in enumerate(("tau2/before", "tau2/now")):
        assert page.locator(".sides > header").nth(side).inner_text().startswith(name)
    page.close()


def test_trials_without_an_outcome_are_not_counted_in_a_comparison(browser: "Browser", tmp_path: Path) -> None:
    drops = tmp_path / "home" / "drops" / "s"
    drops.mkdir(parents=True)
    for name, outcomes_of_trials in (("a", (None, True, None)), ("b", (None, None, False))):
        runs = [record_of("t", "<answer>4</answer>", success=success) for success in outcomes_of_trials]
        (drops / f"{name}.jsonl").write_bytes(b"".join(runs))
        evaluate(drops / f"{name}.jsonl", tmp_path / "home")
    page = browser.new_page()
    page.goto((tmp_path / "home" / "reports" / "s" / "b" / "report.html").as_uri() + "#/compare")
    page.wait_for_selector("#view-compare table")
    assert page.locator("#view-compare > .scroll [data-label=Outcome]").all_inner_texts() == ["1 of 1 → 0 of 1"]
    page.locator("#view-compare tbody th a").first.click()
    page.wait_for_selector(".sides")
    shown = page.locator(".sides > header").all_inner_texts()
    assert "pass, " in shown[0] and "fail, " in shown[1], "the trials that show the change"
    page.close()


def test_another_drop_is_chosen_to_compare_with(
    browser: "Browser", compared: tuple[Path, dict[str, bool], dict[str, bool]]
) -> None:
    report, before, now = compared
    home = report.parents[3]
    done = command("open", "tau2/before", "--against", "tau2/now", "--print", home=home)
    page = browser.new_page()
    page.goto(done.stdout.strip())
    page.wait_for_selector("#view-compare table")
    assert "tau2/now: chosen by hand. Of " in page.locator("#view-compare").inner_text()
    outcomes = page.locator("#view-compare > .scroll [data-label=Outcome]").all_inner_texts()
    fell = sum(before[task] < now[task] for task in before)
    assert outcomes.count("pass → fail") == sum(before[task] < now[task] for task in before) == fell
    page.close()


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_every_view_is_accessible(
    browser: "Browser", compared: tuple[Path, dict[str, bool], dict[str, bool]], width: int, scheme: Any
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    # the rules of axe are injected as a script, which the page's own policy would not let run
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    found: list[str] = []
    for view in ("#", "#/runs", "#/run/29", "#/run/29?review=1", "#/compare", "#/compare/29", "#/review", "#/labels"):
        page.goto(compared[0].as_uri() + view)
        page.wait_for_selector("html[data-viewer=ready]")
        page.wait_for_timeout(300)
        for violation in Axe().run(page).response["violations"]:
            if violation["impact"] in ("serious", "critical"):
                found += [f"{view}: {violation['id']}: {node['html'][:120]}" for node in violation["nodes"]]
    context.close()
    assert found == []
