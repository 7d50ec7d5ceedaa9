"""Jobs that commands run. Dagster takes a second to import: `--help` and usage errors should not wait for it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evaluation_assets.cli.output import refuse_run, warn
from evaluation_assets.core.text.plain_text import plain
from evaluation_assets.defs.names import OVERVIEW

if TYPE_CHECKING:
    from evaluation_assets.core.judging.panel import Panel
    from evaluation_assets.core.system.installation import Installation
    from evaluation_assets.runs.jobs import JobResult


def run_job(home: "Installation", panel: "Panel", job: str, **options: Any) -> "JobResult":
    """Run a job as `runs.jobs` does."""
    from evaluation_assets.runs import jobs  # noqa: PLC0415

    return jobs.run_job(home, panel, job, **options)


def updated_overview(home: "Installation", panel: "Panel", assets: Sequence[str] | None) -> "JobResult":
    """Update tables over all drops, and warn of drops that are damaged.

    Exits with status 2 if the run failed, and not because of a check.
    """
    result = run_job(home, panel, OVERVIEW, assets=assets)
    if not result.success and not any(check.blocking and not check.passed for check in result.checks):
        refuse_run(result.failures)
    for damaged in result.damaged:
        warn(plain(damaged))
    return result
