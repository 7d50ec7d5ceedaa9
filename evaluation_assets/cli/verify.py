"""`verify`: check that an installation can evaluate."""

import sys
from dataclasses import asdict

import click

from evaluation_assets.cli.options import text_or_json, with_judges
from evaluation_assets.cli.output import echo, echo_json
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.runs.verification import Verified, verified


@click.command("verify")
@click.option("--no-calls", is_flag=True, help="Call no judge.")
@text_or_json
@with_judges
def verify(home: Installation, panel: Panel, no_calls: bool, format_name: str) -> None:
    """Check that this installation can evaluate: settings, keys, prices, providers, judges and outputs.

    Makes one real call to each judge. The exit status is 1 if a check failed; warnings do not change it.
    """
    checks: list[Verified] = []
    for check in verified(home, panel, calls=not no_calls):
        checks.append(check)
        if format_name == "text":
            echo(f"{check.status:<7}  {check.name:<12}  {check.message}")
    failed = any(check.status == "failed" for check in checks)
    if format_name == "json":
        echo_json({"ok": not failed, "checks": [asdict(check) for check in checks]})
    sys.exit(1 if failed else 0)
