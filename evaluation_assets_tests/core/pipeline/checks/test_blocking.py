"""The run and the report take the names and findings of blocking checks from one list."""

from pathlib import Path

import dagster as dg

import evaluation_assets
from evaluation_assets.core.pipeline.checks.blocking import BLOCKING_CHECKS
from evaluation_assets.core.pipeline.checks.names import REGRESSION_GATE
from evaluation_assets.core.sections.constraints.settings import Checks
from evaluation_assets.defs.checks import report_checks
from evaluation_assets_tests.conftest import Workspace


def test_the_checks_that_block_a_run_are_those_of_the_report(installation: Workspace) -> None:
    rules = Checks.model_validate({"constraints": {"quiet": {"never": {"tool": "refund"}, "severity": "error"}}})
    of_run = {check.name: check for check in report_checks([], rules).checks}
    assert list(of_run) == [check.name for check in BLOCKING_CHECKS]
    assert all(check.blocking for check in of_run.values())
    report = dg.AssetKey("evaluation_report")
    checks = installation.definitions.resolve_asset_graph().asset_check_keys
    assert {key.name for key in checks if key.asset_key == report} >= {*of_run} - {"constraints_hold"} | {
        REGRESSION_GATE
    }


def test_a_check_names_the_section_of_the_report_that_shows_why_it_failed() -> None:
    templates = Path(evaluation_assets.__file__).parent.rglob("*.html.j2")
    sections = "".join(template.read_text("utf-8") for template in templates)
    assert [check.section for check in BLOCKING_CHECKS if f'section("{check.section}"' not in sections] == []
