"""The findings at the top of a report."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from evaluation_assets.cli.main import main
from evaluation_assets.core.report.render import as_html, as_markdown
from evaluation_assets.core.report.report import DropReport
from evaluation_assets.core.sections.findings.summary import FindingExample, FindingKind, FindingsSummary, RunToLookAt
from evaluation_assets_tests.conftest import SAMPLE

HOSTILE = "<script>alert(1)</script>\u202e[x](javascript:alert(1)) **b** @all | cell\nnext"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    CliRunner().invoke(main, ["evaluate", str(SAMPLE), "--home", str(home), "--quiet"])
    return home / "reports" / SAMPLE.stem


@pytest.fixture(scope="module")
def report(folder: Path) -> DropReport:
    return DropReport.model_validate_json((folder / "report.json").read_bytes())


def hostile(report: DropReport) -> DropReport:
    example = FindingExample(
        trajectory_id=HOSTILE,
        clip_index=1,
        severity="HIGH",
        evidence=HOSTILE,
        is_quotation=True,
        detector="answers",
        is_shown=True,
    )
    kind = FindingKind(
        kind=HOSTILE,
        title=HOSTILE,
        meaning="",
        severities={"HIGH": 1, "MEDIUM": 0, "LOW": 0},
        runs=1,
        share=0.1,
        ci_low=0,
        ci_high=0.3,
        earlier_share=None,
        examples=[example],
    )
    found = FindingsSummary(
        n_runs=10,
        n_tasks=10,
        affected=1,
        kinds=[kind],
        to_look_at=[RunToLookAt(trajectory_id=HOSTILE, clip_index=None, titles=[HOSTILE])],
        failed=1,
        of_failed={HOSTILE: 1},
        failed_without=0,
        earlier=None,
        is_comparable=False,
        gone={},
    )
    return report.model_copy(update={"findings": found})


def test_the_page_opens_with_findings_and_folds_the_scores(folder: Path, report: DropReport) -> None:
    page = (folder / "report.html").read_text()
    titles = [page.index(f"<h2>{title}</h2>") for title in ("Findings", "Scores by tool type", "Worst clips", "Legend")]
    assert titles == sorted(titles)
    assert page.index("Missing answer") < page.index("Scores by tool type</h2>")
    assert 'href="#/run/lanternqueue-default?clip=1"' in page
    assert report.findings is not None and report.findings.affected == 3
    assert list(json.loads((folder / "report.json").read_text()))[:4] == [
        "drop",
        "headline",
        "failed_checks",
        "findings",
    ]
    written = (folder / "report.md").read_text()
    assert written.index("## Findings") < written.index("## Scores by tool type")
    assert "3 runs failed. Found in them: Loop in 1, nothing grave in 2." in written


def test_evidence_cannot_run_steer_or_link(report: DropReport) -> None:
    page, written = as_html(hostile(report)), as_markdown(hostile(report))
    for shown in (page, written):
        assert "<script>alert" not in shown and "\u202e" not in shown
    assert "&lt;script&gt;alert(1)" in page and 'href="javascript' not in page
    assert "](javascript" not in written and "**b**" not in written and "@all" not in written.replace("@\u200ball", "")
    assert not any(line.startswith("next") for line in written.splitlines())
