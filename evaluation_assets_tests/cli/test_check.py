"""`check`: constraints on files and drops from the terminal."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from evaluation_assets.cli.main import main
from evaluation_assets_tests.browser import chromium
from evaluation_assets_tests.conftest import command, record

EXAMPLES = Path(__file__).parents[2] / "examples" / "constraints"
RUNS, CHECKS = EXAMPLES / "support.jsonl", EXAMPLES / "checks.yaml"
PAGE = Path(__file__).parents[2] / "docs" / "constraints.md"


def checked(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["check", *map(str, arguments)])


def test_violations_of_a_file_are_printed_with_their_place_and_rule() -> None:
    result = checked(RUNS, "--checks", CHECKS)
    assert result.exit_code == 1
    assert "support: 5 runs" in result.stdout
    assert "error  small_refunds: Never call `refund` where `amount` is above `500`" in result.stdout
    assert "refund_without_identity, clip 1: `refund` was called with `amount` '900'" in result.stdout
    assert "violated in 1 of 2 runs" in result.stdout


def test_json_has_every_constraint_with_all_violations() -> None:
    result = checked(RUNS, "--checks", CHECKS, "--format", "json")
    assert result.exit_code == 1
    ((drop),) = json.loads(result.stdout)
    assert (drop["drop"], drop["trajectories"], len(drop["constraints"])) == ("support", 5, 7)
    found = {each["constraint"]: each for each in drop["constraints"]}
    assert found["few_searches"] == {
        "constraint": "few_searches",
        "rule": "Call `search*` at most 3 times",
        "severity": "warn",
        "passed": 4,
        "failed": 1,
        "not_applicable": 0,
        "not_checked": 0,
        "violations": [
            {
                "trajectory_id": "searches_on_and_on",
                "status": "failed",
                "clip_index": 3,
                "message": "`search_orders` was called more than 3 times",
            }
        ],
    }


def test_warnings_and_constraints_that_hold_succeed(tmp_path: Path) -> None:
    checks = tmp_path / "checks.yaml"
    checks.write_text(
        "constraints:\n  few: {at_most: 3, of: search_orders, severity: warn}\n  none: {never: delete_customer}\n"
    )
    result = checked(RUNS, "--checks", checks)
    assert result.exit_code == 0
    assert "warn   few" in result.stdout
    assert "ok     none" in result.stdout


def test_one_that_takes_too_long_fails_and_says_why(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_bytes(record(text=f"<answer>{'a' * 5000}!</answer>"))
    checks = tmp_path / "checks.yaml"
    checks.write_text("constraints: {slow: {answer: {not_matches: '^(a|a|aa)+$'}}}\n")
    result = checked(tmp_path / "d.jsonl", "--checks", checks)
    assert result.exit_code == 1
    assert "not checked: the regular expression '^(a|a|aa)+$' takes longer than 1 s" in result.stdout


def test_what_cannot_be_used_is_refused(tmp_path: Path) -> None:
    missing = checked(RUNS, "--home", tmp_path)
    assert missing.exit_code == 2
    assert "checks.yaml: no constraints" in missing.stderr
    broken = tmp_path / "broken.yaml"
    broken.write_text("constraints: {a: {never: refund, before: {tool: '/(/'}}}\n")
    result = checked(RUNS, "--checks", broken)
    assert result.exit_code == 2
    assert "constraints.a.before: not a regular expression: missing )" in result.stderr
    unknown = checked("no_such_drop", "--checks", CHECKS, "--home", tmp_path)
    assert unknown.exit_code == 2
    assert "no_such_drop: neither a file nor an evaluated drop" in unknown.stderr


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home folder with constraints, in which the example is evaluated."""
    folder = tmp_path_factory.mktemp("constraints") / "home"
    folder.mkdir()
    (folder / "checks.yaml").write_text(CHECKS.read_text())
    evaluated = command("evaluate", RUNS, home=folder)
    assert evaluated.returncode == 1
    assert "Broken rule (" in evaluated.stdout
    return folder


def test_an_evaluated_drop_is_checked_with_the_constraints_of_its_home(home: Path) -> None:
    result = checked("support", "--home", home, "--format", "json")
    assert result.exit_code == 1
    assert json.loads(result.stdout) == json.loads(checked(RUNS, "--checks", CHECKS, "--format", "json").stdout)


def test_the_viewer_lists_the_violations_of_a_trajectory_with_links_to_the_calls(home: Path) -> None:
    address = (home / "reports" / "support" / "report.html").as_uri()
    with chromium() as browser:
        page = browser.new_page()
        page.goto(f"{address}#/runs?q=violated%3Afew_searches")
        page.wait_for_selector("table.runs")
        assert page.locator("table.runs tbody th a").all_inner_texts() == ["searches_on_and_on"]
        page.goto(f"{address}#/run/refund_without_identity")
        listed = page.locator("details", has=page.get_by_text("Violated constraints")).locator("li")
        listed.first.wait_for()
        assert [text.split()[0] for text in listed.all_inner_texts()] == ["identity_first", "small_refunds"]
        (claim,) = page.locator("details", has=page.get_by_text("Claims")).locator("li").all_text_contents()
        assert claim == "supported detectors clip 4, the endRefund R-312 is done."
        listed.first.get_by_role("link", name="clip 1").click()
        page.wait_for_function("() => location.hash.includes('?item=')")
        assert "refund" in page.locator(".item:focus, .item.current").first.inner_text()


def blocks(start: str) -> str:
    """The indented block of the documentation that begins with a line."""
    lines = PAGE.read_text().split("\n")
    first = lines.index(f"    {start}")
    end = next(place for place in range(first, len(lines)) if lines[place] and not lines[place].startswith("    "))
    return "\n".join(line[4:] for line in lines[first:end]).rstrip()


def test_the_documented_constraints_can_be_used(tmp_path: Path) -> None:
    (tmp_path / "checks.yaml").write_text(blocks("constraints:"))
    result = checked(RUNS, "--checks", tmp_path / "checks.yaml", "--format", "json")
    ((drop),) = json.loads(result.stdout)
    assert {each["constraint"]: each["failed"] for each in drop["constraints"]} == {
        "identity_first": 1,
        "inside_workspace": 1,
        "few_searches": 1,
        "confirmed": 1,
        "answer_cites_a_result": 2,
        "no_passwords": 1,
    }


def test_the_documented_output_is_what_is_printed() -> None:
    documented = blocks("support: 5 runs").removesuffix("...").rstrip()
    assert documented in checked(RUNS, "--checks", CHECKS).stdout
