"""`evaluation-assets`: the commands. They materialise the same assets as the UI, in the same instance.

Exit status: 0 done and all blocking checks passed; 1 done, but a blocking check failed or a step broke; 2 usage or
unusable input; 3 stopped by the budget. Results go to stdout, progress and logs to stderr.
"""

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
import warnings
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn

import click
import yaml
from upath import UPath

from evaluation_assets.core.drops import Drop, InvalidDrop
from evaluation_assets.core.formats.base import UnreadableDrop
from evaluation_assets.core.formats.registry import FORMATS
from evaluation_assets.core.home import Home
from evaluation_assets.core.judging.panel import (
    EMBEDDED,
    InvalidPanel,
    JudgeSettings,
    Panel,
    judges_of,
    load_panel,
    panel_of,
)
from evaluation_assets.core.judging.providers.capabilities import PROVIDERS
from evaluation_assets.core.judging.trial import try_panel
from evaluation_assets.core.planning import plan as plan_drop
from evaluation_assets.core.preprocessing.rules import OnViolation, Settings
from evaluation_assets.core.reporting.files import JUDGE_FILES, report_files
from evaluation_assets.core.reporting.report import DropReport
from evaluation_assets.core.rubrics.model import load_rubrics
from evaluation_assets.intake import inspect, prepare, take_in

EXIT_STATUS = {"passed": 0, "check_failed": 1, "broken": 1, "unusable": 2, "over_budget": 3}


def _together(*options: Any) -> Any:
    """Several options as one decorator."""

    def apply(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return apply


def _with_home(command: Any) -> Any:
    """Give a command its installation as `home`."""

    @click.option(
        "--home",
        "home_url",
        envvar="EVALUATION_HOME",
        default=".evaluation",
        show_default=True,
        help="Where drops, tables and reports are kept: a folder, or any fsspec URL.",
    )
    @wraps(command)
    def run(home_url: str, **options: Any) -> None:
        command(home=Home.at(home_url, os.environ.get("EVALUATION_LAKE_URL")), **options)

    return run


_judges = _together(
    click.option("--panel", "panel_file", type=click.Path(exists=True, path_type=Path), help="Another panel.yaml."),
    click.option("--provider", help="With --model: a panel of one judge."),
    click.option("--model", help="The model of --provider."),
    click.option("--max-concurrency", type=click.IntRange(min=1), help="Requests at a time, for every model judge."),
    click.option("--requests-per-minute", type=click.FloatRange(min=0, min_open=True), help="For every model judge."),
)


def _with_panel(command: Any) -> Any:
    """Give a command its installation as `home` and the judges in use as `panel`."""

    @_with_home
    @_judges
    @wraps(command)
    def run(
        home: Home,
        panel_file: Path | None,
        provider: str | None,
        model: str | None,
        max_concurrency: int | None,
        requests_per_minute: float | None,
        **options: Any,
    ) -> None:
        limits = {"max_concurrency": max_concurrency, "requests_per_minute": requests_per_minute}
        try:
            panel = _panel_of(home, panel_file, provider, model)
        except InvalidPanel as problem:
            _stop(str(problem))
        panel = panel.with_limits({name: value for name, value in limits.items() if value is not None})
        command(home=home, panel=panel, **options)

    return run


_reading = _together(
    click.argument("inputs", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path)),
    click.option(
        "--beta-threshold",
        type=click.IntRange(min=0),
        default=15,
        show_default=True,
        help="More tool calls than this break the frequency rule.",
    ),
    click.option(
        "--on-violation",
        type=click.Choice(["remove", "flag"]),
        default="remove",
        show_default=True,
        help="Take out records that break a rule, or keep and mark them.",
    ),
)


@click.group()
@click.version_option(package_name="evaluation-assets")
def main() -> None:
    """Evaluate AI agents from files of their trajectories."""


@main.command()
@_reading
@_with_panel
@click.option("--split-size", type=click.IntRange(min=1), help="Also write the kept records in files of this many.")
@click.option("--budget", type=click.FloatRange(min=0), help="US dollars the run of each drop may spend.")
@click.option("--preprocess-only", is_flag=True, help="Read and preprocess; judge nothing.")
@click.option("--one-drop", is_flag=True, help="A directory is one drop of all its files.")
@click.option("--select", help="Assets to materialise, in Dagster's selection syntax, e.g. '+clips'.")
@click.option("--output", type=click.Path(file_okay=False, path_type=Path), help="Copy reports and result files here.")
@click.option("--quiet", is_flag=True, help="No progress and no warnings.")
@click.option("--verbose", is_flag=True, help="Log everything to stderr.")
def evaluate(
    inputs: tuple[Path, ...],
    beta_threshold: int,
    on_violation: OnViolation,
    home: Home,
    panel: Panel,
    split_size: int | None,
    budget: float | None,
    preprocess_only: bool,
    one_drop: bool,
    select: str | None,
    output: Path | None,
    quiet: bool,
    verbose: bool,
) -> None:
    """Evaluate files of trajectories. Each file is a drop; of a directory, every file in it."""
    try:
        prepare(home)
        drops = take_in(home, list(inputs), one_drop=one_drop)
    except InvalidDrop as problem:
        _stop(str(problem))

    import dagster as dg  # noqa: PLC0415  (a second to import, which `--help` and a typo need not wait for)

    for preview in (dg.PreviewWarning, dg.BetaWarning):  # checks per partition, data versions; the version is bounded
        warnings.simplefilter("ignore", preview)
    from evaluation_assets.progress import RunProgress  # noqa: PLC0415
    from evaluation_assets.runs import RunOptions, evaluate_drops  # noqa: PLC0415

    options = RunOptions(
        settings=Settings(beta_threshold=beta_threshold, on_violation=on_violation),
        split_size=split_size,
        budget_usd=budget,
        preprocess_only=preprocess_only,
        select=select,
    )
    status = 0
    try:
        for outcome in evaluate_drops(home, panel, drops, options, RunProgress(quiet=quiet, verbose=verbose)):
            status = max(status, EXIT_STATUS[outcome.status])
            click.echo(f"\n{outcome.drop.key}")
            if outcome.message:
                click.echo(f"{outcome.drop.key}: {outcome.message}", err=True)
            _print_statistics(outcome.metadata.get("preprocessed_trajectories"))
            if "evaluation_report" in outcome.metadata:
                _print_scores(home, outcome.drop)
            for check in outcome.failed_checks:
                click.echo(f"  check failed       {check}")
            if output is not None:
                _copy_files(home, outcome.drop, output)
    except dg.DagsterInvalidSubsetError as problem:
        _stop(str(problem))
    sys.exit(status)


@main.command()
@_reading
@_with_panel
def plan(
    inputs: tuple[Path, ...],
    beta_threshold: int,
    on_violation: OnViolation,
    home: Home,
    panel: Panel,
) -> None:
    """Say what `evaluate` would do: records, clips, verdicts, calls, price. Writes nothing, calls nobody."""
    settings = Settings(beta_threshold=beta_threshold, on_violation=on_violation)
    try:
        judges = judges_of(panel, home.ledger_url if home.has_ledger else "sqlite://")
        for drop in inspect(list(inputs)):
            planned = plan_drop(drop, settings, load_rubrics(), judges)
            counts = planned.statistics
            click.echo(f"\n{planned.drop}")
            click.echo(f"  records            {counts.total}")
            click.echo(f"  to be judged       {counts.kept}")
            click.echo(f"  removed            {counts.removed.total()}")
            click.echo(f"  unreadable         {counts.unreadable.total()}")
            types = ", ".join(f"{tool} {count}" for tool, count in sorted(planned.tool_types.items()))
            click.echo(f"  clips              {planned.clips} ({types})")
            levels = ", ".join(f"{level} {count}" for level, count in planned.subjects.items())
            click.echo(f"  verdicts per judge {planned.subjects.total()} ({levels})")
            for name in (judge.name for judge in panel.judges if judge.provider == EMBEDDED):
                click.echo(f"  judge {name:<12} no model calls, no cost")
            for calls in planned.calls:
                price = "price unknown" if calls.at_most_usd is None else f"at most ${calls.at_most_usd:.2f}"
                click.echo(
                    f"  judge {calls.judge:<12} clips: {calls.clips_new} new calls, {calls.clips_known} in the ledger; "
                    f"up to {calls.later} calls later; about {calls.input_tokens} tokens in before caching, {price}"
                )
    except (InvalidDrop, UnreadableDrop) as problem:
        _stop(str(problem))


@main.command()
def formats() -> None:
    """List the formats that are read, and how each is recognised."""
    for known in FORMATS.values():
        click.echo(f"{known.name}\n  {known.description}\n  recognised by: {known.detection}")


@main.group("panel")
def panel_commands() -> None:
    """The judges in use."""


@panel_commands.command("list")
@_with_panel
def list_judges(
    home: Home,
    panel: Panel,
) -> None:
    """Show the judges, and whether their keys are set."""
    for judge in panel.judges:
        click.echo(f"{judge.name}\n  {judge.provider} {judge.model_name}\n  key: {_key_state(judge)}")


@panel_commands.command("test")
@_with_panel
def test_judges(
    home: Home,
    panel: Panel,
) -> None:
    """Make one real call to each judge: is it reachable, does its reply validate, what does it cost."""
    failed = False
    for name, verdict in asyncio.run(try_panel(panel)):
        good = verdict.outcome in ("scored", "abstained")
        failed |= not good
        cost = "unknown" if verdict.usage.cost_usd is None else f"${verdict.usage.cost_usd:.6f}"
        tokens = f"{verdict.usage.input_tokens} tokens in, {verdict.usage.output_tokens} out, cost {cost}"
        click.echo(f"{name}: {'ok' if good else 'FAILED'}, {tokens if good else verdict.error}")
    sys.exit(1 if failed else 0)


@panel_commands.command("init")
@_with_home
def init_panel(home: Home) -> None:
    """Ask for judges one by one and write panel.yaml. Keys are named by their variable, never asked for."""
    prepare(home)
    if home.panel_file.exists():
        click.confirm(f"{home.panel_file} exists. Write it anew?", abort=True)
    judges: list[dict[str, Any]] = []
    while not judges or click.confirm("Another judge?", default=False):
        judges.append(_ask_for_judge([judge["name"] for judge in judges]))
        try:
            panel_of({"judges": judges}, "panel")
        except InvalidPanel as problem:
            click.echo(f"{problem}; try again", err=True)
            judges.pop()
    home.panel_file.write_text(yaml.safe_dump({"quorum": 1, "judges": judges}, sort_keys=False))
    click.echo(f"written to {home.panel_file}; try it with: evaluation-assets panel test")


@main.command()
@_with_home
@click.option("--port", default=3000, show_default=True)
@click.option("--host", default="127.0.0.1", show_default=True)
def ui(home: Home, port: int, host: str) -> None:
    """Start the Dagster UI and its daemon, which evaluates new drops by itself."""
    prepare(home)
    try:
        load_panel(home.panel_file)
    except InvalidPanel as problem:
        _stop(str(problem))
    click.echo(f"Drop files into {home.drops}. The UI is at http://{host}:{port}", err=True)
    environment = os.environ | {"DAGSTER_HOME": str(home.dagster), "EVALUATION_HOME": str(home.root)}
    environment["PYTHONWARNINGS"] = "ignore"  # Dagster's previews and superseded commands, once per process
    command = [sys.executable, "-m", "dagster", "dev", "-m", "evaluation_assets.definitions"]
    # Handlers before the start: a shell's background job ignores SIGINT, and its children would inherit that.
    servers: list[subprocess.Popen[bytes]] = []

    def stop(*_: object) -> None:
        for server in servers:
            os.killpg(server.pid, signal.SIGINT)

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    command += ["--port", str(port), "--host", host]
    servers.append(subprocess.Popen(command, env=environment, start_new_session=True))
    sys.exit(servers[0].wait())


def _key_state(judge: JudgeSettings) -> str:
    variable = judge.key_variable
    if variable is None:
        return "none needed"
    return f"{variable} is {'set' if os.environ.get(variable) else 'NOT set'}"


def _ask_for_judge(taken: list[str]) -> dict[str, Any]:
    provider = click.prompt("Provider", type=click.Choice([EMBEDDED, *PROVIDERS]))
    if provider == EMBEDDED:
        return {"name": click.prompt("Name", default=EMBEDDED), "provider": provider}
    known = PROVIDERS[provider]
    model = click.prompt("Model", default=known.default_model)
    plain = re.sub(r"[^a-z0-9]+", "_", f"{provider}_{model}".lower()).strip("_")
    judge: dict[str, Any] = {"name": click.prompt("Name", default=plain if plain not in taken else None)}
    judge |= {"provider": provider, "model": model}
    if known.base_url is None:
        judge["base_url"] = click.prompt("Address of the endpoint, e.g. http://localhost:8000/v1")
    variable = click.prompt(
        "Variable that holds the key (empty: no key)", default=known.key_env or "", show_default=True
    )
    if variable and variable != known.key_env:
        judge["api_key_env"] = variable
    judge["max_concurrency"] = click.prompt("Requests at a time", default=16, type=click.IntRange(min=1))
    return judge


def _panel_of(home: Home, file: Path | None, provider: str | None, model: str | None) -> Panel:
    if provider is None:
        return load_panel(home.panel_file if file is None else UPath(file))
    name = re.sub(r"[^a-z0-9]+", "_", (model or provider).lower()).strip("_")
    name = name if name[:1].isalpha() else f"judge_{name}"
    return panel_of({"judges": [{"name": name, "provider": provider, "model": model}]}, "--provider")


def _print_statistics(figures: Any) -> None:
    if not figures:
        return
    rate = figures.get("success_rate")
    click.echo(f"  records            {figures['records_total']}")
    click.echo(f"  valid              {figures['records_kept']}")
    click.echo(f"  removed frequency  {figures['removed_frequency']}")
    click.echo(f"  removed duplicates {figures['removed_duplicates']}")
    click.echo(f"  unreadable         {figures['unreadable']}")
    click.echo(f"  repaired           {figures['repaired']}")
    click.echo(f"  success rate       {'-' if rate is None else f'{rate:.1%}'}")


def _print_scores(home: Home, drop: Drop) -> None:
    paths = report_files(home.reports(drop.key), drop.key)
    report = DropReport.model_validate_json(paths.json.read_text("utf-8"))
    click.echo(f"  overall score      {_score(report.overall.mean)} over {report.overall.n_scored} trajectories")
    for tool in report.tools:
        click.echo(f"    {tool.tool_type:<16} {_score(tool.overall)} over {tool.scored_clips} clips")
    click.echo(f"  report             {paths.html}")


def _score(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _copy_files(home: Home, drop: Drop, output: Path) -> None:
    """The drop's report folder, as it is, below the output folder."""
    source = home.reports(drop.key)
    if not source.exists():
        return
    target = output / drop.key
    target.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(target / JUDGE_FILES, ignore_errors=True)
    for path in source.rglob("*"):
        if path.is_file():
            place = target / path.path.removeprefix(source.path).strip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(path.read_bytes())


def _stop(message: str) -> NoReturn:
    click.echo(f"evaluation-assets: {message}", err=True)
    sys.exit(2)


if __name__ == "__main__":
    main()
