"""The findings at the top of a report."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from evaluation_assets.api.home import Home
from evaluation_assets.cli.main import main
from evaluation_assets.core.report.overview_rows import finding_counts
from evaluation_assets.core.report.render import as_html, as_markdown
from evaluation_assets.core.report.report import DropReport
from evaluation_assets.core.report.sinks.drop_outcome import drop_outcome
from evaluation_assets.core.report.sinks.scores import drop_scores
from evaluation_assets.core.sections.findings.summary import FindingExample, FindingKind, FindingsSummary, RunToLookAt
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.masking import Mask
from evaluation_assets.core.text.report_addresses import ReportAddress
from evaluation_assets_tests.conftest import SAMPLE

HOSTILE = "<script>alert(1)</script>\u202e[x](javascript:alert(1)) **b** @all | cell\nnext"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    CliRunner().invoke(main, ["evaluate", str(SAMPLE), "--home", str(home), "--quiet"])
    return home


@pytest.fixture(scope="module")
def folder(home: Path) -> Path:
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
        tool=HOSTILE,
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
    assert page.index("Cut off") < page.index("Scores by tool type</h2>")
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
    assert "4 runs failed. Found in them: Cut off in 1, Loop in 1, nothing HIGH or MEDIUM in 2." in written


def test_tools_have_the_names_that_the_agent_calls_them_by(home: Path) -> None:
    shown = (home / "reports" / SAMPLE.stem / "report.md").read_text().replace("\\", "")
    assert "| google_search (perform_web_task) |" in shown and "| weather_lookup |" in shown
    printed = CliRunner().invoke(main, ["evaluate", str(SAMPLE), "--home", str(home), "--verbose"]).output
    assert "    google_search (perform_web_task) 0.750 over 2 clips\n" in printed


def test_evidence_cannot_run_steer_or_link(report: DropReport) -> None:
    page, written = as_html(hostile(report)), as_markdown(hostile(report))
    for shown in (page, written):
        assert "<script>alert" not in shown and "\u202e" not in shown
    assert "&lt;script&gt;alert(1)" in page and 'href="javascript' not in page
    assert "](javascript" not in written and "**b**" not in written and "@all" not in written.replace("@\u200ball", "")
    assert not any(line.startswith("next") for line in written.splitlines())


def test_an_example_of_a_run_that_was_cut_off_says_that_it_is_its_last_call(report: DropReport) -> None:
    (kind,) = (found := hostile(report).findings or pytest.fail()).kinds
    for name, is_last in (("cut_off", True), ("loop", False)):
        example = kind.examples[0].model_copy(update={"tool": "python"})
        named = kind.model_copy(update={"kind": name, "examples": [example]})
        shown = report.model_copy(update={"findings": found.model_copy(update={"kinds": [named]})})
        assert (": last call, <bdi>python" in as_html(shown)) is is_last
        assert (": last call, python: " in as_markdown(shown)) is is_last


def test_tool_types_that_are_cut_are_named(report: DropReport) -> None:
    tools = [report.tools[0].model_copy(update={"tool_type": f"t{each}", "tools": []}) for each in range(20)]
    written = (
        as_markdown(report.model_copy(update={"tools": tools[:14]})),
        as_markdown(report.model_copy(update={"tools": tools})),
    )
    assert "\n2 more tool types (t12, t13): [the report]" in written[0]
    assert "\n8 more tool types (t12, t13, t14, t15, t16, t17 …): [the report]" in written[1]


def test_outcomes_for_pull_requests_and_webhooks_have_a_line_a_kind(report: DropReport) -> None:
    told = drop_outcome(report, ReportAddress("https://reports/assistants/report.html"))
    lines = [line for line in told.markdown.splitlines() if line.startswith(("- HIGH", "- MEDIUM", "- LOW"))]
    assert len(lines) == 4 and lines[0].endswith(": 1 run, 6.2%")
    assert "[Cut off](https://reports/assistants/report.html#/runs?q=finding%3A%22cut_off%22)" in lines[0]
    assert told.data["findings"][0] == {"kind": "cut_off", "severity": "HIGH", "runs": 1, "share": 1 / 16}
    assert told.sentence.endswith(
        "Findings in 3 of 16 runs, HIGH or MEDIUM ones in 2 of 4 failed runs: Cut off (1 run), Loop (1 run), "
        "Unsupported answer (1 run); LOW: Unresolved error (1 run)"
    )
    without_findings = drop_outcome(report.model_copy(update={"findings": None}), ReportAddress())
    assert without_findings.markdown and without_findings.data["findings"] == []
    unsafe = drop_outcome(hostile(report), ReportAddress()).markdown
    assert "<script" not in unsafe and "](javascript" not in unsafe and "**b**" not in unsafe


class Covering(Mask):
    """A mask of a word that is too short to be a secret."""

    def __call__(self, text: str) -> str:
        return text.replace("docs", "****")


def test_trace_stores_get_the_findings_of_a_trace(home: Path) -> None:
    scores = drop_scores(Installation.at(str(home)), SAMPLE.stem, ["rules"], Covering())
    sent = [score for score in scores if score.name.startswith("finding.")]
    assert [(score.trajectory_id, score.name, score.value, score.label) for score in sent] == [
        ("lanternqueue-default", "finding.loop", 1.0, "MEDIUM"),
        ("night-ferry-cabin", "finding.cut_off", 1.0, "HIGH"),
        ("lisbon-tokyo-distance", "finding.unsupported_answer", 1.0, "MEDIUM"),
        ("lisbon-tokyo-distance", "finding.unresolved_error", 1.0, "LOW"),
    ]
    assert sent[0].explanation is not None and '"path": "****"' in sent[0].explanation, "secrets are masked"


def test_the_overview_counts_runs_by_drop_and_kind(home: Path) -> None:
    rows = list(finding_counts(Installation.at(str(home))))
    assert rows[0] == {
        "drop": "assistants",
        "suite": None,
        "kind": "cut_off",
        "severity": "HIGH",
        "runs": 1,
        "n_runs": 16,
    }
    assert [row["severity"] for row in rows] == ["HIGH", "MEDIUM", "MEDIUM", "LOW"]


def test_the_api_has_findings_as_a_frame(home: Path) -> None:
    found = Home(Installation.at(str(home)))[SAMPLE.stem].findings
    assert list(found["kind"]) == ["loop", "cut_off", "unsupported_answer", "unresolved_error"]


def test_runs_with_grave_findings_are_in_the_review_queue(home: Path) -> None:
    queue = {row["trajectory_id"]: row for row in Installation.at(str(home)).table(SAMPLE.stem, "review_queue").rows()}
    assert (queue["night-ferry-cabin"]["reason"], queue["night-ferry-cabin"]["detail"]) == (
        "finding",
        "finding cut_off; process score 0.28",
    )
