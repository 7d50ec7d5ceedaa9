"""`suite`: test suites."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from upath import UPath

from evaluation_assets.cli.border import Group
from evaluation_assets.cli.evaluated import check_evaluated
from evaluation_assets.cli.options import AMOUNT, WholeRange, with_judges, with_panel
from evaluation_assets.cli.outcomes import outcome_lines
from evaluation_assets.cli.output import echo, print_lines, refuse, warn
from evaluation_assets.cli.quotes import dollars
from evaluation_assets.cli.stopping import resumable
from evaluation_assets.cli.suite_drafts import draft_from_drop, draft_from_group
from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.intake.copying.suites import take_in_agent, take_in_suite
from evaluation_assets.core.intake.drops import find
from evaluation_assets.core.intake.preprocessing.rules import Settings
from evaluation_assets.core.judging.panel import InvalidPanel, Panel
from evaluation_assets.core.models.budget import NO_LIMIT
from evaluation_assets.core.pipeline.recorded_tasks import runs_of_drop
from evaluation_assets.core.suites.agents.runner import bound, user_bound
from evaluation_assets.core.suites.agents.settings import AgentSettings, InvalidAgent, agent_files, load_agents
from evaluation_assets.core.suites.agents.simulated_user import played_by
from evaluation_assets.core.suites.formats.base import Incomplete
from evaluation_assets.core.suites.formats.registry import (
    SUITE_FORMATS,
    LoadedSuite,
    as_document,
    find_suite,
    load_suite,
)
from evaluation_assets.core.suites.recorded_runs import weaknesses_by_runs
from evaluation_assets.core.suites.suite import InvalidSuite, Suite, suite_schema
from evaluation_assets.core.suites.weaknesses import Weakness, coverage, weaknesses
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import counted, first_of, to_a_hundredth_cent
from evaluation_assets.core.text.meant import did_you_mean
from evaluation_assets.defs.names import AGENT_RUNS
from evaluation_assets.runs.outcomes import EXIT_STATUS
from evaluation_assets.runs.paid import USER, PaidEvaluation, check_keys, check_usable, missing_keys, without_keys

_NAMED = 10

_ALIKE = 3
"""Lines about weaknesses of one kind, which most cases of a suite may have."""


@click.group("suite", cls=Group)
def suite_commands() -> None:
    """Check, convert and run test suites.

    A suite is a file of tasks with the calls and the answer that are expected from an agent.
    """


suite_commands.add_command(draft_from_drop)
suite_commands.add_command(draft_from_group)


@suite_commands.command("check")
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--drop", help="Also list answers that its passing runs do not give, and what its runs do that no case covers."
)
@with_panel
def check_suite(path: Path, drop: str | None, home: Installation, panel: Panel) -> None:
    """Validate a suite; list its skipped tasks, its weaknesses, and what its cases cover.

    The exit status is 2 if it has no complete case.
    """
    if drop is not None:
        check_evaluated(home, drop)
    loaded = load_suite(UPath(path.resolve()))
    cases = loaded.suite.cases
    echo(f"{path.resolve().stem}: {counted(len(cases), 'case')}, format {loaded.format}")
    echo(f"  expected calls     {sum(len(case.expected_calls) for case in cases)}")
    echo(f"  no call allowed    {sum(case.allows_no_call for case in cases)}")
    echo(f"  reference answers  {sum(case.answer is not None for case in cases)}")
    if users := sum(case.user is not None for case in cases):
        echo(f"  users              {users}, {_player(loaded.suite, panel)}")
    echo(f"  skipped            {len(loaded.incomplete)}")
    skipped = [(each.reason.partition(":")[0], [each.task], _skipped(each)) for each in loaded.incomplete]
    for line in _first_of_kinds(skipped):
        echo(f"    {line}")
    weak = weaknesses(loaded.suite)
    if drop is not None:
        weak += weaknesses_by_runs(loaded.suite, runs_of_drop(home, drop))
    compared = "" if drop is None else f", compared with the runs of {drop}"
    echo(f"  weaknesses         {len(weak)}{compared}")
    for line in _first_of_kinds([(each.kind, each.cases, _weakness(each)) for each in weak]):
        echo(f"    {line}")
    for title, counts in coverage(loaded.suite).items():
        shown = ", ".join(f"{name}: {count}" for name, count in list(counts.items())[:_NAMED])
        echo(f"  {'cases by ' + title:<25}{shown or 'none'}")
    if not cases:
        remedy = "complete those above, or remove `review` where a case is right" if loaded.incomplete else "write some"
        refuse(f"{path.name} has no {'complete ' if loaded.incomplete else ''}case; {remedy}")


def _skipped(task: Incomplete) -> str:
    return f"{task.place}: {task.task}: {task.reason}"


def _weakness(each: Weakness) -> str:
    return f"{', '.join((each.kind, *each.cases[:_NAMED]))}: {each.detail}"


def _first_of_kinds(found: Sequence[tuple[str, Sequence[str], str]]) -> Iterator[str]:
    """Yield the lines of the first of each kind, and one that names the cases of all others.

    What is found has its kind, its cases and its line.
    """
    for kind, alike in by_key((kind, (cases, line)) for kind, cases, line in found).items():
        shown = len(alike) if len(alike) <= _ALIKE else _ALIKE - 1
        yield from (line for _, line in alike[:shown])
        if others := [case for cases, _ in alike[shown:] for case in cases]:
            yield f"{kind}, {len(alike) - shown} more: {first_of(others, _NAMED)}"


def _player(suite: Suite, panel: Panel) -> str:
    """Who plays the users of a suite, or why nobody can."""
    try:
        played = played_by(suite, panel.judges).user_model
    except InvalidSuite as problem:
        return f"so agents cannot be run on it: {problem}"
    return f"played by {played.name}" if played is not None else "played by nobody"


@suite_commands.command("convert")
@click.argument("path", type=click.Path(exists=True, path_type=Path))
def convert_suite(path: Path) -> None:
    """Print a suite of any supported format as native JSON."""
    loaded = load_suite(UPath(path.resolve()))
    for task in loaded.incomplete:
        echo(f"{task.place}: {task.task} is skipped: {task.reason}", err=True)
    click.echo(json.dumps(as_document(loaded.suite), ensure_ascii=False, indent=1))


@suite_commands.command("schema")
def print_schema() -> None:
    """Print the JSON Schema of suite files."""
    click.echo(json.dumps(suite_schema(), indent=2))


@suite_commands.command("formats")
def list_formats() -> None:
    """List the supported suite formats and how each is detected."""
    for known in SUITE_FORMATS.values():
        echo(known.name, f"  {known.description}", f"  detected by: {known.detection}")


@suite_commands.command("run")
@click.argument("suite", type=click.Path(path_type=Path))
@with_judges
@click.option(
    "--agent",
    "given",
    multiple=True,
    metavar="FILE|NAME",
    help="Agent file, or the name of an agent of the installation; repeatable (default: all of them).",
)
@click.option("--trials", type=WholeRange(min=1), default=1, show_default=True, help="Attempts per case.")
@click.option(
    "--concurrency", type=WholeRange(min=1), help="Concurrent attempts per agent (default: as in the agent file)."
)
@click.option("--budget", metavar="USD", type=AMOUNT, help="Stop before all agents together spend more.")
@click.option("--judging-budget", metavar="USD", type=AMOUNT, help="Stop before the judges spend more, in all.")
@click.option(
    "--budget-calls", metavar="N", type=WholeRange(min=0), help="Stop before all agents make more model calls."
)
@click.option(
    "--judging-budget-calls",
    metavar="N",
    type=WholeRange(min=0),
    help="Stop before the judges make more model calls, in all.",
)
@click.option("--fresh", is_flag=True, help="Call the models again instead of using replies from the ledger.")
@click.option("--dry-run", is_flag=True, help="Print an upper bound of calls and cost; make no model calls.")
@click.option("--quiet", is_flag=True, help="Show no progress and no warnings.")
@click.option("--verbose", is_flag=True, help="Print all figures.")
def run_suite_command(
    suite: Path,
    home: Installation,
    panel: Panel,
    given: tuple[str, ...],
    trials: int,
    concurrency: int | None,
    budget: float | None,
    judging_budget: float | None,
    budget_calls: int | None,
    judging_budget_calls: int | None,
    fresh: bool,
    dry_run: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Run agents on a suite and evaluate the runs.

    SUITE is a file, or the name of a suite of the installation. Re-run the same command to resume a stopped run.
    """
    loaded, name = _runnable(home, suite, panel)
    agents = _agents(home, given)
    lacking = _warn_of_keys(panel, agents, loaded.suite)
    if dry_run:
        _print_bounds(agents, loaded.suite, trials)
        return
    if lacking:
        refuse(f"{' and '.join(lacking)} cannot be run; set the variable, or choose agents with --agent")
    _check_budgets(agents, loaded.suite, budget, budget_calls)
    prepare(home)
    check_usable(home, panel)
    paid = PaidEvaluation(home, panel.asking(), Settings(), name)
    check_keys(panel.asking(), len(agents))
    try:
        paid.check_budget(judging_budget, judging_budget_calls)
    except InvalidPanel as problem:
        refuse(f"--judging-budget: {problem}")
    if suite.exists():
        take_in_suite(home, suite)
    for file in filter(Path.is_file, map(Path, given)):
        take_in_agent(home, file)
    if concurrency is not None:
        agents = [agent.model_copy(update={"max_concurrency": concurrency}) for agent in agents]

    from evaluation_assets.runs.jobs import RunOptions, evaluate_drops, run_suite  # noqa: PLC0415
    from evaluation_assets.runs.progress import RunProgress  # noqa: PLC0415

    config = {"trials": trials, "fresh": fresh, "budget_usd": budget, "budget_calls": budget_calls}
    with resumable(home) as stop:
        ran = run_suite(home, panel, agents, name, config, RunProgress(quiet=quiet), stop)
        status = EXIT_STATUS[ran.status]
        runs = [about for asset, about in sorted(ran.metadata.items()) if asset.startswith(f"{AGENT_RUNS}/")]
        for about in runs:
            _print_run(about)
        side_by_side = ran.metadata.get("agent_comparison", {})
        if side_by_side.get("agents", 0) > 1:
            echo("", f"side by side         {side_by_side['path']}")
        if ran.message:
            echo(ran.message, err=True)
        drops = [find(home.drops, about["drop"]) for about in runs]
        crashed = _crashed(agents, ran.metadata)
        options = RunOptions(budget_usd=judging_budget, budget_calls=judging_budget_calls)
        for outcome in evaluate_drops(home, panel, drops, options, RunProgress(quiet=quiet), stop):
            status = max(status, EXIT_STATUS[outcome.status])
            print_lines(outcome_lines(home, outcome, verbose=verbose, crashed=crashed.get(outcome.drop.key)))
        sys.exit(status)


def _runnable(home: Installation, suite: Path, panel: Panel) -> tuple[LoadedSuite, str]:
    """A suite with cases, by its file or its name, and who plays its users; its skipped tasks are told."""
    loaded, name = _suite_named(home, suite)
    for task in loaded.incomplete:
        echo(f"{task.place}: {task.task} is skipped: {task.reason}", err=True)
    if not loaded.suite.cases:
        raise InvalidSuite(f"the suite {name} has no case that agents can be run on")
    return replace(loaded, suite=played_by(loaded.suite, panel.judges)), name


def _suite_named(home: Installation, suite: Path) -> tuple[LoadedSuite, str]:
    """A suite by its file, or by its name in the installation."""
    if suite.exists():
        return load_suite(UPath(suite.resolve())), suite.resolve().stem
    path = find_suite(home.suites, str(suite))
    if path is None:
        known = home.suite_names()
        meant = did_you_mean(str(suite), known, f"known: {first_of(known, _NAMED)}" if known else "it has none")
        raise InvalidSuite(f"no file {suite}, and no suite of that name in {home.suites}; {meant}")
    return load_suite(path), str(suite)


def _agent_named(home: Installation, named: str) -> UPath:
    """The file of an agent, itself or by its name in the installation."""
    if Path(named).is_file():
        return UPath(Path(named).resolve())
    known = {file.stem: file for file in agent_files(home.agents)}
    if named not in known:
        meant = did_you_mean(named, known, f"known: {first_of(list(known), _NAMED)}" if known else "it has none")
        raise InvalidAgent(f"--agent: no file {named}, and no agent of that name in {home.agents}; {meant}")
    return known[named]


def _agents(home: Installation, given: Sequence[str]) -> list[AgentSettings]:
    agents = load_agents([_agent_named(home, named) for named in given] or agent_files(home.agents))
    if not agents:
        raise InvalidAgent(f"no agents found. Use --agent FILE, or put agent files into {home.agents}")
    return agents


def _warn_of_keys(panel: Panel, agents: list[AgentSettings], suite: Suite) -> list[str]:
    """Name the variables of keys that are not set; returns the agents, and the simulated user, that need one."""
    missing = missing_keys(panel, agents, suite.user_model)
    for line in without_keys(missing):
        warn(line)
    return [each for who in missing.values() for each in who if each.startswith("agent ") or each == USER]


def _check_budgets(agents: list[AgentSettings], suite: Suite, budget: float | None, budget_calls: int | None) -> None:
    """Refuse a budget in US dollars for agents whose price is unknown; programs of the user's own have none."""
    limited = budget is not None or budget_calls is not None
    for agent in agents if limited else ():
        if agent.is_own:
            warn(f"{agent.name} pays for its own model calls, which --budget does not limit")
        elif budget_calls is None and bound(agent, 1).usd is None:
            refuse(f"the price of {agent.name} ({agent.model_name}) is unknown, {NO_LIMIT}")
    user = suite.user_model
    if limited and budget_calls is None and user is not None and user_bound(suite, 1).usd is None:
        refuse(f"the price of {USER} ({user.model_name}) is unknown, {NO_LIMIT}")


def _print_bounds(agents: list[AgentSettings], suite: Suite, trials: int) -> None:
    cases = len(suite.cases)
    attempts = cases * trials
    if suite.most_user_messages:
        most = user_bound(suite, trials)
        price = "price unknown" if most.usd is None else f"at most {dollars(most.usd)}"
        echo(f"{USER}: with each agent at most {counted(most.calls, 'model call')}, {price}")
    for agent in agents:
        if agent.is_own:
            echo(f"{agent.name}: {counted(attempts, 'attempt')}, cost unknown: {agent.provider} {agent.model_name}")
            continue
        most = bound(agent, attempts)
        price = "price unknown" if most.usd is None else f"at most {dollars(most.usd)}"
        tried = f"{counted(attempts, 'attempt')} at {counted(cases, 'case')}"
        echo(f"{agent.name}: {tried}, at most {counted(most.calls, 'model call')}, {price}")


def _crashed(agents: Sequence[AgentSettings], ran: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[int, int]]:
    """By drop, how many attempts ended by a fault of the agent's own program, of how many; other agents have none."""
    from evaluation_assets.defs.agents import run_key  # noqa: PLC0415

    own = [ran.get(run_key(agent).to_user_string()) for agent in agents if agent.is_own]
    runs = [about for about in own if about is not None]
    return {about["drop"]: (about["failed"], about["attempts"]) for about in runs if about["failed"]}


def _print_run(about: Mapping[str, Any]) -> None:
    accuracy = f" ({about['accuracy']:.1%})" if "accuracy" in about else ""
    paid = "unknown" if "paid_usd" not in about else to_a_hundredth_cent(about["paid_usd"])
    if "paid_at_most_usd" in about:
        paid = f"at most {to_a_hundredth_cent(about['paid_at_most_usd'])}"
    echo("", about["drop"])
    if about["answerable"]:
        echo(f"  right answers      {about['right']:,} of {about['answerable']:,}{accuracy}")
    echo(f"  passed             {about['passed']:,} of {counted(about['attempts'] - about['failed'], 'attempt')}")
    if about["failed"]:
        why = str(about["failures"])
        of_all = f"{about['failed']} of {counted(about['attempts'], 'attempt')}"
        echo(f"  errors             {of_all} ended in an error, not counted: {why}")
        echo("                     Re-run to retry only them.")
    if about["resumed"]:
        them = "it" if about["resumed"] == 1 else "them"
        echo(f"  finished before    {counted(about['resumed'], 'attempt')}; --fresh repeats {them}")
    if "mean_duration_s" in about:
        echo(f"  average            {about['mean_duration_s']:.2f} s, {about['mean_calls']:.2f} tool calls")
    if about["model_calls"]:
        echo(f"  model calls        {about['model_calls']}, {about['from_ledger']} of them from the ledger")
    echo(f"  cost               {paid}")
    echo(f"  run report         {about['report_path']}")
