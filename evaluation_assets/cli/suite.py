"""`suite`: files of cases."""

import json
from pathlib import Path

import click
from upath import UPath

from evaluation_assets.cli.options import refuse
from evaluation_assets.core.tool_use.suite_formats.registry import (
    SUITE_FORMATS,
    LoadedSuite,
    as_document,
    load_suite,
)
from evaluation_assets.core.tool_use.suites import InvalidSuite, suite_schema


@click.group("suite")
def suite_commands() -> None:
    """Files of cases: tasks with what an agent is expected to call and to answer."""


@suite_commands.command("check")
@click.argument("path", type=click.Path(exists=True, path_type=Path))
def check_suite(path: Path) -> None:
    """Say whether a suite can be used, and which of its tasks are left out and why."""
    loaded = _loaded(path)
    cases = loaded.suite.cases
    click.echo(f"{loaded.suite.name}: {len(cases)} cases, read as {loaded.format}")
    click.echo(f"  expected calls     {sum(len(case.expected_calls) for case in cases)}")
    click.echo(f"  no call allowed    {sum(case.should_not_call_tools for case in cases)}")
    click.echo(f"  reference answers  {sum(case.answer is not None for case in cases)}")
    click.echo(f"  left out           {len(loaded.incomplete)}")
    for task in loaded.incomplete:
        click.echo(f"    {task.place}: {task.task}: {task.reason}")


@suite_commands.command("convert")
@click.argument("path", type=click.Path(exists=True, path_type=Path))
def convert_suite(path: Path) -> None:
    """Print a suite of any kind that is read as one JSON file of this project's own kind."""
    loaded = _loaded(path)
    for task in loaded.incomplete:
        click.echo(f"{task.place}: {task.task} is left out: {task.reason}", err=True)
    click.echo(json.dumps(as_document(loaded.suite), ensure_ascii=False, indent=1))


@suite_commands.command("schema")
def print_schema() -> None:
    """Print the JSON Schema of suite files, for editors and other programs."""
    click.echo(json.dumps(suite_schema(), indent=2))


@suite_commands.command("formats")
def list_formats() -> None:
    """List the kinds of suites that are read, and how each is recognised."""
    for known in SUITE_FORMATS.values():
        click.echo(f"{known.name}\n  {known.description}\n  recognised by: {known.detection}")


def _loaded(path: Path) -> LoadedSuite:
    try:
        return load_suite(UPath(path.resolve()))
    except InvalidSuite as problem:
        refuse(str(problem))
