"""`suite from-drop`, `suite from-group`: draft test cases from recorded runs."""

from collections.abc import Sequence
from pathlib import Path

import click
import yaml
from upath import UPath

from evaluation_assets.cli.evaluated import check_evaluated
from evaluation_assets.cli.groups import known_group, updated_groups
from evaluation_assets.cli.options import OutputFile, with_home, with_panel
from evaluation_assets.cli.output import echo, refuse, warn
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.lake.staging import is_stream
from evaluation_assets.core.lake.stored import publish_bytes
from evaluation_assets.core.pipeline.recorded_tasks import tasks_of_drop, tasks_of_group
from evaluation_assets.core.suites.drafts import RecordedTask, draft_case
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import counted
from evaluation_assets.core.text.plain_text import for_terminal

_output = click.option(
    "--output",
    type=OutputFile(),
    help="Suite file to write, .yaml (default: print the suite).",
)


@click.command("from-drop")
@click.argument("drop")
@_output
@with_home
def draft_from_drop(drop: str, output: Path | None, home: Installation) -> None:
    """Draft a test case from the passing runs of each task of a drop.

    Each case has a field `review` that says what to confirm. Cases are skipped until you remove it.
    """
    check_evaluated(home, drop)
    tasks = tasks_of_drop(home, drop)
    if not tasks:
        refuse(f"no run of {drop} passed: its source recorded no success, and no test case of its suite was passed")
    _write(tasks, f"Passing runs of {drop}.", output)


@click.command("from-group")
@click.argument("group")
@_output
@with_panel
def draft_from_group(group: str, output: Path | None, home: Installation, panel: Panel) -> None:
    """Draft a test case of each task that a failure group affects.

    What is expected comes from its source, or from passing runs in all drops. Each case has a field `review` that says
    what to confirm. Cases are skipped until you remove it.
    """
    row = known_group(updated_groups(home, panel), group)
    members = (each for each in home.whole_table("grouped_findings").rows() if each["group_id"] == row["group_id"])
    _write(tasks_of_group(home, members, warn), f"Tasks of failure group {row['group_id']}, {row['name']}.", output)


def _write(tasks: Sequence[RecordedTask], description: str, output: Path | None) -> None:
    cases = [draft_case(task).model_dump(mode="json", by_alias=True, exclude_unset=True) for task in tasks]
    text = _as_yaml({"description": description, "cases": cases})
    if output is None or is_stream(output):
        click.echo(text, nl=False)
        return
    if output.suffix.lower() not in (".yaml", ".yml"):
        refuse(f"{output}: a suite is written as YAML. Name the file {output.with_suffix('.yaml')}")
    if output.exists():
        refuse(f"{output} exists, perhaps with what a person has confirmed. Choose another file, or remove it")
    publish_bytes(UPath(output), text.encode())
    expecting = sum(bool(case.keys() & {"expected_calls", "answer"}) for case in cases)
    echo(f"{output}: {counted(len(cases), 'case')} to confirm, {expecting} with expected calls or an answer")


def _as_yaml(document: object) -> str:
    """YAML that is safe to print: tasks are written by others."""
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)
    return text if for_terminal(text) == text else yaml.safe_dump(document, sort_keys=False, width=120)
